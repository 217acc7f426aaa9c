#include "libgdr/device/process.hpp"

#include <unistd.h>

#include <atomic>

namespace gdr {

ThisProcess::ThisProcess() noexcept : process_(getpid()) {}

bool ThisProcess::here() const noexcept { return getpid() == process_; }

unsigned threads_after_fork(unsigned asked) noexcept {
  static std::atomic<pid_t> first{0};  // that opened a device; children inherit the number
  pid_t before = 0;
  const pid_t now = getpid();
  first.compare_exchange_strong(before, now);
  return before == 0 || before == now ? asked : 1;
}

}  // namespace gdr
