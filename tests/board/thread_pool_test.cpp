// The host's thread pool: every task runs once, for any number of calling threads.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "emulator/host/parallel.hpp"
#include "support/catch.hpp"

using namespace gdr;

TEST_CASE("parallel_for runs each task once, and gives each slot to one thread", "[threads]") {
  for (const unsigned helpers : {0U, 1U, 3U, 8U})
    for (const std::size_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(tasks), in_slot(helpers + 1);
      std::atomic<bool> clash = false;
      parallel_for(tasks, helpers, [&](unsigned slot, std::size_t task) {
        if (in_slot[slot].fetch_add(1) != 0) clash = true;
        ++done[task];
        --in_slot[slot];
      });
      for (const auto& times : done) CHECK(times == 1);
      CHECK_FALSE(clash);
    }
}

TEST_CASE("nested parallel_for runs its tasks on the calling thread", "[threads]") {
  std::atomic<int> inner = 0;
  parallel_for(16, 3, [&](unsigned, std::size_t) {
    const std::thread::id me = std::this_thread::get_id();
    parallel_for(8, 3, [&](unsigned, std::size_t) { inner += std::this_thread::get_id() == me; });
  });
  CHECK(inner == 16 * 8);
}

TEST_CASE("several threads call parallel_for at the same time", "[threads]") {
  std::atomic<std::size_t> sum = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k)
        parallel_for(10, 2, [&](unsigned, std::size_t task) { sum += task; });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4U * 200 * 45);
}

TEST_CASE("calls at the same time have helpers of their own while there are cores", "[threads]") {
  constexpr unsigned helpers = 11;
  std::atomic<unsigned> running = 0;
  std::atomic<bool> all = true;
  const auto call = [&] {
    omp_set_num_threads(2 * (helpers + 1));  // of this thread, as on a host with so many cores
    parallel_for(helpers + 1, helpers, [&](unsigned, std::size_t) {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      ++running;
      while (running < 2 * (helpers + 1) && all)
        if (std::chrono::steady_clock::now() < limit)
          std::this_thread::yield();
        else
          all = false;
    });
  };
  std::thread first(call), second(call);
  first.join();
  second.join();
  CHECK(all);
}

TEST_CASE("an exception of a task reaches the caller, and later work runs", "[threads]") {
  std::atomic<int> done = 0;
  const Phase bad{100, [](std::size_t task) {
                    if (task == 50) throw std::runtime_error("task 50");
                  }};
  const Phase good{100, [&](std::size_t) { ++done; }};
  const Phase both[] = {bad, good};
  CHECK_THROWS_AS(run_phases(both, 3), std::runtime_error);
  CHECK(done == 0);
  run_phases({&good, 1}, 3);
  CHECK(done == 100);
}

TEST_CASE("a phase begins when all tasks of the one before it are done", "[threads]") {
  for (const unsigned threads : {1U, 2U, 3U, 9U})
    for (const std::size_t count : {1, 2, 3, 7}) {
      std::vector<std::atomic<std::size_t>> done(count);
      std::atomic<bool> too_early = false;
      std::vector<Phase> phases;
      const auto tasks_of = [](std::size_t phase) { return phase % 3 == 1 ? 1 : 40 * phase + 5; };
      for (std::size_t p = 0; p < count; ++p)
        phases.push_back({tasks_of(p), [&, p](std::size_t) {
                            for (std::size_t before = 0; before < p; ++before)
                              if (done[before] != tasks_of(before)) too_early = true;
                            ++done[p];
                          }});
      for (int repetition = 0; repetition < 50; ++repetition) {
        for (auto& n : done) n = 0;
        run_phases(phases, threads);
        for (std::size_t p = 0; p < count; ++p) REQUIRE(done[p] == tasks_of(p));
      }
      CHECK_FALSE(too_early);
    }
}

TEST_CASE("an exception in one phase cancels the later ones", "[threads]") {
  for (const unsigned threads : {1U, 3U}) {
    std::atomic<int> later = 0;
    const Phase phases[] = {{20, [](std::size_t) {}},
                            {20,
                             [](std::size_t task) {
                               if (task == 7) throw std::runtime_error("task 7");
                             }},
                            {20, [&](std::size_t) { ++later; }}};
    CHECK_THROWS_AS(run_phases(phases, threads), std::runtime_error);
    CHECK(later == 0);
  }
}

TEST_CASE("memory that helpers prefetch after a call may be freed", "[threads]") {
  for (const std::size_t size : {0, 1, 63, 4096, 1 << 20, 1 << 24})
    for (const unsigned threads : {2U, 3U, 5U}) {
      std::vector<std::byte> memory(size);
      std::atomic<int> done = 0;
      const Phase phases[] = {{8, [&](std::size_t) { ++done; }}, {8, [&](std::size_t) { ++done; }}};
      run_phases(phases, threads, memory);
      CHECK(done == 16);
      memory = {};
      if (size % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}
