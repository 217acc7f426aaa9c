#include "emulator/engine/native/run/packed_runner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>

#include "emulator/engine/gpu/place_choice.hpp"
#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/run/gpu_batch.hpp"
#include "emulator/engine/native/run/lane_targets.hpp"
#include "emulator/engine/native/run/packed_pass.hpp"
#include "emulator/engine/native/run/partial_results.hpp"
#include "emulator/engine/native/run/source_sets.hpp"
#include "emulator/engine/runners/small_blocks.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/host/thread_choice.hpp"

namespace gdr::native {
namespace {

/// Maximum number of targets per task.
constexpr std::uint64_t max_targets = LaneTargets::max_targets;
/// The same for a GPU, whose items have whole vectors, and maximum number of these in a launch:
/// 262144 threads.
constexpr std::uint64_t gpu_vectors_a_task = 4, gpu_vectors_a_launch = 8192;
/// Minimum number of sources per slice, and maximum number of slices.
constexpr std::uint64_t items_a_slice = 16384, max_slices = 8;
/// Minimum number of passes of a loop over vectors of sources per slice.
constexpr std::uint64_t passes_a_slice = 2048;
/// Minimum number of passes that lanes save which divide the sources: beside fewer, it takes as
/// long to make vectors of sources and to join the lanes.
constexpr std::uint64_t least_saved_passes = 1536;
/// Threads that are worth a launch on a GPU, if each has a target of its own.
constexpr std::uint64_t least_threads = 1024;

/// A packed block and the image that it was copied from.
struct PackedBlock {
  std::uint64_t image = 0;
  ChipState chip;
};
thread_local PackedBlock packed_block;

std::uint64_t next_image() noexcept {
  static std::atomic<std::uint64_t> images = 0;
  return ++images;
}

Geometry one_block(Geometry geometry, std::uint32_t pes) {
  geometry.blocks = 1;
  geometry.pes_per_block = pes;
  return geometry;
}

class PackedRunner final : public PassRunner {
 public:
  PackedRunner(const CompiledProgram& compiled, const LoadedProgram& loaded,
               const Geometry& geometry, const Executable& executable, OtherRunners others,
               std::atomic<std::uint64_t>* runs, const LoadedProgram* in_chips)
      : compiled_(compiled),
        loaded_(loaded),
        geometry_(geometry),
        executable_(executable),
        others_(std::move(others)),
        runs_(runs),
        in_longs_(in_chips != nullptr),
        joins_in_chips_(in_chips == nullptr || joins_alike(*in_chips, loaded)),
        plan_(make_packed_plan(compiled, loaded)),
        lane_targets_(compiled, loaded, plan_),
        partials_(loaded.results),
        threads_{ThreadChoice(loaded.program.group), ThreadChoice(loaded.program.group)} {
    const CompiledSection* const body = compiled.section(Section::Body);
    if (!plan_.usable && !compiled.gpus.empty() && body != nullptr)
      body->note_not_on_gpu("targets cannot be packed, " + plan_.reason);
    if (!plan_.usable) return;
    has_lists_ = std::ranges::any_of(body->kernels(),
                                     [](const Kernel& kernel) { return !kernel.lists.empty(); });
    fills_vectors_ = body->notes_overflow() && !has_lists_;  // lists are those of targets only
    // The copies on GPUs are of one set.
    resident_ =
        std::make_unique<SourceSets>(*body, loaded, lanes_may_differ(*body), compiled.gpus.empty());
    sources_ = &resident_->now().lanes;
    vectors_ = resident_->now().vectors.get();
    for (const auto& gpu : compiled.gpus) cards_.push_back(std::make_unique<Card>(*gpu));
    for (const BmStore& store : compiled.section(Section::Start)->bm_stores())
      least_pes_ = std::max(least_pes_, store.pe + 1);
  }
  void run(const Pass& pass) override {
    const Pass complete = with_writes(pass);
    const bool taken = takes(complete);
    if (taken && run_targets({&complete, 1})) return;
    if (pass.pending_writes != nullptr) pass.pending_writes->finish(pass.threads);
    if (taken && beyond_range_ && others_.make_in_doubles) return run_in_doubles(pass);
    if (in_longs_ && !taken && run_beside_blocks(complete)) return;
    const CompiledSection* const body = compiled_.section(Section::Body);
    if (in_longs_ && body != nullptr)
      body->note_in_shorts("the run leaves the chips' state, or ranks join results");
    if (plan_.usable && !compiled_.gpus.empty() && body != nullptr)
      body->note_not_on_gpu(
          "a run leaves the chips' state, or joins integers that may wrap around in a block, and "
          "so goes block by block");
    others_.blockwise->run(pass);
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
  void invalidate_chips() noexcept override { others_.blockwise->invalidate_chips(); }

 private:
  /// Targets of a write, the destination of their results, and their slice of the sources.
  struct Group {
    const TargetWrite* write = nullptr;
    const ResultRead* read = nullptr;
    std::uint64_t* results = nullptr;  ///< of its pass
    std::uint64_t first = 0, count = 0;
    std::size_t slice = 0;
  };
  /// A GPU with its copy of the sources.
  struct Card {
    explicit Card(Gpu& used) : gpu(used), sources(used) {}
    Gpu& gpu;
    GpuSources sources;
  };
  /// A group in a batch of a GPU.
  struct GpuGroup {
    Group group;
    std::size_t card = 0;
    GpuSlot slot;
    bool loaded = false;
  };
  /// Groups of sources, and the last one of each of its parts (PackedSources). Either all lanes of
  /// a vector have these groups and targets of their own, or the reverse.
  struct Slice {
    std::uint64_t first = 0, count = 0;
    bool over_lanes = false;  ///< the part of SourceVectors of the same number
    std::size_t first_partial = 0;
    std::size_t partials = 1;  ///< partial results of a target, from `first_partial` on
    std::vector<std::uint64_t> last_groups;
  };

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
    beyond_range_ = !sources_->usable();
    return beyond_range_;
  }
  void run_in_doubles(const Pass& pass) {
    compiled_.section(Section::Body)->note_run_in_doubles();
    if (in_doubles_ == nullptr) in_doubles_ = others_.make_in_doubles();
    in_doubles_->run(pass);
  }

