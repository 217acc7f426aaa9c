// Work in a process of its own, because the library of a driver may end the process that uses it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace gdr::cli {

/// What is left of a process.
struct Ended {
  std::string text;  ///< output of its work, also if it was ended
  /// How it was ended: by a signal, or after the limit; or that the system gave no process. Empty:
  /// it returned.
  std::string failure;
};

using WriteText = std::function<void(std::string_view)>;

/// Runs `work` in a child of this process, which ends if it writes nothing for `limit`. An Error
/// that it throws is thrown here. What it prints on standard error is not shown, but its last line
/// is part of `failure`. Call it before this process uses a driver or OpenMP, which do not survive
/// a fork.
Ended in_own_process(const std::function<void(const WriteText& write)>& work,
                     std::chrono::seconds limit);

}  // namespace gdr::cli
