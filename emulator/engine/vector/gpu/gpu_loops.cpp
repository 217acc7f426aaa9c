#include "emulator/engine/vector/gpu/gpu_loops.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/engine/gpu/launch_length.hpp"
#include "emulator/engine/gpu/place_choice.hpp"
#include "emulator/engine/gpu/queue_scope.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/gpu/gpu_streams.hpp"
#include "emulator/engine/vector/gpu/loop_text.hpp"
#include "emulator/engine/vector/gpu/self_test.hpp"
#include "emulator/engine/vector/gpu/split_elements.hpp"
#include "emulator/host/monitor.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

using Words = std::vector<std::uint64_t>;

/// Interactions a second of a small device.
constexpr double min_rate = 1e8;
/// Fewer than 2^29 terms of a sum (accumulator.hpp).
constexpr std::uint64_t max_iterations = std::uint64_t{1} << 20;
/// Threads that are worth a launch of their own beside another one.
constexpr std::size_t threads_of_half = 32768;

std::size_t whole_groups(std::size_t threads) {
  return (threads + threads_of_group - 1) / threads_of_group * threads_of_group;
}

class GpuLoop final : public DeviceLoop {
 public:
  GpuLoop(std::shared_ptr<Gpu> gpu, codegen::LoopText text, std::uint32_t lanes,
          std::uint32_t elements, std::uint32_t row_bytes, std::size_t group_shorts)
      : gpu_(std::move(gpu)),
        text_(std::move(text)),
        lanes_(lanes),
        elements_(elements),
        row_bytes_(row_bytes) {
    const Stopwatch timer;
    sources_ =
        std::make_unique<GpuStreams>(*gpu_, gpu_->compile(text_.sources), group_shorts, text_.kept);
    code_ = gpu_->compile(text_.loop);
    compile_seconds_ = timer.seconds();
  }

  std::unique_ptr<LoopBatch> batch(std::size_t blocks) override;
  std::size_t text_bytes() const override { return text_.sources.size() + text_.loop.size(); }
  double compile_seconds() const override { return compile_seconds_; }

  gpu::Device& device() const { return *gpu_->device; }
  BufferPool& pool() const { return gpu_->pool; }
  const codegen::LoopText& text() const { return text_; }
  const gpu::Kernel& code() const { return *code_; }
  /// Threads of a block.
  std::size_t threads() const { return std::size_t{lanes_} * elements_; }
  std::uint32_t lanes() const { return lanes_; }
  std::uint32_t elements() const { return elements_; }
  std::uint32_t row_bytes() const { return row_bytes_; }

  GpuStreams& sources() { return *sources_; }

 private:
  const std::shared_ptr<Gpu> gpu_;
  const codegen::LoopText text_;
  const std::uint32_t lanes_, elements_, row_bytes_;
  std::shared_ptr<const gpu::Kernel> code_;
  std::unique_ptr<GpuStreams> sources_;
  double compile_seconds_ = 0;
};

class GpuBatch final : public LoopBatch {
 public:
  GpuBatch(GpuLoop& loop, std::size_t blocks)
      : loop_(loop),
        rows_(blocks * row_words()),
        results_(blocks * result_words()),
        runs_(2 * blocks),
        streams_(blocks),
        failures_(blocks, inexact) {}

  void load(std::size_t n, const std::byte* frame, const std::uint64_t* memory,
            const BlockRun& run) override {
    streams_[n] = {run.stream.groups, run.iterations, run.stream.changes, run.stream.first};
    std::uint64_t* to = rows_.data() + n * row_words();
    for (const codegen::ThreadRow& row : loop_.text().rows) {
      for (std::uint32_t e = 0; e < loop_.elements(); ++e, to += loop_.lanes()) {
        if (row.from_memory)
          std::fill_n(to, loop_.lanes(), memory[row.offset / gpu_word_bytes]);
        else
          std::memcpy(to, frame + place(row, e), loop_.lanes() * gpu_word_bytes);
      }
    }
  }

  void run() override {
    std::vector<EncodedGroups> parts;
    std::uint64_t most = 0;
    for (std::size_t n = 0; n < streams_.size(); ++n) {
      const EncodedGroups& own = streams_[n];
      if (own.count == 0) continue;
      const auto is_known = [&](const EncodedGroups& p) {
        return p.groups == own.groups && p.count == own.count && p.revision() == own.revision();
      };
      std::uint64_t first = 0;
      const auto known = std::ranges::find_if(parts, is_known);
      for (auto p = parts.begin(); p != known; ++p) first += p->count;
      if (known == parts.end()) parts.push_back(own);
      runs_[2 * n] = first;
      runs_[2 * n + 1] = own.count;
      most = std::max(most, own.count);
    }
    if (most == 0) return;
    const GpuStreams::Made sources = loop_.sources().update(parts);
    if (sources.failure != 0) {
      std::ranges::fill(failures_, static_cast<std::uint32_t>(sources.failure));
      return;
    }
    launch(*sources.words, most);
  }

  std::uint64_t failure(std::size_t n) const override { return failures_[n]; }

  void store(std::size_t n, std::byte* frame) const override {
    const std::uint64_t* from = rows_.data() + n * row_words();
    for (std::uint32_t r = 0; r < loop_.text().carried; ++r, from += loop_.threads())
      store_row(loop_.text().rows[r], from, frame);
    // Rows of one element may be parts of what was stored for all.
    for (const bool of_elements : {true, false}) {
      from = results_.data() + n * result_words();
      for (const codegen::ThreadRow& row : loop_.text().results) {
        if (row.of_elements == of_elements) store_row(row, from, frame);
        from += loop_.threads();
      }
    }
  }