  std::size_t raw_words() const noexcept { return 2 * loaded_.results.size(); }

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
    others_.blockwise->run(pass);
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

  /// Creates the initial PE state; false if PEs differ.
  bool make_image(const Pass& pass) {
    const LoadedChip* first = nullptr;
    for (const PassRun& run : pass.runs)
      for (std::size_t c = 0; c < pass.chips.size(); ++c) {
        if (!takes_part(run.chips, c)) continue;
        if (first == nullptr) first = &pass.chips[c].chip;
        if (pass.chips[c].chip.params() != first->params()) return false;
      }
    if (image_made_ && image_params_ == first->params()) return image_usable_;
    image_ = make_chip(one_block(geometry_, geometry_.pes_per_block));
    initialise_blocks(image_, loaded_, executable_);
    image_params_ = first->params();
    BlockState& block = image_.blocks[0];
    image_params_.for_each([&](std::uint32_t variable, std::span<const std::uint64_t> words) {
      load_param(loaded_.params[variable], loaded_.program.elements, block, words.data());
    });
    image_made_ = true;
    image_number_ = next_image();
    image_usable_ = std::ranges::all_of(plan_.presets, [&](const std::vector<CellRow>& rows) {
      const std::uint64_t word = *rows.front().in(block);
      return std::ranges::all_of(rows, [&](const CellRow& row) {
        const std::uint64_t* const words = row.in(block);
        return std::all_of(words, words + block.pes, [&](std::uint64_t w) { return w == word; });
      });
    });
    return image_usable_;
  }

  /// Number of slices that keeps threads busy with few targets.
  std::uint64_t slices_wanted(const Pass& pass) const {
    if (!adds_in_any_order(pass, loaded_)) return 1;
    return std::clamp<std::uint64_t>(sources_->item_count() / items_a_slice, 1, max_slices);
  }
  /// The same for targets whose lanes divide the sources: a power of two, so that two threads have
  /// equal parts, and at most those of many targets.
  std::uint64_t slices_over_lanes(const Pass& pass, std::uint64_t targets) const {
    const std::uint64_t passes =
        vectors_for(targets, true) * (sources_->group_count() / vectors_->lanes());
    return std::bit_floor(
        std::clamp<std::uint64_t>(passes / passes_a_slice, 1, slices_wanted(pass)));
  }

  /// Whether lanes of a target may have different sources: the loop leaves nothing else of the last
  /// group than its results, or that group is one of pads.
  bool lanes_may_differ(const CompiledSection& body) const {
    const auto leaves_group = [](const MovedShort& move) { return move.from == NodeOp::Source; };
    return !has_lists_ &&
           (loaded_.program.group > 1 || std::ranges::none_of(body.moves(), leaves_group));
  }
  /// Vectors of targets, or of lanes with different sources.
  std::uint64_t vectors_for(std::uint64_t targets, bool over_lanes) const {
    const std::uint64_t of_vector =
        plan_.elements * (over_lanes ? 1 : std::uint64_t{compiled_.target.lanes()});
    return (targets + of_vector - 1) / of_vector;
  }
  /// Whether the lanes divide the sources: for at most half of the targets that fill a vector,
  /// since it takes time to make vectors of new sources. That depends only on the numbers of
  /// targets and sources.
  bool divides_over_lanes(const Pass& pass, std::uint64_t targets) const {
    if (vectors_ == nullptr || !adds_in_any_order(pass, loaded_)) return false;
    const std::uint64_t lanes = vectors_->lanes(), groups = sources_->group_count();
    const std::uint64_t vectors = vectors_for(targets, true);
    return 2 * vectors <= lanes && groups * (lanes - vectors) >= least_saved_passes * lanes &&
           groups <= groups_between_polls * lanes / 2 * slices_over_lanes(pass, targets);
  }

