#include "emulator/engine/matmul/fast_products.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

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

FastProducts::FastProducts(const MatmulPattern& pattern, const LoadedProgram& program,
                           const Geometry& geometry, const StreamingExecutable& executable)
    : program_(program),
      geometry_(geometry),
      executable_(executable),
      packed_(pattern, program, geometry) {}

/// Whether all writes to a chip are targets of whole blocks.
bool FastProducts::writes_whole_blocks(const PassState& state, std::size_t chip) const noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  return std::ranges::all_of(state.writes(), [&](const TargetWrite& w) {
    return !takes_part(w.chips, chip) || (w.slots.partition != ChipPartition::SourcesOverBlocks &&
                                          w.slots.first % lanes == 0 && w.slots.count % lanes == 0);
  });
}

/// Records of a block's targets in the last write of this pass; null if there is none. Writes are
/// of whole blocks.
const std::uint64_t* FastProducts::records_for(const PassState& state, std::size_t chip,
                                               std::size_t block) const noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry_.pes_per_block} * program_.program.elements;
  const std::uint64_t* records = nullptr;
  for (const TargetWrite& w : state.writes()) {
    const std::uint64_t first = block * lanes;
    if (!takes_part(w.chips, chip) || first < w.slots.first ||
        first >= w.slots.first + w.slots.count)
      continue;
    records = w.records + (first - w.slots.first) * program_.layout.target_words;
  }
  return records;
}

/// Factors of chips are gathered from records, from the cache or once from the state.
void FastProducts::begin(ProductPass& pass) {
  PassState& state = pass.state;
  packed_.allocate(state.chips());
  cached_.resize(state.chips());
  for (CachedFactors& cached : cached_) cached.by_records = false;
  for (const std::uint32_t c : pass.chips) {
    const LoadedChip& chip = state.pass().chips[c].chip;
    CachedFactors& cached = cached_[c];
    cached.known = cached.version == chip.version();
    cached.by_records = packed_.gathers_records() && pass.fills_before == 0 &&
                        state.reads().empty() && writes_whole_blocks(state, c);
    cached.version = ~std::uint64_t{0};  // until the pass is done
    bool missing = !cached.by_records;
    for (std::size_t b = 0; !cached.known && b < geometry_.blocks; ++b)
      missing = missing || records_for(state, c, b) == nullptr;
    if (missing) state.require_state(c);
  }
  std::uint64_t others = 0;
  for (const TargetWrite& write : state.writes()) others |= write.chips;
  for (const ResultRead& read : state.reads()) others |= read.chips;
  for (std::size_t c = 0; c < state.chips(); ++c)
    if (takes_part(others, c) && !cached_[c].by_records) state.require_state(c);
}

void FastProducts::gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) {
  const CachedFactors& cached = cached_[chip];
  const auto from_state = [&] { packed_.gather_words(chip, pass.state.state(chip).blocks[block]); };
  if (!cached.by_records) return from_state();
  if (const std::uint64_t* const records = records_for(pass.state, chip, block))
    packed_.gather_records(chip, block, records, *executable_.matmul().fast);
  else if (!cached.known)
    from_state();
}

/// Cached factors are valid until the next access to the chip's state, which receives deferred
/// writes.
void FastProducts::end(ProductPass& pass) {
  for (const std::uint32_t c : pass.chips) {
    LoadedChip& chip = pass.state.pass().chips[c].chip;
    CachedFactors& cached = cached_[c];
    cached.version = chip.version();
    pass.state.forget_state(c);
    if (cached.by_records) chip.defer([this, c](ChipState& state) { scatter(c, state); });
  }
}

/// Deferred writes of passes that bypassed the state: targets and registers set by Start.
void FastProducts::scatter(std::size_t chip, ChipState& state) {
  BlockRun start;
  start.section = Section::Start;
  start.source_base = program_.halves.source_base[0];
  start.output_base = program_.halves.output_base[0];
  for (BlockState& block : state.blocks) {
    packed_.scatter_words(chip, block);
    executable_.run(block, start);
  }
}

