#include "emulator/engine/native/run/packed_runner.hpp"

#include <algorithm>
#include <array>

#include "emulator/engine/native/run/packed_on_gpus.hpp"
#include "emulator/engine/native/run/packed_pass.hpp"
#include "emulator/engine/runners/small_blocks.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/host/thread_choice.hpp"

namespace gdr::native {
namespace {

/// Whether an overflow in any lane has the run repeated in doubles, so that vectors have to be
/// full. Lists are those of targets only.
bool fills_vectors(const CompiledProgram& compiled) {
  const CompiledSection* const body = compiled.section(Section::Body);
  return body != nullptr && body->notes_overflow() &&
         std::ranges::none_of(body->kernels(),
                              [](const Kernel& kernel) { return !kernel.lists.empty(); });
}

/// What runs packed passes of a program.
struct Packed {
  Packed(const CompiledProgram& compiled, const LoadedProgram& loaded, const Geometry& geometry,
         const Executable& executable, const PackedPlan& plan)
      : blocks(compiled, loaded, geometry, executable, plan, fills_vectors(compiled)),
        slices(compiled, loaded, plan),
        tasks(compiled, loaded, plan, blocks, slices),
        gpus(compiled, loaded, plan, blocks, slices, tasks) {}
  TargetBlocks blocks;
  SourceSlices slices;
  PackedTasks tasks;
  PackedOnGpus gpus;
};

class PackedRunner final : public PassRunner {
 public:
  PackedRunner(const CompiledProgram& compiled, const LoadedProgram& loaded,
               const Geometry& geometry, const Executable& executable, FallbackRunners fallbacks,
               std::atomic<std::uint64_t>* runs, const LoadedProgram* in_chips)
      : compiled_(compiled),
        loaded_(loaded),
        fallbacks_(std::move(fallbacks)),
        runs_(runs),
        in_longs_(in_chips != nullptr),
        joins_in_chips_(in_chips == nullptr || joins_alike(*in_chips, loaded)),
        plan_(make_packed_plan(compiled, loaded)),
        threads_{ThreadChoice(loaded.program.group), ThreadChoice(loaded.program.group)} {
    const CompiledSection* const body = compiled.section(Section::Body);
    if (plan_.usable)
      packed_ = std::make_unique<Packed>(compiled, loaded, geometry, executable, plan_);
    else if (!compiled.gpus.empty() && body != nullptr)
      body->note_not_on_gpu("targets cannot be packed, " + plan_.reason);
  }
  void run(const Pass& pass) override {
    const Pass complete = with_writes(pass);
    const bool taken = takes(complete);
    if (taken && run_targets({&complete, 1})) return;
    if (pass.pending_writes != nullptr) pass.pending_writes->finish(pass.threads);
    if (taken && beyond_range_ && fallbacks_.make_in_doubles) return run_in_doubles(pass);
    if (in_longs_ && !taken && run_beside_blocks(complete)) return;
    const CompiledSection* const body = compiled_.section(Section::Body);
    if (in_longs_ && body != nullptr)
      body->note_in_shorts("the run leaves the chips' state, or ranks join results");
    if (plan_.usable && !compiled_.gpus.empty() && body != nullptr)
      body->note_not_on_gpu(
          "a run leaves the chips' state, or joins integers that may wrap around in a block, and "
          "so goes block by block");
    fallbacks_.blockwise->run(pass);
  }
  bool run_together(std::span<const Pass> passes) override {
    const Pass& first = passes.front();
    const auto joins_first = [&](const Pass& pass) {
      return takes(pass) && pass.runs.front().plan.partition == ChipPartition::TargetsOverBlocks &&
             std::ranges::equal(pass.runs, first.runs, [](const PassRun& a, const PassRun& b) {
               // The last targets may not need all chips.
               return (a.chips & ~b.chips) == 0 && a.plan.items == b.plan.items &&
                      a.address == b.address && a.flags == b.flags;
             });
    };
    return std::ranges::all_of(passes, joins_first) && run_targets(passes);
  }
  bool takes_pending_writes() const noexcept override { return plan_.usable; }
  void invalidate_chips() noexcept override { fallbacks_.blockwise->invalidate_chips(); }

 private:
  /// A pass of a program without variables of targets has no writes: here it has empty records.
  Pass with_writes(const Pass& pass) {
    Pass complete = pass;
    if (!loaded_.targets.empty() || !pass.writes.empty()) return complete;
    empty_writes_.clear();
    for (const ResultRead& read : pass.reads) empty_writes_.push_back({read.chips, read.slots});
    complete.writes = empty_writes_;
    return complete;
  }