  /// Whole chunks, of nearly equal size; over lanes also the groups that fill no row.
  void make_slices(std::uint64_t wanted, std::uint64_t targets, bool over_lanes) {
    constexpr std::uint64_t chunk = LaneSources::chunk_groups;
    const std::uint64_t groups = sources_->group_count();
    const std::uint64_t chunks = (groups + chunk - 1) / chunk;
    const std::uint64_t left_over = over_lanes ? vectors_->left_over(groups) : 0;
    wanted = std::min(wanted, chunks);
    const std::uint64_t all = wanted + (left_over != 0 ? 1 : 0);
    if (all != slices_.size() || groups != sliced_groups_ || over_lanes != sliced_over_lanes_) {
      last_groups_revision_ = 0;
      sliced_groups_ = groups;
      sliced_over_lanes_ = over_lanes;
      slices_.assign(all, {});
      for (std::uint64_t s = 0; s < wanted; ++s) {
        slices_[s].first = chunks * s / wanted * chunk;
        slices_[s].count =
            std::min(groups - left_over, chunks * (s + 1) / wanted * chunk) - slices_[s].first;
        slices_[s].over_lanes = over_lanes;
      }
      if (left_over != 0) {
        slices_.back().first = groups - left_over;
        slices_.back().count = left_over;
      }
      std::size_t partials = 0;
      for (Slice& slice : slices_) {
        slice.partials = slice.over_lanes ? vectors_->lanes() : 1;
        slice.first_partial = std::exchange(partials, partials + slice.partials);
      }
    }
    partials_.resize(slices_.back().first_partial + slices_.back().partials, targets);
  }
  /// The slices that are divided over lanes, which come first.
  void prepare_vectors(std::vector<Phase>& phases) {
    vector_parts_.clear();
    for (const Slice& slice : slices_)
      if (slice.over_lanes) vector_parts_.push_back({slice.first, slice.count});
    vectors_->prepare(vector_parts_, phases);
  }

  /// Copies the last groups of all slices, unless they are those of the same sources.
  void copy_last_groups() {
    if (last_groups_revision_ == sources_->changes().revision()) return;
    for (Slice& slice : slices_) copy_last_groups(slice);
    last_groups_revision_ = sources_->changes().revision();
  }
  /// The last group of each part, whose words the loop may store.
  void copy_last_groups(Slice& slice) const {
    const std::size_t size = loaded_.program.group * std::size_t{loaded_.program.item_shorts};
    slice.last_groups.resize((slice.count + groups_between_polls - 1) / groups_between_polls *
                             size);
    std::uint64_t* to = slice.last_groups.data();
    for (std::uint64_t end = 0; end < slice.count; to += size) {
      end = std::min(slice.count, end + groups_between_polls);
      copy_group(slice.first + end - 1, to);
    }
  }

  /// A group of sources in the layout of the broadcast memory.
  void copy_group(std::uint64_t group, std::uint64_t* to) const {
    const std::size_t item_shorts = loaded_.program.item_shorts,
                      words = loaded_.layout.source_words;
    thread_local std::vector<std::uint64_t> records;
    records.resize(loaded_.program.group * words);
    sources_->copy_group(group, records.data());
    for (const PortField& field : loaded_.sources)
      port_load(field, {records.data(), words}, loaded_.program.group,
                {to + field.location.address, item_shorts, 1});
  }

  /// Whole vectors, of nearly equal size, for load balance.
  void make_groups(std::span<const Pass> passes, unsigned threads,
                   std::vector<Group>& groups) const {
    groups.clear();
    const std::uint64_t parts = (threads + slices_.size() - 1) / slices_.size();
    for (const Pass& pass : passes)
      for (std::size_t k = 0; k < pass.writes.size(); ++k) {
        const std::uint64_t count = pass.writes[k].slots.count;
        const std::uint64_t least = (count + max_targets - 1) / max_targets;
        for (std::size_t slice = 0; slice < slices_.size(); ++slice) {
          const bool over_lanes = slices_[slice].over_lanes;
          const std::uint64_t vectors = vectors_for(count, over_lanes);
          const std::uint64_t of_vector =
              plan_.elements * (over_lanes ? 1 : std::uint64_t{compiled_.target.lanes()});
          const std::uint64_t wanted = std::max(least, std::min(parts, vectors));
          const std::uint64_t size = (vectors + wanted - 1) / wanted * of_vector;
          for (std::uint64_t first = 0; first < count; first += size)
            groups.push_back({&pass.writes[k], &pass.reads[k], pass.results, first,
                              std::min(size, count - first), slice});
        }
      }
  }

