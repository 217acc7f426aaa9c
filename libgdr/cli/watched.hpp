// Long compilations: a progress bar on a terminal, and Ctrl-C.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>

#include "libgdr/cli/output.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// The result of work(stop, progress), a compilation. `progress` draws a bar if it is wanted; a
/// signal such as that of Ctrl-C cancels the work, and then ends the process in the usual way, with
/// the bar erased and no file left.
template <typename Work>
auto watched(const Work& work, bool wanted = true) {
  int signal = 0;
  try {
    const InterruptGuard guard;
    std::stop_source stop;
    Progress bar("compiling", 1, wanted);
    const std::function<void(double)> progress = [&](double share) {
      if (InterruptGuard::received() != 0) stop.request_stop();
      bar.update(share);
    };
    try {
      return work(stop.get_token(), progress);
    } catch (const Error&) {
      signal = InterruptGuard::received();
      throw;
    }
  } catch (const Error&) {
    if (signal != 0) std::raise(signal);
    throw;
  }
}

}  // namespace gdr::cli
