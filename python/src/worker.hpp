// Work away from Python's threads: the caller waits without the GIL and looks at signals meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace gdr::python {

/// One background thread that does one thing at a time. It stays, so that OpenMP keeps its team.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// Begin `work`; nothing else may be under way.
  void begin(std::function<void()> work);
  /// True when it is done; false if that takes longer than `at_most`.
  bool done_within(std::chrono::milliseconds at_most);
  /// After it was done: throws what it threw.
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