  void use_sources(std::span<const RecordSegment> segments) {
    if (!resident_->use(segments)) return;
    sources_ = &resident_->now().lanes;
    vectors_ = resident_->now().vectors.get();
    sliced_groups_ = 0;
  }

  /// Passes with the same sources and parameters; several only without slices.
  bool run_targets(std::span<const Pass> passes) {
    const Pass& pass = passes.front();
    beyond_range_ = false;
    std::vector<RecordSegment>& segments = segments_;
    find_segments(pass, loaded_, segments);
    if (segments.empty() || !make_image(pass)) return false;
    use_sources(segments);
    std::span<const PendingWrite> writes;
    if (pass.pending_writes != nullptr) {
      if (!sources_->may_complete(pass.pending_writes->all(), segments))
        pass.pending_writes->finish(pass.threads);
      writes = pass.pending_writes->all();
    }
    std::vector<Phase>& phases = phases_;
    phases.clear();
    sources_->prepare(segments, writes, phases);
    const bool new_sources = !phases.empty();
    std::uint64_t targets = 0;
    for (const Pass& each : passes)
      for (const TargetWrite& write : each.writes) targets += write.slots.count;
    const auto pairs = static_cast<double>(targets) * static_cast<double>(sources_->group_count());
    constexpr double ns_to_fetch_a_byte = 0.05;  // where in doubt, the times decide
    const double fetched =
        new_sources ? ns_to_fetch_a_byte * static_cast<double>(sources_->lanes().size()) : 0;
    ThreadChoice& choice = threads_[new_sources ? 1 : 0];
    const unsigned threads = choice.choose(pairs, fetched, pass.threads);
    // With the conversion: sources that other threads have read are written more slowly.
    const Stopwatch timer;
    const bool for_gpu = is_for_gpu(pass, targets);
    const unsigned converting = new_sources ? threads_for_sources(pass.threads) : 1;
    // Threads that are about to compute convert, unless these are fewer.
    if (for_gpu || converting > threads) convert(phases, converting);
    if (for_gpu && is_beyond_range()) return false;
    if (!for_gpu || !run_on_gpus(passes, targets)) {
      const bool over_lanes = divides_over_lanes(pass, targets);
      make_slices(over_lanes ? slices_over_lanes(pass, targets) : slices_wanted(pass), targets,
                  over_lanes);
      uses_lane_targets_ = partials_.parts() == 1 && slices_[0].count <= groups_between_polls &&
                           lane_targets_.prepare(image_.blocks[0], image_number_);
      make_groups(passes, threads, groups_);
      const bool reads = reads_last_groups(passes), are_there = phases.empty();
      // Of new sources tasks with lane targets make a copy each, for one phase less.
      copies_last_group_ = reads && !are_there && uses_lane_targets_;
      if (reads && are_there)
        copy_last_groups();
      else if (reads && !all_use_lane_targets(passes))
        phases.push_back({1, [this](std::size_t) { copy_last_groups(); }});
      if (sliced_over_lanes_) prepare_vectors(phases);
      phases.push_back({groups_.size(), [this](std::size_t i) {
                          if (sources_->usable()) work(groups_[i]);
                        }});
      convert(phases, threads, new_sources);
      if (sliced_over_lanes_) vectors_->done();
      if (is_beyond_range()) return false;
      if (!for_gpu) choice.record(pairs, threads, timer.seconds() * 1e9);
      count_runs(groups_.size());
    }
    if (!cards_.empty()) place_.record(pairs_with(targets), for_gpu, timer.seconds());
    if (partials_.parts() > 1) join_slices(pass);
    return true;
  }

  bool all_use_lane_targets(std::span<const Pass> passes) const {
    return uses_lane_targets_ && std::ranges::none_of(passes, [](const Pass& pass) {
             return std::ranges::any_of(pass.reads, &ResultRead::raw);
           });
  }
  bool reads_last_groups(std::span<const Pass> passes) const {
    return !all_use_lane_targets(passes) || lane_targets_.reads_last_groups();
  }
  unsigned threads_for_sources(unsigned threads) const {
    constexpr double ns_an_item = 3;
    return threads_for_input(ns_an_item * static_cast<double>(sources_->item_count()), threads);
  }
  /// Executes phases of which the first ones convert sources. `again`: the next call is likely to
  /// convert others.
  void convert(std::vector<Phase>& phases, unsigned threads, bool again = false) {
    run_phases(phases, threads, again ? sources_->lanes() : std::span<const std::byte>());
    sources_->done();
    phases.clear();
  }

  void count_runs(std::size_t groups) const {
    for (const Section s : {Section::Start, Section::Body, Section::End})
      runs_[static_cast<unsigned>(s)].fetch_add(groups, std::memory_order_relaxed);
  }

  // --- on GPUs

