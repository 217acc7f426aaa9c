// Matrix products in exact numerics, for runs whose only results are reduced output items: all
// blocks of all chips, some items per task. Fast numerics: fast_matmul_pass.cpp.
#include <algorithm>
#include <bit>
#include <numeric>

#include "emulator/engine/blockwise/blockwise.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// Items per task, which read the PEs' factors once. A multiple of the kernels' columns.
constexpr std::uint64_t task_items = 48, kernel_items = 12;

/// Whether j-items are consecutive doubles (or floats, if the factors are shorts) and output items
/// are sums converted to doubles.
bool are_numbers(const LoadedProgram& loaded, const MatmulPattern& products) {
  const unsigned shorts = shorts_in(products.width);
  if (2 * loaded.layout.source_words != shorts * products.depth ||
      loaded.sources.size() != products.depth || loaded.outputs.size() != products.outputs.size())
    return false;
  const auto numbers = [](const std::vector<PortField>& fields, Width width) {
    const bool wide = width == Width::Long;
    const HostType host = wide ? HostType::F64 : HostType::F32;
    const MachineFormat machine = wide ? MachineFormat::FloatLong : MachineFormat::FloatShort;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const PortField& f = fields[k];
      const std::size_t at = shorts_in(width) * k;
      if (f.conversion.host != host || f.width != width || f.conversion.machine != machine ||
          f.location.address != at || f.half_word != at)
        return false;
    }
    return true;
  };
  return numbers(loaded.sources, products.width) && numbers(loaded.outputs, Width::Long) &&
         std::ranges::all_of(loaded.outputs,
                             [](const PortField& f) { return f.reduce == Reduce::Fadd; });
}

}  // namespace

std::optional<MatmulPattern> match_number_matmul(const LoadedProgram& loaded) {
  std::optional<MatmulPattern> products = match_matmul(loaded.program);
  if (products && !are_numbers(loaded, *products)) products.reset();
  return products;
}

bool BlockwiseRunner::is_matmul() const noexcept {
  constexpr std::uint32_t wanted = run_start | run_end | run_results_only | run_return;
  if (run_ == nullptr || !products_) return false;
  if ((loop().flags & wanted) != wanted || (loop().flags & run_flags) != 0) return false;
  // In TargetsOverBlocks every block reads the whole record, in SourcesOverBlocks other items. Fast
  // numerics use this path for any number of items, so that products always keep all bits of their
  // factors.
  const std::uint64_t least = streamed_->matmul_kernels() != nullptr ? kernel_items / 2 : 1;
  return loop().plan.partition == ChipPartition::PartsOverBlocks &&
         items_before_matmul() + least <= loop().plan.items;
}

/// Items whose output depends on previous register contents: they run normally, unless that is
/// known to be zero.
std::uint64_t BlockwiseRunner::fills_before_matmul() const noexcept {
  if (products_->begins_with_zeros) return 0;
  const std::uint64_t size = loop().plan.groups_per_half;
  return (products_->delay + size - 1) / size;
}

std::uint64_t BlockwiseRunner::items_before_matmul() const noexcept {
  const MatmulPattern& products = *products_;
  return products.begins_with_zeros ? products.delay
                                    : fills_before_matmul() * loop().plan.groups_per_half;
}

/// Allocates the factors; each block is gathered after its targets are written.
void BlockwiseRunner::begin_matmul() {
  product_chips_.clear();
  for (std::uint32_t c = 0; c < pass_->chips.size(); ++c)
    if (blocks_of(c) != 0) product_chips_.push_back(c);
  const MatmulPattern& products = *products_;
  if (packed_slabs_) {
    begin_fast_matmul();
  } else {
    require_states();
    factors_.begin(products, geometry_, product_chips_.size());
  }
  if (products.begins_with_zeros && !product_chips_.empty())
    std::fill_n(pass_->results + loop().output_offset, products.delay * products.outputs.size(), 0);
}

void BlockwiseRunner::gather_factors(const Task& task) {
  if (packed_slabs_)
    return packed_slabs_->gather_words(task.chip, state(task.chip).blocks[task.block]);
  const auto found = std::ranges::find(product_chips_, task.chip) - product_chips_.begin();
  const auto chip = static_cast<std::size_t>(found);
  factors_.gather(*products_, chip, state(task.chip).blocks[task.block],
                  *streamed_->matmul_kernels());
}

