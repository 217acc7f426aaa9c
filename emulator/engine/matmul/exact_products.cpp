#include "emulator/engine/matmul/exact_products.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "emulator/engine/matmul/cpu/widen_floats.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// nc, the items of a task, which reads the PEs' factors once: packed, they fit the second-level
/// cache beside a panel of factors. At least some; a multiple of nr.
constexpr std::uint64_t max_nc = 12 * exact_nr, min_nc = 3 * exact_nr;

}  // namespace

std::uint64_t ExactProducts::min_items() const noexcept { return min_nc / 2; }

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

/// Loop jc: tasks of nc items.
void ExactProducts::add_phases(const ProductPass& pass, std::vector<Phase>& phases) {
  const std::uint64_t items = pass.items();
  // Enough tasks for load balance.
  const std::uint64_t wanted = (items / 16 + min_nc - 1) / min_nc * min_nc;
  const std::uint64_t nc = std::clamp(wanted, min_nc, max_nc);
  phases.push_back({1, [this](std::size_t) { factors_.find_zeros(); }});
  phases.push_back({(items + nc - 1) / nc, [this, &pass, items, nc](std::size_t i) {
                      const std::uint64_t first = pass.first + i * nc;
                      compute(pass, first, first + std::min(nc, items - i * nc));
                    }});
}

/// Records of output items first .. first + count - 1 as bits of doubles, [item][chip]: in place,
/// or converted.
const std::uint64_t* const* ExactProducts::records_of(const ProductPass& pass, std::uint64_t first,
                                                      std::uint64_t count, PieceCopies& copies) {
  const std::size_t chips = pass.chips.size();
  const std::uint64_t words = pass.record_words();
  thread_local std::vector<const std::uint64_t*> records;
  copies.resize(count * chips);
  records.resize(count * chips);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = pass.record_of(first + i);
    for (std::size_t c = 0; c < chips; ++c)
      records[i * chips + c] =
          pass.state.memory_of(pass.chips[c]).view(at, words, copies[i * chips + c]);
  }
  if (pass.pattern.width == Width::Long) return records.data();
  thread_local std::vector<std::uint64_t> wide;
  if (wide.size() < records.size() * 2 * words) wide.resize(records.size() * 2 * words);
  std::uint64_t* to = wide.data();
  for (const std::uint64_t*& record : records) {
    widen_floats(record, words, to);
    record = to;
    to += 2 * words;
  }
  return records.data();
}

/// An iteration of loop jc; MatmulFunctions::run has the loops in it.
void ExactProducts::compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t count = end - first;
  thread_local std::vector<double, LineAllocator<double>> sums, scratch;
  PieceCopies copies;
  const MatmulFunctions& functions = *executable_.matmul().exact;
  MatmulTask task{factors_.view(), records_of(pass, first, count, copies), count, nullptr, nullptr};
  const std::size_t lanes = task.factors.panels * panel_lanes;
  if (sums.size() < count * lanes) sums.resize(count * lanes);
  const std::size_t needed = functions.scratch(task);
  if (scratch.size() < needed) scratch.resize(needed);
  task.sums = sums.data();
  task.scratch = scratch.data();
  std::uint64_t slow = 0;
  {
    const MachineFloatMode mode;
    slow = functions.run(task);
  }
  executable_.record_matmul(pass.chips.size() * pass.state.geometry().blocks, slow);
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