  double pairs_with(std::uint64_t targets) const {
    return static_cast<double>(targets) * static_cast<double>(sources_->item_count());
  }
  bool is_for_gpu(const Pass& pass, std::uint64_t targets) {
    if (cards_.empty() || !compiled_.section(Section::Body)->may_run_on_gpu()) return false;
    const Gpu& gpu = *compiled_.gpus.front();
    const double least = gpu.least_pairs, pairs = pairs_with(targets);
    // A thread of a GPU is slower than one of the processor: few are not worth a launch.
    const bool few = targets < least_threads && !shares_passes(pass);
    if (few && least != 0) return false;
    return gpu.measured_if_bits_differ ? place_.on_gpu(pairs, least) : pairs >= least;
  }
  /// Whether threads share the passes of a target: so few targets fill a GPU, too. Then slices are
  /// not needed.
  bool shares_passes(const Pass& pass) const {
    return adds_in_any_order(pass, loaded_) && compiled_.section(Section::Body)->can_share_passes();
  }

  std::vector<Card*> usable_cards() const {
    std::vector<Card*> usable;
    for (const auto& card : cards_)
      if (card->gpu.is_usable()) usable.push_back(card.get());
    return usable;
  }

  /// False if the processor has to do the work, from its beginning. After the failure of a GPU the
  /// others do it, or else the processor where the user allows that.
  bool run_on_gpus(std::span<const Pass> passes, std::uint64_t targets) {
    const CompiledSection& body = *compiled_.section(Section::Body);
    const bool shared = shares_passes(passes.front());
    make_slices(shared ? 1 : slices_wanted(passes.front()), targets, false);
    copy_last_groups();
    for (;;) {
      const std::vector<Card*> usable = usable_cards();
      try {
        if (usable.empty()) cards_.front()->gpu.device->require_usable();
        for (std::size_t slice = 0; slice < slices_.size(); ++slice)
          run_slice_on(usable, passes, slice, targets, shared);
        return true;
      } catch (const GpuError& error) {
        const std::size_t left = usable_cards().size();
        const bool others = left > 0 && left < usable.size();
        if (!others) compiled_.gpus.front()->require_fallback(error);
        body.note_gpu_failure(
            error.reason() + (others ? "; the other GPUs took over" : "; the processor took over"));
        if (!others) return false;
      }
    }
  }

  /// The groups of all targets of a slice, for batches of the cards.
  std::vector<GpuGroup> make_gpu_groups(std::span<const Pass> passes, std::size_t slice) const {
    const std::uint64_t lanes = Target{Isa::Portable}.lanes() * std::uint64_t{plan_.elements};
    const std::uint64_t size = gpu_vectors_a_task * lanes;
    std::vector<GpuGroup> groups;
    for (const Pass& pass : passes)
      for (std::size_t k = 0; k < pass.writes.size(); ++k) {
        const std::uint64_t count = pass.writes[k].slots.count;
        for (std::uint64_t first = 0; first < count; first += size) {
          const std::uint64_t some = std::min(size, count - first);
          groups.push_back({{&pass.writes[k], &pass.reads[k], pass.results, first, some, slice},
                            0,
                            {0, static_cast<std::size_t>((some + lanes - 1) / lanes)}});
        }
      }
    return groups;
  }

  /// Divides the groups among the cards; returns the number of vectors of each.
  static std::vector<std::size_t> place(std::span<GpuGroup> groups, std::size_t cards) {
    std::size_t all = 0, before = 0;
    for (const GpuGroup& g : groups) all += g.slot.count;
    std::vector<std::size_t> vectors(cards);
    for (GpuGroup& g : groups) {
      g.card = before * cards / all;
      g.slot.first = vectors[g.card];
      vectors[g.card] += g.slot.count;
      before += g.slot.count;
    }
    return vectors;
  }

  /// Fewer for kernels whose lists fill the memories of the host and of a GPU.
  std::size_t vectors_a_launch() const {
    constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;
    std::uint64_t words = 0;  // of a thread
    for (const Kernel& kernel : compiled_.section(Section::Body)->kernels())
      for (const KernelList& list : kernel.lists)
        words += (list.last - list.first + 1) * (plan_.folded ? 1 : kernel.instances.size());
    const std::uint64_t bytes = words * sizeof(std::uint64_t) * Target{Isa::Portable}.lanes();
    return bytes == 0 ? gpu_vectors_a_launch
                      : std::clamp(max_bytes / bytes, gpu_vectors_a_task, gpu_vectors_a_launch);
  }

  /// Groups that the cards compute at the same time.
  struct CardStep {
    std::span<GpuGroup> groups;
    std::vector<std::size_t> vectors;  ///< of each card
    std::deque<GpuBatch> batches;
  };

