// A background thread; the caller waits without the GIL and handles signals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace gdr::python {

/// One persistent background thread for one task at a time; OpenMP keeps its team of threads.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// Starts `work`; no other task may be running.
  void start(std::function<void()> work);
  /// Waits for the task; returns false on timeout.
  bool wait_for(std::chrono::milliseconds timeout);
  /// Rethrows the exception of the completed task.
  void finish();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::exception_ptr error_;
  bool busy_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace gdr::python
