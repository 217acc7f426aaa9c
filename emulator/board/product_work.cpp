// Runs of a body that is nothing but sums of products, and of which nobody wants to see more than
// what the network makes of its output items: all blocks of all chips together, some items a task.
#include <algorithm>
#include <bit>

#include "emulator/board/batch.hpp"
#include "emulator/board/port_words.hpp"
#include "emulator/engine/vector/host_float.hpp"

namespace gdr {
namespace {

/// Items of a task: what stands in the PEs is fetched once for all of them. A multiple of what the
/// kernels take side by side.
constexpr std::uint64_t task_items = 48, items_together = 12;

/// Floats, two to a word, as the doubles that the kernels take: as the port has them, where
/// subnormal ones are zeros of their sign.
void widen(const std::uint64_t* words, std::size_t n, std::uint64_t* doubles) noexcept {
  constexpr std::uint32_t exponent = 0x7f80'0000, sign = 0x8000'0000;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t half = 0; half < 2; ++half) {
      auto bits = static_cast<std::uint32_t>(words[i] >> 32 * half);
      if ((bits & exponent) == 0) bits &= sign;
      doubles[2 * i + half] = std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(bits)});
    }
}

}  // namespace

bool Batch::sums_products() const noexcept {
  constexpr std::uint32_t wanted = run_start | run_end | run_results_only | run_return;
  if (!run_ || !board_.loaded->products) return false;
  if ((run_->command.flags & wanted) != wanted || (run_->command.flags & run_flags) != 0)
    return false;
  // In TargetsOverBlocks every block sees the whole record, in SourcesOverBlocks other items. Fast
  // numerics do the same for any number of items: products keep all bits of their factors.
  const std::uint64_t least = board_.loaded->product_kernels->exact ? items_together / 2 : 1;
  return run_->plan.share == Share::PartsOverBlocks &&
         items_before_products() + least <= run_->plan.items;
}

/// Items of which the output comes from what the registers held before: they run as ever, unless it
/// is known.
std::uint64_t Batch::fills_before_products() const noexcept {
  if (board_.loaded->products->begins_with_zeros) return 0;
  const std::uint64_t size = run_->plan.groups_per_half;
  return (board_.loaded->products->delay + size - 1) / size;
}

std::uint64_t Batch::items_before_products() const noexcept {
  const SummedProducts& products = *board_.loaded->products;
  return products.begins_with_zeros ? products.delay
                                    : fills_before_products() * run_->plan.groups_per_half;
}

/// Makes room for what stands in the PEs: each block is taken when its targets are there.
void Batch::begin_products() {
  product_chips_.clear();
  for (std::uint32_t c = 0; c < board_.chips.size(); ++c)
    if (run_->blocks[c] != 0) product_chips_.push_back(c);
  const SummedProducts& products = *board_.loaded->products;
  board_.factors.begin(products, board_.geometry, product_chips_.size());
  if (products.begins_with_zeros && !product_chips_.empty())
    std::fill_n(results_.data() + run_->offset, products.delay * products.outputs.size(), 0);
}

void Batch::take_factors(const Task& task) {
  const auto chip = std::ranges::find(product_chips_, task.chip) - product_chips_.begin();
  board_.factors.take(*board_.loaded->products, static_cast<std::size_t>(chip),
                      board_.chips[task.chip].state.blocks[task.block],
                      *board_.loaded->product_kernels);
}

void Batch::add_products(std::vector<Phase>& phases) {
  if (product_chips_.empty()) return;
  const std::uint64_t first = items_before_products();
  const std::uint64_t items = run_->plan.items - first;
  // As many tasks as keep some threads busy to the end.
  const std::uint64_t wanted = (items / 16 + items_together - 1) / items_together * items_together;
  const std::uint64_t size = std::clamp(wanted, items_together, task_items);
  phases.push_back({(items + size - 1) / size, [this, first, items, size](std::size_t i) {
                      sum_products(first + i * size, std::min(size, items - i * size));
                    }});
}

/// Output items first .. first + count - 1, to their place among the results.
void Batch::sum_products(std::uint64_t first, std::uint64_t count) {
  const LoadedProgram& loaded = *board_.loaded;
  const SummedProducts& products = *loaded.products;
  const std::size_t chips = product_chips_.size();
  const std::uint64_t words = run_->plan.record_words(loaded);
  thread_local std::vector<const std::uint64_t*> records;
  thread_local std::vector<double, LineAllocator<double>> sums, scratch;
  std::vector<std::vector<std::uint64_t>> copies(count * chips);  // where memory is in pieces
  records.resize(count * chips);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = run_->command.address + (first + i - products.delay) * words;
    for (std::size_t c = 0; c < chips; ++c)
      records[i * chips + c] =
          board_.chips[product_chips_[c]].memory.view(at, words, copies[i * chips + c]);
  }
  thread_local std::vector<std::uint64_t> wide;
  if (products.width == Width::Short) {
    if (wide.size() < records.size() * 2 * words) wide.resize(records.size() * 2 * words);
    std::uint64_t* to = wide.data();
    for (const std::uint64_t*& record : records) {
      widen(record, words, to);
      record = to;
      to += 2 * words;
    }
  }
  ProductTask task{board_.factors.view(), records.data(), count, nullptr, nullptr};
  const std::size_t lanes = task.factors.panels * panel_lanes;
  if (sums.size() < count * lanes) sums.resize(count * lanes);
  const std::size_t needed = loaded.product_kernels->scratch(task);
  if (scratch.size() < needed) scratch.resize(needed);
  task.sums = sums.data();
  task.scratch = scratch.data();
  std::uint64_t slow = 0;
  {
    const MachineFloatMode mode;
    slow = loaded.product_kernels->run(task);
  }
  loaded.executable->note_products(chips * board_.geometry.blocks, slow);
  const std::size_t of_row = PackedFactors::panels_of(board_.geometry) * panel_lanes;
  std::uint64_t* to = results_.data() + run_->offset + first * products.outputs.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const double* const from = sums.data() + i * lanes;
    for (const auto& output : products.outputs)
      *to++ = port::canonical(std::bit_cast<std::uint64_t>(from[output.row * of_row + output.pe]));
  }
}

}  // namespace gdr
