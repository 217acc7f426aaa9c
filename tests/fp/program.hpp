// A child process connected by pipes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace test {

/// Runs a program with its standard streams connected to pipes.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void write(const std::string& text);
  void close_input();
  /// One line of standard output, without its newline; waits at most ten seconds, then it is "".
  std::string read_line();

  struct Outcome {
    std::string output;
    std::string errors;
    int status;  ///< exit status, or -1 for a signal
  };
  /// Write all of the input while reading both outputs, then wait for the end.
  Outcome finish(const std::string& input);

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
};

}  // namespace test
