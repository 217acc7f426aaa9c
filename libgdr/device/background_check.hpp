// Periodic test of a device's boards between its jobs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "libgdr/device/core.hpp"

namespace gdr {

/// A thread that tests all boards at an interval, through the queue like a run. A board that fails
/// is removed and its work reassigned to the others. The thread ends when no board is left; the
/// next job reports the error.
class BackgroundCheck {
 public:
  BackgroundCheck(std::shared_ptr<DeviceCore> device, double seconds);
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;
  ~BackgroundCheck();

  /// Prevents further tests. Closing the queue afterwards cancels a running one.
  void end() noexcept;

 private:
  void loop(double seconds);
  bool wait(double seconds);

  std::shared_ptr<DeviceCore> device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;  ///< guarded by mutex_
  std::thread thread_;
};

}  // namespace gdr