  /// Whether the lanes cannot represent a word of the converted sources.
  bool is_beyond_range() {
    beyond_range_ = !packed_->slices.lanes().usable();
    return beyond_range_;
  }
  void run_in_doubles(const Pass& pass) {
    compiled_.section(Section::Body)->note_run_in_doubles();
    if (in_doubles_ == nullptr) in_doubles_ = fallbacks_.make_in_doubles();
    in_doubles_->run(pass);
  }

  /// Where sums of integers may wrap around in a PE: the blocks tell how often they do, and all
  /// results are computed in longs. False if the pass cannot be packed for other reasons.
  bool run_beside_blocks(const Pass& pass) {
    if (!plan_.usable || pass.reads.size() != 1 || pass.reads.front().raw) return false;
    if (!may_pack(pass, loaded_, 0, compiled_.target.precision)) return false;
    if (!run_targets({&pass, 1})) return false;
    const ResultRead& read = pass.reads.front();
    const std::size_t words = loaded_.layout.result_words;
    std::uint64_t* const results = pass.results + read.offset;
    std::vector<std::uint64_t> in_longs(results, results + read.slots.count * words);
    fallbacks_.blockwise->run(pass);
    for (const PortField& field : loaded_.results) {
      if (field.reduce != Reduce::Iadd) continue;
      for (std::size_t at = field.half_word / 2; at < in_longs.size(); at += words)
        in_longs[at] = unwrapped(in_longs[at], results[at]);
    }
    std::ranges::copy(in_longs, results);
    return true;
  }
  /// The integer near another one that wraps around to a given one.
  static std::uint64_t unwrapped(std::uint64_t wrapped, std::uint64_t near) noexcept {
    constexpr double period = 0x1p36;  // of the integers of a PE
    const auto apart = static_cast<double>(static_cast<std::int64_t>(near - wrapped));
    return wrapped + (static_cast<std::uint64_t>(std::llround(apart / period)) << 36);
  }

  bool takes(const Pass& pass) {
    return plan_.usable &&
           (joins_in_chips_ || std::ranges::none_of(pass.reads, &ResultRead::raw)) &&
           may_pack(pass, loaded_, integer_change(pass), compiled_.target.precision);
  }
  /// PackedPlan::integer_change with the integers of a pass.
  std::optional<std::uint64_t> integer_change(const Pass& pass) {
    if (!plan_.integer_change) return std::nullopt;
    const auto [constant, factor] = *plan_.integer_change;
    if (factor == 0 || !bounds_integers(pass, loaded_)) return constant;
    const std::uint64_t largest = largest_integer(pass, loaded_, segments_);
    const std::uint64_t most = largest_integer_sum(compiled_.target.precision);
    if (largest > most / factor) return std::nullopt;
    return constant + factor * largest;
  }
  /// Whether the network reduces the results of two programs alike.
  static bool joins_alike(const LoadedProgram& a, const LoadedProgram& b) {
    return std::ranges::equal(a.results, b.results, {}, &PortField::reduce, &PortField::reduce);
  }

  /// Passes with the same sources and parameters; several only without slices. False if they cannot
  /// be packed.
  bool run_targets(std::span<const Pass> passes) {
    const Pass& pass = passes.front();
    beyond_range_ = false;
    find_segments(pass, loaded_, segments_);
    if (segments_.empty() || !packed_->blocks.make_image(pass)) return false;
    phases_.clear();
    prepare_sources(pass);
    const bool new_sources = !phases_.empty();
    const std::uint64_t targets = count_targets(passes);
    const LaneSources& sources = packed_->slices.lanes();
    const auto pairs = static_cast<double>(targets) * static_cast<double>(sources.group_count());
    constexpr double ns_to_fetch_a_byte = 0.05;  // where in doubt, the times decide
    const double fetched =
        new_sources ? ns_to_fetch_a_byte * static_cast<double>(sources.lanes().size()) : 0;
    ThreadChoice& choice = threads_[new_sources ? 1 : 0];
    const unsigned threads = choice.choose(pairs, fetched, pass.threads);
    // With the conversion: sources that other threads have read are written more slowly.
    const Stopwatch timer;
    const bool for_gpu = packed_->gpus.takes(pass, targets);
    const unsigned converting = new_sources ? threads_for_sources(pass.threads) : 1;
    // Threads that are about to compute convert, unless these are fewer.
    if (for_gpu || converting > threads) run_all(converting, false);
    if (for_gpu && is_beyond_range()) return false;
    const auto on_gpu = for_gpu ? packed_->gpus.run(passes, targets) : std::nullopt;
    if (on_gpu) {
      count_runs(*on_gpu);
    } else {
      run_on_host(passes, targets, threads, new_sources);
      if (is_beyond_range()) return false;
      if (!for_gpu) choice.record(pairs, threads, timer.seconds() * 1e9);
      count_runs(groups_.size());
    }
    packed_->gpus.record(targets, for_gpu, timer.seconds());
    packed_->tasks.join(pass);
    return true;
  }

