// Snapshots are read back with the same bits, and equal states are written as equal bytes.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "libgdr/io/snapshot.hpp"
#include "support/expect_error.hpp"
#include "support/same_bits.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

/// Finite doubles of every exponent.
double any_double(std::mt19937_64& random) {
  for (;;) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (value - value == 0) return value;
  }
}

Snapshot random_snapshot() {
  std::mt19937_64 random(7);
  Snapshot s;
  s.type_counts = {5, 0, 3, 0, 0, 2};
  for (int i = 0; i < 10; ++i) {
    s.mass.push_back(any_double(random));
    s.id.push_back(random());
    for (int k = 0; k < 3; ++k) s.position.push_back(any_double(random));
    for (int k = 0; k < 3; ++k) s.velocity.push_back(any_double(random));
  }
  s.position[0] = -0.0;
  s.position[1] = std::numeric_limits<double>::denorm_min();
  s.position[2] = -std::numeric_limits<double>::max();
  s.header = {{"BoxSize", {1.5, 2.5, 3.5}}, {"HubbleParam", {0.7}}, {"Redshift", {0.1}}};
  s.run = RunState{0.1, 1.0 / 3, 12345, 0.01, 43007.1, -0.2470779999999999};
  s.time = s.run->time();
  return s;
}

TEST_CASE("HDF5 snapshots are read back exactly, and equal states give equal bytes") {
  const TemporaryFolder folder;
  const Snapshot s = random_snapshot();
  write_snapshot(folder.file("a.hdf5"), s, SnapshotFormat::Hdf5);
  const Snapshot back = read_snapshot(folder.file("a.hdf5"));
  CHECK(same_bits(back.position, s.position));
  CHECK(same_bits(back.velocity, s.velocity));
  CHECK(same_bits(back.mass, s.mass));
  CHECK(back.id == s.id);
  CHECK(back.type_counts == s.type_counts);
  CHECK(back.time == s.time);
  CHECK(back.header == s.header);
  REQUIRE(back.run.has_value());
  CHECK(*back.run == *s.run);

  write_snapshot(folder.file("b.hdf5"), back, SnapshotFormat::Hdf5);
  CHECK(content_of(folder.file("a.hdf5")) == content_of(folder.file("b.hdf5")));
}

TEST_CASE("the time of a run is rounded twice, without fusing or folding") {
  const RunState run{0.1, 1.0 / 3, 12345, 0.01, 43007.1, -0.2470779999999999};
  volatile double product = 12345 * run.time_step;
  CHECK(run.time() == run.start_time + product);
  // The fused value is another one.
  CHECK(run.time() != std::fma(12345.0, run.time_step, run.start_time));
}

TEST_CASE("HDF5 snapshots keep signed ids") {
  const TemporaryFolder folder;
  Snapshot s = random_snapshot();
  s.signed_ids = true;
  s.id[3] = static_cast<std::uint64_t>(-5);
  write_snapshot(folder.file("a.hdf5"), s, SnapshotFormat::Hdf5);
  const Snapshot back = read_snapshot(folder.file("a.hdf5"));
  CHECK(back.signed_ids);
  CHECK(back.id == s.id);
  CHECK(id_text(back, 3) == "-5");
}

TEST_CASE("text snapshots keep numbers and the state of the run") {
  const TemporaryFolder folder;
  const Snapshot s = random_snapshot();
  write_snapshot(folder.file("a.txt"), s, SnapshotFormat::Text);
  const Snapshot back = read_snapshot(folder.file("a.txt"));
  CHECK(same_bits(back.position, s.position));
  CHECK(same_bits(back.velocity, s.velocity));
  CHECK(same_bits(back.mass, s.mass));
  CHECK(back.time == s.time);
  REQUIRE(back.run.has_value());
  CHECK(*back.run == *s.run);
  CHECK(snapshot_format(folder.file("a.txt")) == SnapshotFormat::Text);
}

