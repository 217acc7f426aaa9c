#include "emulator/engine/matmul/exact_products.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "emulator/host/float_mode.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// Items per task, which read the PEs' factors once. A multiple of the kernels' columns.
constexpr std::uint64_t task_items = 48, kernel_items = 12;

}  // namespace

std::uint64_t ExactProducts::least_items() const noexcept { return kernel_items / 2; }

/// Allocates the factors; each block is gathered after its targets are written.
void ExactProducts::begin(ProductPass& pass) {
  pass.state.require_states();
  factors_.begin(pass.pattern, pass.state.geometry(), pass.chips.size());
}

void ExactProducts::gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) {
  const auto found = std::ranges::find(pass.chips, chip) - pass.chips.begin();
  factors_.gather(pass.pattern, static_cast<std::size_t>(found),
                  pass.state.state(chip).blocks[block], *executable_.matmul().exact);
}

void ExactProducts::add_phases(const ProductPass& pass, std::vector<Phase>& phases) {
  const std::uint64_t items = pass.items();
  // Enough tasks for load balance.
  const std::uint64_t wanted = (items / 16 + kernel_items - 1) / kernel_items * kernel_items;
  const std::uint64_t size = std::clamp(wanted, kernel_items, task_items);
  phases.push_back({1, [this](std::size_t) { factors_.find_zeros(); }});
  phases.push_back({(items + size - 1) / size, [this, &pass, items, size](std::size_t i) {
                      const std::uint64_t first = pass.first + i * size;
                      compute(pass, first, first + std::min(size, items - i * size));
                    }});
}

void ExactProducts::compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t count = end - first;
  const std::size_t chips = pass.chips.size();
  const std::uint64_t words = pass.record_words();
  thread_local std::vector<const std::uint64_t*> records;
  thread_local std::vector<double, LineAllocator<double>> sums, scratch;
  std::vector<std::vector<std::uint64_t>> copies(count * chips);  // where memory is in pieces
  records.resize(count * chips);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = pass.record_of(first + i);
    for (std::size_t c = 0; c < chips; ++c)
      records[i * chips + c] =
          pass.state.memory_of(pass.chips[c]).view(at, words, copies[i * chips + c]);
  }
  thread_local std::vector<std::uint64_t> wide;
  if (pass.pattern.width == Width::Short) {
    if (wide.size() < records.size() * 2 * words) wide.resize(records.size() * 2 * words);
    std::uint64_t* to = wide.data();
    for (const std::uint64_t*& record : records) {
      widen_floats(record, words, to);
      record = to;
      to += 2 * words;
    }
  }
  const MatmulKernels& kernels = *executable_.matmul().exact;
  MatmulTask task{factors_.view(), records.data(), count, nullptr, nullptr};
  const std::size_t lanes = task.factors.panels * panel_lanes;
  if (sums.size() < count * lanes) sums.resize(count * lanes);
  const std::size_t needed = kernels.scratch(task);
  if (scratch.size() < needed) scratch.resize(needed);
  task.sums = sums.data();
  task.scratch = scratch.data();
  std::uint64_t slow = 0;
  {
    const MachineFloatMode mode;
    slow = kernels.run(task);
  }
  executable_.record_matmul(chips * pass.state.geometry().blocks, slow);
  std::vector<std::uint32_t> panels(task.factors.panels);
  std::iota(panels.begin(), panels.end(), 0);
  store(pass, sums.data(), first, end, panels);
}

/// The panels are all that are not +0, and the first one that is.
void ExactProducts::store(const ProductPass& pass, const double* sums, std::uint64_t first,
                          std::uint64_t end, const std::vector<std::uint32_t>& panels) {
  const MatmulFactors factors = factors_.view();
  const std::size_t of_row = PackedFactors::panels_of(pass.state.geometry()) * panel_lanes;
  std::vector<std::size_t> places;
  for (const auto& output : pass.pattern.outputs) {
    const std::size_t lane = output.row * of_row + output.pe, panel = lane / panel_lanes;
    const auto there =
        static_cast<std::uint32_t>(factors.zeros[panel] != 0 ? factors.first_of_zeros : panel);
    const auto place = std::ranges::lower_bound(panels, there) - panels.begin();
    places.push_back(static_cast<std::size_t>(place) * panel_lanes + lane % panel_lanes);
  }
  std::uint64_t* to = pass.results_of(first);
  for (std::uint64_t i = 0; i < end - first; ++i) {
    const double* const from = sums + i * panels.size() * panel_lanes;
    for (const std::size_t place : places)
      *to++ = port::canonical(std::bit_cast<std::uint64_t>(from[place]));
  }
}

void ExactProducts::add_preparation(const ProductPass&, std::vector<Phase>& phases) {
  phases.push_back({1, [this](std::size_t) { factors_.find_zeros(); }});
}

DeviceProduct ExactProducts::product(const ProductPass&) {
  const MatmulFactors factors = factors_.view();
  const std::size_t size = factors.depth * panel_lanes;
  DeviceProduct product;
  for (std::size_t chip = 0; chip < factors.chips; ++chip)
    for (std::size_t block = 0; block < factors.blocks; ++block)
      product.pieces.push_back({factors.numbers + (chip * factors.blocks + block) * size,
                                factors.chips * factors.blocks * size, factors.depth, chip,
                                block * factors.depth});
  for (std::uint32_t panel = 0; panel < factors.panels; ++panel)
    if (factors.zeros[panel] == 0 || panel == factors.first_of_zeros)
      product.panels.push_back(panel);
  return product;
}

}  // namespace gdr
