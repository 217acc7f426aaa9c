// Matrix products in fast numerics: slab by slab of the PEs' factors, each with all items.
#include <algorithm>
#include <atomic>

#include "emulator/engine/blockwise/blockwise.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// Items per task, in strips of the kernels: few, to balance threads.
constexpr std::uint64_t task_strips = 4, shared_task_strips = 1;

/// Minimum number of items per thread for a private copy of a slab.
constexpr std::uint64_t items_for_copy = 128;

/// A thread's private copy of a slab: cache lines shared by two cores are a few percent slower to
/// read.
struct OwnSlab {
  std::uint64_t plan = 0;
  std::size_t number = 0;
  std::vector<double, LineAllocator<double>> numbers;
};
thread_local OwnSlab own_slab;

std::uint64_t next_plan() noexcept {
  static std::atomic<std::uint64_t> plans = 0;
  return ++plans;
}

}  // namespace

/// Whether all writes to a chip are targets of whole blocks.
bool BlockwiseRunner::writes_whole_blocks(std::size_t chip) const noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  return std::ranges::all_of(writes_, [&](const TargetWrite& w) {
    return !takes_part(w.chips, chip) || (w.slots.partition != ChipPartition::SourcesOverBlocks &&
                                          w.slots.first % lanes == 0 && w.slots.count % lanes == 0);
  });
}

/// Records of a block's targets in the last write of this pass; null if there is none. Writes are
/// of whole blocks.
const std::uint64_t* BlockwiseRunner::records_for(std::size_t chip,
                                                  std::size_t block) const noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  const std::uint64_t* records = nullptr;
  for (const TargetWrite& w : writes_) {
    const std::uint64_t first = block * lanes;
    if (!takes_part(w.chips, chip) || first < w.slots.first ||
        first >= w.slots.first + w.slots.count)
      continue;
    records = w.records + (first - w.slots.first) * program_.layout.target_words;
  }
  return records;
}

/// Factors of chips are gathered from records, from the cache or once from the state.
void BlockwiseRunner::begin_fast_matmul() {
  const std::size_t chips = pass_->chips.size();
  packed_slabs_->allocate(chips);
  cached_factors_.resize(chips);
  for (CachedFactors& cached : cached_factors_) cached.by_records = false;
  for (const std::uint32_t c : product_chips_) {
    const LoadedChip& chip = pass_->chips[c].chip;
    CachedFactors& cached = cached_factors_[c];
    cached.known = cached.version == chip.version();
    cached.by_records = packed_slabs_->gathers_records() && fills_before_matmul() == 0 &&
                        reads_.empty() && writes_whole_blocks(c);
    cached.version = ~std::uint64_t{0};  // until the pass is done
    bool missing = !cached.by_records;
    for (std::size_t b = 0; !cached.known && b < geometry_.blocks; ++b)
      missing = missing || records_for(c, b) == nullptr;
    if (missing) require_state(c);
  }
  std::uint64_t others = 0;
  for (const TargetWrite& write : writes_) others |= write.chips;
  for (const ResultRead& read : reads_) others |= read.chips;
  for (std::size_t c = 0; c < chips; ++c)
    if (takes_part(others, c) && !cached_factors_[c].by_records) require_state(c);
}

void BlockwiseRunner::gather_fast_factors(const Task& task) {
  if (const std::uint64_t* const records = records_for(task.chip, task.block))
    packed_slabs_->gather_records(task.chip, task.block, records,
                                  *streamed_->fast_matmul_kernels());
  else if (!cached_factors_[task.chip].known)
    packed_slabs_->gather_words(task.chip, state(task.chip).blocks[task.block]);
}

/// After a pass: cached factors are valid until the next access to the chip's state, which receives
/// deferred writes.
void BlockwiseRunner::cache_fast_factors() {
  for (const std::uint32_t c : product_chips_) {
    LoadedChip& chip = pass_->chips[c].chip;
    CachedFactors& cached = cached_factors_[c];
    cached.version = chip.version();
    states_[c] = nullptr;  // requested again where it is needed
    if (cached.by_records) chip.defer([this, c](ChipState& state) { scatter_factors(c, state); });
  }
}