/// The same particles in a run with the Hermite scheme, within a step.
Snapshot random_hermite_snapshot() {
  Snapshot s = random_snapshot();
  s.run->integrator = IntegratorKind::Hermite4;
  s.run->fraction = 0.625;
  s.run->eta = 0.02;
  s.run->eta_start = 0.01;
  s.run->smallest_step = 1e-7;
  s.time = s.run->time();
  std::mt19937_64 random(8);
  HermiteState state;
  state.cycle = s.run->step;
  state.now = s.run->fraction;
  for (const HermiteArray& array : hermite_arrays)
    for (std::size_t k = 0; k < array.width * s.size(); ++k)
      (state.*array.values).push_back(any_double(random));
  s.hermite = state;
  return s;
}

TEST_CASE("snapshots of either format keep the state of the Hermite scheme") {
  const TemporaryFolder folder;
  const Snapshot s = random_hermite_snapshot();
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
    write_snapshot(folder.file("a"), s, format);
    const Snapshot back = read_snapshot(folder.file("a"));
    REQUIRE(back.run.has_value());
    CHECK(*back.run == *s.run);
    REQUIRE(back.hermite.has_value());
    CHECK(back.hermite->cycle == s.run->step);
    CHECK(back.hermite->now == 0.625);
    for (const HermiteArray& array : hermite_arrays)
      CHECK(same_bits((*back.hermite).*array.values, (*s.hermite).*array.values));
  }
}

TEST_CASE("an incomplete state of the Hermite scheme is an error") {
  const std::string text = text_snapshot(random_hermite_snapshot());
  const std::size_t last = text.rfind("#hermite4:");
  expect_error(ErrorCategory::Input, {"9 '#hermite4:' lines for 10 particles"},
               [&] { parse_text_snapshot(text.substr(0, last), "a.txt"); });
  expect_error(ErrorCategory::Input, {"0 '#hermite4:' lines for 10 particles"},
               [&] { parse_text_snapshot(text.substr(0, text.find("#hermite4:")), "a.txt"); });
  expect_error(ErrorCategory::Input, {"without the state of their run"},
               [&] { parse_text_snapshot("1 0 0 0 0 0 0\n" + text.substr(last), "a.txt"); });
  expect_error(ErrorCategory::Input, {"a.txt:", "has 14 numbers"},
               [&] { parse_text_snapshot(text.substr(0, last) + "#hermite4: 0 1\n", "a.txt"); });
}

TEST_CASE("a run whose time was changed is not continued") {
  const TemporaryFolder folder;
  Snapshot s = random_snapshot();
  s.time += 1;
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
    write_snapshot(folder.file("a"), s, format);
    const Snapshot back = read_snapshot(folder.file("a"));
    CHECK_FALSE(back.run.has_value());
    CHECK(back.time == s.time);
  }
}

TEST_CASE("a run whose particles were moved is not continued, unless it is within a step") {
  const TemporaryFolder folder;
  for (const double fraction : {0.0, 0.625}) {
    Snapshot s = random_hermite_snapshot();
    s.run->fraction = fraction;
    s.time = s.run->time();
    s.hermite->position = s.position;
    s.hermite->velocity = s.velocity;
    for (const bool moved : {false, true}) {
      if (moved) s.position[4] = 0.5;
      for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
        write_snapshot(folder.file("a"), s, format);
        const Snapshot back = read_snapshot(folder.file("a"));
        CHECK(back.run.has_value() == (!moved || fraction > 0));
        CHECK(back.hermite.has_value() == back.run.has_value());
      }
    }
  }
}

TEST_CASE("numbers of a run that are out of range are errors with their place") {
  const TemporaryFolder folder;
  const auto refused = [&](double RunState::*number, double value, const std::string& message) {
    Snapshot s = random_hermite_snapshot();
    (*s.run).*number = value;
    for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
      write_snapshot(folder.file("a"), s, format);
      expect_error(ErrorCategory::Input, {folder.file("a"), message},
                   [&] { read_snapshot(folder.file("a")); });
    }
  };
  refused(&RunState::time_step, 0, ": expected a number above 0, got 0");
  refused(&RunState::gravity, -1, ": expected a number above 0, got -1");
  refused(&RunState::fraction, 1.5, ": expected at most 1, got 1.5");
  refused(&RunState::fraction, -1, ": expected at least 0, got -1");
  refused(&RunState::eta, 0, "expected a number above 0, got 0");
  refused(&RunState::start_time, INFINITY, "a finite number");
}

}  // namespace
}  // namespace gdr::test
