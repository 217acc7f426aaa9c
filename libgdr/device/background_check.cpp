#include "libgdr/device/background_check.hpp"

#include <chrono>
#include <utility>

#include "gdr/error.hpp"
#include "libgdr/device/self_test.hpp"

namespace gdr {

BackgroundCheck::BackgroundCheck(std::shared_ptr<DeviceCore> device, double seconds)
    : device_(std::move(device)), thread_([this, seconds] { loop(seconds); }) {}

BackgroundCheck::~BackgroundCheck() {
  end();
  thread_.join();
}

void BackgroundCheck::end() noexcept {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

/// Waits for the interval; false after end().
bool BackgroundCheck::wait(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ended_; });
  return !ended_;
}

void BackgroundCheck::loop(double seconds) {
  Work work;
  work.background = true;
  unsigned round = 1;
  work.body = [&](const std::stop_token& stop) {
    test_boards(*device_, 1, round++, stop);
    const std::scoped_lock lock(device_->counters);
    ++device_->statistics.checks;
  };
  try {
    while (wait(seconds)) device_->queue.run(work);
  } catch (const Error&) {  // no board is left or the device is closed: reported by the next use
  }
}

}  // namespace gdr
