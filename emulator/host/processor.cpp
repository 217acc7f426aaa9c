#include "emulator/host/processor.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstddef>

namespace gdr {

#ifdef __EMSCRIPTEN__

// A page has one thread, on any processor.
int current_processor() noexcept { return -1; }
void leave_processor(int) noexcept {}

#else

int current_processor() noexcept { return sched_getcpu(); }

void leave_processor(int processor) noexcept {
  if (processor < 0 || current_processor() != processor) return;
  cpu_set_t all;
  if (pthread_getaffinity_np(pthread_self(), sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0) return;
  pthread_setaffinity_np(pthread_self(), sizeof others, &others);
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

#endif

}  // namespace gdr
