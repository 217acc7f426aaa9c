// Detection of forked children: fork copies one thread, and none of a device's threads.
#pragma once

#include <sys/types.h>

namespace gdr {

/// The process that created an object.
class ThisProcess {
 public:
  ThisProcess() noexcept;
  /// False in a child forked since, which must not use the object.
  bool is_current() const noexcept;

 private:
  pid_t process_;
};

/// The number of host threads for a device opened now, given the requested number (0: chosen by
/// OpenMP). The first thread of a child forked after its parent opened a device gets one: OpenMP
/// would wait for ever for the thread team of the parent. New threads of the child get a new team.
unsigned threads_after_fork(unsigned asked) noexcept;

}  // namespace gdr
