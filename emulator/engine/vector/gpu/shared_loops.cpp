#include "emulator/engine/vector/gpu/shared_loops.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/engine/vector/gpu/gpu_loops.hpp"
#include "emulator/host/monitor.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {
namespace {

/// The GPUs of an engine, and the last failure of one of them.
class SharedGpus {
 public:
  explicit SharedGpus(Gpus gpus) : gpus_(std::move(gpus)) {}
  const Gpus& all() const noexcept { return gpus_; }

  /// False if the processor has to do the work; throws the reason if it may not.
  bool any_usable() const {
    if (std::ranges::any_of(gpus_, &Gpu::is_usable)) return true;
    if (!gpus_.front()->processor_takes_over) gpus_.front()->device->require_usable();
    return false;
  }
  /// After a failure of `gpu`: returns if the processor repeats its work, else throws the error.
  void handle(const Gpu& gpu, const GpuError& error) {
    const bool others = std::ranges::any_of(
        gpus_, [&](const auto& other) { return other.get() != &gpu && other->is_usable(); });
    const bool goes_on = others && !gpu.is_usable();
    if (!goes_on) gpu.require_fallback(error);
    const std::scoped_lock lock(mutex_);
    failure_ = error.reason() + "; the processor took over" + (goes_on ? " its blocks" : "");
  }
  std::string failure() const {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

 private:
  const Gpus gpus_;
  mutable std::mutex mutex_;
  std::string failure_;
};

/// The blocks of a batch that one GPU has.
struct Share {
  Gpu* gpu = nullptr;
  std::size_t first = 0;
  std::unique_ptr<LoopBatch> batch;
  bool failed = false;
};

class SharedBatch final : public LoopBatch {
 public:
  SharedBatch(std::shared_ptr<SharedGpus> gpus, std::vector<Share> shares)
      : gpus_(std::move(gpus)), shares_(std::move(shares)) {}

  void load(std::size_t n, const std::byte* frame, const std::uint64_t* memory,
            const BlockRun& run) override {
    if (Share* const share = share_of(n)) share->batch->load(n - share->first, frame, memory, run);
  }

  void run() override {
    std::vector<std::exception_ptr> errors(shares_.size());
    const WorkMonitor& monitor = monitor_of_thread();
    const auto run_share = [&](std::size_t s) noexcept {
      const MonitoredScope scope(monitor);
      try {
        shares_[s].batch->run();
      } catch (...) {
        shares_[s].failed = true;
        errors[s] = std::current_exception();
      }
    };
    run_concurrently(shares_.size(), run_share);
    for (std::size_t s = 0; s < shares_.size(); ++s) {
      if (!errors[s]) continue;
      try {
        std::rethrow_exception(errors[s]);
      } catch (const GpuError& error) {
        gpus_->handle(*shares_[s].gpu, error);
      }
    }
  }

  std::uint64_t failure(std::size_t n) const override {
    const Share* const share = share_of(n);
    return share == nullptr || share->failed ? inexact : share->batch->failure(n - share->first);
  }
  void store(std::size_t n, std::byte* frame) const override {
    const Share* const share = share_of(n);
    share->batch->store(n - share->first, frame);
  }

 private:
  /// Null if no GPU was left when the batch was made.
  Share* share_of(std::size_t n) { return const_cast<Share*>(std::as_const(*this).share_of(n)); }
  const Share* share_of(std::size_t n) const {
    const auto next = std::ranges::upper_bound(shares_, n, {}, &Share::first);
    return next == shares_.begin() ? nullptr : &*(next - 1);
  }

  const std::shared_ptr<SharedGpus> gpus_;
  std::vector<Share> shares_;
};

class SharedLoop final : public DeviceLoop {
 public:
  /// `loops`: those of each GPU; null for those that failed.
  SharedLoop(std::shared_ptr<SharedGpus> gpus, std::vector<std::unique_ptr<DeviceLoop>> loops)
      : gpus_(std::move(gpus)), loops_(std::move(loops)) {}

  std::unique_ptr<LoopBatch> batch(std::size_t blocks) override {
    std::vector<std::size_t> usable;
    for (std::size_t g = 0; g < loops_.size(); ++g)
      if (loops_[g] && gpus_->all()[g]->is_usable()) usable.push_back(g);
    std::vector<Share> shares;
    const std::size_t parts = std::min(usable.size(), blocks);
    for (std::size_t s = 0; s < parts; ++s) {
      const std::size_t first = blocks * s / parts, end = blocks * (s + 1) / parts;
      shares.push_back(
          {gpus_->all()[usable[s]].get(), first, loops_[usable[s]]->batch(end - first)});
    }
    return std::make_unique<SharedBatch>(gpus_, std::move(shares));
  }
  std::size_t text_bytes() const override { return first().text_bytes(); }
  double compile_seconds() const override {
    double seconds = 0;
    for (const auto& loop : loops_)
      if (loop) seconds += loop->compile_seconds();
    return seconds;
  }

 private:
  const DeviceLoop& first() const {
    return **std::ranges::find_if(loops_, [](const auto& loop) { return loop != nullptr; });
  }

  const std::shared_ptr<SharedGpus> gpus_;
  const std::vector<std::unique_ptr<DeviceLoop>> loops_;
};

class SharedLoopDevice final : public LoopDevice {
 public:
  explicit SharedLoopDevice(Gpus gpus) : gpus_(std::make_shared<SharedGpus>(std::move(gpus))) {
    for (const auto& gpu : gpus_->all()) devices_.push_back(exact_loops_on(gpu));
  }
  bool is_faster(double pairs) override { return devices_.front()->is_faster(pairs); }
  void record(double pairs, bool here, double seconds) override {
    devices_.front()->record(pairs, here, seconds);
  }
  bool is_usable() const override { return gpus_->any_usable(); }
  std::string failure() const override { return gpus_->failure(); }

  std::unique_ptr<DeviceLoop> compile(const DoublesSection& section, const DoublesSection& traced,
                                      std::size_t group_shorts, std::string& why) override {
    std::vector<std::unique_ptr<DeviceLoop>> loops(devices_.size());
    for (std::size_t g = 0; g < devices_.size(); ++g) {
      const Gpu& gpu = *gpus_->all()[g];
      if (!gpu.is_usable()) continue;
      try {
        loops[g] = devices_[g]->compile(section, traced, group_shorts, why);
        if (!loops[g]) return nullptr;
      } catch (const GpuError& error) {
        gpus_->handle(gpu, error);
        why = error.reason();
      }
    }
    if (std::ranges::all_of(loops, [](const auto& made) { return made == nullptr; }))
      return nullptr;
    return std::make_unique<SharedLoop>(gpus_, std::move(loops));
  }

 private:
  const std::shared_ptr<SharedGpus> gpus_;
  std::vector<std::shared_ptr<LoopDevice>> devices_;
};

}  // namespace

std::shared_ptr<LoopDevice> exact_loops_on(Gpus gpus) {
  return std::make_shared<SharedLoopDevice>(std::move(gpus));
}

}  // namespace gdr
