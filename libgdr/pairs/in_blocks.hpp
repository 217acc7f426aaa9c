// Loops over particles in threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "emulator/host/parallel.hpp"

namespace gdr {

/// Calls work(first, end) for blocks of n items, in up to `threads` threads if that pays.
template <typename Work>
void in_blocks(std::size_t n, unsigned threads, const Work& work) {
  constexpr std::size_t block = 4096;
  constexpr double ns_an_item = 5;
  const std::size_t blocks = (n + block - 1) / block;
  parallel_items(blocks, threads_for(ns_an_item * static_cast<double>(n), threads),
                 [&](std::size_t b) { work(b * block, std::min(n, (b + 1) * block)); });
}

}  // namespace gdr
