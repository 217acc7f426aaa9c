// Coulomb matrices over many ranks.
#include <sstream>

#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

TEST_CASE("a Coulomb matrix has the same bits on 1, 2 and 4 ranks, and every rank has all of it") {
  const Ended alone = run_alone({GDR_MPI_CHEMISTRY, "emulator:engine=native"});
  INFO(alone.errors);
  REQUIRE(alone.status == 0);
  for (const unsigned ranks : {1U, 2U, 4U}) {
    const Ended ended =
        run_ranks(mpi_kinds().at(0), ranks, {GDR_MPI_CHEMISTRY, "mpi:engine=native,threads=1"});
    INFO(ranks << " ranks: " << ended.errors);
    REQUIRE(ended.status == 0);
    std::istringstream lines(ended.output);
    unsigned count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(line + "\n" == alone.output);
    CHECK(count == ranks);
  }
}
