// The lock of a device id, which several threads of a client may use.
#include <mutex>
#include <thread>
#include <vector>

#include "libgdr/compat/grape/calls.hpp"
#include "support/catch.hpp"

using gdr::compat::grape::QuickLock;
using gdr::compat::grape::States;

namespace {

/// Calls work() in each of some threads, many times.
template <typename Work>
void in_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 20000; ++k) work();
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads hold a lock one after the other") {
  QuickLock lock;
  long count = 0;
  in_threads([&] {
    const std::scoped_lock held(lock);
    ++count;
  });
  CHECK(count == 80000);
}

TEST_CASE("calls with the same device id run one after the other, also after one that throws") {
  States<long> states;
  in_threads([&] {
    try {
      states.with(3, [](long& count) -> int {
        if (++count % 100 == 0) throw 1;
        return 0;
      });
    } catch (int) {
    }
  });
  long count = 0;
  states.with(3, [&](long& all) {
    count = all;
    return 0;
  });
  CHECK(count == 80000);
}
