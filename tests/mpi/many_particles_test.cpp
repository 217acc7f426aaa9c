// Sums within a cut-off and trees on many ranks.
#include <sstream>
#include <string>
#include <vector>

#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

namespace {

void check(const MpiKind& mpi, unsigned ranks, const std::string& options,
           const std::string& particles) {
  const Ended ended = run_ranks(mpi, ranks, {GDR_MPI_MANY_PARTICLES, options, particles});
  INFO(mpi.name << ", " << ranks << " ranks, " << options << "\n" << ended.output << ended.errors);
  CHECK(ended.status == 0);
  std::vector<std::vector<std::string>> lines(ranks);
  std::istringstream in(ended.output);
  for (std::string line; std::getline(in, line);)
    if (line.size() > 3 && line.substr(1, 2) == ": ")
      lines.at(static_cast<std::size_t>(line[0] - '0')).push_back(line.substr(3));
  const std::string last = "rank " + std::to_string(ranks - 1);
  const bool several = ranks > 1;
  const std::vector<std::string> expected = {
      "same",
      "same",
      last + ": cutoff is -1; a cut-off must be a positive number, at least 1e-150",
      last + ": pos[1], coordinate 1, is nan; coordinates must be finite",
      last + ": qj[2] is nan; values must be finite",
      last + ": unknown param \"kk\"",
      several ? last + " calls PairSum::set_cutoff where rank 0 calls PairSum::run" : "no error",
      several ? last + " gives a param another value than rank 0" : "no error",
      "same",
      "same",
      "same",
      "same",
      "same",
      last + ": particle 1: coordinate y is not a number",
      last + ": TreeOptions: accuracy must be above 0 and below 1",
      several ? last + " gives other options of the tree than rank 0" : "no error",
      "same"};
  for (const std::vector<std::string>& of_rank : lines) {
    REQUIRE(of_rank.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
      CHECK(of_rank[k].substr(0, expected[k].size()) == expected[k]);
  }
}

}  // namespace

TEST_CASE("sums within a cut-off and trees have the bits of one process on any number of ranks") {
  for (const MpiKind& mpi : mpi_kinds())
    for (const unsigned ranks : {1U, 2U, 3U, 7U})
      check(mpi, ranks, "engine=native,threads=1", "2500");
}

TEST_CASE("sums within a cut-off and trees on ranks with exact numerics have the bits of one") {
  check(mpi_kinds().at(0), 3, "chips=1,blocks=2,pes=4,threads=1", "300");
}
