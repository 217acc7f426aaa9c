// Running programs on many ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gdr::test {

struct Ended {
  int status = -1;  ///< exit status, or minus the number of the signal
  std::string output, errors;
  double seconds = 0;
};

/// An MPI that is installed: how programs are started, and the library that libgdr loads then.
struct MpiKind {
  std::string name, launcher, library;
  std::vector<std::string> options = {};  ///< of the launcher
};
/// Those that were built for. The first is the one that CMake found.
std::vector<MpiKind> mpi_kinds();

/// The one whose jobs outlive lost ranks, where there is one.
std::optional<MpiKind> mpi_with_ulfm();

/// Run a program with so many ranks, and wait; it is ended after a minute.
Ended run_ranks(const MpiKind& mpi, unsigned ranks, const std::vector<std::string>& words);
/// Run it as it is.
Ended run_alone(const std::vector<std::string>& words);

}  // namespace gdr::test