  /// While the cards compute a step, the host loads the next one and finishes the one before.
  void run_slice_on(const std::vector<Card*>& cards, std::span<const Pass> passes,
                    std::size_t slice, std::uint64_t targets, bool shared) {
    constexpr double ns_a_target = 150;
    std::vector<GpuGroup> all = make_gpu_groups(passes, slice);
    const std::size_t at_once =
        std::max<std::size_t>(1, cards.size() * vectors_a_launch() / gpu_vectors_a_task);
    std::deque<CardStep> steps;
    for (std::size_t done = 0; done < all.size(); done += at_once) {
      CardStep& step = steps.emplace_back();
      step.groups = std::span(all).subspan(done, std::min(at_once, all.size() - done));
      step.vectors = place(step.groups, cards.size());
    }
    // A thread waits for each card.
    const auto waiting = static_cast<unsigned>(cards.size());
    const unsigned converting =
        threads_for_input(ns_a_target * static_cast<double>(targets), passes.front().threads);
    const unsigned threads =
        steps.size() > 1 ? waiting + converting : std::max(waiting, converting);
    for (std::size_t n = 0; n < steps.size() + 2; ++n) {
      CardStep* const next = n < steps.size() ? &steps[n] : nullptr;
      CardStep* const running = n >= 1 && n <= steps.size() ? &steps[n - 1] : nullptr;
      CardStep* const done = n >= 2 ? &steps[n - 2] : nullptr;
      if (next != nullptr)
        for (std::size_t c = 0; c < cards.size(); ++c)
          next->batches.emplace_back(cards[c]->gpu, cards[c]->sources, next->vectors[c],
                                     slices_[slice].first, slices_[slice].count, shared);
      const std::size_t runs = running != nullptr ? cards.size() : 0;
      const std::size_t loads = next != nullptr ? next->groups.size() : 0;
      const std::size_t ends = done != nullptr ? done->groups.size() : 0;
      const Phase phase{runs + loads + ends, [&](std::size_t i) {
                          if (i < runs)
                            run_on(*cards[i], *running, i);
                          else if (i < runs + loads)
                            load_on_gpu(next->groups[i - runs], *next);
                          else
                            finish_on_gpu(done->groups[i - runs - loads], *done);
                        }};
      run_phases({&phase, 1}, threads);
      if (done != nullptr) done->batches.clear();
    }
    count_runs(all.size());
  }

  void run_on(Card& card, CardStep& step, std::size_t number) {
    if (step.vectors[number] == 0) return;
    card.sources.update(*sources_);
    step.batches[number].run();
  }

  void load_on_gpu(GpuGroup& g, CardStep& step) {
    const MachineFloatMode mode;
    const PackedTargets targets = load_targets(g.group);
    g.loaded = load_packed(compiled_, targets, sources_of(g.group), step.batches[g.card], g.slot);
  }

  void finish_on_gpu(const GpuGroup& g, const CardStep& step) {
    const MachineFloatMode mode;
    if (g.loaded) {
      const PackedTargets targets = load_targets(g.group);
      if (finish_packed(compiled_, targets, sources_of(g.group), step.batches[g.card], g.slot))
        return store_results(g.group, targets.block);
    }
    work(g.group);
  }

  // --- tasks

  /// Prepares a block of at least so many PEs for the image. The fewer PEs a block has, the closer
  /// its words are to each other. A packed run never reads stale words of another program.
  void provide(PackedBlock& packed, std::uint32_t pes) const {
    pes = std::max(pes, least_pes_);
    const std::uint32_t had = packed.chip.geometry.pes_per_block;
    const bool fits = !packed.chip.blocks.empty() && had >= pes &&
                      packed.chip.geometry == one_block(geometry_, had);
    if (!fits) {
      packed.chip = make_chip(one_block(geometry_, std::bit_ceil(pes)));
      packed.image = 0;
    }
    if (packed.image == image_number_) return;
    packed.chip.blocks[0].bm = image_.blocks[0].bm;
    packed.image = image_number_;
  }

  /// A block with the targets of a group, each in so many adjacent PEs, before section Start.
  PackedTargets load_targets(const Group& group, std::uint64_t copies = 1) const {
    const std::uint64_t pes = pes_for(group, copies);
    provide(packed_block, static_cast<std::uint32_t>(pes));
    BlockState& block = packed_block.chip.blocks[0];
    for (const std::vector<CellRow>& rows : plan_.presets)
      std::fill_n(rows.front().in(block), pes, *rows.front().in(image_.blocks[0]));
    load(block, group, copies);
    return {block, static_cast<std::uint32_t>(pes), plan_.folded};
  }

  PackedSources sources_of(const Group& group, bool over_lanes = false) const {
    const Slice& slice = slices_[group.slice];
    const std::size_t group_bytes = compiled_.section(Section::Body)->stream_bytes();
    PackedSources sources;
    if (over_lanes) {
      sources = vectors_->part(group.slice);
    } else {
      sources.groups = sources_->groups() + slice.first * group_bytes;
      sources.count = slice.count;
      // Groups that fill no row begin anywhere.
      if (slice.first % SourceWindows::groups == 0) sources.windows = &sources_->windows();
      sources.first_window = slice.first / SourceWindows::groups;
    }
    sources.group_shorts = loaded_.program.group * loaded_.program.item_shorts;
    sources.address = loaded_.halves.source_base[0];
    sources.last_groups = slice.last_groups.data();
    if (over_lanes) sources.last_groups += slice.last_groups.size() - sources.group_shorts;
    return sources;
  }

