// The results of a job have the same bits as in one process for any number of ranks, boards and
// threads, and for any distribution of its data.
#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "mpi/program.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace gdr::test;

namespace {

using Words = std::vector<std::uint64_t>;

const std::string machine = "chips=2,blocks=4,pes=4";
const std::vector<std::string> all_cases = {"gravity", "few",      "one",     "none",
                                            "empty",   "jerk",     "nearest", "neighbours",
                                            "typed",   "reaction", "placed"};

Words words_of(const std::string& path) {
  const std::string bytes = content_of(path);
  Words words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint64_t));
  return words;
}

/// The results of all ranks, concatenated variable by variable.
Words joined(const std::string& path, unsigned ranks) {
  std::vector<Words> parts;
  for (unsigned r = 0; r < ranks; ++r) parts.push_back(words_of(path + "." + std::to_string(r)));
  Words all;
  std::vector<std::size_t> at(ranks, 0);
  while (at[0] < parts[0].size())
    for (unsigned r = 0; r < ranks; ++r) {
      const std::size_t n = parts[r].at(at[r]);
      for (std::size_t k = 1; k <= n; ++k) all.push_back(parts[r].at(at[r] + k));
      at[r] += n + 1;
    }
  return all;
}

/// Bytes that a rank reports.
struct Memory {
  std::uint64_t sources = 0, all = 0;
};

struct Results {
  std::map<std::string, Words> by_case;
  friend bool operator==(const Results&, const Results&) = default;
};

Results collect(const std::string& folder, unsigned ranks, const std::vector<std::string>& names) {
  Results results;
  for (const std::string& name : names)
    for (const char* kind : {".results", ".outputs"})
      results.by_case[name + kind] = joined(folder + "/" + name + kind, ranks);
  return results;
}

Results alone(const std::string& options, const std::vector<std::string>& names) {
  const TemporaryFolder folder;
  std::vector<std::string> words = {GDR_MPI_JOBS, "exact:" + options, "even", folder.path()};
  words.insert(words.end(), names.begin(), names.end());
  const Ended ended = run_alone(words);
  INFO(ended.errors);
  REQUIRE(ended.status == 0);
  return collect(folder.path(), 1, names);
}

Results on_ranks(const MpiKind& mpi, unsigned ranks, const std::string& options,
                 const std::string& layout, const std::vector<std::string>& names) {
  const TemporaryFolder folder;
  std::vector<std::string> words = {GDR_MPI_JOBS, "mpi:engine=exact," + options, layout,
                                    folder.path()};
  words.insert(words.end(), names.begin(), names.end());
  const Ended ended = run_ranks(mpi, ranks, words);
  INFO(mpi.name << " " << ranks << " " << options << " " << layout << "\n" << ended.errors);
  REQUIRE(ended.status == 0);
  return collect(folder.path(), ranks, names);
}

void compare(const Results& got, const Results& expected, const std::string& what) {
  for (const auto& [name, words] : expected.by_case) {
    INFO(what << ": " << name);
    CHECK(got.by_case.at(name).size() == words.size());
    CHECK((got.by_case.at(name) == words));
  }
}

}  // namespace

TEST_CASE("results have the bits of one process for any number of ranks") {
  const Results expected = alone(machine, all_cases);
  CHECK(expected.by_case.at("few.results").size() == 4 * (37 + 37 + 18 + 18));
  CHECK(expected.by_case.at("reaction.outputs").size() == 2 * 4 * 230);
  compare(alone(machine + ",boards=3,threads=2", all_cases), expected, "3 boards, 2 threads");
  for (const MpiKind& mpi : mpi_kinds())
    for (const unsigned ranks : {1U, 2U, 3U, 4U, 8U}) {
      if (mpi.name != mpi_kinds()[0].name && ranks != 3) continue;  // it only carries the bytes
      compare(on_ranks(mpi, ranks, machine, ranks == 3 ? "uneven" : "even", all_cases), expected,
              mpi.name + " " + std::to_string(ranks));
    }
}

TEST_CASE("sums over source slices equal undivided sums up to rounding") {
  // 37 targets on 20000 sources give two slices here; partition=targets requests one.
  const Words sliced = alone(machine, {"few"}).by_case.at("few.results");
  const Words whole = alone(machine + ",partition=targets", {"few"}).by_case.at("few.results");
  REQUIRE(sliced.size() == whole.size());
  std::size_t different = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    const auto a = std::bit_cast<double>(sliced[k]), b = std::bit_cast<double>(whole[k]);
    CHECK(a == Approx(b).epsilon(1e-10).margin(1e-9));
    different += a != b ? 1 : 0;
  }
  CHECK(different > 0);
}

TEST_CASE("the memory of a rank decreases with the number of ranks if sources are in slices") {
  // 40000 sources give four slices here.
  std::map<unsigned, Memory> largest;
  for (const unsigned ranks : {1U, 2U, 4U}) {
    const TemporaryFolder folder;
    const Ended ended = run_ranks(mpi_kinds().at(0), ranks,
                                  {GDR_MPI_JOBS, "mpi:" + machine, "even", folder.path(), "many"});
    INFO(ended.errors);
    REQUIRE(ended.status == 0);
    std::istringstream lines(ended.output);
    std::string name;
    unsigned count = 0;
    Memory& most = largest[ranks];
    for (Memory one; lines >> name >> one.sources >> one.all; ++count) {
      most.sources = std::max(most.sources, one.sources);
      most.all = std::max(most.all, one.all);
    }
    CHECK(count == ranks);
  }
  constexpr std::uint64_t source_bytes = 5 * sizeof(double);  // x, y, z, m, id
  CHECK(largest[1].sources == 40000 * source_bytes);
  CHECK(largest[2].sources == 20000 * source_bytes);
  CHECK(largest[4].sources == 10000 * source_bytes);
  // A rank also holds a few targets and the sums of slices.
  CHECK(largest[2].all < largest[1].all * 6 / 10);
  CHECK(largest[4].all < largest[1].all * 3 / 10);
}

TEST_CASE("results do not depend on the distribution of data, boards and threads") {
  const std::vector<std::string> names = {"gravity", "few", "nearest", "reaction"};
  const Results expected = alone(machine, names);
  const MpiKind mpi = mpi_kinds().at(0);
  compare(on_ranks(mpi, 3, machine, "ends", names), expected, "at the ends");
  compare(on_ranks(mpi, 4, machine + ",boards=2,threads=2", "uneven", names), expected, "uneven");
}

TEST_CASE("results have the bits of one process for both partitions and the native engines") {
  const std::vector<std::string> names = {"gravity", "few", "nearest"};
  const MpiKind mpi = mpi_kinds().at(0);
  for (const char* more : {",partition=targets", ",partition=sources", ",engine=native"}) {
    const Results expected = alone(machine + more, names);
    compare(on_ranks(mpi, 2, machine + more, "even", names), expected, more);
    compare(on_ranks(mpi, 3, machine + more, "uneven", names), expected, more);
  }
}

TEST_CASE("native sums keep their digits on ranks where sources arrive or are sent in pieces") {
  // More than 4096 sources arrive in pieces; 32 KiB hold 819 of them. The runs of pieces were
  // rounded to shorts between them.
  for (const char* more : {",engine=native", ",engine=native,dram=32768"}) {
    const Results expected = alone(machine + more, {"pieces"});
    for (const unsigned ranks : {1U, 3U})
      compare(on_ranks(mpi_kinds().at(0), ranks, machine + more, "even", {"pieces"}), expected,
              more + std::string(" ") + std::to_string(ranks));
  }
}
