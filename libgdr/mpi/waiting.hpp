// Waiting for what MPI has under way: by testing and sleeping, so that ranks that share cores let
// each other work, and a limit can be kept.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "gdr/error.hpp"

namespace gdr {

/// Until `done` returns true, or GDR_MPI_TIMEOUT seconds have passed, where it is set. `look` is
/// called now and then, once it takes its time: to throw if nobody will come.
template <typename Done, typename Look>
void wait_until(const Done& done, const Look& look) {
  using Clock = std::chrono::steady_clock;
  const char* const text = std::getenv("GDR_MPI_TIMEOUT");
  const double limit = text == nullptr ? 0 : std::atof(text);
  const Clock::time_point begin = Clock::now();
  for (unsigned tries = 0; !done(); ++tries) {
    if (tries < 2000) {
      sched_yield();
      continue;
    }
    usleep(tries < 20000 ? 20 : 200);
    if (tries % 64 == 0) look();
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (limit > 0 && waited.count() > limit)
      throw Error(ErrorCategory::Device,
                  "nothing came from other ranks within " + std::to_string(limit) +
                      " s (GDR_MPI_TIMEOUT); one of them hangs or made other calls");
  }
}

}  // namespace gdr
