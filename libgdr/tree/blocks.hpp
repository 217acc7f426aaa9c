// Loops of a tree over particles and clusters, in threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "emulator/host/parallel.hpp"

namespace gdr::tree {

/// Calls work(first, last) for consecutive blocks of `each` of n items, in up to `threads` threads.
/// Errors of the work are rethrown.
template <typename Work>
void for_blocks(std::size_t n, std::size_t each, unsigned threads, const Work& work) {
  const Phase phase{(n + each - 1) / each, [&](std::size_t block) {
                      work(block * each, std::min(n, (block + 1) * each));
                    }};
  if (phase.tasks > 0) run_phases({&phase, 1}, phase.tasks > 1 ? threads : 1);
}

}  // namespace gdr::tree
