// Runs with forces of the host: restarts, snapshots, stopping, and failures.
#include "libgdr/nbody/run.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

Snapshot cloud() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Snapshot s;
  s.time = 0.5;
  s.type_counts = {0, 20, 0, 0, 12, 0};
  for (std::size_t i = 0; i < 32; ++i) {
    s.mass.push_back(1.0 / 32);
    s.id.push_back(1000 - i);
    for (int k = 0; k < 3; ++k) s.position.push_back(normal(random));
    for (int k = 0; k < 3; ++k) s.velocity.push_back(0.3 * normal(random));
  }
  return s;
}

RunPlan plan(const Snapshot& s, double t_end, const char* snapshot_every = nullptr) {
  RunRequest r;
  r.softening = 0.05;
  r.time_step = 0.01;
  r.end_time = t_end;
  if (snapshot_every) r.snapshot_every = parse_interval("", snapshot_every);
  return plan_run(s, r);
}

TEST_CASE("a restarted run is bit-identical to a single run, in either format") {
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
    const TemporaryFolder one, pieces;
    Snapshot s = cloud();
    const RunResult whole =
        run_simulation(s, plan(s, 1.5, "10steps"), host_forces(0.05), {one.path(), format});
    REQUIRE(whole.snapshots.size() == 11);

    Snapshot first = cloud();
    run_simulation(first, plan(first, 0.87), host_forces(0.05), {pieces.path(), format});
    Snapshot second = read_snapshot(SnapshotOutput{pieces.path(), format}.path(37));
    RunRequest go_on;
    go_on.end_time = 1.5;
    go_on.snapshot_every = parse_interval("", "10steps");
    const RunPlan rest = plan_run(second, go_on);
    CHECK(rest.restarted);
    const RunResult result =
        run_simulation(second, rest, host_forces(0.05), {pieces.path(), format});
    for (const std::int64_t step : {40, 50, 90, 100}) {
      INFO("step " << step);
      CHECK(content_of(SnapshotOutput{one.path(), format}.path(step)) ==
            content_of(SnapshotOutput{pieces.path(), format}.path(step)));
    }
    CHECK(result.records.back().energy_error == whole.records.back().energy_error);
  }
}

TEST_CASE("a run preserves types and ids") {
  const TemporaryFolder folder;
  Snapshot s = cloud();
  run_simulation(s, plan(s, 0.52), host_forces(0.05), {folder.path()});
  const Snapshot end = read_snapshot(SnapshotOutput{folder.path()}.path(2));
  CHECK(end.type_counts == cloud().type_counts);
  CHECK(end.id == cloud().id);
  CHECK(end.mass == cloud().mass);
  CHECK(end.time == s.time);
  CHECK(end.position != cloud().position);
}

TEST_CASE("energies are recorded with errors relative to the first step") {
  Snapshot s = cloud();
  RunPlan p = plan(s, 0.6);
  p.energy_every = 4;
  const RunResult result = run_simulation(s, p, host_forces(0.05), {});
  REQUIRE(result.records.size() == 4);
  const std::int64_t steps[] = {0, 4, 8, 10};
  for (std::size_t k = 0; k < 4; ++k) CHECK(result.records[k].step == steps[k]);
  CHECK(result.records[0].energy_error == 0);
  CHECK(result.records[3].time == p.end_time());
  CHECK(result.largest_error >= std::abs(result.records[3].energy_error));
  CHECK(result.largest_error < 1e-3);
  CHECK(result.force_calls == 11);
}

TEST_CASE("a stopped run writes a snapshot for a restart") {
  const TemporaryFolder folder, other;
  Snapshot s = cloud();
  RunObserver observer;
  double seen = 0;
  observer.progress = [&](double steps) { seen = steps; };
  observer.stop_requested = [&] { return seen == 13; };
  const RunResult result =
      run_simulation(s, plan(s, 1.5), host_forces(0.05), {folder.path()}, observer);
  CHECK(result.stopped);
  CHECK(result.end.step == 13);
  CHECK(result.records.back().step == 13);
  Snapshot again = read_snapshot(SnapshotOutput{folder.path()}.path(13));
  RunRequest go_on;
  go_on.end_time = 0.7;
  run_simulation(again, plan_run(again, go_on), host_forces(0.05), {folder.path()});
  Snapshot straight = cloud();
  run_simulation(straight, plan(straight, 0.7), host_forces(0.05), {other.path()});
  CHECK(content_of(SnapshotOutput{folder.path()}.path(20)) ==
        content_of(SnapshotOutput{other.path()}.path(20)));
}

RunPlan hermite_plan(const Snapshot& s, double t_end) {
  RunRequest r;
  r.integrator = IntegratorKind::Hermite4;
  r.softening = 0.05;
  r.time_step = 0.125;
  r.end_time = t_end;
  return plan_run(s, r);
}

