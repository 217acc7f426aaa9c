// `gdr force` and `gdr nbody` on many ranks: bit identity with one process, restarts with another
// number of ranks, errors.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "libgdr/io/hdf5.hpp"
#include "libgdr/io/snapshot.hpp"
#include "mpi/program.hpp"
#include "mpi/snapshots.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace gdr::test;

namespace {

const std::string cluster = std::string(GDR_SOURCE_DIR) + "/examples/data/plummer_1024.hdf5";

std::vector<std::string> nbody(const std::string& file, const std::string& end,
                               const std::string& folder, const std::string& device) {
  return {GDR_COMMAND, "nbody", file,    "--eps", "0.015625", "--dt", "0.0009765625",
          "--t-end",   end,     "--out", folder,  "--device", device, "--snapshot-every",
          "4steps",    "--json"};
}

MpiKind mpi() { return mpi_kinds().at(0); }

/// Stars at rest.
void write_stars(const std::string& name, int count) {
  std::ofstream file(name);
  std::mt19937 random(5);
  std::normal_distribution<double> at;
  for (int i = 0; i < count; ++i) {
    file << 1.0 / count;
    for (int c = 0; c < 6; ++c) file << ' ' << (c < 3 ? at(random) : 0.0);
    file << '\n';
  }
}

std::string text_of(const std::string& name) {
  std::ifstream file(name);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Runs a command with the native engine on ranks, of one in this process.
Ended run_on(unsigned ranks, std::vector<std::string> words) {
  words.insert(words.end(),
               {"--device", (ranks > 1 ? "mpi:engine=native,threads=1" : "native:threads=1")});
  return ranks > 1 ? run_ranks(mpi(), ranks, words) : run_alone(words);
}

}  // namespace

TEST_CASE("gdr nbody runs on ranks and restarts with another number of ranks") {
  const TemporaryFolder folder;
  const std::string one = folder.file("one"), three = folder.file("three");
  // Eight steps of 2^-10.
  REQUIRE(run_alone(nbody(cluster, "0.0078125", one, "exact:threads=1")).status == 0);
  const Ended first =
      run_ranks(mpi(), 3, nbody(cluster, "0.00390625", three, "mpi:engine=exact,threads=1"));
  INFO(first.errors);
  REQUIRE(first.status == 0);
  const std::string half = three + "/snapshot_00000004.hdf5";
  check_same_particles(half, one + "/snapshot_00000004.hdf5");
  const Ended second =
      run_ranks(mpi(), 2, nbody(half, "0.0078125", three, "mpi:engine=exact,threads=1"));
  INFO(second.errors);
  REQUIRE(second.status == 0);
  check_same_particles(three + "/snapshot_00000008.hdf5", one + "/snapshot_00000008.hdf5");

  // One JSON object for all ranks, with the statistics of each.
  const auto report = nlohmann::json::parse(second.output);
  REQUIRE(report["ranks"].size() == 2);
  std::uint64_t pairs = 0;
  for (const auto& rank : report["ranks"]) {
    pairs += rank["pairs"].get<std::uint64_t>();
    CHECK(rank["boards"] == 1);
    CHECK(rank["bytes_to_board"].get<std::uint64_t>() > 0);
    CHECK(rank["bytes_received"].get<std::uint64_t>() > 0);
  }
  CHECK(pairs == report["force_calculations"].get<std::uint64_t>() * 1024 * 1024);
}

TEST_CASE("gdr nbody to an accuracy has the bits of one process on ranks, also after a restart") {
  const TemporaryFolder folder;
  const std::string stars = folder.file("stars.txt");
  write_stars(stars, 12000);
  const auto run = [&](unsigned ranks, const std::string& from, const std::string& end,
                       const std::string& out) {
    const std::vector<std::string> words = {GDR_COMMAND, "nbody", from,      "--eps", "0.05",
                                            "--dt",      "0.01",  "--t-end", end,     "--accuracy",
                                            "3e-3",      "--out", out};
    const Ended ended = run_on(ranks, words);
    INFO(ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(ended.output.find("multipoles of degree") != std::string::npos);
  };
  const std::string one = folder.file("one"), many = folder.file("many");
  run(1, stars, "0.04", one);
  run(3, stars, "0.02", many);
  run(2, many + "/snapshot_00000002.txt", "0.04", many);
  const std::string last = text_of(one + "/snapshot_00000004.txt");
  CHECK(last.size() > 12000);
  CHECK(text_of(many + "/snapshot_00000004.txt") == last);
}

TEST_CASE("gdr nbody --trace writes the events of all ranks to one file, each on its own tracks") {
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  std::vector<std::string> words =
      nbody(cluster, "0.00390625", folder.file("out"), "mpi:engine=exact,threads=1");
  words.insert(words.end(), {"--trace", file});
  const Ended ended = run_ranks(mpi(), 3, words);
  INFO(ended.errors);
  REQUIRE(ended.status == 0);
  std::ifstream text(file);
  const auto events = nlohmann::json::parse(text)["traceEvents"];
  std::map<int, std::string> processes;
  for (const auto& e : events)
    if (e["ph"] == "M" && e["name"] == "process_name") processes[e["pid"]] = e["args"]["name"];
  // Of each process, what its boards did and what the host did for them.
  std::map<std::string, int> counts;
  for (const auto& e : events)
    if (e["ph"] == "X") ++counts[processes.at(e["pid"])];
  for (const char* const rank : {"rank 0", "rank 1", "rank 2"})
    for (const char* const clock : {"modelled", "measured"}) {
      INFO(rank << ", " << clock);
      int events_of_rank = 0;
      for (const auto& [process, count] : counts)
        if (process.find(rank) != std::string::npos && process.find(clock) != std::string::npos)
          events_of_rank += count;
      CHECK(events_of_rank >= 5);  // forces at the start and in each step
    }
}

TEST_CASE("block steps on ranks have the bits of one process, also after a restart") {
  const TemporaryFolder folder;
  const auto words = [&](const std::string& file, const char* end, const std::string& out,
                         const std::string& device) {
    return std::vector<std::string>{
        GDR_COMMAND,      "nbody",    file,      "--integrator",     "hermite4", "--eps",
        "0.015625",       "--dt",     "0.03125", "--t-end",          end,        "--out",
        folder.file(out), "--device", device,    "--snapshot-every", "1steps",   "--json"};
  };
  REQUIRE(run_alone(words(cluster, "0.125", "one", "exact:threads=1")).status == 0);
  const Ended first =
      run_ranks(mpi(), 3, words(cluster, "0.0625", "parts", "mpi:engine=exact,threads=1"));
  INFO(first.errors);
  REQUIRE(first.status == 0);
  const std::string half = folder.file("parts/snapshot_00000002.hdf5");
  const Ended second =
      run_ranks(mpi(), 2, words(half, "0.125", "parts", "mpi:engine=exact,threads=1"));
  INFO(second.errors);
  REQUIRE(second.status == 0);
  for (const char* name : {"/snapshot_00000001.hdf5", "/snapshot_00000004.hdf5"})
    CHECK(content_of(folder.file("one") + name) == content_of(folder.file("parts") + name));
  const auto report = nlohmann::json::parse(second.output);
  std::uint64_t pairs = 0;
  for (const auto& rank : report["ranks"]) pairs += rank["pairs"].get<std::uint64_t>();
  // Forces of all particles at the start of the two steps and after each, besides the blocks.
  const auto steps = report["blocks"]["particle_steps"].get<std::uint64_t>();
  CHECK(pairs == (steps + 3 * 1024) * 1024);
}

TEST_CASE(
    "block steps to an accuracy have the bits of one process on ranks, also after a restart") {
  const TemporaryFolder folder;
  const std::string stars = folder.file("stars.txt");
  write_stars(stars, 12000);
  const auto run = [&](unsigned ranks, const std::string& from, const std::string& end,
                       const std::string& out) {
    const Ended ended = run_on(
        ranks,
        {GDR_COMMAND, "nbody",   from,       "--integrator",     "hermite4", "--eps", "0.05",
         "--dt",      "0.03125", "--dt-min", "0.0078125",        "--t-end",  end,     "--accuracy",
         "1e-3",      "--out",   out,        "--snapshot-every", "1steps",   "--json"});
    INFO(ended.errors);
    REQUIRE(ended.status == 0);
    return nlohmann::json::parse(ended.output)["blocks"];
  };
  const std::string one = folder.file("one"), many = folder.file("many");
  const auto whole = run(1, stars, "0.0625", one);
  CHECK(whole["tree_steps"].get<double>() >= 2 * 12000);
  CHECK(whole["tree_error"].get<double>() <= 1e-3);
  CHECK(run(5, stars, "0.03125", many)["tree_error"].get<double>() > 0);
  run(2, many + "/snapshot_00000001.txt", "0.0625", many);
  CHECK(text_of(many + "/snapshot_00000002.txt") == text_of(one + "/snapshot_00000002.txt"));
  const std::string three = folder.file("three");
  CHECK(run(3, stars, "0.0625", three) == whole);
  CHECK(text_of(three + "/snapshot_00000002.txt") == text_of(one + "/snapshot_00000002.txt"));
}

TEST_CASE("gdr force runs on ranks with kernels of all kinds") {
  for (const char* kernel : {"gravity", "gravity_neighbours"}) {
    const TemporaryFolder folder;
    const auto words = [&](const std::string& out, const std::string& device) {
      std::vector<std::string> list = {
          GDR_COMMAND,      "force",    cluster, "--eps",    "0.015625", "-o",
          folder.file(out), "--device", device,  "--kernel", kernel};
      if (kernel != std::string("gravity")) list.insert(list.end(), {"--set", "hi2=0.001"});
      return list;
    };
    REQUIRE(run_alone(words("one.hdf5", "exact:threads=1")).status == 0);
    const Ended ended = run_ranks(mpi(), 4, words("four.hdf5", "mpi:engine=exact,threads=1"));
    INFO(ended.errors);
    REQUIRE(ended.status == 0);
    CHECK(std::count(ended.output.begin(), ended.output.end(), '\n') > 3);
    const gdr::hdf5::Reader one(folder.file("one.hdf5")), four(folder.file("four.hdf5"));
    for (const char* name : {"Acceleration", "Potential"})
      CHECK((one.doubles(name) == four.doubles(name)));
  }
}

TEST_CASE("an error is reported once and ends all ranks") {
  const TemporaryFolder folder;
  const Ended missing = run_ranks(
      mpi(), 3,
      nbody(folder.file("none.hdf5"), "0.01", folder.file("out"), "mpi:engine=exact,threads=1"));
  CHECK(missing.status != 0);
  CHECK(missing.errors.find("none.hdf5") != std::string::npos);
  CHECK(missing.errors.find("gdr: error") == missing.errors.rfind("gdr: error"));
  CHECK(missing.seconds < 120);
}

TEST_CASE("ranks whose arguments differ from rank 0 report an error") {
  const TemporaryFolder folder;
  const std::string last = "; all ranks must be given the same";
  const auto differs = [&](const std::string& words, const std::string& first,
                           const std::string& other, const std::string& said) {
    const std::string line = "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then set -- " +
                             other + "; else set -- " + first + "; fi; exec " GDR_COMMAND " " +
                             words + " --device mpi:engine=exact,threads=1 \"$@\"";
    const Ended ended = run_ranks(mpi(), 3, {"/bin/sh", "-c", line});
    INFO(words << "\n" << ended.output << ended.errors);
    CHECK(ended.status != 0);
    CHECK(ended.seconds < 120);
    CHECK(ended.errors.find("gdr: error: rank 1 " + said + " than rank 0" + last) !=
          std::string::npos);
  };
  // The same number of particles at other positions, as if one node had an outdated file.
  const std::string old = folder.file("old.txt"), anew = folder.file("new.txt");
  std::ofstream(old) << "1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n";
  std::ofstream(anew) << "1 0 0 0 0 0 0\n1 2 0 0 0 0 0\n";
  const std::string force = "force --eps 0.1 -o " + folder.file("forces.hdf5");
  differs(force, anew, old, "has read other particles");
  differs(force, anew + " --G 1", anew + " --G 2", "has another --eps, --G or --accuracy");
  differs(force, anew + " --kernel gravity", anew + " --kernel gravity_long",
          "has another --kernel or --set");
  const std::string nbody = "nbody --eps 0.1 --dt 0.125 --out " + folder.file("run");
  differs(nbody, anew + " --t-end 1", anew + " --t-end 2",
          "has another --dt, --t-end, --snapshot-every or --energy-every");
  differs(nbody + " --t-end 1", anew, old, "has read other particles");
  CHECK(!std::filesystem::exists(folder.file("forces.hdf5")));
}

TEST_CASE("a killed rank ends the job within seconds, with a message") {
  const TemporaryFolder folder;
  // The shell of rank 1 is killed in the middle of the run.
  const std::string out = folder.file("out");
  std::string line =
      "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then (sleep 2; kill -9 $$) "
      ">/dev/null 2>&1 & fi; exec";
  for (const std::string& word : nbody(cluster, "1000", out, "mpi:engine=exact,threads=1"))
    line += " " + word;
  const Ended ended = run_ranks(mpi(), 3, {"/bin/sh", "-c", line});
  CHECK(ended.status != 0);
  CHECK(ended.seconds < 120);
  CHECK(!ended.errors.empty());
  // The snapshot written before is intact.
  if (std::filesystem::exists(out + "/snapshot_00000004.hdf5"))
    CHECK(gdr::read_snapshot(out + "/snapshot_00000004.hdf5").size() == 1024);
}

TEST_CASE("SIGTERM to one rank ends all ranks with status 143 and a snapshot") {
  for (const int rank : {0, 1}) {
    const TemporaryFolder folder;
    const std::string out = folder.file("out"), first = out + "/snapshot_00000004.hdf5";
    std::string line;
    for (const std::string& word : nbody(cluster, "1000", out, "mpi:engine=exact,threads=1"))
      line += word + " ";
    // Every shell records the status of its rank; one of them kills its rank after the run has
    // begun.
    line +=
        "& pid=$!; rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; if [ $rank = " + std::to_string(rank) +
        " ]; then while [ ! -e " + first +
        " ]; do sleep 0.1; done; kill -TERM $pid; fi; wait $pid; status=$?; echo $status > " +
        folder.file("status") + "$rank; exit $status";
    const Ended ended = run_ranks(mpi(), 2, {"/bin/sh", "-c", line});
    INFO(rank << "\n" << ended.output << ended.errors);
    CHECK(ended.status == 143);
    CHECK(ended.seconds < 120);
    // MPI may end a shell before it has recorded a status, if another rank has ended with an error.
    for (const char* name : {"status0", "status1"}) {
      if (!std::filesystem::exists(folder.file(name))) continue;
      const std::string noted = content_of(folder.file(name));
      CHECK((noted.empty() || noted == "143\n"));
    }
    CHECK(nlohmann::json::parse(ended.output, nullptr, false).value("stopped", false));
    CHECK(gdr::read_snapshot(first).size() == 1024);
  }
}

TEST_CASE("the error about a missing MPI plugin says what to do") {
  const std::vector<std::string> words = {
      GDR_COMMAND, "nbody", cluster,   "--device", "mpi:engine=exact", "--eps", "0.01",
      "--dt",      "0.01",  "--t-end", "1"};
  std::vector<std::string> with = {"env", "GDR_MPI_LIBRARY=/nowhere/libgdr_mpi.so"};
  with.insert(with.end(), words.begin(), words.end());
  const Ended ended = run_alone(with);
  CHECK(ended.status == 1);
  CHECK(ended.errors.find("GDR_MPI") != std::string::npos);
  CHECK(ended.errors.find("/nowhere/libgdr_mpi.so") != std::string::npos);
}
