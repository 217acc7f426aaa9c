#include "emulator/engine/vector/vector.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/engine/matmul/cpu/kernels.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"
#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/engine/runners/joined_passes.hpp"
#include "emulator/engine/runners/small_blocks.hpp"
#include "emulator/engine/vector/doubles/codegen/compiled_doubles.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/doubles/pass_device.hpp"
#include "emulator/engine/vector/doubles/run.hpp"
#include "emulator/engine/vector/rows/plan.hpp"
#include "emulator/engine/vector/rows/planned_run.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {
namespace {

class VectorExecutable final : public StreamingExecutable {
 public:
  VectorExecutable(const Program& program, const Geometry& geometry, Isa isa, bool fuse,
                   std::shared_ptr<PassDevice> device, std::shared_ptr<MatmulDevice> matmul_device)
      : isa_(isa),
        jit_(fuse),
        products_(fuse && can_verify_doubles(isa) ? exact_matmul_of(isa) : nullptr),
        program_(program),
        kernels_(strip_kernels(isa)),
        planned_(plan_program(program_, geometry, kernels_)),
        reference_(ReferenceEngine{}.prepare(program, geometry)),
        doubles_(verified_doubles_kernels(
            isa, geometry.pes_per_block < wide_batch ? narrow_batch : wide_batch)),
        accepts_streams_(body_accepts_streams(program_)),
        device_(std::move(device)),
        matmul_device_(std::move(matmul_device)) {
    if (doubles_ == nullptr) return;
    std::optional<Isa> fused_isa;
    if (fuse && isa != Isa::Portable) fused_isa = isa;
    for (const bool heads : {false, true}) {
      for (unsigned s = 0; s < section_count; ++s) {
        const auto translate = [this, s, geometry, heads](const DoublesKernels& kernels) {
          return translate_to_doubles(program_, static_cast<Section>(s), geometry, kernels, heads);
        };
        sections_[s][heads] = codegen::CompiledDoubles(translate, *doubles_, fused_isa);
      }
      const auto translate = [this, geometry, heads](const DoublesKernels& kernels) {
        return translate_program(program_, geometry, kernels, heads);
      };
      fused_[heads] = codegen::CompiledDoubles(translate, *doubles_, fused_isa);
      if (device_) on_device_[heads] = std::make_unique<FirstUse>(translate);
    }
  }

  void run(BlockState& block, const BlockRun& run) const override {
    if (run.iterations == 0) return;
    if (run.collect_flags) {
      // Sticky flags come from the scalar arithmetic, which knows each exception by its exact
      // cause.
      reference_->run(block, run);
      return;
    }
    const MachineFloatMode mode;
    if (run.stream.groups != nullptr) {
      run_stream(block, run);
      return;
    }
    SourceLanes sources{block.bm.data() + run.source_base, run.source_step};
    BlockRun part = run;
    for (std::uint64_t left = run.iterations; left > 0; left -= part.iterations) {
      part.iterations = left;
      const std::uint64_t verified = doubles_ == nullptr ? 0 : on_doubles(block, part, sources);
      if (verified == 0) return on_integers(block, part);
      part.iterations = verified;
      sources.first += verified * sources.step;
      part.source_base += static_cast<std::uint32_t>(verified) * run.source_step;
      part.output_base += static_cast<std::uint32_t>(verified) * run.output_step;
    }
  }

  std::size_t stream_bytes() const noexcept override {
    const DoublesSection& body = *sections_[static_cast<unsigned>(Section::Body)][0];
    const bool streams =
        body.usable && accepts_streams_ && (!body.writes_memory || streams_outputs());
    return streams ? group_shorts() * sizeof(std::uint64_t) : 0;
  }
  bool streams_outputs() const noexcept override {
    const auto& body = program_.section(Section::Body);
    return std::ranges::all_of(body, [](const Instruction& i) {
      return i.move.op != Op::Bput || i.move.bm.space == Space::BmOutput;
    });
  }
  bool streams_memory_words() const noexcept override { return true; }
  bool convert_sources(const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                       std::byte* to) const noexcept override {
    for (std::size_t g = 0; g < groups; ++g) {
      std::memcpy(to + g * stream_bytes(), shorts + g * step, stream_bytes());
    }
    return true;
  }

