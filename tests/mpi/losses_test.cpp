// Ranks that are killed in the middle of a job, under an MPI that lets the others go on: these end
// well, and with the bits of an undisturbed run.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/temporary_folder.hpp"
#include "libgdr/io/snapshot.hpp"
#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

namespace {

const std::string cluster = std::string(GDR_SOURCE_DIR) + "/examples/data/plummer_1024.hdf5";

std::vector<std::string> nbody(const std::string& folder, const std::string& device) {
  return {GDR_COMMAND,
          "nbody",
          cluster,
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

/// The same on every rank, but that one is killed when a file has appeared.
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

std::string snapshot(const std::string& folder, int step) {
  return folder + "/snapshot_000000" + (step < 10 ? "0" : "") + std::to_string(step) + ".hdf5";
}

void same_particles(const std::string& a, const std::string& b) {
  const gdr::Snapshot x = gdr::read_snapshot(a), y = gdr::read_snapshot(b);
  CHECK((x.position == y.position));
  CHECK((x.velocity == y.velocity));
  CHECK(x.time == y.time);
}

}  // namespace

TEST_CASE("gdr nbody goes on without ranks that are killed, with the same bits") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const TemporaryFolder folder;
  const std::string one = folder.file("one");
  REQUIRE(run_alone(nbody(one, "emulator:threads=1")).status == 0);
  struct Losses {
    unsigned ranks;
    std::vector<std::pair<unsigned, int>> victims;  ///< and the step after which they are killed
  };
  // One in the middle; the one that writes; one after the other until one is left.
  const Losses cases[] = {{3, {{1, 4}}}, {3, {{0, 8}}}, {4, {{0, 4}, {1, 8}, {3, 12}}}};
  for (const Losses& losses : cases) {
    const std::string out = folder.file("lost" + std::to_string(&losses - cases));
    std::vector<std::pair<unsigned, std::string>> victims;
    for (const auto& [rank, step] : losses.victims) victims.emplace_back(rank, snapshot(out, step));
    const Ended ended = run_ranks(*mpi, losses.ranks, killed(nbody(out, "mpi:threads=1"), victims));
    INFO(ended.output << "\n" << ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(ended.seconds < 60);
    for (const int step : {4, 8, 12, 16, 20, 24})
      same_particles(snapshot(out, step), snapshot(one, step));
    const auto report = nlohmann::json::parse(ended.output);
    CHECK(report["ranks"].size() == losses.ranks - losses.victims.size());
    CHECK(report["snapshots"].size() == 7);
    auto lost = report["lost_ranks"].get<std::vector<unsigned>>();
    REQUIRE(lost.size() == losses.victims.size());
    for (std::size_t k = 0; k < lost.size(); ++k) {
      CHECK(lost[k] == losses.victims[k].first);
      const std::string said = "rank " + std::to_string(lost[k]) + " was lost";
      CHECK(ended.errors.find(said) != std::string::npos);
    }
  }
}

TEST_CASE("runs go on with the same bits wherever ranks are killed in them") {
  const auto mpi = mpi_with_ulfm();
  if (!mpi) {
    WARN("not tested: there is no MPI with ULFM (cmake/ulfm.sh)");
    return;
  }
  const char* const given = std::getenv("GDR_TEST_LOSSES");
  const int turns = given == nullptr ? 6 : std::atoi(given);
  for (int turn = 0; turn < turns; ++turn) {
    // Two ranks, one after the other, each at a random place in a round.
    const std::string victims[] = {std::to_string(turn % 5), std::to_string((turn + 2) % 5)};
    const Ended ended = run_ranks(
        *mpi, 5,
        {GDR_MPI_LOSSES, "mpi:threads=1", std::to_string(turn), "9", victims[0], victims[1]});
    INFO("turn " << turn << "\n" << ended.output << ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(ended.seconds < 60);
    for (const std::string& victim : victims)
      CHECK(ended.output.find("lost " + victim + "\n") != std::string::npos);
    for (unsigned rank = 0; rank < 5; ++rank) {
      const std::string name = std::to_string(rank);
      const bool is_lost = name == victims[0] || name == victims[1];
      CHECK((ended.output.find("left " + name + " of 3\n") != std::string::npos) == !is_lost);
    }
  }
}
