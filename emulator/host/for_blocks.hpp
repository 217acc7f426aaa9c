// Loops over blocks of items, in threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "emulator/host/parallel.hpp"

namespace gdr {

/// Calls work(first, last) for consecutive blocks of `each` of n items, in up to `threads` threads.
/// Errors of the work are rethrown.
template <typename Work>
void for_blocks(std::size_t n, std::size_t each, unsigned threads, const Work& work) {
  const Phase phase{(n + each - 1) / each, [&](std::size_t block) {
                      work(block * each, std::min(n, (block + 1) * each));
                    }};
  if (phase.tasks > 0) run_phases({&phase, 1}, phase.tasks > 1 ? threads : 1);
}

/// Items of a block of for_particles.
constexpr std::size_t particle_block = 4096;

/// The same for n particles with little work for each, in threads if that pays.
template <typename Work>
void for_particles(std::size_t n, unsigned threads, const Work& work) {
  constexpr double ns_a_particle = 5;
  for_blocks(n, particle_block, threads_for(ns_a_particle * static_cast<double>(n), threads), work);
}

}  // namespace gdr
