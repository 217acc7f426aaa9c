// A device whose failures are told apart: what may be tried again, and what ends its use.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/host/gpu/device.hpp"
#include "gdr/error.hpp"

namespace gdr {

enum class GpuFailure : std::uint8_t {
  Memory,   ///< an allocation failed: a smaller calculation may succeed
  Compile,  ///< the driver's compiler or a library refused something: other work may run
  Lost,     ///< a launch or transfer failed: the device is not used again
};

/// A call of a GPU that failed. Its message ends with the remedy.
class GpuError final : public Error {
 public:
  /// `cause`: the category of the driver's error.
  GpuError(GpuFailure failure, ErrorCategory cause, const std::string& reason);
  GpuFailure failure() const noexcept { return failure_; }
  /// The driver's reason, without the remedy.
  const std::string& reason() const noexcept { return reason_; }

 private:
  GpuFailure failure_;
  std::string reason_;
};

/// Passes all calls on, and throws GpuError for errors of the categories Device and Program. After
/// a failed launch or transfer no call reaches the device any more, because the driver of a lost
/// device may hang: all calls throw the first reason.
class GuardedDevice final : public gpu::Device {
 public:
  explicit GuardedDevice(std::shared_ptr<gpu::Device> device) : device_(std::move(device)) {}
  const gpu::DeviceInfo& info() const noexcept override { return device_->info(); }
  std::shared_ptr<const gpu::Kernel> compile(const std::string& text) override;
  std::shared_ptr<gpu::Buffer> allocate(std::size_t bytes) override;
  void send(gpu::Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void start(const gpu::Kernel& kernel, const std::vector<gpu::Argument>& arguments,
             std::size_t threads, std::size_t group) override;
  void read(const gpu::Buffer& from, std::size_t offset, void* to, std::size_t bytes) override;
  void finish() override;
  /// The library's failures are GpuErrors, too.
  gpu::BlasLibrary blas() override;

  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  /// Throws GpuError if it is lost.
  void require_usable();

 private:
  class GuardedBlas;

  template <typename Call>
  auto guarded(GpuFailure failure, const Call& call);
  [[noreturn]] void fail(GpuFailure failure, const Error& error);

  std::shared_ptr<gpu::Device> device_;
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::string reason_;  ///< why it was lost; written once, under the mutex
};

}  // namespace gdr
