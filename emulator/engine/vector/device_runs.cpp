#include "emulator/engine/vector/device_runs.hpp"

#include <utility>
#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {
namespace {

/// Failed runs from which on the device is used only if most runs succeed.
constexpr std::uint64_t failures_allowed = 256;

}  // namespace

class DeviceRuns::Batch final : public FusedBatch {
 public:
  Batch(const DeviceRuns& all, bool heads, std::size_t runs) : all_(all), runs_(runs) {
    use(heads);
  }
  /// False if the device cannot execute the program.
  bool usable() const { return batch_ != nullptr; }

  void begin(std::size_t n, BlockState& block, const BlockRun& body) override {
    runs_[n] = {&block, body, start(n, block, body)};
  }
  void run_bodies() override {
    batch_->run();
    const auto has_tails = [this](std::size_t n) {
      return ((runs_[n].failure | batch_->failure(n)) & has_tail) != 0;
    };
    bool tails = false;
    for (std::size_t n = 0; n < runs_.size(); ++n) tails = tails || (started(n) && has_tails(n));
    if (!heads_ || !tails) return;
    // Once more, for longs with tails, as all later batches.
    all_.tails_seen_ = true;
    use(false);
    if (!usable()) return;
    for (std::size_t n = 0; n < runs_.size(); ++n)
      if (started(n)) runs_[n].failure = start(n, *runs_[n].block, runs_[n].body);
    batch_->run();
  }
  bool end(std::size_t n, BlockState& block, const BlockRun& body) override {
    std::uint64_t failure = usable() ? runs_[n].failure | batch_->failure(n) : inexact;
    const MachineFloatMode mode;
    if (failure == 0)
      failure = run_after_loop(*section_, *all_.sections_.kernels(), block, body,
                               [&](std::byte* frame) { batch_->store(n, frame); });
    if (failure != 0) {
      all_.count(0, 1);
      return false;
    }
    all_.sections_.count_fused_run();
    all_.count(1, 0);
    return true;
  }

 private:
  struct Run {
    BlockState* block = nullptr;
    BlockRun body;
    std::uint64_t failure = 0;  ///< bits of DoublesFailure before the iterations
  };
  bool started(std::size_t n) const { return runs_[n].block != nullptr; }
  void use(bool heads) {
    heads_ = heads;
    section_ = &all_.sections_.fused()[heads].ready();
    DeviceLoop* const loop = all_.loop(heads);
    batch_ = loop != nullptr ? loop->batch(runs_.size()) : nullptr;
  }
  std::uint64_t start(std::size_t n, BlockState& block, const BlockRun& body) {
    const MachineFloatMode mode;
    return run_before_loop(
        *section_, *all_.sections_.kernels(), block, body,
        [&](const std::byte* frame) { batch_->load(n, frame, block.bm.data(), body); });
  }

  const DeviceRuns& all_;
  std::vector<Run> runs_;
  bool heads_ = false;
  const DoublesSection* section_ = nullptr;
  std::unique_ptr<LoopBatch> batch_;
};

DeviceRuns::DeviceRuns(std::shared_ptr<LoopDevice> device, const VerifiedSections& sections,
                       std::size_t group_shorts)
    : device_(std::move(device)), sections_(sections), group_shorts_(group_shorts) {
  for (const bool heads : {false, true})
    compiled_[heads].translate = sections.fused_translation(heads);
}

bool DeviceRuns::is_usable() const {
  if (!device_ || refused_ || !device_->is_usable()) return false;
  // Runs that fail are repeated on the host.
  return failed_ <= failures_allowed || failed_ <= completed_;
}

std::unique_ptr<FusedBatch> DeviceRuns::start_batch(std::size_t runs) const {
  const bool heads = sections_.fused()[1]->usable && !tails_seen_;
  auto batch = std::make_unique<Batch>(*this, heads, runs);
  if (!batch->usable()) return nullptr;
  return batch;
}

DeviceLoop* DeviceRuns::loop(bool heads) const {
  FirstUse& use = compiled_[heads];
  std::call_once(use.made, [&] {
    DoublesKernels kernels = codegen::device_tracing_kernels();
    kernels.batch = sections_.kernels()->batch;
    std::string why;
    auto loop = device_->compile(sections_.fused()[heads].ready(), use.translate(kernels),
                                 group_shorts_, why);
    const std::scoped_lock lock(lock_);
    use.loop = std::move(loop);
    if (use.loop) return;
    refusal_ = std::move(why);
    refused_ = true;
  });
  return use.loop.get();
}

void DeviceRuns::count(std::uint64_t completed, std::uint64_t failed) const noexcept {
  completed_.fetch_add(completed, std::memory_order_relaxed);
  failed_.fetch_add(failed, std::memory_order_relaxed);
}

void DeviceRuns::add_stats(SectionStats& body, std::string failure) const {
  const std::scoped_lock lock(lock_);
  body.gpu_runs = completed_;
  for (const FirstUse& use : compiled_) {
    if (!use.loop) continue;
    body.code_bytes += use.loop->text_bytes();
    body.compile_seconds += use.loop->compile_seconds();
  }
  const std::string text = reason(std::move(failure));
  std::string& shown = body.first_failure.empty() ? body.reason : body.first_failure;
  if (!text.empty()) shown = shown.empty() ? text : text + "; " + shown;
}

/// Why iterations ran on the host; empty: for no reason.
std::string DeviceRuns::reason(std::string failure) const {
  if (device_)
    if (std::string own = device_->failure(); !own.empty()) return own;
  if (!failure.empty()) return failure;
  if (!refusal_.empty()) return "on the processor, not on the GPU: " + refusal_;
  if (failed_ == 0) return {};
  return std::to_string(failed_) +
         " block runs on the GPU were repeated on the processor: a number is too large, too "
         "small or not exact in doubles";
}

}  // namespace gdr