  std::uint64_t max_fused_groups() const noexcept override {
    return fused_[0]->usable && stream_bytes() != 0 ? max_fused_groups_.load() : 0;
  }
  bool run_program(BlockState& block, const BlockRun& body) const override {
    const MachineFloatMode mode;
    if (run_verified(fused_, block, body, stream_of(body)).failure != 0) {
      max_fused_groups_ = groups_per_verification;
      return false;
    }
    count_fused_run();
    return true;
  }

  std::unique_ptr<FusedBatch> start_batch(std::size_t runs, std::uint64_t groups) const override {
    if (!uses_device()) return nullptr;
    if (!device_->is_faster(pairs_of(runs, groups))) return nullptr;
    auto batch = std::make_unique<Batch>(*this, fused_[1]->usable && !tails_seen_, runs);
    if (!batch->usable()) return nullptr;
    return batch;
  }
  bool joins_passes() const override { return uses_device(); }
  void record_batch(std::size_t runs, std::uint64_t groups, bool as_batch,
                    double seconds) const override {
    if (device_) device_->record(pairs_of(runs, groups), as_batch, seconds);
  }

  ExecutableStats stats() const override {
    ExecutableStats stats;
    const std::scoped_lock lock(fallback_lock_);
    for (unsigned s = 0; s < section_count; ++s) {
      const DoublesSection& section = *sections_[s][0];
      stats[s] = {
          section.usable, section.reason, fallbacks_[s], verified_[s], repeated_[s], 0, 0.0};
    }
    SectionStats& body = stats[static_cast<unsigned>(Section::Body)];
    body.gpu_runs = runs_on_device_;
    for (const auto& made : on_device_) {
      if (!made || !made->passes) continue;
      body.code_bytes += made->passes->text_bytes();
      body.compile_seconds += made->passes->compile_seconds();
    }
    // Why passes ran here comes first, then why not in doubles.
    std::string text;
    std::string failed = device_ ? device_->failure() : std::string();
    if (failed.empty() && matmul_device_) failed = matmul_device_->failure();
    if (!failed.empty())
      text = failed;
    else if (!why_not_on_device_.empty())
      text = "on the processor, not on the GPU: " + why_not_on_device_;
    else if (failures_on_device_ != 0)
      text = std::to_string(failures_on_device_) +
             " block runs on the GPU were repeated on the processor: a number is too large, too "
             "small or not exact in doubles";
    std::string& shown = body.first_failure.empty() ? body.reason : body.first_failure;
    if (!text.empty()) shown = shown.empty() ? text : text + "; " + shown;
    return with_smaller(stats);
  }
  MatmulSupport matmul() const noexcept override {
    return {products_, nullptr, matmul_device_.get()};
  }
  std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                          const Geometry& geometry) const override {
    const auto prepare = [this](const Geometry& smaller) {
      auto executable =
          VectorEngine(isa_, jit_, device_, matmul_device_).prepare(program_, smaller);
      const std::scoped_lock lock(smaller_mutex_);
      smaller_.push_back(executable);
      return executable;
    };
    auto full = blockwise_runner(loaded, geometry, *this);
    auto small = std::make_unique<SmallBlockRunner>(loaded, geometry, prepare, std::move(full));
    if (!device_) return small;
    return std::make_unique<JoinedPasses>(loaded, geometry, *this, std::move(small));
  }
  void record_matmul(std::uint64_t blocks, std::uint64_t slow) const noexcept override {
    const auto body = static_cast<unsigned>(Section::Body);
    verified_[body].fetch_add(blocks, std::memory_order_relaxed);
    repeated_[body].fetch_add(slow, std::memory_order_relaxed);
  }
  void record_device_matmul(std::uint64_t blocks, bool computed,
                            bool repeated) const noexcept override {
    record_matmul(blocks, 0);
    if (computed) runs_on_device_.fetch_add(blocks, std::memory_order_relaxed);
    if (repeated) failures_on_device_.fetch_add(blocks, std::memory_order_relaxed);
  }

