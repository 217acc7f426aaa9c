#include "emulator/engine/vector/gpu/gpu_passes.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/gpu/launch_length.hpp"
#include "emulator/engine/gpu/place_choice.hpp"
#include "emulator/engine/gpu/queue_scope.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/gpu/pass_text.hpp"
#include "emulator/engine/vector/gpu/resident_sources.hpp"
#include "emulator/engine/vector/gpu/self_test.hpp"
#include "emulator/engine/vector/gpu/split_elements.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

using Words = std::vector<std::uint64_t>;

/// Interactions a second of a small device.
constexpr double least_rate = 1e8;
/// Fewer than 2^29 terms of a sum (accumulator.hpp).
constexpr std::uint64_t most_passes = std::uint64_t{1} << 20;

std::size_t whole_groups(std::size_t threads) {
  return (threads + threads_of_group - 1) / threads_of_group * threads_of_group;
}

class GpuPasses final : public DevicePasses {
 public:
  GpuPasses(std::shared_ptr<Gpu> gpu, codegen::PassText text, std::uint32_t lanes,
            std::uint32_t elements, std::uint32_t row_bytes, std::size_t group_shorts)
      : gpu_(std::move(gpu)),
        text_(std::move(text)),
        lanes_(lanes),
        elements_(elements),
        row_bytes_(row_bytes) {
    const Stopwatch timer;
    sources_ = std::make_unique<ResidentSources>(*gpu_, gpu_->compile(text_.sources), group_shorts,
                                                 text_.kept);
    loop_ = gpu_->compile(text_.loop);
    compile_seconds_ = timer.seconds();
  }

  std::unique_ptr<PassBatch> batch(std::size_t blocks) override;
  std::size_t text_bytes() const override { return text_.sources.size() + text_.loop.size(); }
  double compile_seconds() const override { return compile_seconds_; }

  gpu::Device& device() const { return *gpu_->device; }
  BufferPool& pool() const { return gpu_->pool; }
  const codegen::PassText& text() const { return text_; }
  const gpu::Kernel& loop() const { return *loop_; }
  /// Threads of a block.
  std::size_t threads() const { return std::size_t{lanes_} * elements_; }
  std::uint32_t lanes() const { return lanes_; }
  std::uint32_t elements() const { return elements_; }
  std::uint32_t row_bytes() const { return row_bytes_; }

  ResidentSources& sources() { return *sources_; }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const codegen::PassText text_;
  const std::uint32_t lanes_, elements_, row_bytes_;
  std::shared_ptr<const gpu::Kernel> loop_;
  std::unique_ptr<ResidentSources> sources_;
  double compile_seconds_ = 0;
};

class GpuBatch final : public PassBatch {
 public:
  GpuBatch(GpuPasses& passes, std::size_t blocks)
      : passes_(passes),
        rows_(blocks * row_words()),
        results_(blocks * result_words()),
        runs_(2 * blocks),
        streams_(blocks),
        failures_(blocks, inexact) {}

  void load(std::size_t n, const std::byte* frame, const std::uint64_t* memory,
            const BlockRun& run) override {
    streams_[n] = {run.stream, run.iterations};
    std::uint64_t* to = rows_.data() + n * row_words();
    for (const codegen::ThreadRow& row : passes_.text().rows) {
      for (std::uint32_t e = 0; e < passes_.elements(); ++e, to += passes_.lanes()) {
        if (row.from_memory)
          std::fill_n(to, passes_.lanes(), memory[row.offset / gpu_word_bytes]);
        else
          std::memcpy(to, frame + place(row, e), passes_.lanes() * gpu_word_bytes);
      }
    }
  }

  void run() override {
    std::vector<ResidentSources::Part> parts;
    std::uint64_t most = 0;
    for (std::size_t n = 0; n < streams_.size(); ++n) {
      const ResidentSources::Part& own = streams_[n];
      if (own.groups == 0) continue;
      const auto same = [&](const ResidentSources::Part& p) {
        return p.stream.groups == own.stream.groups && p.groups == own.groups &&
               p.stream.revision == own.stream.revision;
      };
      std::uint64_t first = 0;
      const auto known = std::ranges::find_if(parts, same);
      for (auto p = parts.begin(); p != known; ++p) first += p->groups;
      if (known == parts.end()) parts.push_back(own);
      runs_[2 * n] = first;
      runs_[2 * n + 1] = own.groups;
      most = std::max(most, own.groups);
    }
    if (most == 0) return;
    const ResidentSources::Made sources = passes_.sources().update(parts);
    if (sources.failure != 0) {
      std::ranges::fill(failures_, static_cast<std::uint32_t>(sources.failure));
      return;
    }
    launch(*sources.words, most);
  }

  std::uint64_t failure(std::size_t n) const override { return failures_[n]; }

  void store(std::size_t n, std::byte* frame) const override {
    const std::uint64_t* from = rows_.data() + n * row_words();
    for (std::uint32_t r = 0; r < passes_.text().carried; ++r, from += passes_.threads())
      store_row(passes_.text().rows[r], from, frame);
    // Rows of one element may be parts of what was stored for all.
    for (const bool of_elements : {true, false}) {
      from = results_.data() + n * result_words();
      for (const codegen::ThreadRow& row : passes_.text().results) {
        if (row.of_elements == of_elements) store_row(row, from, frame);
        from += passes_.threads();
      }
    }
  }

