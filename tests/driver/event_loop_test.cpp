// The loop of network events whose turn passes between threads, and polling.
#include "libgdr/driver/polling.hpp"
#include "support/catch.hpp"

#ifdef GDR_TEST_NETWORK
#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "libgdr/network/event_loop.hpp"

using gdr::network::EventLoop;
using gdr::network::Waiter;

namespace {

/// A loop with its own thread, until the end of the test.
class RunningLoop {
 public:
  explicit RunningLoop(double poll_seconds = 0)
      : loop(poll_seconds), work_(loop.io().get_executor()), thread_([this] { loop.run(); }) {}
  RunningLoop(const RunningLoop&) = delete;
  RunningLoop& operator=(const RunningLoop&) = delete;
  ~RunningLoop() {
    loop.call([this] { loop.io().stop(); });
    loop.take_over();
    thread_.join();
  }
  EventLoop loop;

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// Threads that send actions to a loop and wait until they have run, in turn. Returns the number of
/// actions that ran beside another, out of order, or not at all.
unsigned errors_of_threads(double poll_seconds, unsigned threads, unsigned actions) {
  // They outlive the loop's thread, which may still be at the end of an action that was waited for.
  std::atomic<unsigned> errors = 0, inside = 0;
  std::vector<Waiter> waiters(threads);
  std::vector<std::atomic<unsigned>> all_done(threads);
  RunningLoop running(poll_seconds);
  EventLoop& loop = running.loop;
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      Waiter& waiter = waiters[t];
      std::atomic<unsigned>& done = all_done[t];
      std::mt19937 random(t);
      unsigned sent = 0;
      while (sent < actions) {
        for (auto n = 1 + random() % 3; n > 0; --n) {
          const unsigned number = ++sent;
          loop.call([&, number] {
            if (++inside != 1 || done != number - 1) ++errors;
            done = number;
            --inside;
            loop.signal(waiter);
          });
        }
        if (random() % 2 == 0) loop.take_over();
        if (random() % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        loop.wait(waiter, [&] { return done == sent; });
        if (done != sent) ++errors;
      }
    });
  for (std::thread& thread : all) thread.join();
  return errors;
}

}  // namespace

TEST_CASE("actions in an event loop run one at a time, in order, whichever thread has the turn") {
  for (const unsigned threads : {1, 2, 5}) {
    CHECK(errors_of_threads(0, threads, 3000) == 0);
    CHECK(errors_of_threads(1e-4, threads, 300) == 0);
  }
}

TEST_CASE("a thread that waits for an event handles it itself") {
  RunningLoop running;
  Waiter waiter;
  for (unsigned k = 0; k < 200; ++k) {
    std::atomic<bool> done = false;
    std::thread::id handler;
    asio::steady_timer timer(running.loop.io());
    // The loop's own thread has the turn, or nobody: both must leave it to this one.
    if (k % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    unsigned tests = 0;
    running.loop.wait(waiter, [&] {
      // The second test is that of a thread that has the turn. The event comes now, not at a time.
      if (++tests == 2) {
        timer.expires_after(std::chrono::microseconds(100));
        timer.async_wait([&](const asio::error_code&) {
          handler = std::this_thread::get_id();
          done = true;
        });
      }
      return done.load();
    });
    REQUIRE(handler == std::this_thread::get_id());
  }
}

TEST_CASE("events are handled while no thread waits for them") {
  RunningLoop running;
  Waiter waiter;
  std::atomic<bool> called = false;
  running.loop.call([&] { called = true; });
  running.loop.wait(waiter, [&] { return called.load(); });
  // The loop's own thread takes over.
  for (const int milliseconds : {0, 1, 5, 50}) {
    std::atomic<bool> done = false;
    asio::steady_timer timer(running.loop.io());
    running.loop.call([&] {
      timer.expires_after(std::chrono::milliseconds(milliseconds));
      timer.async_wait([&](const asio::error_code&) { done = true; });
    });
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("a signal reaches a thread that runs the event loop while no event comes") {
  RunningLoop running;
  Waiter waiter;
  std::atomic<bool> done = false, expired = false;
  asio::steady_timer late(running.loop.io());
  running.loop.call([&] {
    late.expires_after(std::chrono::seconds(60));
    late.async_wait([&](const asio::error_code& error) { expired = !error; });
  });
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = true;
    running.loop.signal(waiter);
  });
  running.loop.wait(waiter, [&] { return done.load(); });
  CHECK_FALSE(expired);  // which would have ended the wait, too
  other.join();
}

TEST_CASE("an exception of a handler ends the event loop, in whichever thread it was thrown") {
  for (const bool waits : {false, true}) {
    EventLoop loop(0);
    const asio::executor_work_guard<asio::io_context::executor_type> work(loop.io().get_executor());
    std::atomic<bool> thrown = false;
    std::thread own([&] {
      try {
        loop.run();
      } catch (const std::runtime_error&) {
        thrown = true;
      }
    });
    asio::steady_timer timer(loop.io());
    loop.call([&] {
      timer.expires_after(std::chrono::milliseconds(waits ? 1 : 20));
      timer.async_wait([](const asio::error_code&) { throw std::runtime_error("a handler"); });
    });
    Waiter waiter;
    if (waits) loop.wait(waiter, [] { return false; });
    own.join();
    CHECK(thrown);
  }
}
#endif

TEST_CASE("polling ends after its time, and pauses where another thread wants the core") {
  using gdr::driver::Polling;
  using std::chrono::microseconds;
  const Polling::Clock::time_point begin = Polling::Clock::now();
  const auto at = [&](unsigned us) { return begin + microseconds(us); };
  Polling polling(200e-6);
  REQUIRE(polling.begin_at(at(0)));
  for (unsigned us = 1; us < 200; ++us) CHECK(polling.goes_on_at(at(us)));
  CHECK_FALSE(polling.goes_on_at(at(200)));
  // The next time it polls again.
  REQUIRE(polling.begin_at(at(300)));
  CHECK(polling.goes_on_at(at(310)));
  // A gap of 140 us: it was preempted, and sleeps at once for four times as long.
  CHECK_FALSE(polling.goes_on_at(at(450)));
  CHECK_FALSE(polling.begin_at(at(451)));
  CHECK_FALSE(polling.begin_at(at(1009)));
  CHECK(polling.begin_at(at(1010)));
  Polling none(0);
  CHECK_FALSE(none.begin_at(at(0)));
  CHECK_FALSE(none.begin());
}
