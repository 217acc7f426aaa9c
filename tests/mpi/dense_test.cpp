// Products and LU over grids of ranks: accuracy, and the same bits for every grid.
#include <map>
#include <sstream>

#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

namespace {

/// The output of the program: 64-bit numbers, added over the ranks.
struct Printed {
  std::map<std::string, std::uint64_t> sums;
  std::vector<std::uint64_t> solutions;
  double worst = 0, residual = -1;
};

Printed read(const std::string& text) {
  Printed p;
  std::istringstream in(text);
  for (std::string name; in >> name;) {
    if (name == "worst" || name == "residual") {
      double value = 0;
      in >> value;
      double& to = name == "worst" ? p.worst : p.residual;
      to = std::max(to, value);
    } else {
      std::uint64_t value = 0;
      in >> value;
      p.sums[name] += value;
      if (name == "x-same") p.solutions.push_back(value);
    }
  }
  p.sums.erase("x-same");
  return p;
}

using Sizes = std::vector<std::string>;  ///< m, n, k of the product, and equations
const Sizes large = {"70", "45", "2100", "150"};

Printed run(const Sizes& sizes, unsigned ranks, const std::string& rows, const std::string& block,
            const MpiKind& mpi = mpi_kinds().at(0)) {
  std::vector<std::string> words = {GDR_MPI_DENSE, ranks == 0 ? "exact" : "mpi:engine=exact", rows,
                                    block};
  words.insert(words.end(), sizes.begin(), sizes.end());
  const Ended ended = ranks == 0 ? run_alone(words) : run_ranks(mpi, ranks, words);
  INFO(ranks << " ranks, " << rows << " rows: " << ended.errors);
  REQUIRE(ended.status == 0);
  return read(ended.output);
}

}  // namespace

TEST_CASE("products and LU over grids of ranks have the bits of one process") {
  const Printed alone = run(large, 0, "0", "16");
  CHECK(alone.worst < 1e-13);
  CHECK(alone.residual >= 0);
  CHECK(alone.residual < 16);  // HPL's limit
  struct Grid {
    unsigned ranks;
    const char* rows;
  };
  for (const Grid grid : {Grid{1, "0"}, Grid{2, "1"}, Grid{3, "3"}, Grid{4, "0"}, Grid{6, "2"}}) {
    const Printed got = run(large, grid.ranks, grid.rows, "16");
    INFO(grid.ranks << " ranks in " << grid.rows << " rows");
    CHECK(got.sums == alone.sums);
    CHECK(got.residual == alone.residual);
    CHECK(got.solutions.size() == grid.ranks);
    for (const std::uint64_t x : got.solutions) CHECK(x == alone.solutions.at(0));
  }
}

TEST_CASE("matrices smaller than a block and empty matrices work on grids of ranks") {
  for (const Sizes& sizes :
       {Sizes{"1", "1", "1", "1"}, Sizes{"0", "5", "3", "2"}, Sizes{"17", "3", "40", "33"}}) {
    const Printed alone = run(sizes, 0, "0", "16");
    CHECK(alone.sums.contains("scaled"));
    for (const MpiKind& mpi : mpi_kinds()) {
      INFO(mpi.name << ", " << sizes[0] << " rows");
      const Printed got = run(sizes, 5, mpi.name == "MPICH" ? "5" : "1", "16", mpi);
      CHECK(got.sums == alone.sums);
      CHECK(got.solutions == std::vector<std::uint64_t>(5, alone.solutions.at(0)));
    }
  }
}
