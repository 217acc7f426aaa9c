// Runs programs on many ranks.
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

/// An installed MPI: its launcher, and the plugin that libgdr loads for it.
struct MpiKind {
  std::string name, launcher, library;
  std::vector<std::string> options = {};  ///< options of the launcher
};
/// The MPIs for which plugins were built; first the one found by CMake.
std::vector<MpiKind> mpi_kinds();

/// The MPI whose jobs survive failed ranks (ULFM), if installed.
std::optional<MpiKind> mpi_with_ulfm();

/// Runs a program with the given number of ranks and waits; kills it after a minute.
Ended run_ranks(const MpiKind& mpi, unsigned ranks, const std::vector<std::string>& words);
/// Runs the program without a launcher.
Ended run_alone(const std::vector<std::string>& words);

}  // namespace gdr::test
