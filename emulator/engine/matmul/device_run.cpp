#include "emulator/engine/matmul/device_run.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/matmul/cpu/functions.hpp"

namespace gdr {
namespace {

/// Items per task that stores results.
constexpr std::uint64_t items_to_store = 64;

DeviceItems items_of(const ProductPass& pass) {
  DeviceItems items;
  items.columns = pass.items();
  items.words = pass.record_words();
  items.floats = pass.pattern.width == Width::Short;
  for (const std::uint32_t chip : pass.chips)
    items.segments.push_back(
        {&pass.state.memory_of(chip), pass.record_of(pass.first), items.columns});
  return items;
}

}  // namespace

bool DeviceRun::takes(const ProductPass& pass) const {
  const double factors = static_cast<double>(pass.chips.size()) * pass.state.geometry().blocks *
                         pass.pattern.depth * static_cast<double>(pass.pattern.outputs.size());
  return factors * static_cast<double>(pass.items()) >= device_.min_multiplications();
}

/// Computes the sums of all items.
void DeviceRun::multiply(const ProductPass& pass, DeviceProduct product) {
  panels_ = product.panels;
  product.blocks = pass.state.geometry().blocks;
  product.items = items_of(pass);
  const std::size_t sums = product.items.columns * product.panels.size() * panel_lanes;
  if (sums_.size() < sums) sums_.resize(sums);
  product.sums = sums_.data();
  unfit_ = products_->multiply(product);
  const bool computed = !unfit_.empty();
  if (!computed) unfit_.assign(product.items.columns, 1);
  const bool repeated = std::ranges::any_of(unfit_, [](char unfit) { return unfit != 0; });
  executable_.record_device_matmul(pass.chips.size() * pass.state.geometry().blocks, computed,
                                   repeated);
}

void DeviceRun::add_phases(const ProductPass& pass, HostProducts& host,
                           std::vector<Phase>& phases) {
  host.add_preparation(pass, phases);
  phases.push_back({1, [this, &pass, &host](std::size_t) { multiply(pass, host.product(pass)); }});
  const std::uint64_t tasks = (pass.items() + items_to_store - 1) / items_to_store;
  phases.push_back({tasks, [this, &pass, &host](std::size_t i) {
                      const std::uint64_t begin = pass.first + i * items_to_store;
                      store(pass, host, begin, std::min(pass.end(), begin + items_to_store));
                    }});
}

/// Stores output items, or has those computed that the device could not.
void DeviceRun::store(const ProductPass& pass, HostProducts& host, std::uint64_t first,
                      std::uint64_t end) {
  const std::size_t lanes = panels_.size() * panel_lanes;
  for (std::uint64_t next = first; first < end; first = next) {
    const bool unfit = unfit_[first - pass.first] != 0;
    while (next < end && (unfit_[next - pass.first] != 0) == unfit) ++next;
    if (unfit)
      host.compute(pass, first, next);
    else
      host.store(pass, sums_.data() + (first - pass.first) * lanes, first, next, panels_);
  }
}

}  // namespace gdr
