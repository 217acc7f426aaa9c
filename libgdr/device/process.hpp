// Which process this is: a fork copies one thread, and none of those that a device works with.
#pragma once

#include <sys/types.h>

namespace gdr {

/// The process that something belongs to, from its beginning on.
class ThisProcess {
 public:
  ThisProcess() noexcept;
  /// False in a child that was forked off since: what belongs to the parent is to be left alone.
  bool is_current() const noexcept;

 private:
  pid_t process_;
};

/// The number of host threads that a device opened now may have, of `asked` (0: as OpenMP decides).
/// A child that was forked off after its parent had opened a device gets one: OpenMP believes that
/// the thread which it was forked from still has its team, and would wait for it for ever. A thread
/// that the child began itself gets a new team.
unsigned threads_after_fork(unsigned asked) noexcept;

}  // namespace gdr