/// Deferred writes of passes that bypassed the state: targets and registers set by Start.
void BlockwiseRunner::scatter_factors(std::size_t chip, ChipState& state) {
  BlockRun start;
  start.section = Section::Start;
  start.source_base = program_.halves.source_base[0];
  start.output_base = program_.halves.output_base[0];
  for (BlockState& block : state.blocks) {
    packed_slabs_->scatter_words(chip, block);
    executable_.run(block, start);
  }
}

/// Determines the factors of a slab up to the last one that is not +0 in every item.
void BlockwiseRunner::measure_items(const FastSlab& slab) {
  const bool shorts = products_->width == Width::Short;
  const std::uint64_t in_word = shorts ? 2 : 1, words = loop().plan.record_words(program_);
  ItemDepth& depth = item_depths_[slab.chip][slab.first / slab_depth];
  const ItemsKey now = items_of(static_cast<std::uint32_t>(slab.chip));
  if (depth.key == now) return;
  depth = {now, 0};
  std::vector<std::uint64_t> copy;  // where memory is in pieces
  const BoardMemory& memory = memory_of(slab.chip);
  const std::uint64_t all = (slab.depth + in_word - 1) / in_word;
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < loop().plan.items && used < all; ++i) {
    const std::uint64_t at = loop().address + i * words + slab.first / in_word;
    const std::uint64_t* const behind = memory.view(at + used, all - used, copy);
    std::uint64_t more = all - used;
    while (more > 0 && behind[more - 1] == 0) --more;
    used += more;
  }
  depth.used = std::min<std::size_t>(used * in_word, slab.depth);
}

/// Trailing factors that are +0 in all PEs or all items are omitted. (They would change only the
/// sign of a sum of -0, which requires underflow.)
void BlockwiseRunner::plan_slabs() {
  slabs_.clear();
  slabs_plan_ = next_plan();
  panels_used_ = 0;
  for (const std::uint32_t chip : product_chips_) {
    panels_used_ = std::max(panels_used_, packed_slabs_->panels_used(chip));
    for (std::size_t n = 0; n < packed_slabs_->slabs_of_chip(); ++n) {
      const FastSlab slab = packed_slabs_->slab(chip, n);
      const std::size_t used = packed_slabs_->depth_used(slab);
      const std::size_t depth =
          used < slab.depth ? std::max(used, item_depths_[chip][n].used) : slab.depth;
      if (depth != 0) slabs_.push_back({slab, depth});
    }
  }
  if (slabs_.empty()) slabs_.push_back({packed_slabs_->slab(product_chips_[0], 0), 1});
}

/// Determines the slabs of the pass.
void BlockwiseRunner::add_slab_plan(std::vector<Phase>& phases) {
  const std::size_t of_chip = packed_slabs_->slabs_of_chip();
  item_depths_.resize(pass_->chips.size());
  for (auto& chip : item_depths_) chip.resize(of_chip);
  phases.push_back({product_chips_.size() * of_chip, [this, of_chip](std::size_t i) {
                      const FastSlab slab =
                          packed_slabs_->slab(product_chips_[i / of_chip], i % of_chip);
                      if (packed_slabs_->depth_used(slab) < slab.depth) measure_items(slab);
                    }});
  phases.push_back({1, [this](std::size_t) { plan_slabs(); }});
}

/// A phase for each slab, so that a slab stays in every thread's cache. The order of slabs in a sum
/// does not depend on the tasks.
void BlockwiseRunner::add_fast_matmul(std::vector<Phase>& phases) {
  const std::uint64_t first = items_before_matmul(), end = loop().plan.items;
  const std::uint64_t strips = (end - first + fast_columns - 1) / fast_columns;
  const std::uint64_t of_task = threads_ == 1 ? task_strips : shared_task_strips;
  const std::uint64_t tasks = (strips + of_task - 1) / of_task;
  const std::size_t sums = (end - first) * packed_slabs_->panels() * fast_lanes;
  if (sums_.size() < sums) sums_.resize(sums);
  add_slab_plan(phases);
  const std::size_t slabs = product_chips_.size() * packed_slabs_->slabs_of_chip();
  for (std::size_t slab = 0; slab < slabs; ++slab)
    phases.push_back({tasks, [this, slab, first, end, strips, tasks](std::size_t i) {
                        const auto begin = [&](std::size_t task) {
                          return first + strips * task / tasks * fast_columns;
                        };
                        if (slab < slabs_.size())
                          add_slab(slab, begin(i), std::min(end, begin(i + 1)));
                      }});
  streamed_->record_matmul(product_chips_.size() * geometry_.blocks, 0);
}

