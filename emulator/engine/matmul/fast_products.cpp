#include "emulator/engine/matmul/fast_products.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "emulator/engine/matmul/cpu/widen_floats.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// nc, the items of a task: their factors of a slab and their sums fit the second-level cache
/// beside the slab. Fewer where threads share the items, to balance their work.
constexpr std::uint64_t nc_alone = 4 * fast_columns, nc_shared = fast_columns;

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

}  // namespace

FastProducts::FastProducts(const MatmulPattern& pattern, const LoadedProgram& program,
                           const Geometry& geometry, const StreamingExecutable& executable)
    : executable_(executable),
      factors_(pattern, program, geometry, executable),
      plan_(factors_.packed()) {}

void FastProducts::add_preparation(const ProductPass& pass, std::vector<Phase>& phases) {
  const std::size_t sums = pass.items() * factors_.packed().panels() * fast_lanes;
  if (sums_.size() < sums) sums_.resize(sums);
  plan_.add_phases(pass, phases);
}

void FastProducts::add_phases(const ProductPass& pass, std::vector<Phase>& phases) {
  add_preparation(pass, phases);
  loop_pc(pass, phases);
  executable_.record_matmul(pass.chips.size() * pass.state.geometry().blocks, 0);
}

/// Loop pc: a phase for each slab, so that a slab stays in every thread's second-level cache while
/// all items stream. The order of slabs in a sum does not depend on the tasks.
void FastProducts::loop_pc(const ProductPass& pass, std::vector<Phase>& phases) {
  const std::size_t max_slabs = pass.chips.size() * factors_.packed().slabs_of_chip();
  for (std::size_t slab = 0; slab < max_slabs; ++slab) loop_jc(pass, slab, phases);
}

/// Loop jc: tasks of at most nc items, in equal parts of whole micro-kernels.
void FastProducts::loop_jc(const ProductPass& pass, std::size_t slab, std::vector<Phase>& phases) {
  const std::uint64_t nc = pass.threads == 1 ? nc_alone : nc_shared;
  const std::uint64_t strips = (pass.items() + fast_columns - 1) / fast_columns;
  const std::uint64_t tasks = (pass.items() + nc - 1) / nc;
  phases.push_back({tasks, [this, &pass, slab, strips, tasks](std::size_t i) {
                      const auto begin = [&](std::size_t task) {
                        return pass.first + strips * task / tasks * fast_columns;
                      };
                      if (slab < plan_.slabs().size())
                        add_slab(pass, slab, begin(i), std::min(pass.end(), begin(i + 1)));
                    }});
}

/// The panels of a slab, shared or as the thread's private copy.
void FastProducts::prepare_slab(const ProductPass& pass, std::size_t number, FastTask& task) const {
  const auto& [slab, depth] = plan_.slabs()[number];
  task.numbers = factors_.packed().numbers(slab);
  task.panel_step = slab.depth * fast_lanes;
  if (pass.threads == 1 || pass.items() < pass.threads * items_for_copy) return;
  const std::size_t size = depth * fast_lanes;  // of a panel
  if (own_slab.plan != plan_.number() || own_slab.number != number) {
    if (own_slab.numbers.size() < task.panels * size) own_slab.numbers.resize(task.panels * size);
    for (std::size_t p = 0; p < task.panels; ++p)
      std::copy_n(task.numbers + p * task.panel_step, size, own_slab.numbers.data() + p * size);
    own_slab.plan = plan_.number();
    own_slab.number = number;
  }
  task.numbers = own_slab.numbers.data();
  task.panel_step = size;
}

/// The factors of a slab of output items begin .. begin + count - 1: in place, or converted.
const double* const* FastProducts::items_of(const ProductPass& pass, const SlabPlan::UsedSlab& used,
                                            std::uint64_t begin, std::uint64_t count,
                                            PieceCopies& copies) {
  const bool shorts = pass.pattern.width == Width::Short;
  const std::uint64_t in_word = shorts ? 2 : 1, words = (used.depth + in_word - 1) / in_word;
  thread_local std::vector<const double*> items;
  thread_local std::vector<std::uint64_t, LineAllocator<std::uint64_t>> wide;
  copies.resize(count);
  items.resize(count);
  if (shorts && wide.size() < count * scratch_pitch) wide.resize(count * scratch_pitch);
  const BoardMemory& memory = pass.state.memory_of(used.slab.chip);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = pass.record_of(begin + i);
    const std::uint64_t* record = memory.view(at + used.slab.first / in_word, words, copies[i]);
    if (shorts) {
      std::uint64_t* const doubles = wide.data() + i * scratch_pitch;
      widen_floats(record, words, doubles);
      record = doubles;
    }
    items[i] = reinterpret_cast<const double*>(record);
  }
  return items.data();
}

/// An iteration of loop jc: a slab times output items begin .. end - 1, by the loops of
/// FastMatmulFunctions. There is no loop ic: mc is the number of outputs, whose slab the
/// second-level cache holds. The last slab stores the sums to the results.
void FastProducts::add_slab(const ProductPass& pass, std::size_t number, std::uint64_t begin,
                            std::uint64_t end) {
  const SlabPlan::UsedSlab& used = plan_.slabs()[number];
  const std::uint64_t count = end - begin;
  // Including those of the next task, to prefetch.
  const std::uint64_t behind = pass.pattern.width == Width::Short ? 0 : fast_columns;
  const std::uint64_t known = std::min(pass.end() - begin, count + behind);
  PieceCopies copies;
  thread_local std::vector<double, LineAllocator<double>> scratch(fast_scratch);
  const std::size_t outputs = pass.pattern.outputs.size();
  const std::size_t lanes = factors_.packed().panels() * fast_lanes;
  double* const sums = sums_.data() + (begin - pass.first) * lanes;
  double* const results = reinterpret_cast<double*>(pass.results_of(begin));
  FastTask task;
  task.panels = plan_.panels();
  task.depth = used.depth;
  prepare_slab(pass, number, task);
  task.items = items_of(pass, used, begin, known, copies);
  task.columns = count;
  task.items_known = known;
  task.before = number == 0 ? nullptr : sums;
  task.before_step = task.sums_step = lanes;
  task.ends = number + 1 == plan_.slabs().size();
  task.scratch = scratch.data();
  const bool straight = task.ends && outputs == lanes;
  task.sums = straight ? results : sums;
  {
    const MachineFloatMode mode;
    executable_.matmul().fast->macro_kernel(task);
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
  for (std::size_t slab = 0; slab < plan_.slabs().size(); ++slab) add_slab(pass, slab, first, end);
}

DeviceProduct FastProducts::product(const ProductPass& pass) {
  DeviceProduct product;
  for (const auto& [slab, depth] : plan_.slabs()) {
    const auto chip = std::ranges::find(pass.chips, slab.chip);
    product.pieces.push_back({factors_.packed().numbers(slab), slab.depth * fast_lanes, depth,
                              static_cast<std::size_t>(chip - pass.chips.begin()), slab.first});
  }
  product.panels.resize(plan_.panels());
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
