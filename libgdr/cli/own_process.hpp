// Work in a process of its own, because the library of a driver may end the process that uses it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace gdr::cli {

/// What is left of a process.
struct Ended {
  std::string text;     ///< what its work has written, also if it was ended
  std::string failure;  ///< how it was ended: by a signal, or after the limit; empty: it returned
};

using WriteText = std::function<void(std::string_view)>;

/// Runs `work` in a child of this process, which ends if it writes nothing for `limit`. An Error
/// that it throws is thrown here. What it prints on standard error is not shown, but its last line
/// is part of `failure`. Call it before this process uses a driver or OpenMP, which do not survive
/// a fork. Throws Error (Internal) if the system gives no process.
Ended in_own_process(const std::function<void(const WriteText& write)>& work,
                     std::chrono::seconds limit);

}  // namespace gdr::cli
