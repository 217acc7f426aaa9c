#include "worker.hpp"

#include <utility>

namespace gdr::python {

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Worker::start(std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  work_ = std::move(work);
  busy_ = true;
  changed_.notify_all();
}

bool Worker::wait_for(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return !busy_; });
}

void Worker::finish() {
  std::exception_ptr error;
  {
    const std::scoped_lock lock(mutex_);
    error = std::exchange(error_, nullptr);
  }
  if (error) std::rethrow_exception(error);
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return busy_ || ended_; });
    if (ended_) return;
    const std::function<void()> work = std::exchange(work_, {});
    lock.unlock();
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = std::move(error);
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace gdr::python
