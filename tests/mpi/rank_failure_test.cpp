// Ranks killed in the middle of a job, with an MPI that supports fault tolerance: the others
// complete the job with the bits of an undisturbed run.
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>

#include "libgdr/io/hdf5.hpp"
#include "libgdr/io/snapshot.hpp"
#include "mpi/program.hpp"
#include "mpi/snapshots.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"
#include "support/temporary_folder.hpp"

using namespace gdr::test;

namespace {

/// A failure is noticed at once. Only one that the connections' timeouts reveal takes longer, also
/// if other processes use the cores.
constexpr double max_recovery_seconds = 300;

const std::string data = std::string(GDR_SOURCE_DIR) + "/examples/data/";
const std::string small_cluster = data + "plummer_1024.hdf5",
                  larger_cluster = data + "plummer_4096.hdf5";

std::vector<std::string> nbody(const std::string& folder, const std::string& device) {
  return {GDR_COMMAND,
          "nbody",
          small_cluster,
          "--eps",
          "0.015625",
          "--dt",
          "0.0009765625",
          "--t-end",
          "0.0234375",
          "--out",
          folder,
          "--device",
          device,
          "--json",
          "--format",
          "hdf5",
          "--snapshot-every",
          "4steps"};
}

/// The same command on every rank; one rank is killed when a file has appeared.
std::vector<std::string> killed(const std::vector<std::string>& words,
                                const std::vector<std::pair<unsigned, std::string>>& victims) {
  std::string line;
  for (const auto& [rank, file] : victims)
    line += "if [ \"$OMPI_COMM_WORLD_RANK\" = " + std::to_string(rank) + " ]; then (while [ ! -e " +
            file + " ]; do sleep 0.01; done; kill -9 $$) >/dev/null 2>&1 & fi; ";
  line += "exec";
  for (const std::string& word : words) line += " " + word;
  return {"/bin/sh", "-c", line};
}

/// The same command on every rank; one rank is killed when it has computed for a while.
std::vector<std::string> killed_at_work(const std::vector<std::string>& words, unsigned victim) {
  // Measured in CPU time: the setup takes a few hundredths of a second, independent of the load of
  // the host (several tenths with the address sanitizer, where the work takes seconds).
  const std::string ticks = std::string(GDR_LEAK_PRELOAD).empty() ? "12" : "120";
  std::string line = "if [ \"$OMPI_COMM_WORLD_RANK\" = " + std::to_string(victim) +
                     " ]; then (until [ \"$(cut -d' ' -f14 /proc/$$/stat)\" -ge " + ticks +
                     " ]; do sleep 0.01; done; kill -9 $$) >/dev/null 2>&1 & fi; exec";
  for (const std::string& word : words) line += " " + word;
  return {"/bin/sh", "-c", line};
}

std::string snapshot(const std::string& folder, int step) {
  return folder + "/snapshot_000000" + (step < 10 ? "0" : "") + std::to_string(step) + ".hdf5";
}

}  // namespace

TEST_CASE("gdr nbody continues without killed ranks, with the same bits") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const TemporaryFolder folder;
  const std::string one = folder.file("one");
  REQUIRE(run_alone(nbody(one, "exact:threads=1")).status == 0);
  struct Losses {
    unsigned ranks;
    std::vector<std::pair<unsigned, int>> victims;  ///< and the step after which they are killed
  };
  // A middle rank; the rank that writes; one after the other until one remains.
  const Losses cases[] = {{3, {{1, 4}}}, {3, {{0, 8}}}, {4, {{0, 4}, {1, 8}, {3, 12}}}};
  for (const Losses& losses : cases) {
    const std::string out = folder.file("lost" + std::to_string(&losses - cases));
    std::vector<std::pair<unsigned, std::string>> victims;
    for (const auto& [rank, step] : losses.victims) victims.emplace_back(rank, snapshot(out, step));
    const Ended ended =
        run_ranks(*mpi, losses.ranks, killed(nbody(out, "mpi:engine=exact,threads=1"), victims));
    INFO(ended.output << "\n" << ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(ended.seconds < max_recovery_seconds);
    for (const int step : {4, 8, 12, 16, 20, 24})
      check_same_particles(snapshot(out, step), snapshot(one, step));
    const auto report = nlohmann::json::parse(ended.output);
    CHECK(report["ranks"].size() == losses.ranks - losses.victims.size());
    CHECK(report["snapshots"].size() == 7);
    auto failed = report["failed_ranks"].get<std::vector<unsigned>>();
    REQUIRE(failed.size() == losses.victims.size());
    for (std::size_t k = 0; k < failed.size(); ++k) {
      CHECK(failed[k] == losses.victims[k].first);
      const std::string said = "rank " + std::to_string(failed[k]) + " failed";
      CHECK(ended.errors.find(said) != std::string::npos);
    }
  }
}

TEST_CASE("a run in block steps continues without killed ranks, with the same bits") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const TemporaryFolder folder;
  const auto words = [&](const std::string& out, const char* device) {
    return std::vector<std::string>{GDR_COMMAND,        "nbody",    small_cluster, "--integrator",
                                    "hermite4",         "--eps",    "0.015625",    "--dt",
                                    "0.03125",          "--t-end",  "0.375",       "--out",
                                    folder.file(out),   "--device", device,        "--json",
                                    "--snapshot-every", "1steps"};
  };
  REQUIRE(run_alone(words("one", "exact:threads=1")).status == 0);
  const std::string out = folder.file("lost");
  // A rank within a step, and the one that writes.
  const Ended ended = run_ranks(*mpi, 4,
                                killed(words("lost", "mpi:engine=exact,threads=1"),
                                       {{2, snapshot(out, 2)}, {0, snapshot(out, 4)}}));
  INFO(ended.output << "\n" << ended.errors);
  REQUIRE(ended.status == 0);
  for (const int step : {3, 6, 12})
    CHECK(content_of(snapshot(out, step)) == content_of(snapshot(folder.file("one"), step)));
  CHECK(nlohmann::json::parse(ended.output)["failed_ranks"].size() == 2);
}

