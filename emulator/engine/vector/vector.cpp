#include "emulator/engine/vector/vector.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/lanes/doubles/verified.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"
#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/engine/runners/joined_passes.hpp"
#include "emulator/engine/runners/small_blocks.hpp"
#include "emulator/engine/vector/device_runs.hpp"
#include "emulator/engine/vector/rows/plan.hpp"
#include "emulator/engine/vector/rows/planned_run.hpp"
#include "emulator/engine/vector/verified_sections.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr {
namespace {

class VectorExecutable final : public StreamingExecutable {
 public:
  VectorExecutable(const Program& program, const Geometry& geometry, Isa isa, bool fuse,
                   std::shared_ptr<LoopDevice> device, std::shared_ptr<MatmulDevice> matmul_device)
      : isa_(isa),
        jit_(fuse),
        products_(fuse && can_verify_doubles(isa) ? exact_matmul_of(isa) : nullptr),
        program_(program),
        kernels_(strip_kernels(isa)),
        planned_(plan_program(program_, geometry, kernels_)),
        reference_(ReferenceEngine{}.prepare(program, geometry)),
        sections_(program_, geometry, isa,
                  fuse && isa != Isa::Portable ? std::optional(isa) : std::nullopt),
        accepts_streams_(body_accepts_streams(program_)),
        device_runs_(device, sections_, group_shorts()),
        device_(std::move(device)),
        matmul_device_(std::move(matmul_device)) {}

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
      const std::uint64_t verified = sections_.run(block, part, sources);
      if (verified == 0) return on_integers(block, part);
      part.iterations = verified;
      sources.first += verified * sources.step;
      part.source_base += static_cast<std::uint32_t>(verified) * run.source_step;
      part.output_base += static_cast<std::uint32_t>(verified) * run.output_step;
    }
  }

  std::size_t stream_bytes() const noexcept override {
    const DoublesSection& body = sections_.section(Section::Body);
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
    return sections_.fused()[0]->usable && stream_bytes() != 0 ? max_fused_groups_.load() : 0;
  }
  bool run_program(BlockState& block, const BlockRun& body) const override {
    const MachineFloatMode mode;
    if (sections_.run_fused(block, body, stream_of(body))) return true;
    max_fused_groups_ = groups_per_verification;
    return false;
  }

  std::unique_ptr<FusedBatch> start_batch(std::size_t runs, std::uint64_t groups) const override {
    if (!device_runs_.is_usable() || !device_->is_faster(pairs_of(runs, groups))) return nullptr;
    return device_runs_.start_batch(runs);
  }
  bool joins_passes() const override { return device_runs_.is_usable(); }
  void record_batch(std::size_t runs, std::uint64_t groups, bool as_batch,
                    double seconds) const override {
    if (device_) device_->record(pairs_of(runs, groups), as_batch, seconds);
  }

  ExecutableStats stats() const override {
    ExecutableStats stats = sections_.stats();
    device_runs_.add_stats(stats[static_cast<unsigned>(Section::Body)],
                           matmul_device_ ? matmul_device_->failure() : std::string());
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
    sections_.count(Section::Body, blocks, slow);
  }
  void record_device_matmul(std::uint64_t blocks, bool computed,
                            bool repeated) const noexcept override {
    record_matmul(blocks, 0);
    device_runs_.count(computed ? blocks : 0, repeated ? blocks : 0);
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

  double pairs_of(std::size_t runs, std::uint64_t groups) const {
    const std::size_t targets = runs * sections_.fused()[0]->row_lanes * program_.elements;
    return static_cast<double>(targets) * static_cast<double>(groups * program_.group);
  }

  std::size_t group_shorts() const { return std::size_t{program_.item_shorts} * program_.group; }

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
      const std::uint64_t verified = sections_.run(block, part, sources);
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

  const Isa isa_;
  const bool jit_;
  const MatmulFunctions* products_;
  Program program_;
  const StripKernels& kernels_;
  PlannedProgram planned_;
  std::shared_ptr<const Executable> reference_;
  const VerifiedSections sections_;
  const bool accepts_streams_;  ///< whether the body accepts streams
  const DeviceRuns device_runs_;
  const std::shared_ptr<LoopDevice> device_;           ///< null: none
  const std::shared_ptr<MatmulDevice> matmul_device_;  ///< null: none
  /// Unlimited until a verification fails, which requires a repetition of the whole run.
  mutable std::atomic<std::uint64_t> max_fused_groups_{~std::uint64_t{0}};
  mutable std::mutex smaller_mutex_;
  /// The same program for blocks with fewer PEs; their statistics are added to this one's.
  mutable std::vector<std::shared_ptr<const Executable>> smaller_;
};

}  // namespace

bool can_verify_doubles(Isa isa) { return verified_doubles_kernels(isa) != nullptr; }

std::shared_ptr<const Executable> VectorEngine::prepare(const Program& program,
                                                        const Geometry& geometry) const {
  check_program(program, geometry);
  return std::make_shared<VectorExecutable>(program, geometry, isa_, jit_, device_, matmul_device_);
}

}  // namespace gdr
