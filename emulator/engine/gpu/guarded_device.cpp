#include "emulator/engine/gpu/guarded_device.hpp"

namespace gdr {
namespace {

std::string with_remedy(GpuFailure failure, const std::string& reason) {
  const std::string fallback =
      "with GDR_GPU_FALLBACK=cpu in the environment the processor takes over";
  if (failure == GpuFailure::Lost)
    return reason + "; this process does not use the card again: restart the program, or " +
           fallback;
  return reason + "; " + fallback;
}

}  // namespace

GpuError::GpuError(GpuFailure failure, ErrorCategory cause, const std::string& reason)
    : Error(cause, with_remedy(failure, reason)), failure_(failure), reason_(reason) {}

void GuardedDevice::require_usable() {
  if (!is_lost()) return;
  const std::scoped_lock lock(mutex_);
  throw GpuError(GpuFailure::Lost, ErrorCategory::Device, reason_);
}

template <typename Call>
auto GuardedDevice::guarded(GpuFailure failure, const Call& call) {
  require_usable();
  try {
    return call();
  } catch (const Error& e) {
    if (e.category() != ErrorCategory::Device && e.category() != ErrorCategory::Program) throw;
    if (e.category() == ErrorCategory::Program) failure = GpuFailure::Compile;
    if (failure == GpuFailure::Lost) {
      const std::scoped_lock lock(mutex_);
      if (!lost_) reason_ = e.what();
      lost_.store(true, std::memory_order_release);
    }
    throw GpuError(failure, e.category(), e.what());
  }
}

std::shared_ptr<const gpu::Kernel> GuardedDevice::compile(const std::string& text) {
  return guarded(GpuFailure::Lost, [&] { return device_->compile(text); });
}

std::shared_ptr<gpu::Buffer> GuardedDevice::allocate(std::size_t bytes) {
  return guarded(GpuFailure::Memory, [&] { return device_->allocate(bytes); });
}

void GuardedDevice::send(gpu::Buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  guarded(GpuFailure::Lost, [&] { device_->send(to, offset, from, bytes); });
}

void GuardedDevice::start(const gpu::Kernel& kernel, const std::vector<gpu::Argument>& arguments,
                          std::size_t threads, std::size_t group) {
  guarded(GpuFailure::Lost, [&] { device_->start(kernel, arguments, threads, group); });
}

void GuardedDevice::read(const gpu::Buffer& from, std::size_t offset, void* to, std::size_t bytes) {
  guarded(GpuFailure::Lost, [&] { device_->read(from, offset, to, bytes); });
}

void GuardedDevice::finish() {
  guarded(GpuFailure::Lost, [&] { device_->finish(); });
}

}  // namespace gdr