/// The first panels of a slab, shared or as the thread's private copy.
void BlockwiseRunner::prepare_slab(std::size_t number, FastTask& task) const {
  const auto& [slab, depth] = slabs_[number];
  task.numbers = packed_slabs_->numbers(slab);
  task.panel_step = slab.depth * fast_lanes;
  const std::uint64_t items = loop().plan.items - items_before_matmul();
  if (threads_ == 1 || items < threads_ * items_for_copy) return;
  const std::size_t size = depth * fast_lanes;  // of a panel
  if (own_slab.plan != slabs_plan_ || own_slab.number != number) {
    if (own_slab.numbers.size() < task.panels * size) own_slab.numbers.resize(task.panels * size);
    for (std::size_t p = 0; p < task.panels; ++p)
      std::copy_n(task.numbers + p * task.panel_step, size, own_slab.numbers.data() + p * size);
    own_slab.plan = slabs_plan_;
    own_slab.number = number;
  }
  task.numbers = own_slab.numbers.data();
  task.panel_step = size;
}

/// Adds a slab to output items begin .. end - 1; the last slab stores them to the results.
void BlockwiseRunner::add_slab(std::size_t number, std::uint64_t begin, std::uint64_t end) {
  const MatmulPattern& products = *products_;
  const auto& [slab, depth] = slabs_[number];
  const bool shorts = products.width == Width::Short;
  const std::uint64_t words = loop().plan.record_words(program_), count = end - begin;
  // Including those of the next task, to prefetch.
  const std::uint64_t behind = shorts ? 0 : fast_columns;
  const std::uint64_t known = std::min(loop().plan.items - begin, count + behind);
  const std::uint64_t in_word = shorts ? 2 : 1, from_slab = (depth + in_word - 1) / in_word;
  thread_local std::vector<const double*> items;
  thread_local std::vector<std::uint64_t, LineAllocator<std::uint64_t>> wide;
  thread_local std::vector<double, LineAllocator<double>> scratch(fast_scratch);
  std::vector<std::vector<std::uint64_t>> copies(known);  // where memory is in pieces
  items.resize(known);
  if (shorts && wide.size() < known * scratch_pitch) wide.resize(known * scratch_pitch);
  const BoardMemory& memory = memory_of(slab.chip);
  for (std::uint64_t i = 0; i < known; ++i) {
    const std::uint64_t at = loop().address + (begin + i - products.delay) * words;
    const std::uint64_t* record = memory.view(at + slab.first / in_word, from_slab, copies[i]);
    if (shorts) {
      std::uint64_t* const doubles = wide.data() + i * scratch_pitch;
      widen_floats(record, from_slab, doubles);
      record = doubles;
    }
    items[i] = reinterpret_cast<const double*>(record);
  }
  const std::size_t outputs = products.outputs.size(), lanes = packed_slabs_->panels() * fast_lanes;
  double* const sums = sums_.data() + (begin - items_before_matmul()) * lanes;
  double* const results =
      reinterpret_cast<double*>(pass_->results + loop().output_offset) + begin * outputs;
  FastTask task;
  // Panels of +0 have equal sums: one is computed.
  task.panels = std::min(panels_used_ + 1, packed_slabs_->panels());
  task.depth = depth;
  prepare_slab(number, task);
  task.items = items.data();
  task.columns = count;
  task.items_known = known;
  task.before = number == 0 ? nullptr : sums;
  task.sums = sums;
  task.before_step = task.sums_step = lanes;
  task.ends = number + 1 == slabs_.size();
  task.scratch = scratch.data();
  const bool straight = task.ends && outputs == lanes;
  if (straight) task.sums = results;
  {
    const MachineFloatMode mode;
    streamed_->fast_matmul_kernels()->run(task);
  }
  if (!task.ends) return;
  const std::size_t there = std::min(outputs, task.panels * fast_lanes);
  for (std::uint64_t i = 0; i < count; ++i) {
    double* const to = results + i * outputs;
    if (!straight) std::copy_n(sums + i * lanes, there, to);
    std::fill(to + there, to + outputs, to[there - 1]);
  }
}

}  // namespace gdr
