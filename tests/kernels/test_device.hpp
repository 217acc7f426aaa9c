// A GPU for tests: a device of a driver that counts its launches and transfers and fails on
// request.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulator/engine/gpu/cards.hpp"
#include "emulator/host/gpu/device.hpp"
#include "gdr/error.hpp"

namespace gdr {

class TestDevice final : public gpu::Device {
 public:
  enum Call : unsigned { Compile, Allocate, Write, Read, Run, calls };

  explicit TestDevice(std::shared_ptr<gpu::Device> real) : real_(std::move(real)) {
    for (auto& left : left_) left = never;
  }
  /// Of the next calls of a kind `good` succeed and then `bad` fail.
  void fail(Call call, int good, int bad = never) {
    bad_[call] = bad;
    left_[call] = good;
  }
  int launches() const { return launches_; }
  int finishes() const { return finishes_; }
  std::size_t bytes_written() const { return bytes_written_; }

  const gpu::DeviceInfo& info() const noexcept override { return real_->info(); }
  std::shared_ptr<const gpu::Kernel> compile(const std::string& text) override {
    check(Compile, ErrorCategory::Program);
    return compiled_once(text);
  }
  std::shared_ptr<gpu::Buffer> allocate(std::size_t bytes) override {
    check(Allocate);
    return real_->allocate(bytes);
  }
  void send(gpu::Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    check(Write);
    bytes_written_ += bytes;
    real_->send(to, offset, from, bytes);
  }
  void read(const gpu::Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    check(Read);
    real_->read(from, offset, to, bytes);
  }
  void start(const gpu::Kernel& kernel, const std::vector<gpu::Argument>& arguments,
             std::size_t threads, std::size_t group) override {
    check(Run);
    ++launches_;
    real_->start(kernel, arguments, threads, group);
  }
  void finish() override {
    ++finishes_;
    real_->finish();
  }
  /// The driver's; its products count as launches.
  gpu::BlasLibrary blas() override {
    gpu::BlasLibrary library = real_->blas();
    if (library.blas) library.blas = std::make_shared<TestBlas>(std::move(library.blas), *this);
    return library;
  }

 private:
  /// All devices of tests are the same one of the driver, whose compiler takes most of the time of
  /// these tests.
  std::shared_ptr<const gpu::Kernel> compiled_once(const std::string& text) {
    static std::mutex mutex;
    static auto& compiled = *new std::map<std::pair<const gpu::Device*, std::string>,
                                          std::shared_ptr<const gpu::Kernel>>;
    const std::scoped_lock lock(mutex);
    std::shared_ptr<const gpu::Kernel>& kernel = compiled[{real_.get(), text}];
    if (!kernel) kernel = real_->compile(text);
    return kernel;
  }

  class TestBlas final : public gpu::Blas {
   public:
    TestBlas(std::shared_ptr<gpu::Blas> real, TestDevice& device)
        : real_(std::move(real)), device_(device) {}
    std::string name() const override { return real_->name(); }
    void multiply(std::span<const gpu::BlasProduct> products) override {
      try {
        device_.check(Run);
      } catch (const Error& error) {
        throw gpu::BlasError(gpu::BlasFailure::Lost, error.what());
      }
      ++device_.launches_;
      real_->multiply(products);
    }

   private:
    std::shared_ptr<gpu::Blas> real_;
    TestDevice& device_;
  };

  static constexpr int never = std::numeric_limits<int>::max();

  void check(Call call, ErrorCategory category = ErrorCategory::Device) {
    if (left_[call] == never || left_[call]-- > 0) return;
    if (--bad_[call] <= 0) left_[call] = never;
    constexpr std::array names{"compile", "allocate", "write", "read", "run"};
    throw Error(category, std::string("injected failure of ") + names[call]);
  }

  std::shared_ptr<gpu::Device> real_;
  std::array<std::atomic<int>, calls> left_{}, bad_{};
  std::atomic<int> launches_ = 0, finishes_ = 0;
  std::atomic<std::size_t> bytes_written_ = 0;
};

/// Devices that engines use during its lifetime, also for small calculations.
class TestGpus {
 public:
  explicit TestGpus(std::size_t count, bool fallback = false) {
    setenv("GDR_GPU_PAIRS", "0", 1);
    if (fallback) setenv("GDR_GPU_FALLBACK", "cpu", 1);
    std::vector<std::shared_ptr<gpu::Device>> all;
    for (std::size_t n = 0; n < count; ++n) {
      devices.push_back(std::make_shared<TestDevice>(gpu::open_device("")));
      all.push_back(devices.back());
    }
    set_gpu_devices(all);
  }
  ~TestGpus() {
    unsetenv("GDR_GPU_FALLBACK");
    set_gpu_devices({});
  }
  TestGpus(const TestGpus&) = delete;
  std::vector<std::shared_ptr<TestDevice>> devices;
};

}  // namespace gdr
