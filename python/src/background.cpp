#include "background.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace gdr::python {
namespace {

constexpr std::chrono::milliseconds poll_interval{50};
constexpr std::chrono::milliseconds grace_period{300};
constexpr std::chrono::seconds exit_timeout{5};

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

/// Joins the thread in the background and counts its end.
void detach(std::thread thread) {
  DetachedTasks& tasks = detached_tasks();
  {
    const std::scoped_lock lock(tasks.mutex);
    ++tasks.running;
  }
  std::thread([&tasks, thread = std::move(thread)]() mutable {
    thread.join();
    const std::scoped_lock lock(tasks.mutex);
    --tasks.running;
    tasks.changed.notify_all();
  }).detach();
}

}  // namespace

std::future<void> Worker::start(std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable())
    thread_ = std::jthread([this](const std::stop_token& stop) { loop(stop); });
  work_ = std::packaged_task<void()>(std::move(work));
  changed_.notify_all();
  return work_.get_future();
}

void Worker::loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return work_.valid(); })) {
    auto work = std::move(work_);
    lock.unlock();
    work();
    lock.lock();
  }
}

bool completes_within(const std::future<void>& task, std::chrono::milliseconds timeout) {
  const py::gil_scoped_release released;
  return task.wait_for(timeout) == std::future_status::ready;
}

void run_interruptible(std::function<void(std::stop_token stop)> work, AtExit at_exit,
                       const std::function<void()>& poll) {
  std::stop_source stop;
  std::packaged_task<void(std::stop_token)> task(std::move(work));
  std::future<void> done = task.get_future();
  std::thread thread(std::move(task), stop.get_token());
  while (!completes_within(done, poll_interval)) {
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (poll) poll();
    } catch (const py::error_already_set&) {
      stop.request_stop();
      if (completes_within(done, grace_period))
        thread.join();
      else if (at_exit == AtExit::Wait)
        detach(std::move(thread));
      else
        thread.detach();
      throw;
    }
  }
  thread.join();
  done.get();
}

void wait_for_detached() {
  const py::gil_scoped_release released;
  DetachedTasks& tasks = detached_tasks();
  std::unique_lock lock(tasks.mutex);
  tasks.changed.wait_for(lock, exit_timeout, [&tasks] { return tasks.running == 0; });
}

}  // namespace gdr::python
