// The work queue: one mutex for all state, one condition variable for all changes.
#include "libgdr/device/queue.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/threads.hpp"
#include "gdr/error.hpp"

namespace gdr {

namespace {

/// Number of forks between the first process that opened a device and this one. Runs ask several
/// times which process they are in, and getpid() would be a system call each time.
std::atomic<unsigned> forks = 0;

}  // namespace

ThisProcess::ThisProcess() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(registered);
  forks_ = forks;
}

bool ThisProcess::is_current() const noexcept {
  return forks.load(std::memory_order_relaxed) == forks_;
}

unsigned threads_after_fork(unsigned asked) noexcept {
  static std::atomic<pid_t> first{0};  // process that opened a device first; inherited by children
  pid_t before = 0;
  const pid_t now = getpid();
  first.compare_exchange_strong(before, now);
  if (before == 0 || before == now) return asked;
  const bool forked_thread = syscall(SYS_gettid) == now;  // a child starts with this thread only
  return forked_thread ? 1 : asked;
}

void WorkQueue::require_open() const {
  if (closed_) throw Error(ErrorCategory::Device, "the device of this job has been closed");
}

void WorkQueue::require_its_process() const {
  if (in_its_process()) return;
  throw Error(ErrorCategory::Device,
              "the device was opened before this process was forked; open one in the child");
}

void WorkQueue::execute(Work& work, std::unique_lock<std::mutex>& lock) {
  running_ = &work;
  work.state = Work::State::Running;
  lock.unlock();
  std::exception_ptr error;
  try {
    const HostFloatMode mode;  // results do not depend on the caller's
    work.body(work.stop.get_token());
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  work.error = std::move(error);
  work.state = Work::State::Done;
  running_ = nullptr;
  changed_.notify_all();
}

void WorkQueue::finish(Work& work, std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock,
                [&] { return work.state == Work::State::Done || work.state == Work::State::Idle; });
  work.state = Work::State::Idle;
  if (std::exception_ptr error = std::exchange(work.error, nullptr)) {
    lock.unlock();
    std::rethrow_exception(error);
  }
}

void WorkQueue::run(Work& work) {
  require_its_process();
  std::unique_lock lock(mutex_);
  require_open();
  if (work.stop.stop_requested()) work.stop = {};
  if (running_ == nullptr && queue_.empty()) {
    execute(work, lock);
  } else {
    lock.unlock();
    submit(work);
    lock.lock();
  }
  finish(work, lock);
}

void WorkQueue::submit(Work& work) {
  require_its_process();
  std::unique_lock lock(mutex_);
  require_open();
  if (work.stop.stop_requested()) work.stop = {};
  if (!thread_.joinable()) thread_ = start_thread([this] { loop(); });
  if (!thread_.joinable()) {  // then the caller waits for the work
    changed_.wait(lock, [&] { return running_ == nullptr; });
    return execute(work, lock);
  }
  queue_.push_back(&work);
  work.state = Work::State::Queued;
  changed_.notify_all();
}

bool WorkQueue::ready(const Work& work) const {
  require_its_process();
  const std::unique_lock lock(mutex_);
  return work.state == Work::State::Idle || work.state == Work::State::Done;
}

void WorkQueue::wait(Work& work) {
  require_its_process();
  std::unique_lock lock(mutex_);
  finish(work, lock);
}

void WorkQueue::cancel(Work& work) noexcept {
  if (!in_its_process()) return;
  std::unique_lock lock(mutex_);
  work.stop.request_stop();
  std::erase(queue_, &work);
  if (work.state == Work::State::Queued) work.state = Work::State::Idle;
  changed_.wait(lock, [&] { return work.state != Work::State::Running; });
  work.state = Work::State::Idle;
  work.error = nullptr;
}

void WorkQueue::interrupt() noexcept {
  if (!in_its_process()) return;
  const std::unique_lock lock(mutex_);
  if (running_ == nullptr) return;
  running_->stop.request_stop();
  if (running_->background && !queue_.empty()) queue_.front()->stop.request_stop();
}

void WorkQueue::close() noexcept {
  if (!in_its_process()) return;
  std::unique_lock lock(mutex_);
  closed_ = true;
  const auto lost = std::make_exception_ptr(
      Error(ErrorCategory::Device, "the device was closed before this work was done"));
  for (Work* work : queue_) {
    work->error = lost;
    work->state = Work::State::Done;
  }
  queue_.clear();
  if (running_ != nullptr) running_->stop.request_stop();
  changed_.notify_all();
  changed_.wait(lock, [&] { return running_ == nullptr; });
  lock.unlock();
  if (thread_.joinable()) thread_.join();
}

void WorkQueue::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || (!queue_.empty() && running_ == nullptr); });
    if (closed_) return;
    Work* const work = queue_.front();
    queue_.pop_front();
    execute(*work, lock);
  }
}

}  // namespace gdr
