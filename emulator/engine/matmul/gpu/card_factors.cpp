#include "emulator/engine/matmul/gpu/card_factors.hpp"

#include <algorithm>

#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"
#include "emulator/engine/matmul/gpu/round_to_floats.hpp"

namespace gdr {
namespace {

constexpr std::size_t lanes = panel_lanes;
static_assert(panel_lanes == fast_lanes);

}  // namespace

bool CardFactors::send(const DeviceProduct& product) {
  rows_ = product.panels.size() * lanes;
  depth_ = count_ = 0;
  table_.clear();
  for (const DevicePiece& piece : product.pieces) {
    table_.insert(table_.end(), {count_, piece.depth, piece.chip, piece.first});
    depth_ += piece.depth;
    count_ += piece.depth * rows_;
  }
  const bool in_place = is_in_place(product);
  if (!in_place) gather(product);
  if (card_.floats()) {
    staged_floats_.resize(count_);
    if (!round_to_floats(staged_.data(), count_, staged_floats_.data())) return false;
    numbers_ = card_.sent(staged_floats_);
    return true;
  }
  numbers_ = card_.take(count_ * sizeof(double));
  if (!in_place) card_.device().write(*numbers_, 0, staged_.data(), count_ * sizeof(double));
  std::size_t at = 0;
  for (const DevicePiece& piece : product.pieces) {
    if (!in_place) break;
    const std::size_t bytes = piece.depth * rows_ * sizeof(double);
    card_.device().write(*numbers_, at, piece.numbers + product.panels.front() * piece.panel_step,
                         bytes);
    at += bytes;
  }
  if (card_.exact()) intervals_ = exponent_intervals(card_, *numbers_, lanes, 1, count_);
  return true;
}

bool CardFactors::is_in_place(const DeviceProduct& product) const {
  const std::vector<std::uint32_t>& panels = product.panels;
  return !card_.floats() && panels.back() - panels.front() + 1 == panels.size() &&
         std::ranges::all_of(product.pieces, [](const DevicePiece& piece) {
           return piece.panel_step == piece.depth * lanes;
         });
}

void CardFactors::gather(const DeviceProduct& product) {
  if (staged_.size() < count_) staged_.resize(count_);
  double* to = staged_.data();
  for (const DevicePiece& piece : product.pieces)
    for (const std::uint32_t panel : product.panels)
      to = std::copy_n(piece.numbers + panel * piece.panel_step, piece.depth * lanes, to);
}

void CardFactors::order_by_rows() {
  const auto table = card_.sent(table_);
  auto ordered = card_.take(count_ * card_.number_bytes());
  card_.run_for_each(rows_text(!card_.floats()),
                     {{numbers_.get()},
                      {ordered.get()},
                      {table.get()},
                      number(table_.size() / 4),
                      number(rows_),
                      number(count_)},
                     count_);
  numbers_ = std::move(ordered);
}

std::shared_ptr<gpu::Buffer> exponent_intervals(const MatmulCard& card, const gpu::Buffer& numbers,
                                                std::size_t columns, std::size_t record,
                                                std::size_t count) {
  const std::size_t made = count / columns * parts_of(columns, 4);
  auto intervals = card.take(made * sizeof(std::uint32_t));
  card.run_for_each(exponent_intervals_text(),
                    {{&numbers}, {intervals.get()}, number(columns), number(record), number(made)},
                    made);
  return intervals;
}

}  // namespace gdr
