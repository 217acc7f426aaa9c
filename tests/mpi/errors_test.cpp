// An error on one rank is thrown on all ranks with the same message.
#include <sstream>

#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

TEST_CASE("a rank that hangs ends the job when the time limit has passed") {
  const MpiKind mpi = mpi_kinds().at(0);
  const Ended ended =
      run_ranks(mpi, 3, {"env", "GDR_MPI_TIMEOUT=1.5", GDR_MPI_HANG, "mpi:threads=1"});
  INFO(ended.output << ended.errors);
  CHECK(ended.status != 0);
  CHECK(ended.seconds < 120);
  CHECK(ended.output.find("5 no data from other ranks within 1.5 s") != std::string::npos);
  CHECK(ended.output.find("GDR_MPI_TIMEOUT") != std::string::npos);
}

TEST_CASE("the C interface opens a device on a part of the processes") {
  // The program is linked with the MPI found by CMake.
  const Ended ended = run_ranks(mpi_kinds().at(0), 4, {GDR_MPI_CAPI});
  INFO(ended.output << ended.errors);
  REQUIRE(ended.status == 0);
  for (const char* line : {"0: 2 ranks, the same\n", "1: 2 ranks, the same\n",
                           "2: 2 ranks, the same\n", "3: 2 ranks, the same\n", "0: the same sums\n",
                           "1: the same sums\n", "2: the same sums\n", "3: the same sums\n"})
    CHECK(ended.output.find(line) != std::string::npos);
  CHECK(ended.output.find("null communicator: 1") != std::string::npos);
}

TEST_CASE("the Fortran interface opens a device on a part of the processes") {
  if (std::string(GDR_MPI_FORTRAN).empty()) return;
  const Ended ended = run_ranks(mpi_kinds().at(0), 4, {GDR_MPI_FORTRAN});
  INFO(ended.output << ended.errors);
  REQUIRE(ended.status == 0);
  for (const char* rank : {"0", "1", "2", "3"}) {
    CHECK(ended.output.find(rank + std::string(": 2 ranks, the same T\n")) != std::string::npos);
    CHECK(ended.output.find(rank + std::string(": the same sums T\n")) != std::string::npos);
  }
}

TEST_CASE("errors of one rank are thrown on all of them") {
  constexpr unsigned ranks = 3;
  const std::vector<std::string> expected = {
      "2 rank 1: particle 7: coordinate z is not a number",
      "2 rank 1: the softening must be finite and not negative",
      "1 rank 1: unknown param \"eps3\"",
      "1 rank 1 gives a param of kernel \"gravity\" another value than rank 0",
      "1 rank 1: unknown result \"nothing\"",
      "1 rank 1 runs another kernel than rank 0",
      "nothing"};
  for (const MpiKind& mpi : mpi_kinds()) {
    const Ended ended = run_ranks(mpi, ranks, {GDR_MPI_ERRORS, "mpi:threads=1"});
    INFO(mpi.name << "\n" << ended.output << ended.errors);
    REQUIRE(ended.status == 0);
    std::vector<std::vector<std::string>> lines(ranks);
    std::istringstream in(ended.output);
    for (std::string line; std::getline(in, line);)
      lines.at(static_cast<std::size_t>(line.at(0) - '0')).push_back(line.substr(3));
    for (const auto& of_rank : lines) {
      REQUIRE(of_rank.size() == expected.size());
      CHECK(of_rank == lines[0]);
      for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK(of_rank[k].substr(0, expected[k].size()) == expected[k]);
    }
  }
}