  void work(const Group& group) {
    const MachineFloatMode mode;
    if (uses_lane_targets_ && !group.read->raw) {
      const LinkLayout& layout = loaded_.layout;
      std::uint64_t* const results =
          group.results + group.read->offset + group.first * layout.result_words;
      if (loaded_.packs_results) std::fill_n(results, group.count * layout.result_words, 0);
      PackedSources sources = sources_of(group);
      thread_local std::vector<std::uint64_t> last_group;
      if (copies_last_group_) {
        copy_last_group(last_group);
        sources.last_groups = last_group.data();
      }
      if (lane_targets_.run({group.write->records + group.first * layout.target_words, results,
                             static_cast<std::uint32_t>(group.count)},
                            sources))
        return;
      copy_last_group(last_group);
      sources.last_groups = last_group.data();
      return work_on_blocks(group, sources);
    }
    if (slices_[group.slice].over_lanes && work_over_lanes(group)) return;
    work_on_blocks(group, sources_of(group));
  }
  bool work_over_lanes(const Group& group) {
    const PackedTargets targets = load_targets(group, vectors_->lanes());
    if (!run_packed(compiled_, targets, sources_of(group, true))) return false;
    store_partials(targets.block, group, vectors_->lanes());
    return true;
  }
  void work_on_blocks(const Group& group, const PackedSources& sources) {
    const PackedTargets targets = load_targets(group);
    run_packed(compiled_, targets, sources);
    store_results(group, targets.block);
  }
  /// Of the only slice.
  void copy_last_group(std::vector<std::uint64_t>& to) const {
    to.resize(loaded_.program.group * std::size_t{loaded_.program.item_shorts});
    copy_group(slices_[0].first + slices_[0].count - 1, to.data());
  }

  void store_results(const Group& group, const BlockState& block) {
    if (partials_.parts() == 1) return store(block, group, group.results + group.read->offset);
    store_partials(block, group, 1);
  }
  /// Partial results of a slice. A slice of several may have one, where code for vectors of sources
  /// failed.
  void store_partials(const BlockState& block, const Group& group, std::uint64_t copies) {
    const Slice& slice = slices_[group.slice];
    for (std::uint64_t c = 0; c < copies; ++c)
      store_raw(block, group, partials_.words(slice.first_partial + c), {c, copies});
    if (copies < slice.partials)
      partials_.fill_behind(slice.first_partial, slice.partials, group.first, group.count);
  }

  /// PEs of a group that hold a target in an element.
  std::uint64_t pes_with(const Group& group, unsigned element) const {
    return (group.count + plan_.elements - 1 - element) / plan_.elements;
  }

  /// PEs of a group, of whole vectors where an overflow in any lane has the run repeated in
  /// doubles.
  std::uint64_t pes_for(const Group& group, std::uint64_t copies) const {
    const std::uint64_t pes = pes_with(group, 0) * copies, lanes = compiled_.target.lanes();
    return fills_vectors_ ? (pes + lanes - 1) / lanes * lanes : pes;
  }
  /// Elements and PEs that no target is left for get the last one.
  void load(BlockState& block, const Group& group, std::uint64_t copies) const {
    const std::size_t words = loaded_.layout.target_words, step = words * plan_.elements;
    const std::uint64_t* const records = group.write->records + group.first * words;
    const std::uint64_t* const last = records + (group.count - 1) * words;
    for (unsigned e = 0; e < plan_.elements; ++e)
      for (const PortField& field : loaded_.targets) {
        const std::uint64_t targets = pes_with(group, e);
        Lanes<std::uint64_t> to = pe_lanes(block, field.location, e);
        std::uint64_t left = pes_for(group, copies);
        if (copies == 1) {
          port_load(field, {records + e * words, step}, targets, to);
          to.shorts += targets;
          left -= targets;
        } else {
          for (std::uint64_t i = 0; i < targets; ++i, to.shorts += copies, left -= copies)
            port_load(field, {records + e * words + i * step, 0}, copies, to);
        }
        if (left != 0) port_load(field, {last, 0}, left, to);
      }
  }

  void store(const BlockState& block, const Group& group, std::uint64_t* results) const {
    if (group.read->raw) return store_raw(block, group, results, {0, 1});
    const std::size_t words = loaded_.layout.result_words;
    std::uint64_t* const records = results + group.first * words;
    if (loaded_.packs_results) std::fill_n(records, group.count * words, 0);
    for (unsigned e = 0; e < plan_.elements; ++e)
      for (const PortField& field : loaded_.results)
        port_store(field, pe_lanes(block, field.location, e), pes_with(group, e),
                   {records + e * words, words * plan_.elements});
  }

