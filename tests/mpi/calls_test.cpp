// Ranks that make different calls or fewer calls than the others: all get an error, none hangs.
#include <sstream>

#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

namespace {

constexpr unsigned ranks = 3;

std::vector<std::vector<std::string>> lines_of(const Ended& ended) {
  std::vector<std::vector<std::string>> lines(ranks);
  std::istringstream in(ended.output);
  for (std::string line; std::getline(in, line);) {
    // MPICH's UCX reports the missing call of one rank when MPI ends.
    if (line.size() < 3 || line.substr(1, 2) != ": ") continue;
    lines.at(static_cast<std::size_t>(line[0] - '0')).push_back(line.substr(3));
  }
  return lines;
}

const std::vector<std::string> differences = {
    "1 rank 1 calls Job::run of the device's job 2 where rank 0 calls Job::set of the device's job "
    "2; all ranks must make the same calls in the same order",
    // The second of two jobs with the same kernel: an undetected mismatch would give wrong sums.
    "1 rank 1 calls Job::run of the device's job 3 where rank 0 calls Job::run of the device's job "
    "2",
    "1 rank 1 calls Device::rank_reports where rank 0 calls Gravity::compute",
    "1 rank 1 calls DistributedMatrices with rows = 3, block = 128",
    "1 rank 1 calls DistributedMatrices::solve of n = 8 where rank 0 calls "
    "DistributedMatrices::solve of n = 7",
    "1 rank 1 calls DistributedMatrices::multiply of m = 2, n = 2, k = 2, alpha = 1.5, beta = 0 "
    "where",
    "nothing"};

const std::string gone =
    "1 rank 1 has closed the device or exited while other ranks still call it; all ranks must make "
    "the same calls in the same order";

void check(const MpiKind& mpi, const char* end) {
  const Ended ended = run_ranks(mpi, ranks, {GDR_MPI_CALLS, "mpi:engine=exact,threads=1", end});
  INFO(mpi.name << ", " << end << "\n" << ended.output << ended.errors);
  CHECK((ended.status != 0) == (end == std::string("exit")));
  CHECK(ended.seconds < 120);
  const auto lines = lines_of(ended);
  for (unsigned r = 0; r < ranks; ++r) {
    REQUIRE(lines[r].size() == differences.size() + (r == 1 ? 0 : 2));
    for (std::size_t k = 0; k < differences.size(); ++k) {
      CHECK(lines[r][k] == lines[0][k]);
      CHECK(lines[r][k].substr(0, differences[k].size()) == differences[k]);
    }
    for (std::size_t k = differences.size(); k < lines[r].size(); ++k) CHECK(lines[r][k] == gone);
  }
}

}  // namespace

TEST_CASE("a mismatch of calls is an error on all ranks, which can continue") {
  for (const MpiKind& mpi : mpi_kinds()) check(mpi, "close");
  if (const auto mpi = mpi_with_ulfm()) check(*mpi, "close");
}

TEST_CASE("a rank that exits early does not block the others") {
  for (const MpiKind& mpi : mpi_kinds()) check(mpi, "exit");
}
