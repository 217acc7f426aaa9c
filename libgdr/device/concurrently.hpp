// Work for several boards: in turns where this process emulates them with all of its threads, at
// the same time where they are elsewhere.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace gdr {

/// work(0) .. work(n - 1), side by side in a thread each but the first, which this one does. None
/// may throw.
template <typename Work>
void concurrently(std::size_t n, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < n; ++i) threads.emplace_back([&work, i] { work(i); });
  if (n > 0) work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace gdr
