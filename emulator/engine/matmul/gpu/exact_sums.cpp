#include "emulator/engine/matmul/gpu/exact_sums.hpp"

#include <algorithm>

#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"

namespace gdr {
namespace {

/// Products without estimates after one for which most tiles repeated their sums.
constexpr unsigned products_between_estimates = 16;

}  // namespace

void ExactSums::begin(std::size_t columns) {
  flags_.assign(parts_of(columns, 4), 0);
  unfit_groups_ = card_.sent(flags_);
  flags_.assign(parts_of(columns, device_tile), 0);
  repeated_ = card_.sent(flags_);
}

void ExactSums::end(std::size_t columns, char* unfit) {
  flags_.resize(parts_of(columns, device_tile));
  card_.device().read(*repeated_, 0, flags_.data(), flags_.size() * sizeof(std::uint32_t));
  const auto repeated = static_cast<std::size_t>(std::ranges::count(flags_, 1U));
  if (no_estimates_ > 0)
    --no_estimates_;
  else if (2 * repeated > flags_.size())
    no_estimates_ = products_between_estimates;
  flags_.resize(parts_of(columns, 4));
  card_.device().read(*unfit_groups_, 0, flags_.data(), flags_.size() * sizeof(std::uint32_t));
  for (std::size_t c = 0; c < columns; ++c)
    if (flags_[c / 4] != 0) unfit[c] = 1;
}

void ExactSums::add(const CardFactors& factors, const EncodedItems& items, const gpu::Buffer& table,
                    const ColumnRange& some, std::size_t blocks, const gpu::Buffer& results) {
  const std::size_t rows = factors.rows(), pieces = factors.table().size() / 4;
  const std::size_t count = some.count * rows, fours = parts_of(some.count, 4);
  const std::size_t panels = rows / panel_lanes, depth = factors.table()[1];
  const std::size_t row_tiles = parts_of(rows, device_tile);
  const std::size_t column_tiles = parts_of(some.count, device_tile);
  const auto highs = card_.take(pieces * count * sizeof(double));
  const auto lows = card_.take(pieces * count * sizeof(double));
  const auto ways = card_.take(pieces * fours * rows / 4 * sizeof(std::uint32_t));
  card_.device().run(*card_.kernel(exact_sums_text(depth)),
                     {{&factors.numbers()},
                      {items.numbers.get()},
                      {&factors.intervals()},
                      {items.intervals.get()},
                      {&table},
                      {highs.get()},
                      {lows.get()},
                      {ways.get()},
                      number(panels),
                      number(some.first),
                      number(some.count),
                      number(items.columns),
                      number(items.record),
                      number(row_tiles),
                      number(column_tiles),
                      number(no_estimates_ > 0 ? 0 : depth)},
                     pieces * row_tiles * column_tiles * exact_group, exact_group);
  const std::size_t repeats = pieces * fours * rows;
  card_.run_for_each(exact_repeats_text(depth),
                     {{&factors.numbers()},
                      {items.numbers.get()},
                      {&table},
                      {highs.get()},
                      {lows.get()},
                      {ways.get()},
                      {unfit_groups_.get()},
                      {repeated_.get()},
                      number(panels),
                      number(some.first),
                      number(some.count),
                      number(items.columns),
                      number(items.record),
                      number(repeats)},
                     repeats);
  card_.run_for_each(exact_join_text(blocks),
                     {{highs.get()}, {lows.get()}, {&results}, number(pieces), number(count)},
                     count);
}

}  // namespace gdr