 private:
  /// Adds the work on blocks with fewer PEs.
  ExecutableStats with_smaller(ExecutableStats stats) const {
    const std::scoped_lock smaller(smaller_mutex_);
    for (const auto& executable : smaller_) {
      const ExecutableStats own = executable->stats();
      for (unsigned s = 0; s < section_count; ++s) {
        stats[s].runs += own[s].runs;
        stats[s].fallback_runs += own[s].fallback_runs;
        stats[s].gpu_runs += own[s].gpu_runs;
        stats[s].code_bytes += own[s].code_bytes;
        stats[s].compile_seconds += own[s].compile_seconds;
        if (stats[s].reason.empty()) stats[s].reason = own[s].reason;
        if (stats[s].first_failure.empty()) stats[s].first_failure = own[s].first_failure;
      }
    }
    return stats;
  }

  /// Whether fused runs may be executed on a device.
  bool uses_device() const {
    if (!device_ || refused_by_device_ || !device_->is_usable()) return false;
    // Runs that fail are repeated here.
    return failures_on_device_ <= failures_allowed || failures_on_device_ <= runs_on_device_;
  }

  double pairs_of(std::size_t runs, std::uint64_t groups) const {
    const std::size_t targets = runs * fused_[0]->row_lanes * program_.elements;
    return static_cast<double>(targets) * static_cast<double>(groups * program_.group);
  }

  std::size_t group_shorts() const { return std::size_t{program_.item_shorts} * program_.group; }

  /// A fused run's passes on a device, compiled on their first use.
  struct FirstUse {
    explicit FirstUse(codegen::Translate translation) : translate(std::move(translation)) {}
    codegen::Translate translate;
    std::once_flag made;
    std::unique_ptr<DevicePasses> passes;  ///< written under fallback_lock_
  };

  class Batch final : public FusedBatch {
   public:
    Batch(const VectorExecutable& executable, bool heads, std::size_t runs)
        : executable_(executable), runs_(runs) {
      use(heads);
    }
    /// False if the device cannot execute the program.
    bool usable() const { return passes_ != nullptr; }

    void begin(std::size_t n, BlockState& block, const BlockRun& body) override {
      runs_[n] = {&block, body, start(n, block, body)};
    }
    void run_bodies() override {
      passes_->run();
      const auto has_tails = [this](std::size_t n) {
        return ((runs_[n].failure | passes_->failure(n)) & has_tail) != 0;
      };
      bool tails = false;
      for (std::size_t n = 0; n < runs_.size(); ++n) tails = tails || (started(n) && has_tails(n));
      if (!heads_ || !tails) return;
      // Once more, for longs with tails, as all later batches.
      executable_.tails_seen_ = true;
      use(false);
      if (!usable()) return;
      for (std::size_t n = 0; n < runs_.size(); ++n)
        if (started(n)) runs_[n].failure = start(n, *runs_[n].block, runs_[n].body);
      passes_->run();
    }
    bool end(std::size_t n, BlockState& block, const BlockRun& body) override {
      std::uint64_t failure = usable() ? runs_[n].failure | passes_->failure(n) : inexact;
      const MachineFloatMode mode;
      if (failure == 0)
        failure = run_after_passes(*section_, *executable_.doubles_, block, body,
                                   [&](std::byte* frame) { passes_->store(n, frame); });
      if (failure != 0) {
        executable_.failures_on_device_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
      executable_.count_fused_run();
      executable_.runs_on_device_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }

   private:
    struct Run {
      BlockState* block = nullptr;
      BlockRun body;
      std::uint64_t failure = 0;  ///< before the passes
    };
    bool started(std::size_t n) const { return runs_[n].block != nullptr; }
    void use(bool heads) {
      heads_ = heads;
      section_ = &executable_.fused_[heads].ready();
      DevicePasses* const passes = executable_.passes_on_device(heads);
      passes_ = passes != nullptr ? passes->batch(runs_.size()) : nullptr;
    }
    std::uint64_t start(std::size_t n, BlockState& block, const BlockRun& body) {
      const MachineFloatMode mode;
      return run_before_passes(
          *section_, *executable_.doubles_, block, body,
          [&](const std::byte* frame) { passes_->load(n, frame, block.bm.data(), body); });
    }

    const VectorExecutable& executable_;
    std::vector<Run> runs_;
    bool heads_ = false;
    const DoublesSection* section_ = nullptr;
    std::unique_ptr<PassBatch> passes_;
  };

