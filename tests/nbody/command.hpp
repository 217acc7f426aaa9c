// Running the built `gdr` program.
#pragma once

#include <string>
#include <vector>

namespace gdr::test {

/// How a program ended.
struct Outcome {
  int status = -1;  ///< exit status, or minus the number of the signal that ended it
  std::string output, errors;
};

/// Run `gdr ARGUMENTS...`, without a terminal, and wait for it.
Outcome run_gdr(const std::vector<std::string>& arguments);

/// The same, with `signal` sent once the program has written `lines` lines to standard output.
Outcome interrupt_gdr(const std::vector<std::string>& arguments, int signal, int lines);

/// The same with no file of its children larger than `bytes`: a disk that is full.
Outcome run_gdr_on_full_disk(const std::vector<std::string>& arguments, unsigned long bytes);

/// A file of examples/data.
std::string example(const std::string& name);

}  // namespace gdr::test