 private:
  std::size_t row_words() const { return passes_.text().rows.size() * passes_.threads(); }
  std::size_t result_words() const { return passes_.text().results.size() * passes_.threads(); }
  std::size_t place(const codegen::ThreadRow& row, std::uint32_t element) const {
    return row.offset + (row.of_elements ? std::size_t{element} * passes_.row_bytes() : 0);
  }
  void store_row(const codegen::ThreadRow& row, const std::uint64_t* from, std::byte* frame) const {
    for (std::uint32_t e = 0; e < (row.of_elements ? passes_.elements() : 1); ++e)
      std::memcpy(frame + place(row, e), from + e * passes_.lanes(),
                  passes_.lanes() * gpu_word_bytes);
  }

  void launch(const gpu::Buffer& kept, std::uint64_t passes) {
    gpu::Device& device = passes_.device();
    const auto buffer = [&](std::size_t bytes) { return passes_.pool().take(bytes); };
    std::ranges::fill(failures_, 0);
    const auto rows = buffer(rows_.size() * gpu_word_bytes);
    const auto runs = buffer(runs_.size() * gpu_word_bytes);
    const auto failures = buffer(failures_.size() * sizeof failures_[0]);
    const auto results = buffer(results_.size() * gpu_word_bytes);
    QueueScope queue(device);
    device.send(*rows, 0, rows_.data(), rows_.size() * gpu_word_bytes);
    device.send(*runs, 0, runs_.data(), runs_.size() * gpu_word_bytes);
    device.send(*failures, 0, failures_.data(), failures_.size() * sizeof failures_[0]);
    const std::size_t threads = streams_.size() * passes_.threads();
    LaunchLength length(threads, least_rate);
    for (std::uint64_t begin = 0; begin < passes;) {
      const Stopwatch timer;
      const std::uint64_t some = std::min({length.passes(), most_passes, passes - begin});
      device.start(passes_.loop(),
                   {{rows.get()},
                    {results.get()},
                    {&kept},
                    {runs.get()},
                    {failures.get()},
                    {nullptr, threads},
                    {nullptr, begin},
                    {nullptr, some}},
                   whole_groups(threads), threads_of_group);
      begin += some;
      if (begin < passes) {
        device.finish();
        length.record(some, timer.seconds());
      }
      cancellation_point();
    }
    device.read(*rows, 0, rows_.data(), rows_.size() * gpu_word_bytes);
    if (!results_.empty())
      device.read(*results, 0, results_.data(), results_.size() * gpu_word_bytes);
    device.read(*failures, 0, failures_.data(), failures_.size() * sizeof failures_[0]);
    queue.set_empty();
  }

  GpuPasses& passes_;
  Words rows_, results_;  ///< [block][row][element][lane]
  Words runs_;            ///< of each block: its first group and their number
  std::vector<ResidentSources::Part> streams_;
  std::vector<std::uint32_t> failures_;
};

std::unique_ptr<PassBatch> GpuPasses::batch(std::size_t blocks) {
  return std::make_unique<GpuBatch>(*this, blocks);
}

class GpuPassDevice final : public PassDevice {
 public:
  explicit GpuPassDevice(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  bool is_faster(double pairs) override {
    return gpu_->measured ? choice_.on_gpu(pairs, gpu_->least_pairs) : pairs >= gpu_->least_pairs;
  }
  void record(double pairs, bool here, double seconds) override {
    choice_.record(pairs, here, seconds);
  }

  std::unique_ptr<DevicePasses> compile(const DoublesSection& section, const DoublesSection& traced,
                                        std::size_t group_shorts, std::string& why) override {
    std::vector<DoublesOp> ops;
    for (const DoublesOp& op : traced.pass.ops) {
      if (op.kernel == pause || op.kernel == stop) continue;
      if (touches_memory(op.kernel)) {
        why = "it stores to the broadcast memory";
        return nullptr;
      }
      ops.push_back(op);
    }
    if (ops.empty()) {
      why = "it has no passes of its own";
      return nullptr;
    }
    // A thread for each element of a PE, or, where elements exchange words, for each PE.
    const auto live = &section.pass.live;
    if (const std::optional<codegen::Trace> trace = codegen::trace(ops, traced, live)) {
      if (auto made = compile(*trace, section.row_lanes, group_shorts, why)) return made;
    }
    const codegen::Trace whole = codegen::trace_elements_together(ops, traced, live);
    if (const std::optional<codegen::Trace> split = codegen::split_elements(ops, whole)) {
      if (auto made = compile(*split, section.row_lanes, group_shorts, why)) return made;
    }
    return compile(whole, section.row_lanes, group_shorts, why);
  }

 private:
  std::unique_ptr<DevicePasses> compile(const codegen::Trace& trace, std::uint32_t lanes,
                                        std::size_t group_shorts, std::string& why) const {
    try {
      return std::make_unique<GpuPasses>(gpu_, codegen::pass_text(trace), lanes, trace.elements,
                                         trace.row_bytes, group_shorts);
    } catch (const codegen::UnsupportedPass& refused) {
      why = refused.why;
    }
    return nullptr;
  }

  const std::shared_ptr<Gpu> gpu_;
  PlaceChoice choice_;
};

}  // namespace

std::shared_ptr<PassDevice> exact_passes_on(std::shared_ptr<Gpu> gpu) {
  if (const std::string wrong = exactness_failure(*gpu->device); !wrong.empty())
    throw Error(ErrorCategory::Unsupported, label(gpu->device->info()) +
                                                " cannot compute exactly: " + wrong +
                                                "; use the engine gpu or vector");
  return std::make_shared<GpuPassDevice>(std::move(gpu));
}

}  // namespace gdr
