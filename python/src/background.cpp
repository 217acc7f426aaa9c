#include "background.hpp"

#include <pybind11/pybind11.h>

#include <system_error>
#include <vector>

#include "emulator/host/host_limits.hpp"

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
  /// Threads whose end nobody waits for, where the system refuses further threads.
  std::vector<std::pair<HostThread, std::future<void>>> unjoined;
};

/// Never destroyed: a detached thread may end after static destructors have run.
DetachedTasks& detached_tasks() {
  static auto* const tasks = new DetachedTasks;
  return *tasks;
}

/// Joins the thread in the background and counts its end; `done`: that of its task.
void detach(HostThread thread, std::future<void> done) {
  DetachedTasks& tasks = detached_tasks();
  const std::scoped_lock lock(tasks.mutex);
  const auto kept = std::make_shared<HostThread>(std::move(thread));
  HostThread joining = start_thread([&tasks, kept] {
    kept->join();
    const std::scoped_lock ending(tasks.mutex);
    --tasks.running;
    tasks.changed.notify_all();
  });
  if (!joining.joinable()) {
    tasks.unjoined.emplace_back(std::move(*kept), std::move(done));
    return;
  }
  joining.detach();
  ++tasks.running;
}

/// Runs a task in the calling thread, without the GIL.
template <typename Task, typename... Arguments>
void run_here(Task& task, Arguments&&... arguments) {
  report_host_limit(HostLimit::Threads);
  const py::gil_scoped_release released;
  task(std::forward<Arguments>(arguments)...);
}

}  // namespace

std::future<void> Worker::start(std::function<void()> work) {
  if (!thread_.joinable())
    thread_ = start_thread([this](const std::stop_token& stop) { loop(stop); });
  if (!thread_.joinable()) {
    std::packaged_task<void()> task(std::move(work));
    run_here(task);
    return task.get_future();
  }
  const std::scoped_lock lock(mutex_);
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
  const auto task = std::make_shared<std::packaged_task<void(std::stop_token)>>(std::move(work));
  std::future<void> done = task->get_future();
  HostThread thread = start_thread([task, token = stop.get_token()] { (*task)(token); });
  if (!thread.joinable()) {
    run_here(*task, stop.get_token());
    return done.get();
  }
  while (!completes_within(done, poll_interval)) {
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (poll) poll();
    } catch (const py::error_already_set&) {
      stop.request_stop();
      if (completes_within(done, grace_period))
        thread.join();
      else if (at_exit == AtExit::Wait)
        detach(std::move(thread), std::move(done));
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
  const auto end = std::chrono::steady_clock::now() + exit_timeout;
  tasks.changed.wait_until(lock, end, [&tasks] { return tasks.running == 0; });
  for (auto& [thread, done] : tasks.unjoined)
    if (done.wait_until(end) == std::future_status::ready) thread.join();
}

}  // namespace gdr::python
