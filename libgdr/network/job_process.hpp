// A command that runs for a client, in a process of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/driver/file.hpp"

namespace gdr::network {

class JobProcess {
 public:
  using Output = std::function<void(bool error_stream, std::string_view text)>;

  JobProcess();

  /// Runs the program with these arguments, the first of which is its name, and returns its exit
  /// status: 128 and the number of a signal that ended it. Throws Error (Io) if it cannot be
  /// started.
  int run(const std::string& program, const std::vector<std::string>& arguments,
          const Output& output);

  /// Interrupt the program, as Ctrl-C does, or end it, now or as soon as it runs; from any thread.
  void interrupt() { request(1); }
  void end() { request(2); }

 private:
  void request(int what);

  std::atomic<int> requested_ = 0;
  driver::File wake_;  ///< counts requests
};

}  // namespace gdr::network
