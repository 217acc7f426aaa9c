// Concurrent work on several remote boards.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace gdr {

/// Calls work(0) .. work(n - 1) concurrently, work(0) in this thread and each of the others in a
/// thread of its own. None may throw.
template <typename Work>
void concurrently(std::size_t n, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < n; ++i) threads.emplace_back([&work, i] { work(i); });
  if (n > 0) work(0);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace gdr