RunResult run_hermite(Device& device, Snapshot& s, const RunPlan& plan,
                      const SnapshotOutput& output, const RunObserver& observer = {}) {
  const auto integrator = hermite_integrator(device, s, plan.start, plan.restarted);
  return run_simulation(s, plan, *integrator, output, observer);
}

TEST_CASE("a Hermite run restarts from snapshots with the bits of a single run, in either format") {
  Device device = Device::open("emulator:engine=native,threads=1");
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
    const TemporaryFolder one, pieces;
    Snapshot s = cloud();
    const RunResult whole = run_hermite(device, s, hermite_plan(s, 1.5), {one.path(), format});
    REQUIRE(whole.end.step == 8);
    CHECK(whole.kernel == "gravity_jerk_long");
    CHECK(whole.largest_error < 1e-5);
    REQUIRE(whole.block_steps.has_value());
    CHECK(whole.force_calls == whole.block_steps->evaluations);

    // The first piece ends at a step, the second within one.
    Snapshot first = cloud();
    run_hermite(device, first, hermite_plan(first, 0.75), {pieces.path(), format});
    Snapshot second = read_snapshot(SnapshotOutput{pieces.path(), format}.path(2));
    RunRequest go_on;
    go_on.end_time = 1.5;
    RunObserver observer;
    double steps = 0;
    observer.progress = [&](double done) { steps = done; };
    observer.stop_requested = [&] { return steps > 4.5 && steps < 5; };
    const RunPlan middle = plan_run(second, go_on);
    CHECK(middle.restarted);
    const RunResult stopped =
        run_hermite(device, second, middle, {pieces.path(), format}, observer);
    CHECK(stopped.stopped);
    CHECK(stopped.end.step == 4);
    CHECK(stopped.end.fraction > 0.5);
    CHECK(stopped.records.back().time == stopped.end.time());
    const std::string path = SnapshotOutput{pieces.path(), format}.path(4, stopped.end.fraction);
    CHECK(stopped.snapshots.back() == path);
    Snapshot third = read_snapshot(path);
    CHECK(third.time == stopped.end.time());
    CHECK(third.hermite->now == stopped.end.fraction);
    const RunResult rest =
        run_hermite(device, third, plan_run(third, go_on), {pieces.path(), format});
    CHECK(content_of(SnapshotOutput{one.path(), format}.path(8)) ==
          content_of(SnapshotOutput{pieces.path(), format}.path(8)));
    CHECK(rest.records.back().energy_error == whole.records.back().energy_error);
  }
}

TEST_CASE("particles that another program has changed begin a new Hermite run") {
  Device device = Device::open("emulator:engine=native,threads=1");
  const TemporaryFolder folder;
  Snapshot s = cloud();
  run_hermite(device, s, hermite_plan(s, 0.625), {folder.path()});
  s.velocity[5] += 0.1;
  write_snapshot(folder.file("kicked.hdf5"), s, SnapshotFormat::Hdf5);
  const Snapshot kicked = read_snapshot(folder.file("kicked.hdf5"));
  CHECK_FALSE(kicked.run.has_value());
  CHECK_FALSE(kicked.hermite.has_value());
}

TEST_CASE("a leapfrog run that starts from a Hermite snapshot does not keep its state") {
  Device device = Device::open("emulator:engine=native,threads=1");
  const TemporaryFolder folder;
  Snapshot s = cloud();
  run_hermite(device, s, hermite_plan(s, 0.625), {});
  CHECK(s.hermite.has_value());
  RunRequest r;
  r.integrator = IntegratorKind::Leapfrog;
  r.time_step = 0.01;
  r.end_time = 0.65;
  run_simulation(s, plan_run(s, r), host_forces(0.05), {folder.path()});
  CHECK_FALSE(s.hermite.has_value());
  CHECK(read_snapshot(SnapshotOutput{folder.path()}.path(3)).run->eta == 0);
}

TEST_CASE("a Hermite run that fails saves the state after the last complete step") {
  Device device = Device::open("emulator:engine=native,threads=1");
  const TemporaryFolder folder;
  Snapshot s;
  s.mass = {0.5, 0.5};
  s.id = {1, 2};
  s.type_counts = {0, 2, 0, 0, 0, 0};
  s.position = {0.5, 0, 0, -0.5, 0, 0};  // they fall towards each other, without softening
  s.velocity.assign(6, 0);
  RunRequest r;
  r.integrator = IntegratorKind::Hermite4;
  r.softening = 0;
  r.time_step = 0.25;
  r.end_time = 10;
  expect_error(ErrorCategory::Input,
               {"needs a step of", "in step 5", "the state after step 4 was saved to",
                "snapshot_00000004.hdf5"},
               [&] { run_hermite(device, s, plan_run(s, r), {folder.path()}); });
  CHECK(read_snapshot(SnapshotOutput{folder.path()}.path(4)).run->step == 4);
}

