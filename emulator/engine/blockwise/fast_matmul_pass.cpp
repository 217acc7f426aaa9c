// The same as matmul_pass.cpp for fast numerics: slab after slab of what stands in the PEs, each
// with all items.
#include <algorithm>
#include <bit>

#include "emulator/engine/blockwise/blockwise.hpp"
#include "emulator/engine/products/widen.hpp"
#include "emulator/engine/vector/host_float.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// Items of a task, in strips that the kernels take side by side: few where threads have to end at
/// about the same time.
constexpr std::uint64_t task_strips = 4, shared_task_strips = 1;

}  // namespace

/// A phase for each slab: in every thread a slab stays in the cache while the items pass by. Sums
/// take their slabs in one order, whatever the tasks are.
void BlockwiseRunner::add_fast_products(std::vector<Phase>& phases) {
  const std::uint64_t first = items_before_products(), end = loop().plan.items;
  const std::uint64_t strips = (end - first + fast_columns - 1) / fast_columns;
  const std::uint64_t of_task = pass_->threads == 1 ? task_strips : shared_task_strips;
  const std::uint64_t tasks = (strips + of_task - 1) / of_task;
  const std::size_t sums = (end - first) * fast_factors_.panels() * fast_lanes;
  if (sums_.size() < sums) sums_.resize(sums);
  for (std::size_t slab = 0; slab < fast_factors_.slabs(); ++slab)
    phases.push_back({tasks, [this, slab, first, end, strips, tasks](std::size_t i) {
                        const auto begin = [&](std::size_t task) {
                          return first + strips * task / tasks * fast_columns;
                        };
                        add_slab(slab, begin(i), std::min(end, begin(i + 1)));
                      }});
  streamed_->note_products(product_chips_.size() * geometry_.blocks, 0);
}

/// What a slab adds to output items begin .. end - 1; the last one puts them among the results.
void BlockwiseRunner::add_slab(std::size_t number, std::uint64_t begin, std::uint64_t end) {
  const SummedProducts& products = *products_;
  const FastSlab slab = fast_factors_.slab(number);
  const bool shorts = products.width == Width::Short;
  const std::uint64_t words = loop().plan.record_words(program_), count = end - begin;
  // Those of the next task, too: they are sent for.
  const std::uint64_t behind = shorts ? 0 : fast_columns;
  const std::uint64_t known = std::min(loop().plan.items - begin, count + behind);
  const std::uint64_t in_word = shorts ? 2 : 1, from_slab = slab.depth / in_word;
  thread_local std::vector<const double*> items;
  thread_local std::vector<std::uint64_t, LineAllocator<std::uint64_t>> wide;
  thread_local std::vector<double, LineAllocator<double>> scratch(fast_scratch);
  std::vector<std::vector<std::uint64_t>> copies(known);  // where memory is in pieces
  items.resize(known);
  if (shorts && wide.size() < known * fast_apart) wide.resize(known * fast_apart);
  const BoardMemory& memory = memory_of(product_chips_[slab.chip]);
  for (std::uint64_t i = 0; i < known; ++i) {
    const std::uint64_t at = loop().address + (begin + i - products.delay) * words;
    const std::uint64_t* record = memory.view(at + slab.first / in_word, from_slab, copies[i]);
    if (shorts) {
      std::uint64_t* const doubles = wide.data() + i * fast_apart;
      widen_floats(record, from_slab, doubles);
      record = doubles;
    }
    items[i] = reinterpret_cast<const double*>(record);
  }
  const std::size_t outputs = products.outputs.size(), lanes = fast_factors_.panels() * fast_lanes;
  double* const sums = sums_.data() + (begin - items_before_products()) * lanes;
  std::uint64_t* const results = pass_->results + loop().output_offset + begin * outputs;
  FastTask task{fast_factors_.numbers(slab), fast_factors_.panels(), slab.depth, items.data(),
                count};
  task.items_known = known;
  task.before = number == 0 ? nullptr : sums;
  task.sums = sums;
  task.before_step = task.sums_step = lanes;
  task.ends = number + 1 == fast_factors_.slabs();
  task.scratch = scratch.data();
  const bool straight = task.ends && outputs == lanes;
  if (straight) task.sums = reinterpret_cast<double*>(results);
  {
    const MachineFloatMode mode;
    streamed_->fast_kernels()->run(task);
  }
  if (!task.ends || straight) return;
  for (std::uint64_t i = 0; i < count; ++i)
    for (std::size_t n = 0; n < outputs; ++n)
      results[i * outputs + n] = std::bit_cast<std::uint64_t>(sums[i * lanes + n]);
}

}  // namespace gdr
