#include "run_interruptible.hpp"

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

constexpr std::chrono::milliseconds poll_interval{50};
constexpr std::chrono::milliseconds grace_period{300};
constexpr std::chrono::seconds exit_timeout{5};

struct Task {
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;

  bool wait_for(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, timeout, [this] { return done; });
  }
};

struct DetachedTasks {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned running = 0;
};

/// Never destroyed: a detached thread may end after static destructors have run.
DetachedTasks& detached_tasks() {
  static auto* const tasks = new DetachedTasks;
  return *tasks;
}

void detach(std::thread thread, std::shared_ptr<Task> task) {
  DetachedTasks& tasks = detached_tasks();
  {
    const std::scoped_lock lock(tasks.mutex);
    ++tasks.running;
  }
  // Joins the thread and counts its end.
  std::thread([&tasks, thread = std::move(thread), task = std::move(task)]() mutable {
    thread.join();
    const std::scoped_lock lock(tasks.mutex);
    --tasks.running;
    tasks.changed.notify_all();
  }).detach();
}

}  // namespace

void run_interruptible(std::function<void(std::stop_token stop)> work, AtExit at_exit) {
  const auto task = std::make_shared<Task>();
  std::thread thread([task, work = std::move(work)] {
    std::exception_ptr error;
    try {
      work(task->stop.get_token());
    } catch (...) {
      error = std::current_exception();
    }
    const std::scoped_lock lock(task->mutex);
    task->error = std::move(error);
    task->done = true;
    task->changed.notify_all();
  });
  const auto wait_for = [&task](std::chrono::milliseconds timeout) {
    const py::gil_scoped_release released;
    return task->wait_for(timeout);
  };
  while (!wait_for(poll_interval)) {
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set signal;
    task->stop.request_stop();
    if (wait_for(grace_period))
      thread.join();
    else if (at_exit == AtExit::Wait)
      detach(std::move(thread), task);
    else
      thread.detach();
    throw signal;
  }
  thread.join();
  if (task->error) std::rethrow_exception(task->error);
}

void wait_for_detached() {
  const py::gil_scoped_release released;
  DetachedTasks& tasks = detached_tasks();
  std::unique_lock lock(tasks.mutex);
  tasks.changed.wait_for(lock, exit_timeout, [&tasks] { return tasks.running == 0; });
}

}  // namespace gdr::python
