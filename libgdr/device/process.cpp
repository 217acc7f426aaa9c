#include "libgdr/device/process.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace gdr {

ThisProcess::ThisProcess() noexcept : process_(getpid()) {}

bool ThisProcess::is_current() const noexcept { return getpid() == process_; }

unsigned threads_after_fork(unsigned asked) noexcept {
  static std::atomic<pid_t> first{0};  // process that opened a device first; inherited by children
  pid_t before = 0;
  const pid_t now = getpid();
  first.compare_exchange_strong(before, now);
  if (before == 0 || before == now) return asked;
  const bool forked_thread = syscall(SYS_gettid) == now;  // a child starts with this thread only
  return forked_thread ? 1 : asked;
}

}  // namespace gdr
