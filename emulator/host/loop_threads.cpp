#include "emulator/host/loop_threads.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <latch>
#include <utility>
#include <vector>

#include "emulator/host/threads.hpp"

namespace gdr {
namespace {

/// The number of threads, at most `wanted`, that the system lets this process have at once.
unsigned possible_threads(unsigned wanted) {
  std::latch counted(1);
  std::vector<HostThread> others;
  try {
    others.reserve(wanted);
    while (others.size() + 1 < wanted) {
      HostThread other = start_thread([&counted] { counted.wait(); });
      if (!other.joinable()) break;
      others.push_back(std::move(other));
    }
  } catch (const std::exception&) {  // lack of memory: the others must end
    report_host_limit(HostLimit::Threads);
  }
  counted.count_down();
  return static_cast<unsigned>(others.size()) + 1;
}

}  // namespace

LoopThreads::LoopThreads(unsigned wanted) : count_(possible_threads(wanted)) {}

void LoopThreads::run(std::size_t items, unsigned threads,
                      const std::function<void(std::size_t, std::size_t)>& work) const {
  const int used = static_cast<int>(std::clamp(threads, 1U, count_));
#pragma omp parallel num_threads(used) if (used > 1)
  {
    const HostFloatMode mode;
    const auto slot = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::size_t item = 0; item < items; ++item) work(slot, item);
  }
}

}  // namespace gdr
