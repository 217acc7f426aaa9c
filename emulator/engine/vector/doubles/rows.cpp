#include "emulator/engine/vector/doubles/rows.hpp"

namespace gdr {
namespace {

constexpr std::uint32_t line = 64;

}  // namespace

void RowLayout::use_rows(RowId first, unsigned count) {
  joined_.try_emplace(first, false);
  for (unsigned k = 1; k < count; ++k) joined_[{first.kind, first.number + k}] = true;
}

void RowLayout::use(const RowSpan& span, unsigned elements) {
  if (!span.used) return;
  const unsigned count = span.stride * (elements - 1) + 1;
  use_rows(span.lanes, count);
  if (span.has_tail) use_rows(span.tail, count);
}

std::uint32_t RowLayout::assign(std::uint32_t row_bytes) {
  row_bytes_ = row_bytes;
  std::uint32_t next = 0;
  for (const auto& [row, joined] : joined_) {
    if (!joined) next += line;
    offsets_[row] = next;
    next += row_bytes;
  }
  return next + line;
}

LanePlace RowLayout::place(const RowSpan& span) const {
  if (!span.used) return {};
  return {offset(span.lanes), span.has_tail ? offset(span.tail) : 0, span.stride * row_bytes_};
}

}  // namespace gdr
