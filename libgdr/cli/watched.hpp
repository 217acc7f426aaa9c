// Long compilations: a progress bar on a terminal, and Ctrl-C.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>

#include "emulator/host/stopwatch.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {

/// The result of work(stop, progress), a compilation. `progress` draws a bar; a signal such as that
/// of Ctrl-C cancels the work, and then ends the process in the usual way, with the bar erased and
/// no file left.
template <typename Work>
auto watched(const Work& work) {
  int signal = 0;
  const Stopwatch timer;
  try {
    const InterruptGuard guard;
    std::stop_source stop;
    Progress bar("compiling", 1);
    const std::function<void(double)> progress = [&](double share) {
      if (InterruptGuard::received() != 0) stop.request_stop();
      bar.update(share);
    };
    try {
      auto result = work(stop.get_token(), progress);
      verbose("compilation", "{:.3g} s", timer.seconds());
      return result;
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
