// Tests the boards of a device again and again, between its jobs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "libgdr/device/core.hpp"

namespace gdr {

/// A thread that tests all boards so many seconds after the last time, in its turn of the queue
/// like a run. A board that fails is taken out, and its work goes to the others. The thread ends
/// when no board is left: the next job says why.
class BackgroundCheck {
 public:
  BackgroundCheck(std::shared_ptr<DeviceCore> device, double seconds);
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;
  ~BackgroundCheck();

  /// No test begins any more. Whoever closes the queue afterwards ends the one that runs.
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