/// Forces that fail after `good` calls.
ForceLaw failing_forces(int good) {
  return [good, host = host_forces(0.05)](auto x, auto m, auto a, auto phi) mutable {
    if (good-- <= 0) throw Error(ErrorCategory::Device, "the board is gone");
    host(x, m, a, phi);
  };
}

TEST_CASE("after failing forces the last complete step is saved") {
  const TemporaryFolder folder, other;
  Snapshot s = cloud();
  expect_error(ErrorCategory::Device, {"the board is gone", "in step 5", "snapshot_00000004"},
               [&] { run_simulation(s, plan(s, 1.5), failing_forces(5), {folder.path()}); });
  Snapshot straight = cloud();
  run_simulation(straight, plan(straight, 0.54), host_forces(0.05), {other.path()});
  CHECK(content_of(SnapshotOutput{folder.path()}.path(4)) ==
        content_of(SnapshotOutput{other.path()}.path(4)));
}

/// The path in "... was saved to 'PATH'"; empty if there is none.
std::string saved_path(const std::string& message) {
  const std::size_t begin = message.find("was saved to '");
  if (begin == std::string::npos) return {};
  return message.substr(begin + 14, message.find('\'', begin + 14) - begin - 14);
}

TEST_CASE(
    "if the directory is removed, the state is saved elsewhere and the error names the file") {
  const TemporaryFolder folder;
  const std::string place = folder.file("run");
  std::filesystem::create_directory(place);
  Snapshot s = cloud();
  RunObserver observer;
  observer.progress = [&](double) { std::filesystem::remove_all(place); };
  std::string message;
  try {
    run_simulation(s, plan(s, 1.5, "10steps"), host_forces(0.05), {place}, observer);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Io);
    message = error.what();
  }
  INFO(message);
  CHECK(message.find("at step 10") != std::string::npos);
  const std::string kept = saved_path(message);
  const Snapshot state = read_snapshot(kept);
  REQUIRE(state.run.has_value());
  CHECK(state.run->step == 10);
  std::filesystem::remove(kept);
}

/// During its lifetime `folder` is the directory for temporary files.
class TemporaryFilesIn {
 public:
  explicit TemporaryFilesIn(const std::string& folder) {
    if (const char* old = std::getenv("TMPDIR")) old_ = old;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFilesIn() { old_ ? ::setenv("TMPDIR", old_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  TemporaryFilesIn(const TemporaryFilesIn&) = delete;
  TemporaryFilesIn& operator=(const TemporaryFilesIn&) = delete;

 private:
  std::optional<std::string> old_;
};

TEST_CASE("saving to the temporary directory does not follow symbolic links") {
  for (const SnapshotFormat format : {SnapshotFormat::Hdf5, SnapshotFormat::Text}) {
    const TemporaryFolder folder, shared;
    const TemporaryFilesIn temporary(shared.path());
    const std::string target = folder.make("private", "secret"), place = folder.file("run");
    // A predictable name, which an earlier version used.
    const std::string ending = format == SnapshotFormat::Hdf5 ? ".hdf5" : ".txt";
    const std::string guess = "gdr-nbody-" + std::to_string(::getpid()) + "-snapshot_00000010";
    std::filesystem::create_symlink(target, shared.file(guess + ending));
    std::vector<std::string> kept;
    for (int k = 0; k < 2; ++k) {
      std::filesystem::create_directory(place);
      Snapshot s = cloud();
      RunObserver observer;
      observer.progress = [&](double) { std::filesystem::remove_all(place); };
      try {
        run_simulation(s, plan(s, 1.5, "10steps"), host_forces(0.05), {place, format}, observer);
        FAIL("no error");
      } catch (const Error& error) {
        kept.push_back(saved_path(error.what()));
      }
      struct stat status {};
      REQUIRE(::lstat(kept.back().c_str(), &status) == 0);
      CHECK(status.st_mode == (S_IFREG | 0600));
      CHECK(read_snapshot(kept.back()).run->step == 10);
    }
    CHECK(content_of(target) == "secret");
    CHECK(kept[0] != kept[1]);
    CHECK(shared.names().size() == 3);
  }
}

TEST_CASE("an exception in an observer ends the run with a snapshot") {
  const TemporaryFolder folder;
  struct Closed {};
  Snapshot s = cloud();
  RunPlan p = plan(s, 1.5);
  p.energy_every = 6;
  RunObserver observer;
  observer.energies = [](const EnergyRecord& record) {
    if (record.step == 12) throw Closed{};
  };
  CHECK_THROWS_AS(run_simulation(s, p, host_forces(0.05), {folder.path()}, observer), Closed);
  CHECK(read_snapshot(SnapshotOutput{folder.path()}.path(12)).run->step == 12);
}

}  // namespace
}  // namespace gdr::test
