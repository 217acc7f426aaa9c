// Sets on many ranks.
#include <sstream>
#include <string>
#include <vector>

#include "mpi/program.hpp"
#include "support/catch.hpp"

using namespace gdr::test;

TEST_CASE("sets on many ranks have the results of jobs, and errors on all ranks") {
  constexpr unsigned ranks = 3;
  for (const char* device : {"mpi:engine=native,threads=1", "mpi:chips=1,blocks=2,pes=4,threads=1"})
    for (const MpiKind& mpi : mpi_kinds()) {
      const Ended ended = run_ranks(mpi, ranks, {GDR_MPI_SETS, device});
      INFO(mpi.name << ", " << device << "\n" << ended.output << ended.errors);
      CHECK(ended.status == 0);
      std::istringstream in(ended.output);
      std::vector<std::vector<std::string>> lines(ranks);
      for (std::string line; std::getline(in, line);)
        if (line.size() > 3 && line.substr(1, 2) == ": ")
          lines.at(static_cast<std::size_t>(line[0] - '0')).push_back(line.substr(3));
      for (const std::vector<std::string>& of_rank : lines) {
        REQUIRE(of_rank.size() == 6);
        for (const std::size_t k : {0U, 1U, 4U, 5U}) CHECK(of_rank[k] == "same");
        CHECK(of_rank[2] ==
              "rank 1: set 0, segment 0: \"xj\"[5] is not a number; all values must be finite");
        CHECK(of_rank[3].find("rank 1 calls Job::run of 2 sets of the device's job 1 where rank 0 "
                              "calls Job::run of 1 sets") != std::string::npos);
      }
    }
}