void BlockwiseRunner::add_matmul(std::vector<Phase>& phases) {
  if (product_chips_.empty()) return;
  const std::uint64_t first = items_before_matmul();
  const std::uint64_t items = loop().plan.items - first;
  if (uses_matmul_device()) return add_device_matmul(phases);
  if (packed_slabs_) return add_fast_matmul(phases);
  // Enough tasks for load balance.
  const std::uint64_t wanted = (items / 16 + kernel_items - 1) / kernel_items * kernel_items;
  const std::uint64_t size = std::clamp(wanted, kernel_items, task_items);
  phases.push_back({1, [this](std::size_t) { factors_.find_zeros(); }});
  phases.push_back({(items + size - 1) / size, [this, first, items, size](std::size_t i) {
                      run_matmul(first + i * size, std::min(size, items - i * size));
                    }});
}

/// Computes output items first .. first + count - 1 to the results.
void BlockwiseRunner::run_matmul(std::uint64_t first, std::uint64_t count) {
  const MatmulPattern& products = *products_;
  const std::size_t chips = product_chips_.size();
  const std::uint64_t words = loop().plan.record_words(program_);
  thread_local std::vector<const std::uint64_t*> records;
  thread_local std::vector<double, LineAllocator<double>> sums, scratch;
  std::vector<std::vector<std::uint64_t>> copies(count * chips);  // where memory is in pieces
  records.resize(count * chips);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = loop().address + (first + i - products.delay) * words;
    for (std::size_t c = 0; c < chips; ++c)
      records[i * chips + c] = memory_of(product_chips_[c]).view(at, words, copies[i * chips + c]);
  }
  thread_local std::vector<std::uint64_t> wide;
  if (products.width == Width::Short) {
    if (wide.size() < records.size() * 2 * words) wide.resize(records.size() * 2 * words);
    std::uint64_t* to = wide.data();
    for (const std::uint64_t*& record : records) {
      widen_floats(record, words, to);
      record = to;
      to += 2 * words;
    }
  }
  MatmulTask task{factors_.view(), records.data(), count, nullptr, nullptr};
  const std::size_t lanes = task.factors.panels * panel_lanes;
  if (sums.size() < count * lanes) sums.resize(count * lanes);
  const std::size_t needed = streamed_->matmul_kernels()->scratch(task);
  if (scratch.size() < needed) scratch.resize(needed);
  task.sums = sums.data();
  task.scratch = scratch.data();
  std::uint64_t slow = 0;
  {
    const MachineFloatMode mode;
    slow = streamed_->matmul_kernels()->run(task);
  }
  streamed_->record_matmul(chips * geometry_.blocks, slow);
  std::vector<std::uint32_t> panels(task.factors.panels);
  std::iota(panels.begin(), panels.end(), 0);
  store_matmul(sums.data(), first, count, panels);
}

/// Stores output items, given as [item][panel][lane] of some panels: all that are not +0, and the
/// first one that is.
void BlockwiseRunner::store_matmul(const double* sums, std::uint64_t first, std::uint64_t count,
                                   const std::vector<std::uint32_t>& panels) {
  const MatmulPattern& products = *products_;
  const MatmulFactors factors = factors_.view();
  const std::size_t of_row = PackedFactors::panels_of(geometry_) * panel_lanes;
  std::vector<std::size_t> places;
  for (const auto& output : products.outputs) {
    const std::size_t lane = output.row * of_row + output.pe, panel = lane / panel_lanes;
    const auto there =
        static_cast<std::uint32_t>(factors.zeros[panel] != 0 ? factors.first_of_zeros : panel);
    const auto place = std::ranges::lower_bound(panels, there) - panels.begin();
    places.push_back(static_cast<std::size_t>(place) * panel_lanes + lane % panel_lanes);
  }
  std::uint64_t* to = pass_->results + loop().output_offset + first * products.outputs.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const double* const from = sums + i * panels.size() * panel_lanes;
    for (const std::size_t place : places)
      *to++ = port::canonical(std::bit_cast<std::uint64_t>(from[place]));
  }
}

}  // namespace gdr