  DevicePasses* passes_on_device(bool heads) const {
    FirstUse& made = *on_device_[heads];
    std::call_once(made.made, [&] {
      DoublesKernels kernels = codegen::device_tracing_kernels();
      kernels.batch = doubles_->batch;
      std::string why;
      auto passes =
          device_->compile(fused_[heads].ready(), made.translate(kernels), group_shorts(), why);
      const std::scoped_lock lock(fallback_lock_);
      made.passes = std::move(passes);
      if (made.passes) return;
      why_not_on_device_ = std::move(why);
      refused_by_device_ = true;
    });
    return made.passes.get();
  }

  void count_fused_run() const {
    for (const Section section : {Section::Start, Section::Body, Section::End}) {
      const auto number = static_cast<unsigned>(section);
      if (sections_[number][0]->has_floats)
        verified_[number].fetch_add(1, std::memory_order_relaxed);
    }
  }

  /// Groups of j-items per verified run: amortises import and export, and bounds the cost of a
  /// repetition.
  static constexpr std::uint64_t groups_per_verification = 512;

  SourceLanes stream_of(const BlockRun& run) const {
    return {reinterpret_cast<const std::uint64_t*>(run.stream.groups), group_shorts()};
  }

  void run_stream(BlockState& block, const BlockRun& run) const {
    SourceLanes sources = stream_of(run);
    BlockRun part = run;
    for (std::uint64_t done = 0; done < run.iterations; done += part.iterations) {
      part.iterations = std::min(groups_per_verification, run.iterations - done);
      const std::uint64_t verified = on_doubles(block, part, sources);
      if (verified != 0) {
        part.iterations = verified;
      } else {
        stream_on_integers(block, part, sources);
      }
      sources.first += part.iterations * sources.step;
      if (part.outputs != nullptr) part.outputs += part.iterations * run.output_step;
    }
  }

  /// Copies each group to the place of the last one in the broadcast memory and executes it.
  void stream_on_integers(BlockState& block, const BlockRun& run, SourceLanes sources) const {
    std::uint64_t* const place = block.bm.data() + run.stream.last_group;
    const std::vector<std::uint64_t> last(place, place + sources.step);
    const std::size_t out = run.outputs != nullptr ? run.output_step : 0;
    std::uint64_t* const out_place = block.bm.data() + run.output_base;
    const std::vector<std::uint64_t> out_before(out_place, out_place + out);
    BlockRun one = run;
    one.stream = {};
    one.outputs = nullptr;
    one.iterations = 1;
    one.source_base = run.stream.last_group;
    for (std::uint64_t g = 0; g < run.iterations; ++g) {
      std::copy_n(sources.first + g * sources.step, sources.step, place);
      on_integers(block, one);
      std::copy_n(out_place, out, run.outputs + g * out);
    }
    std::copy(out_before.begin(), out_before.end(), out_place);
    std::copy(last.begin(), last.end(), place);
  }

  void on_integers(BlockState& block, const BlockRun& run) const {
    run_planned(block, planned_, kernels_, run);
  }

