// Runs the built `gdr` program.
#pragma once

#include <string>
#include <vector>

namespace gdr::test {

/// Exit status and output of a program.
struct Outcome {
  int status = -1;  ///< exit status, or minus the signal that terminated it
  std::string output, errors;
};

/// Runs `gdr ARGUMENTS...` without a terminal and waits for it.
Outcome run_gdr(const std::vector<std::string>& arguments);

/// The same; sends `signal` after the program has written `lines` lines to standard output.
Outcome interrupt_gdr(const std::vector<std::string>& arguments, int signal, int lines);

/// The same with a limit on file sizes, which simulates a full disk.
Outcome run_gdr_on_full_disk(const std::vector<std::string>& arguments, unsigned long bytes);

/// A file of examples/data.
std::string example(const std::string& name);

}  // namespace gdr::test