/// Determines the factors of a slab up to the last one that is not +0 in every item.
void FastProducts::measure_items(const ProductPass& pass, const FastSlab& slab) {
  const bool shorts = pass.pattern.width == Width::Short;
  const std::uint64_t in_word = shorts ? 2 : 1, words = pass.record_words();
  ItemDepth& depth = item_depths_[slab.chip][slab.first / slab_depth];
  const PassRun& run = pass.state.run();
  const SourceKey now =
      key_of({&pass.state.memory_of(slab.chip), run.address, run.plan.items}, words);
  if (depth.key == now) return;
  depth = {now, 0};
  std::vector<std::uint64_t> copy;  // where memory is in pieces
  const BoardMemory& memory = pass.state.memory_of(slab.chip);
  const std::uint64_t all = (slab.depth + in_word - 1) / in_word;
  std::uint64_t used = 0;
  for (std::uint64_t i = 0; i < pass.end() && used < all; ++i) {
    const std::uint64_t at = pass.state.run().address + i * words + slab.first / in_word;
    const std::uint64_t* const behind = memory.view(at + used, all - used, copy);
    std::uint64_t more = all - used;
    while (more > 0 && behind[more - 1] == 0) --more;
    used += more;
  }
  depth.used = std::min<std::size_t>(used * in_word, slab.depth);
}

/// Trailing factors that are +0 in all PEs or all items are omitted. (They would change only the
/// sign of a sum of -0, which requires underflow.)
void FastProducts::plan_slabs(const ProductPass& pass) {
  slabs_.clear();
  slabs_plan_ = next_plan();
  panels_used_ = 0;
  for (const std::uint32_t chip : pass.chips) {
    panels_used_ = std::max(panels_used_, packed_.panels_used(chip));
    for (std::size_t n = 0; n < packed_.slabs_of_chip(); ++n) {
      const FastSlab slab = packed_.slab(chip, n);
      const std::size_t used = packed_.depth_used(slab);
      const std::size_t depth =
          used < slab.depth ? std::max(used, item_depths_[chip][n].used) : slab.depth;
      if (depth != 0) slabs_.push_back({slab, depth});
    }
  }
  if (slabs_.empty()) slabs_.push_back({packed_.slab(pass.chips[0], 0), 1});
}

/// Determines the slabs of the pass.
void FastProducts::add_preparation(const ProductPass& pass, std::vector<Phase>& phases) {
  reserve_sums(pass);
  const std::size_t of_chip = packed_.slabs_of_chip();
  item_depths_.resize(pass.state.chips());
  for (auto& chip : item_depths_) chip.resize(of_chip);
  phases.push_back({pass.chips.size() * of_chip, [this, &pass, of_chip](std::size_t i) {
                      const FastSlab slab = packed_.slab(pass.chips[i / of_chip], i % of_chip);
                      if (packed_.depth_used(slab) < slab.depth) measure_items(pass, slab);
                    }});
  phases.push_back({1, [this, &pass](std::size_t) { plan_slabs(pass); }});
}

void FastProducts::reserve_sums(const ProductPass& pass) {
  const std::size_t sums = pass.items() * packed_.panels() * fast_lanes;
  if (sums_.size() < sums) sums_.resize(sums);
}

/// A phase for each slab, so that a slab stays in every thread's cache. The order of slabs in a sum
/// does not depend on the tasks.
void FastProducts::add_phases(const ProductPass& pass, std::vector<Phase>& phases) {
  add_preparation(pass, phases);
  const std::uint64_t strips = (pass.items() + fast_columns - 1) / fast_columns;
  const std::uint64_t of_task = pass.threads == 1 ? task_strips : shared_task_strips;
  const std::uint64_t tasks = (strips + of_task - 1) / of_task;
  const std::size_t slabs = pass.chips.size() * packed_.slabs_of_chip();
  for (std::size_t slab = 0; slab < slabs; ++slab)
    phases.push_back({tasks, [this, &pass, slab, strips, tasks](std::size_t i) {
                        const auto begin = [&](std::size_t task) {
                          return pass.first + strips * task / tasks * fast_columns;
                        };
                        if (slab < slabs_.size())
                          add_slab(pass, slab, begin(i), std::min(pass.end(), begin(i + 1)));
                      }});
  executable_.record_matmul(pass.chips.size() * geometry_.blocks, 0);
}

