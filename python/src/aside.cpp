#include "aside.hpp"

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace py = pybind11;

namespace gdr::python {
namespace {

constexpr std::chrono::milliseconds look_up_interval{50};
constexpr std::chrono::milliseconds patience{300};
constexpr std::chrono::seconds patience_at_exit{5};

struct Errand {
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;

  bool done_within(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, at_most, [this] { return done; });
  }
};

/// Threads that nobody waits for.
struct Abandoned {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned running = 0;
};

/// Never destroyed: a thread may come to its end after everything else.
Abandoned& abandoned() {
  static auto* const all = new Abandoned;
  return *all;
}

void leave(std::thread thread, std::shared_ptr<Errand> errand) {
  Abandoned& all = abandoned();
  {
    const std::scoped_lock lock(all.mutex);
    ++all.running;
  }
  // Someone has to notice its end.
  std::thread([&all, thread = std::move(thread), errand = std::move(errand)]() mutable {
    thread.join();
    const std::scoped_lock lock(all.mutex);
    --all.running;
    all.changed.notify_all();
  }).detach();
}

}  // namespace

void aside(std::function<void(std::stop_token stop)> work, AtExit at_exit) {
  const auto errand = std::make_shared<Errand>();
  std::thread thread([errand, work = std::move(work)] {
    std::exception_ptr error;
    try {
      work(errand->stop.get_token());
    } catch (...) {
      error = std::current_exception();
    }
    const std::scoped_lock lock(errand->mutex);
    errand->error = std::move(error);
    errand->done = true;
    errand->changed.notify_all();
  });
  const auto wait = [&errand](std::chrono::milliseconds at_most) {
    const py::gil_scoped_release released;
    return errand->done_within(at_most);
  };
  while (!wait(look_up_interval)) {
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set signal;
    errand->stop.request_stop();
    if (wait(patience))
      thread.join();
    else if (at_exit == AtExit::Wait)
      leave(std::move(thread), errand);
    else
      thread.detach();
    throw signal;
  }
  thread.join();
  if (errand->error) std::rethrow_exception(errand->error);
}

void wait_for_abandoned() {
  const py::gil_scoped_release released;
  Abandoned& all = abandoned();
  std::unique_lock lock(all.mutex);
  all.changed.wait_for(lock, patience_at_exit, [&all] { return all.running == 0; });
}

}  // namespace gdr::python