  using Variants = std::array<codegen::CompiledDoubles, 2>;  ///< [heads]

  /// First assumes that longs have no tails.
  DoublesResult run_verified(const Variants& section, BlockState& block, const BlockRun& run,
                             SourceLanes sources) const {
    DoublesResult result{has_tail, 0};
    const auto run_on = [&](const codegen::CompiledDoubles& way) {
      return run_on_doubles(way.ready(), *doubles_, block, run, sources);
    };
    if (section[1]->usable) result = run_on(section[1]);
    if (result.failure == has_tail && result.passes == 0) result = run_on(section[0]);
    return result;
  }

  /// Number of completed passes.
  std::uint64_t on_doubles(BlockState& block, const BlockRun& run, SourceLanes sources) const {
    const auto number = static_cast<unsigned>(run.section);
    const auto& section = sections_[number];
    if (!section[0]->usable) {
      // Sections without floats do not use doubles.
      if (section[0]->has_floats) repeated_[number].fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
    const DoublesResult result = run_verified(section, block, run, sources);
    if (result.passes == 0) record_failure(number, block, run, sources);
    (result.passes != 0 ? verified_ : repeated_)[number].fetch_add(1, std::memory_order_relaxed);
    return result.passes;
  }

  /// Records the diagnosis of the first failed run.
  void record_failure(unsigned section, BlockState& block, const BlockRun& run,
                      SourceLanes sources) const {
    if (fallback_known_[section].test_and_set(std::memory_order_relaxed)) return;
    std::string text = diagnose(program_, *sections_[section][0], *doubles_, block, run, sources);
    const std::scoped_lock lock(fallback_lock_);
    fallbacks_[section] = std::move(text);
  }

  const Isa isa_;
  const bool jit_;
  const MatmulKernels* products_;
  Program program_;
  const StripKernels& kernels_;
  PlannedProgram planned_;
  std::shared_ptr<const Executable> reference_;
  mutable std::array<std::atomic<std::uint64_t>, section_count> verified_{}, repeated_{};
  mutable std::array<std::atomic_flag, section_count> fallback_known_{};
  mutable std::mutex fallback_lock_;  ///< protects the texts
  mutable std::array<std::string, section_count> fallbacks_;
  const DoublesKernels* doubles_;  ///< null: integers only
  mutable std::mutex smaller_mutex_;
  /// The same program for blocks with fewer PEs; their statistics are added to this one's.
  mutable std::vector<std::shared_ptr<const Executable>> smaller_;
  bool accepts_streams_;  ///< whether the body accepts streams
  std::array<Variants, section_count> sections_;
  Variants fused_;  ///< fused run of Start, body and End
  /// Unlimited until a verification fails, which requires a repetition of the whole run.
  mutable std::atomic<std::uint64_t> max_fused_groups_{~std::uint64_t{0}};
  std::shared_ptr<PassDevice> device_;                  ///< null: none
  std::shared_ptr<MatmulDevice> matmul_device_;         ///< null: none
  std::array<std::unique_ptr<FirstUse>, 2> on_device_;  ///< [heads]; null without a device
  mutable std::string why_not_on_device_;               ///< protected by fallback_lock_
  mutable std::atomic<bool> refused_by_device_{false};  ///< it cannot execute the program
  mutable std::atomic<std::uint64_t> failures_on_device_{0};
  static constexpr std::uint64_t failures_allowed = 256;
  mutable std::atomic<std::uint64_t> runs_on_device_{0};  ///< block runs
  mutable std::atomic<bool> tails_seen_{false};
};

}  // namespace

bool can_verify_doubles(Isa isa) { return verified_doubles_kernels(isa) != nullptr; }

std::shared_ptr<const Executable> VectorEngine::prepare(const Program& program,
                                                        const Geometry& geometry) const {
  check_program(program, geometry);
  return std::make_shared<VectorExecutable>(program, geometry, isa_, jit_, device_, matmul_device_);
}

}  // namespace gdr