/// The first panels of a slab, shared or as the thread's private copy.
void FastProducts::prepare_slab(const ProductPass& pass, std::size_t number, FastTask& task) const {
  const auto& [slab, depth] = slabs_[number];
  task.numbers = packed_.numbers(slab);
  task.panel_step = slab.depth * fast_lanes;
  if (pass.threads == 1 || pass.items() < pass.threads * items_for_copy) return;
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
void FastProducts::add_slab(const ProductPass& pass, std::size_t number, std::uint64_t begin,
                            std::uint64_t end) {
  const auto& [slab, depth] = slabs_[number];
  const bool shorts = pass.pattern.width == Width::Short;
  const std::uint64_t count = end - begin;
  // Including those of the next task, to prefetch.
  const std::uint64_t behind = shorts ? 0 : fast_columns;
  const std::uint64_t known = std::min(pass.end() - begin, count + behind);
  const std::uint64_t in_word = shorts ? 2 : 1, from_slab = (depth + in_word - 1) / in_word;
  thread_local std::vector<const double*> items;
  thread_local std::vector<std::uint64_t, LineAllocator<std::uint64_t>> wide;
  thread_local std::vector<double, LineAllocator<double>> scratch(fast_scratch);
  std::vector<std::vector<std::uint64_t>> copies(known);  // where memory is in pieces
  items.resize(known);
  if (shorts && wide.size() < known * scratch_pitch) wide.resize(known * scratch_pitch);
  const BoardMemory& memory = pass.state.memory_of(slab.chip);
  for (std::uint64_t i = 0; i < known; ++i) {
    const std::uint64_t at = pass.record_of(begin + i);
    const std::uint64_t* record = memory.view(at + slab.first / in_word, from_slab, copies[i]);
    if (shorts) {
      std::uint64_t* const doubles = wide.data() + i * scratch_pitch;
      widen_floats(record, from_slab, doubles);
      record = doubles;
    }
    items[i] = reinterpret_cast<const double*>(record);
  }
  const std::size_t outputs = pass.pattern.outputs.size(), lanes = packed_.panels() * fast_lanes;
  double* const sums = sums_.data() + (begin - pass.first) * lanes;
  double* const results = reinterpret_cast<double*>(pass.results_of(begin));
  FastTask task;
  // Panels of +0 have equal sums: one is computed.
  task.panels = std::min(panels_used_ + 1, packed_.panels());
  task.depth = depth;
  prepare_slab(pass, number, task);
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
    executable_.matmul().fast->run(task);
  }
  if (!task.ends) return;
  const std::size_t there = std::min(outputs, task.panels * fast_lanes);
  for (std::uint64_t i = 0; i < count; ++i) {
    double* const to = results + i * outputs;
    if (!straight) std::copy_n(sums + i * lanes, there, to);
    std::fill(to + there, to + outputs, to[there - 1]);
  }
}

void FastProducts::compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) {
  for (std::size_t slab = 0; slab < slabs_.size(); ++slab) add_slab(pass, slab, first, end);
}

DeviceProduct FastProducts::product(const ProductPass& pass) {
  DeviceProduct product;
  for (const UsedSlab& used : slabs_) {
    const FastSlab& slab = used.slab;
    const auto chip = std::ranges::find(pass.chips, slab.chip);
    product.pieces.push_back({packed_.numbers(slab), slab.depth * fast_lanes, used.depth,
                              static_cast<std::size_t>(chip - pass.chips.begin()), slab.first});
  }
  product.panels.resize(std::min(panels_used_ + 1, packed_.panels()));
  std::iota(product.panels.begin(), product.panels.end(), 0);
  return product;
}

/// Outputs of panels that were not computed are equal to the last one.
void FastProducts::store(const ProductPass& pass, const double* sums, std::uint64_t first,
                         std::uint64_t end, const std::vector<std::uint32_t>& panels) {
  const std::size_t outputs = pass.pattern.outputs.size(), lanes = panels.size() * fast_lanes;
  const std::size_t there = std::min(outputs, lanes);
  std::uint64_t* to = pass.results_of(first);
  for (; first < end; ++first, sums += lanes, to += outputs) {
    for (std::size_t o = 0; o < there; ++o)
      to[o] = port::canonical(std::bit_cast<std::uint64_t>(sums[o]));
    std::fill(to + there, to + outputs, to[there - 1]);
  }
}

}  // namespace gdr