  /// Appends the conversion of changed sources, which completes pending writes.
  void prepare_sources(const Pass& pass) {
    packed_->slices.use(segments_);
    LaneSources& sources = packed_->slices.lanes();
    std::span<const PendingWrite> writes;
    if (pass.pending_writes != nullptr) {
      if (!sources.may_complete(pass.pending_writes->all(), segments_))
        pass.pending_writes->finish(pass.threads);
      writes = pass.pending_writes->all();
    }
    sources.prepare(segments_, writes, phases_);
  }

  void run_on_host(std::span<const Pass> passes, std::uint64_t targets, unsigned threads,
                   bool new_sources) {
    auto& [blocks, slices, tasks, gpus] = *packed_;
    slices.divide(passes.front(), targets, SourceSlices::Division::Any);
    tasks.begin(passes, targets, true);
    tasks.make_groups(passes, threads, groups_);
    tasks.prepare_last_groups(phases_);
    slices.prepare_vectors(phases_);
    phases_.push_back({groups_.size(), [this](std::size_t i) {
                         if (packed_->slices.lanes().usable()) packed_->tasks.run(groups_[i]);
                       }});
    run_all(threads, new_sources);
    slices.vectors_are_made();
  }

  static std::uint64_t count_targets(std::span<const Pass> passes) noexcept {
    std::uint64_t targets = 0;
    for (const Pass& pass : passes)
      for (const TargetWrite& write : pass.writes) targets += write.slots.count;
    return targets;
  }
  unsigned threads_for_sources(unsigned threads) const {
    constexpr double ns_an_item = 3;
    return threads_for_input(ns_an_item * static_cast<double>(packed_->slices.lanes().item_count()),
                             threads);
  }
  /// Executes the phases, of which the first ones convert sources. `again`: the next call is likely
  /// to convert others.
  void run_all(unsigned threads, bool again) {
    LaneSources& sources = packed_->slices.lanes();
    run_phases(phases_, threads, again ? sources.lanes() : std::span<const std::byte>());
    sources.done();
    phases_.clear();
  }

  void count_runs(std::size_t groups) const {
    for (const Section s : {Section::Start, Section::Body, Section::End})
      runs_[static_cast<unsigned>(s)].fetch_add(groups, std::memory_order_relaxed);
  }

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const FallbackRunners fallbacks_;
  std::unique_ptr<PassRunner> in_doubles_;  ///< null until it is needed
  std::atomic<std::uint64_t>* const runs_;  ///< counts by section
  const bool in_longs_;                     ///< whether the chips have a program with shorts
  const bool joins_in_chips_;               ///< whether results may be words of the network
  const PackedPlan plan_;
  std::unique_ptr<Packed> packed_;  ///< null: the plan is not usable
  bool beyond_range_ = false;       ///< whether lanes cannot represent the last pass's sources
  /// For resident and for new sources; units: a target and a group of sources.
  std::array<ThreadChoice, 2> threads_;
  // Members for their memory, since small calls are frequent.
  std::vector<TargetWrite> empty_writes_;
  std::vector<RecordSegment> segments_;
  std::vector<Phase> phases_;
  std::vector<TargetGroup> groups_;
};

}  // namespace

std::unique_ptr<PassRunner> make_packed_runner(
    const CompiledProgram& compiled, const LoadedProgram& loaded, const Geometry& geometry,
    const Executable& executable, FallbackRunners fallbacks, std::atomic<std::uint64_t>* runs,
    const LoadedProgram* in_chips) {
  return std::make_unique<PackedRunner>(compiled, loaded, geometry, executable,
                                        std::move(fallbacks), runs, in_chips);
}

}  // namespace gdr::native