 private:
  std::size_t row_words() const { return loop_.text().rows.size() * loop_.threads(); }
  std::size_t result_words() const { return loop_.text().results.size() * loop_.threads(); }
  std::size_t place(const codegen::ThreadRow& row, std::uint32_t element) const {
    return row.offset + (row.of_elements ? std::size_t{element} * loop_.row_bytes() : 0);
  }
  void store_row(const codegen::ThreadRow& row, const std::uint64_t* from, std::byte* frame) const {
    for (std::uint32_t e = 0; e < (row.of_elements ? loop_.elements() : 1); ++e)
      std::memcpy(frame + place(row, e), from + e * loop_.lanes(), loop_.lanes() * gpu_word_bytes);
  }

  /// In two halves, if each fills a card: while one is computed, the other one's rows are on their
  /// way.
  void launch(const gpu::Buffer& kept, std::uint64_t iterations) {
    const std::size_t blocks = streams_.size(), half = blocks / 2;
    if (half * loop_.threads() < threads_of_half) return launch(kept, iterations, 0, blocks);
    const WorkMonitor& monitor = monitor_of_thread();
    std::exception_ptr errors[2];
    run_concurrently(2, [&](std::size_t k) {
      const MonitoredScope scope(monitor);
      try {
        launch(kept, iterations, k * half, k == 0 ? half : blocks - half);
      } catch (...) {
        errors[k] = std::current_exception();
      }
    });
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

  void launch(const gpu::Buffer& kept, std::uint64_t iterations, std::size_t first,
              std::size_t blocks) {
    gpu::Device& device = loop_.device();
    const std::span rows_here(rows_.data() + first * row_words(), blocks * row_words());
    const std::span results_here(results_.data() + first * result_words(), blocks * result_words());
    const std::span runs_here(runs_.data() + 2 * first, 2 * blocks);
    const std::span failures_here(failures_.data() + first, blocks);
    const auto buffer = [&](const auto& words) { return loop_.pool().take(words.size_bytes()); };
    const auto send = [&](gpu::Buffer& to, const auto& words) {
      device.send(to, 0, words.data(), words.size_bytes());
    };
    const auto read = [&](const gpu::Buffer& from, const auto& words) {
      if (!words.empty()) device.read(from, 0, words.data(), words.size_bytes());
    };
    std::ranges::fill(failures_here, 0);
    const auto rows = buffer(rows_here), runs = buffer(runs_here), failures = buffer(failures_here),
               results = buffer(results_here);
    QueueScope queue(device);
    send(*rows, rows_here);
    send(*runs, runs_here);
    send(*failures, failures_here);
    const std::size_t threads = blocks * loop_.threads();
    LaunchLength length(threads, min_rate);
    for (std::uint64_t begin = 0; begin < iterations;) {
      const Stopwatch timer;
      const std::uint64_t some =
          std::min({length.iterations(), max_iterations, iterations - begin});
      device.start(loop_.code(),
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
      if (begin < iterations) {
        device.finish();
        length.record(some, timer.seconds());
      }
      cancellation_point();
    }
    read(*rows, rows_here);
    read(*results, results_here);
    read(*failures, failures_here);
    queue.set_empty();
  }

  GpuLoop& loop_;
  Words rows_, results_;  ///< [block][row][element][lane]
  Words runs_;            ///< first group of each block, and the number of groups
  std::vector<EncodedGroups> streams_;
  std::vector<std::uint32_t> failures_;
};

std::unique_ptr<LoopBatch> GpuLoop::batch(std::size_t blocks) {
  return std::make_unique<GpuBatch>(*this, blocks);
}

class GpuLoopDevice final : public LoopDevice {
 public:
  explicit GpuLoopDevice(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  bool is_faster(double pairs) override {
    return gpu_->measured ? choice_.on_gpu(pairs, gpu_->min_pairs) : pairs >= gpu_->min_pairs;
  }
  void record(double pairs, bool here, double seconds) override {
    choice_.record(pairs, here, seconds);
  }

  std::unique_ptr<DeviceLoop> compile(const DoublesSection& section, const DoublesSection& traced,
                                      std::size_t group_shorts, std::string& why) override {
    std::vector<DoublesOp> ops;
    for (const DoublesOp& op : traced.iteration.ops) {
      if (op.kernel == pause || op.kernel == stop) continue;
      if (touches_memory(op.kernel)) {
        why = "it stores to the broadcast memory";
        return nullptr;
      }
      ops.push_back(op);
    }
    if (ops.empty()) {
      why = "it has no loop of its own";
      return nullptr;
    }
    // A thread for each element of a PE, or, where elements exchange words, for each PE.
    const auto live = &section.iteration.live;
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
  std::unique_ptr<DeviceLoop> compile(const codegen::Trace& trace, std::uint32_t lanes,
                                      std::size_t group_shorts, std::string& why) const {
    try {
      return std::make_unique<GpuLoop>(gpu_, codegen::loop_text(trace), lanes, trace.elements,
                                       trace.row_bytes, group_shorts);
    } catch (const codegen::UnsupportedLoop& refused) {
      why = refused.why;
    }
    return nullptr;
  }

  const std::shared_ptr<Gpu> gpu_;
  PlaceChoice choice_;
};

}  // namespace

std::shared_ptr<LoopDevice> exact_loops_on(std::shared_ptr<Gpu> gpu) {
  if (const std::string wrong = exactness_failure(*gpu->device); !wrong.empty())
    throw Error(ErrorCategory::Unsupported, label(gpu->device->info()) +
                                                " cannot compute exactly: " + wrong +
                                                "; use the engine gpu or vector");
  return std::make_shared<GpuLoopDevice>(std::move(gpu));
}

}  // namespace gdr
