// Jerks, sums of any law with a tree, Ewald and SPH sums on many ranks.
#include <sstream>
#include <string>
#include <vector>

#include "mpi/program.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

using namespace gdr::test;

namespace {

void check_sums(const MpiKind& mpi, unsigned ranks, const std::string& options,
                const std::string& particles) {
  const Ended ended = run_ranks(mpi, ranks, {GDR_MPI_PERIODIC_AND_TREE_SUMS, options, particles});
  INFO(mpi.name << ", " << ranks << " ranks, " << options << "\n" << ended.output << ended.errors);
  CHECK(ended.status == 0);
  std::vector<std::vector<std::string>> lines(ranks);
  std::istringstream in(ended.output);
  for (std::string line; std::getline(in, line);)
    if (line.size() > 3 && line.substr(1, 2) == ": ")
      lines.at(static_cast<std::size_t>(line[0] - '0')).push_back(line.substr(3));
  const std::string last = "rank " + std::to_string(ranks - 1);
  const auto of_several = [&](const std::string& message) {
    return ranks > 1 ? last + message : "no error";
  };
  // 8 of jerks and forces, 6 of trees, 1 of Ewald sums, 2 of SPH.
  std::vector<std::string> expected(17, "same");
  const std::vector<std::string> errors = {
      last + ": particle 1: coordinate y is not a number",
      of_several(" gives other options of the tree than rank 0"),
      of_several(" calls GravityJerk::compute with a tree where rank 0 calls GravityJerk::compute"),
      of_several(" calls GravityJerk::compute where rank 0 calls GravityJerk::compute and "
                 "softening of each particle"),
      "there are no particles",
      last + ": pos[1], coordinate 1, is nan; coordinates must be finite",
      last + ": qj[2] is nan; values must be finite",
      last + ": unknown param \"kk\"",
      of_several(" gives other options of the tree than rank 0"),
      "no error",
      last + ": pos[1] is nan; positions and charges must be finite",
      of_several(" gives other options than rank 0"),
      of_several(" gives another box than rank 0"),
      "no error",
      "charges 0 and " + std::to_string(std::stoul(particles) - 1) + " are at the same place",
      last + ": pos[1] is nan; expected a finite number",
      of_several(" gives other options of smoothing lengths than rank 0"),
      ": smoothing lengths have not converged in 1 iteration",
      "no error",
      of_several(" calls Sph::set_box where rank 0 calls Sph::smoothing_lengths"),
      "same"};
  expected.insert(expected.end(), errors.begin(), errors.end());
  for (const std::vector<std::string>& of_rank : lines) {
    REQUIRE(of_rank.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      CAPTURE(k, of_rank[k], expected[k]);
      CHECK(contains(of_rank[k], expected[k]));
    }
  }
}

}  // namespace

TEST_CASE("jerks, trees, Ewald and SPH sums have the bits of one process on any number of ranks") {
  for (const MpiKind& mpi : mpi_kinds())
    for (const unsigned ranks : {1U, 2U, 3U})
      check_sums(mpi, ranks, "engine=native,threads=1", "1500");
}

TEST_CASE("jerks, trees, Ewald and SPH sums on ranks with exact numerics have the bits of one") {
  check_sums(mpi_kinds().at(0), 3, "chips=1,blocks=2,pes=4,threads=1", "120");
}
