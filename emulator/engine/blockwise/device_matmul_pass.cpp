// Matrix products on a device: all items in one task, whose results are then stored in parallel.
#include <algorithm>
#include <bit>
#include <numeric>

#include "emulator/engine/blockwise/blockwise.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

/// Items per task that stores results.
constexpr std::uint64_t items_to_store = 64;

}  // namespace

/// Whether the run is large enough. A run has all items of its rows, and the choice depends on
/// nothing else, so that results of fast numerics do not depend on boards and threads.
bool BlockwiseRunner::uses_matmul_device() const {
  if (device_products_ == nullptr) return false;
  const double factors = static_cast<double>(product_chips_.size()) * geometry_.blocks *
                         products_->depth * static_cast<double>(products_->outputs.size());
  return factors * static_cast<double>(loop().plan.items - items_before_matmul()) >=
         device_user_->matmul_device()->least_multiplications();
}

DeviceItems BlockwiseRunner::device_items() const {
  DeviceItems items;
  items.chips = product_chips_.size();
  items.columns = loop().plan.items - items_before_matmul();
  items.words = loop().plan.record_words(program_);
  items.floats = products_->width == Width::Short;
  const std::uint64_t address =
      loop().address + (items_before_matmul() - products_->delay) * items.words;
  items.place = {address};
  for (const std::uint32_t chip : product_chips_) {
    items.place.push_back(chip);
    items.contents.push_back(memory_of(chip).contents());
  }
  items.view = [this, address](std::size_t chip, std::size_t first, std::size_t count,
                               std::vector<std::uint64_t>& copy) {
    return memory_of(product_chips_[chip]).view(address + first, count, copy);
  };
  return items;
}

/// Computes the sums of all items to `device_sums_`.
void BlockwiseRunner::run_on_device(DeviceProduct product) {
  device_panels_ = product.panels;
  product.blocks = geometry_.blocks;
  product.items = device_items();
  const std::size_t sums = product.items.columns * product.panels.size() * panel_lanes;
  if (device_sums_.size() < sums) device_sums_.resize(sums);
  product.sums = device_sums_.data();
  device_unfit_ = device_products_->multiply(product);
  const bool computed = !device_unfit_.empty();
  if (!computed) device_unfit_.assign(product.items.columns, 1);
  const bool repeated = std::ranges::any_of(device_unfit_, [](char unfit) { return unfit != 0; });
  device_user_->record_device_matmul(product_chips_.size() * geometry_.blocks, computed, repeated);
}

void BlockwiseRunner::add_device_matmul(std::vector<Phase>& phases) {
  const std::uint64_t first = items_before_matmul(), end = loop().plan.items;
  if (packed_slabs_) {
    // The host computes items that do not fit.
    const std::size_t sums = (end - first) * packed_slabs_->panels() * fast_lanes;
    if (sums_.size() < sums) sums_.resize(sums);
    add_slab_plan(phases);
    phases.push_back({1, [this](std::size_t) {
                        DeviceProduct product;
                        for (const UsedSlab& used : slabs_) {
                          const FastSlab& slab = used.slab;
                          const auto chip = std::ranges::find(product_chips_, slab.chip);
                          product.pieces.push_back(
                              {packed_slabs_->numbers(slab), slab.depth * fast_lanes, used.depth,
                               static_cast<std::size_t>(chip - product_chips_.begin()),
                               slab.first});
                        }
                        product.panels.resize(std::min(panels_used_ + 1, packed_slabs_->panels()));
                        std::iota(product.panels.begin(), product.panels.end(), 0);
                        run_on_device(std::move(product));
                      }});
  } else {
    phases.push_back({1, [this](std::size_t) {
                        factors_.find_zeros();
                        const MatmulFactors factors = factors_.view();
                        const std::size_t size = factors.depth * panel_lanes;
                        DeviceProduct product;
                        for (std::size_t chip = 0; chip < factors.chips; ++chip)
                          for (std::size_t block = 0; block < factors.blocks; ++block)
                            product.pieces.push_back(
                                {factors.numbers + (chip * factors.blocks + block) * size,
                                 factors.chips * factors.blocks * size, factors.depth, chip,
                                 block * factors.depth});
                        for (std::uint32_t panel = 0; panel < factors.panels; ++panel)
                          if (factors.zeros[panel] == 0 || panel == factors.first_of_zeros)
                            product.panels.push_back(panel);
                        run_on_device(std::move(product));
                      }});
  }
  const std::uint64_t tasks = (end - first + items_to_store - 1) / items_to_store;
  phases.push_back({tasks, [this, first, end](std::size_t i) {
                      const std::uint64_t begin = first + i * items_to_store;
                      store_device_items(begin, std::min(end, begin + items_to_store));
                    }});
}

/// Stores output items, or computes those that the device could not.
void BlockwiseRunner::store_device_items(std::uint64_t first, std::uint64_t end) {
  const std::uint64_t before = items_before_matmul();
  const std::size_t lanes = device_panels_.size() * panel_lanes;
  for (std::uint64_t next = first; first < end; first = next) {
    const bool unfit = device_unfit_[first - before] != 0;
    while (next < end && (device_unfit_[next - before] != 0) == unfit) ++next;
    if (!unfit && packed_slabs_) {
      store_fast_sums(first, next);
    } else if (!unfit) {
      store_matmul(device_sums_.data() + (first - before) * lanes, first, next - first,
                   device_panels_);
    } else if (packed_slabs_) {
      for (std::size_t slab = 0; slab < slabs_.size(); ++slab) add_slab(slab, first, next);
    } else {
      run_matmul(first, next - first);
    }
  }
}

/// Stores output items of fast products; outputs of panels that were not computed are equal to the
/// last one.
void BlockwiseRunner::store_fast_sums(std::uint64_t first, std::uint64_t end) {
  const std::size_t outputs = products_->outputs.size();
  const std::size_t lanes = device_panels_.size() * panel_lanes;
  const std::size_t there = std::min(outputs, lanes);
  const double* from = device_sums_.data() + (first - items_before_matmul()) * lanes;
  std::uint64_t* to = pass_->results + loop().output_offset + first * outputs;
  for (; first < end; ++first, from += lanes, to += outputs) {
    for (std::size_t o = 0; o < there; ++o)
      to[o] = port::canonical(std::bit_cast<std::uint64_t>(from[o]));
    std::fill(to + there, to + outputs, to[there - 1]);
  }
}

}  // namespace gdr
