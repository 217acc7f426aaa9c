// The command `gdr nbody`: restarts, interruption, reports, energies, and errors.
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

using Words = std::vector<std::string>;

/// `gdr nbody FILE` with the softening and step of the reference figures, and more arguments.
Words nbody(const std::string& file, const Words& more) {
  Words words = {"nbody", file};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words plummer(const Words& more) {
  Words words = nbody(example("plummer_1024.hdf5"), {"--eps", "0.015625", "--dt", "0.0009765625"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("an interrupted and restarted run is bit-identical to an uninterrupted one") {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole"), parts = folder.file("parts");
  const Outcome straight = run_gdr(plummer({"--t-end", "0.0234375", "--exact", "--out", whole}));
  INFO(straight.errors);
  REQUIRE(straight.status == 0);
  const Outcome first =
      run_gdr(plummer({"--t-end", "0.0136", "--exact", "--out", parts, "--threads", "1"}));
  REQUIRE(first.status == 0);
  CHECK(contains(first.errors, "does not divide"));
  const Outcome second =
      run_gdr({"nbody", parts + "/snapshot_00000014.hdf5", "--t-end", "0.0234375", "--out", parts,
               "--isa", "portable", "--exact", "--snapshot-every", "8steps"});
  INFO(second.errors);
  REQUIRE(second.status == 0);
  CHECK(contains(second.output, "continuing from step 14"));
  CHECK(content_of(whole + "/snapshot_00000024.hdf5") ==
        content_of(parts + "/snapshot_00000024.hdf5"));
  CHECK(std::filesystem::exists(parts + "/snapshot_00000016.hdf5"));
}

TEST_CASE("SIGINT and SIGTERM end a run with a snapshot for a restart") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    const Outcome outcome = interrupt_gdr(
        plummer({"--t-end", "1000", "--energy-every", "1steps", "--out", folder.path()}), signal,
        8);
    INFO(outcome.errors);
    CHECK(outcome.status == 128 + signal);
    CHECK(contains(outcome.output, "stopped"));
    CHECK(contains(outcome.output, "energy drift"));
    const std::vector<std::string> names = folder.names();
    REQUIRE(names.size() == 1);
    const Snapshot state = read_snapshot(folder.file(names[0]));
    REQUIRE(state.run.has_value());
    CHECK(state.run->step > 0);
    // All digits of the time: a rounded value may be before the snapshot, which is an error.
    const std::string end = fmt::format("{}", state.time);
    const Outcome rest =
        run_gdr({"nbody", folder.file(names[0]), "--t-end", end, "--out", folder.path()});
    INFO(rest.errors);
    CHECK(rest.status == 0);
  }
}

TEST_CASE("the JSON report contains the energies of leapfrog in double precision") {
  const TemporaryFolder folder;
  const Outcome outcome = run_gdr(plummer({"--t-end", "0.0625", "--out", folder.path(), "--json",
                                           "--compare", "--energy-every", "0.015625"}));
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("particles") == 1024);
  CHECK(json.at("last_step") == 64);
  CHECK(json.at("end_time") == 0.0625);
  CHECK(json.at("force_calculations") == 65);
  CHECK(json.at("interactions") == 65 * 1024 * 1024);
  REQUIRE(json.at("energies").size() == 5);
  CHECK(json.at("energies")[1].at("step") == 16);
  // The reference file's energies at the start.
  CHECK(json.at("energies")[0].at("kinetic") == Approx(0.248804).epsilon(1e-5));
  CHECK(json.at("energies")[0].at("potential") == Approx(-0.487149).epsilon(1e-5));
  const double largest = json.at("largest_energy_error");
  CHECK(largest > 0);
  CHECK(largest < 1e-4);
  CHECK(largest == Approx(double(json.at("double").at("largest_energy_error"))).epsilon(0.01));
  CHECK(json.at("one_chip").at("gflops") > 1);
  // Four chips take less time than one, and not less than a quarter.
  const double ratio = double(json.at("one_chip").at("clocks_per_force_calculation")) /
                       double(json.at("one_board").at("clocks_per_force_calculation"));
  CHECK(ratio > 1);
  CHECK(ratio <= 4);
  CHECK(json.at("clocks_per_interaction") == 19);
  REQUIRE(json.at("snapshots").size() == 1);
  CHECK(std::filesystem::exists(std::string(json.at("snapshots")[0])));
}

Words block_steps(const std::string& file, const Words& more) {
  Words words = nbody(file, {"--integrator", "hermite4", "--eps", "0.015625", "--dt", "0.0625",
                             "--engine", "native"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("block steps of hermite4 conserve energy to a millionth and are reported") {
  const TemporaryFolder folder;
  const std::string file = example("plummer_1024.hdf5");
  const Outcome outcome = run_gdr(
      block_steps(file, {"--t-end", "0.25", "--out", folder.path(), "--json", "--compare"}));
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("integrator") == "hermite4");
  CHECK(json.at("kernel") == "gravity_jerk_long");
  CHECK(json.at("eta") == 0.02);
  CHECK(json.at("last_step") == 4);
  CHECK(json.at("largest_energy_error") < 1e-6);
  CHECK(json.at("energies").size() == 5);
  CHECK(json.at("double").at("rms_position_difference") == 0);
  const auto& blocks = json.at("blocks");
  CHECK(blocks.at("mean_block") > 10);
  CHECK(blocks.at("mean_block") < 500);
  CHECK(blocks.at("smallest_step") < blocks.at("largest_step"));
  CHECK(blocks.at("largest_step") <= 0.0625);
  CHECK(blocks.at("limited_steps") == 0);
  // Shorter steps where the criterion is stricter; the text has the same numbers.
  const Outcome text =
      run_gdr(block_steps(file, {"--t-end", "0.0625", "--eta", "0.005", "--out", folder.path()}));
  CHECK(text.status == 0);
  CHECK(contains(text.output, "hermite4: 1 steps of 0.0625 in block steps, eta 0.005"));
  CHECK(contains(text.output, "particles in a block"));
}

TEST_CASE("SIGINT ends a hermite4 run within a step, and a restart has the bits of a whole run") {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole"), parts = folder.file("parts");
  const Outcome first = interrupt_gdr(
      {"nbody", example("plummer_1024.hdf5"), "--integrator", "hermite4", "--eps", "0.015625",
       "--dt", "0.25", "--t-end", "1000", "--threads", "1", "--out", parts},
      SIGINT, 6);
  INFO(first.errors);
  REQUIRE(first.status == 130);
  REQUIRE(contains(first.output, "stopped"));
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(parts)) name = entry.path();
  const Snapshot state = read_snapshot(name);
  REQUIRE(state.run.has_value());
  const std::string end = fmt::format("{}", 0.25 * static_cast<double>(state.run->step + 1));
  const std::string last = fmt::format("/snapshot_{:08}.hdf5", state.run->step + 1);
  const Outcome second = run_gdr({"nbody", name, "--t-end", end, "--out", parts});
  INFO(second.errors);
  REQUIRE(second.status == 0);
  CHECK(contains(second.output, "continuing from step"));
  const Outcome straight =
      run_gdr({"nbody", example("plummer_1024.hdf5"), "--integrator", "hermite4", "--eps",
               "0.015625", "--dt", "0.25", "--t-end", end, "--out", whole});
  REQUIRE(straight.status == 0);
  CHECK(content_of(whole + last) == content_of(parts + last));
}

TEST_CASE("text snapshots are read and written") {
  const TemporaryFolder folder;
  const std::string file = folder.make("two.txt", "0.5 0.5 0 0 0 0.5 0\n0.5 -0.5 0 0 0 -0.5 0\n");
  // A circular orbit: after half a period the particles have swapped positions.
  const Outcome outcome = run_gdr({"nbody", file, "--eps", "0", "--dt", "0.001", "--t-end",
                                   "3.141592653589793", "--out", folder.file("run")});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const Snapshot end = read_snapshot(folder.file("run/snapshot_00003142.txt"));
  CHECK(end.position[0] == Approx(-0.5).epsilon(1e-4));
  CHECK(end.position[3] == Approx(0.5).epsilon(1e-4));
  const Outcome hdf5 = run_gdr({"nbody", file, "--eps", "0", "--dt", "0.5", "--t-end", "1",
                                "--format", "hdf5", "--out", folder.file("other")});
  CHECK(hdf5.status == 0);
  CHECK(read_snapshot(folder.file("other/snapshot_00000002.hdf5")).size() == 2);
}

TEST_CASE("a single particle moves on a straight line") {
  const TemporaryFolder folder;
  const std::string file = folder.make("one.txt", "1 0 0 0 1 2 3\n");
  const Outcome outcome = run_gdr(
      {"nbody", file, "--eps", "0", "--dt", "0.25", "--t-end", "1", "--out", folder.file("run")});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  CHECK(read_snapshot(folder.file("run/snapshot_00000004.txt")).position ==
        std::vector<double>{1, 2, 3});
}

TEST_CASE("a run whose energy is lost ends with a warning") {
  const TemporaryFolder folder;
  const std::string file =
      folder.make("rest.txt", "1 0 0 0 0 0 0\n1 0.01 0 0 0 0 0\n1 5 0 0 0 0 0\n");
  const auto run = [&](const Words& more) {
    Words words = nbody(file, {"--eps", "0.001", "--dt", "0.0625", "--t-end", "0.5", "--engine",
                               "native", "--out", folder.path()});
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_gdr(words);
    CHECK(outcome.status == 0);
    return outcome.errors;
  };
  CHECK_THAT(run({}), Catch::Contains("warning: the total energy changed by up to") &&
                          Catch::Contains("use a smaller --dt, or a larger --eps"));
  CHECK_THAT(run({"--integrator", "hermite4"}), !Catch::Contains("warning"));
}

TEST_CASE("errors of gdr nbody set status and message and write no file") {
  const TemporaryFolder folder;
  const std::string input = example("plummer_1024.hdf5"), out = folder.file("out");
  const auto fails = [&](int status, const std::string& word, const Words& words) {
    const Outcome outcome = run_gdr(words);
    INFO(word << "\n" << outcome.errors);
    CHECK(outcome.status == status);
    CHECK(contains(outcome.errors, word));
    CHECK(outcome.output.empty());
    CHECK_FALSE(std::filesystem::exists(out));
  };
  const Words where = {"--out", out};
  const auto with = [&](const std::string& file, Words more) {
    more.insert(more.end(), where.begin(), where.end());
    return nbody(file, more);
  };
  fails(2, "--eps", with(input, {"--eps", "-0.1", "--dt", "0.1", "--t-end", "1"}));
  fails(2, "--dt is required", with(input, {"--eps", "0.1", "--t-end", "1"}));
  fails(2, "--t-end is required", with(input, {"--eps", "0.1", "--dt", "0.1"}));
  fails(2, "--dt", with(input, {"--eps", "0.1", "--dt", "-0.1", "--t-end", "1"}));
  fails(2, "--dt", with(input, {"--eps", "0.1", "--dt", "soon", "--t-end", "1"}));
  fails(2, "before the time", with(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "-1"}));
  fails(2, "--format",
        with(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "1", "--format", "x"}));
  fails(2, "--integrator",
        with(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "1", "--integrator", "euler"}));
  fails(2, "--eta is an option of --integrator hermite4",
        with(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "1", "--eta", "0.02"}));
  fails(2, "--dt-min",
        with(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "1", "--integrator", "hermite4",
                     "--dt-min", "0.2"}));
  fails(2, "--tend", with(input, {"--eps", "0.1", "--dt", "0.1", "--tend", "1"}));
  fails(2, "engine",
        with(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "1", "--engine", "fast"}));
  fails(1, "No such file",
        with(folder.file("none"), {"--eps", "0.1", "--dt", "0.1", "--t-end", "1"}));
  fails(1, "no particles",
        with(example("plummer_1024_reference.hdf5"),
             {"--eps", "0.1", "--dt", "0.1", "--t-end", "1"}));
  const std::string file = folder.make("file", "x");
  fails(1, "cannot create the folder",
        nbody(input, {"--eps", "0.1", "--dt", "0.1", "--t-end", "1", "--out", file + "/out"}));
}

TEST_CASE("a full disk ends the run with an error and leaves no partial file") {
  const TemporaryFolder folder;
  const Outcome outcome = run_gdr_on_full_disk(
      plummer({"--t-end", "0.01", "--snapshot-every", "4steps", "--out", folder.path()}), 30000);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.errors, folder.file("snapshot_00000000.hdf5")));
  CHECK(folder.names().empty());
}

TEST_CASE("after an overflow the state before the step is saved") {
  const TemporaryFolder folder;
  const std::string file = folder.make("far.txt", "1e300 1e300 0 0 0 0 0\n1e300 0 0 0 1e300 0 0\n");
  const Outcome outcome = run_gdr({"nbody", file, "--eps", "0", "--dt", "1e10", "--t-end", "1e11",
                                   "--out", folder.file("run")});
  INFO(outcome.output << outcome.errors);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.errors, "particle"));
}

}  // namespace
}  // namespace gdr::test
