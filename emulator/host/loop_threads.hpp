// Loops over the host's own numbers in threads of OpenMP.
#pragma once

#include <cstddef>
#include <functional>

namespace gdr {

/// A program with parallel regions between
/// its calls keeps these threads awake, and others would have to wait for their cores.
class LoopThreads {
 public:
  /// As many as the system lets this process have at once, at most `wanted`: OpenMP ends a process
  /// that is refused one.
  explicit LoopThreads(unsigned wanted);

  unsigned count() const noexcept { return count_; }

  /// Calls work(slot, item) for all items in up to `threads` of them, which take the next item when
  /// they are done. Slots are below `threads`; `work` must not throw.
  void run(std::size_t items, unsigned threads,
           const std::function<void(std::size_t slot, std::size_t item)>& work) const;

 private:
  unsigned count_;
};

}  // namespace gdr