  /// One of the adjacent PEs that a target is in.
  struct Copy {
    std::uint64_t number, copies;
  };
  /// Stores words of the network, two for each result.
  void store_raw(const BlockState& block, const Group& group, std::uint64_t* words,
                 Copy copy) const {
    for (std::uint64_t i = 0; i < group.count; ++i) {
      const auto element = static_cast<unsigned>(i % plan_.elements);
      const std::uint64_t pe = i / plan_.elements * copy.copies + copy.number;
      std::uint64_t* to = words + (group.first + i) * raw_words();
      for (const PortField& field : loaded_.results) {
        const Lanes<const std::uint64_t> lanes = pe_lanes(block, field.location, element);
        const std::uint64_t* const at = lanes.shorts + pe;
        const u128 word = field.width == Width::Short
                              ? u128{*at}
                              : join(Short{at[0]}, Short{at[lanes.lower]}).bits;
        const u128 wide = network_word(field, word).bits;
        *to++ = static_cast<std::uint64_t>(wide);
        *to++ = static_cast<std::uint64_t>(wide >> 64);
      }
    }
  }

  /// Joins the partial results in their order, like the network joins blocks.
  void join_slices(const Pass& pass) {
    const ResultRead& read = pass.reads.front();  // sources over blocks have one
    const std::uint64_t targets = read.slots.count;
    const std::size_t words = loaded_.layout.result_words;
    std::uint64_t* const results = pass.results + read.offset;
    if (!read.raw && loaded_.packs_results) std::fill_n(results, targets * words, 0);
    const MachineFloatMode mode;
    for (std::uint64_t i = 0; i < targets; ++i)
      for (std::size_t f = 0; f < loaded_.results.size(); ++f) {
        const PortField& field = loaded_.results[f];
        const Long joined = partials_.joined(i, f);
        if (!read.raw) {
          put_host_bits(field, network_to_host(field, joined), results + i * words);
          continue;
        }
        std::uint64_t* const to = results + i * raw_words() + 2 * f;
        to[0] = static_cast<std::uint64_t>(joined.bits);
        to[1] = static_cast<std::uint64_t>(joined.bits >> 64);
      }
  }

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const Geometry geometry_;
  const Executable& executable_;
  const OtherRunners others_;
  std::unique_ptr<PassRunner> in_doubles_;  ///< null until it is needed
  std::atomic<std::uint64_t>* const runs_;  ///< by section
  const bool in_longs_;                     ///< the chips have a program with shorts
  const bool joins_in_chips_;               ///< whether results may be words of the network
  const PackedPlan plan_;
  LaneTargets lane_targets_;
  bool has_lists_ = false, fills_vectors_ = false;
  bool uses_lane_targets_ = false;  ///< in this pass
  bool copies_last_group_ = false;  ///< whether tasks with lane targets do
  bool beyond_range_ = false;       ///< the sources of the last pass
  std::unique_ptr<SourceSets> resident_;
  // Of this pass.
  LaneSources* sources_ = nullptr;
  SourceVectors* vectors_ = nullptr;          ///< null: lanes always have the same sources
  std::vector<std::unique_ptr<Card>> cards_;  ///< empty: on the host
  PlaceChoice place_;
  /// PEs of a block: whole vectors of the host, and those whose words section Start stores.
  std::uint32_t least_pes_ = 16;
  // Of the last passes; kept for their memory, since small calls are frequent.
  std::vector<TargetWrite> empty_writes_;
  std::vector<RecordSegment> segments_;
  std::vector<Phase> phases_;
  std::vector<Group> groups_;
  std::vector<Slice> slices_;
  std::uint64_t sliced_groups_ = 0;  ///< of all slices
  bool sliced_over_lanes_ = false;
  std::vector<LaneSources::Range> vector_parts_;
  std::uint64_t last_groups_revision_ = 0;  ///< of the sources of Slice::last_groups; 0: none
  PartialResults partials_;                 ///< of all slices

  /// The initial state of a PE: one block after Init and parameters.
  ChipState image_;
  Params image_params_;
  bool image_made_ = false, image_usable_ = false;
  std::uint64_t image_number_ = 0;  ///< counts images, of all runners
  /// For resident and for new sources; units: a target and a group of sources.
  std::array<ThreadChoice, 2> threads_;
};

}  // namespace

std::unique_ptr<PassRunner> make_packed_runner(const CompiledProgram& compiled,
                                               const LoadedProgram& loaded,
                                               const Geometry& geometry,
                                               const Executable& executable, OtherRunners others,
                                               std::atomic<std::uint64_t>* runs,
                                               const LoadedProgram* in_chips) {
  return std::make_unique<PackedRunner>(compiled, loaded, geometry, executable, std::move(others),
                                        runs, in_chips);
}

}  // namespace gdr::native
