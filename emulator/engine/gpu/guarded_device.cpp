#include "emulator/engine/gpu/guarded_device.hpp"

#include <span>
#include <utility>

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
    fail(e.category() == ErrorCategory::Program ? GpuFailure::Compile : failure, e);
  }
}

void GuardedDevice::fail(GpuFailure failure, const Error& error) {
  if (failure == GpuFailure::Lost) {
    const std::scoped_lock lock(mutex_);
    if (!lost_) reason_ = error.what();
    lost_.store(true, std::memory_order_release);
  }
  throw GpuError(failure, error.category(), error.what());
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
  // A launch may still run, also on a card that failed another call: its buffers must live.
  if (is_lost()) {
    try {
      device_->finish();
    } catch (const Error&) {  // it has nothing to wait for
    }
  }
  guarded(GpuFailure::Lost, [&] { device_->finish(); });
}

class GuardedDevice::GuardedBlas final : public gpu::Blas {
 public:
  GuardedBlas(std::shared_ptr<gpu::Blas> blas, GuardedDevice& device)
      : blas_(std::move(blas)), device_(device) {}
  std::string name() const override { return blas_->name(); }
  void multiply(std::span<const gpu::BlasProduct> products) override {
    device_.require_usable();
    try {
      blas_->multiply(products);
    } catch (const gpu::BlasError& error) {
      device_.fail(error.failure() == gpu::BlasFailure::Memory    ? GpuFailure::Memory
                   : error.failure() == gpu::BlasFailure::Refused ? GpuFailure::Compile
                                                                  : GpuFailure::Lost,
                   error);
    }
  }

 private:
  std::shared_ptr<gpu::Blas> blas_;
  GuardedDevice& device_;
};

gpu::BlasLibrary GuardedDevice::blas() {
  gpu::BlasLibrary library = guarded(GpuFailure::Lost, [&] { return device_->blas(); });
  if (library.blas) library.blas = std::make_shared<GuardedBlas>(std::move(library.blas), *this);
  return library;
}

}  // namespace gdr