TEST_CASE("runs continue with the same bits wherever ranks are killed") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const std::uint64_t first = gdr::test::first_seed(), turns = gdr::test::test_iterations(3);
  for (std::uint64_t turn = first; turn < first + turns; ++turn) {
    // Two ranks, one after the other, each at a random time within a round.
    const std::string victims[] = {std::to_string(turn % 5), std::to_string((turn + 2) % 5)};
    const Ended ended = run_ranks(*mpi, 5,
                                  {GDR_MPI_RANK_FAILURES, "mpi:engine=native,threads=1",
                                   std::to_string(turn), "9", victims[0], victims[1]});
    INFO("turn " << turn << "\n" << ended.output << ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(ended.seconds < max_recovery_seconds);
    for (const std::string& victim : victims)
      CHECK(ended.output.find("failed " + victim + "\n") != std::string::npos);
    for (unsigned rank = 0; rank < 5; ++rank) {
      const std::string name = std::to_string(rank);
      const bool is_victim = name == victims[0] || name == victims[1];
      CHECK((ended.output.find("left " + name + " of 3\n") != std::string::npos) == !is_victim);
    }
  }
}

TEST_CASE("C and Fortran programs continue without failed ranks") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const Ended in_c = run_ranks(*mpi, 4, {GDR_MPI_RANK_FAILURES_C, "mpi:engine=exact,threads=1"});
  INFO("C:\n" << in_c.output << in_c.errors);
  CHECK(in_c.status == 0);
  CHECK(in_c.seconds < max_recovery_seconds);
  const auto says = [](const Ended& ended, const std::string& line) {
    INFO(line);
    CHECK(ended.output.find(line + "\n") != std::string::npos);
  };
  // Rank 1 first; then rank 2, which is one of three.
  const std::vector<std::string> left = {"0", "2", "3"};
  for (std::size_t r = 0; r < 3; ++r) {
    says(in_c, left[r] + ": attempts 2, described");
    says(in_c, left[r] + ": rank " + std::to_string(r) + " of 3, the same");
    says(in_c, left[r] + ": status 4, rank 0: the work returned status 4");
  }
  for (std::size_t r = 0; r < 2; ++r) {
    const std::string name = r == 0 ? "0" : "3";
    says(in_c, name + ": status 9");
    says(in_c, name + ": failed 2, 9, count 1");
    says(in_c, name + ": rank " + std::to_string(r) + " of 2, the same");
  }

  if (std::string(GDR_MPI_RANK_FAILURES_F).empty()) return;
  const Ended in_fortran =
      run_ranks(*mpi, 3, {GDR_MPI_RANK_FAILURES_F, "mpi:engine=exact,threads=1"});
  INFO("Fortran:\n" << in_fortran.output << in_fortran.errors);
  CHECK(in_fortran.status == 0);
  says(in_fortran, "0: status 0");
  says(in_fortran, "0: rank 0 of 2, the same T");
  says(in_fortran, "2: rank 1 of 2, the same T");
  says(in_fortran, "2: status 5, failed 0");
}

TEST_CASE("gdr force continues without killed ranks, with the same bits") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const TemporaryFolder folder;
  // The job takes half a second or more, in which a rank is killed.
  gdr::Snapshot snapshot = gdr::read_snapshot(larger_cluster);
  const std::string file = folder.file("cluster.txt");
  std::ofstream out(file);
  out << std::setprecision(17);
  for (std::size_t i = 0; i < 1200; ++i) {
    out << snapshot.mass[i];
    for (const auto* triples : {&snapshot.position, &snapshot.velocity})
      for (std::size_t k = 0; k < 3; ++k) out << " " << (*triples)[3 * i + k];
    out << "\n";
  }
  out.close();
  struct Loss {
    const char* kernel;
    unsigned victim;
  };
  // Gravity, and a kernel without a dedicated path; rank 0 is the one that writes.
  for (const Loss loss : {Loss{"gravity", 0}, Loss{"gravity_neighbours", 1}}) {
    const auto force = [&](const std::string& forces, const std::string& device) {
      std::vector<std::string> words = {GDR_COMMAND, "force",     file,       "--eps",
                                        "0.015625",  "-o",        forces,     "--json",
                                        "--kernel",  loss.kernel, "--device", device};
      if (loss.kernel != std::string("gravity")) words.insert(words.end(), {"--set", "hi2=0.001"});
      return words;
    };
    const std::string one = folder.file("one.hdf5"), left = folder.file("left.hdf5");
    REQUIRE(run_alone(force(one, "exact:threads=1")).status == 0);
    const Ended ended = run_ranks(
        *mpi, 3,
        killed_at_work(force(left, "mpi:engine=exact,threads=1,engine=reference"), loss.victim));
    INFO(loss.kernel << ", rank " << loss.victim << "\n" << ended.output << "\n" << ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(ended.seconds < max_recovery_seconds);
    const gdr::hdf5::Reader x(one), y(left);
    for (const char* name : {"Acceleration", "Potential"})
      CHECK((x.doubles(name) == y.doubles(name)));
    const auto report = nlohmann::json::parse(ended.output);
    CHECK(report["failed_ranks"] == nlohmann::json(std::vector<unsigned>{loss.victim}));
    CHECK(report["ranks"].size() == 2);
  }
}
