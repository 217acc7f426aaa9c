// Waits for MPI communication by polling and sleeping, so that ranks can share cores and a timeout
// applies.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "gdr/error.hpp"

namespace gdr {

/// Waits until `done` returns true; throws after GDR_MPI_TIMEOUT seconds, if set. During longer
/// waits `check` is called periodically and may throw.
template <typename Done, typename Check>
void wait_until(const Done& done, const Check& check) {
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
    if (tries % 64 == 0) check();
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (limit > 0 && waited.count() > limit)
      throw Error(ErrorCategory::Device,
                  (std::ostringstream() << "no data from other ranks within " << limit
                                        << " s (GDR_MPI_TIMEOUT); a rank hangs or made a different "
                                           "call")
                      .str());
  }
}

}  // namespace gdr
