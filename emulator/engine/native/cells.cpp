#include "emulator/engine/native/cells.hpp"

#include <bit>

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr::native {
namespace {

/// Shift that brings the top of a long's lower half to where a double has it.
constexpr std::uint64_t lower_half_shift = Short::bit_count;

std::uint64_t exponent_field(std::uint64_t short_bits) { return (short_bits >> 24) & 2047; }

}  // namespace

CellRef Cells::add(const Cell& cell) {
  const auto [found, is_new] = known_.try_emplace(cell, static_cast<CellRef>(cells_.size()));
  if (is_new) cells_.push_back(cell);
  return found->second;
}

CellRef Cells::input(std::uint32_t place) {
  Cell cell{.tag = Tag::Input};
  cell.place = place;
  return add(cell);
}

CellRef Cells::memory(NodeOp space, std::uint32_t address) {
  Cell cell{.tag = Tag::Memory};
  cell.space = space;
  cell.place = address;
  return add(cell);
}

CellRef Cells::constant(std::uint64_t short_bits) {
  Cell cell{.tag = Tag::Constant};
  cell.bits = short_bits;
  return add(cell);
}

CellRef Cells::value(Ref ref) {
  Cell cell{.tag = Tag::Value};
  cell.ref = ref;
  return add(cell);
}

CellRef Cells::half(Ref number, bool lower) {
  Cell cell{.tag = Tag::Half};
  cell.ref = number;
  cell.lower = lower;
  return add(cell);
}

CellRef Cells::select(Ref mask, CellRef yes, CellRef no) {
  if (yes == no || mask == graph_.always()) return yes;
  if (mask == complement(graph_.always())) return no;
  Cell cell{.tag = Tag::Select};
  cell.ref = mask;
  cell.yes = yes;
  cell.no = no;
  return add(cell);
}

Ref Cells::leaf(const Cell& cell, Take take) {
  const NodeOp op = cell.tag == Tag::Input ? NodeOp::Input : cell.space;
  return graph_.leaf(op, {take, cell.place, 0});
}

bool Cells::holds_half(CellRef r) const noexcept {
  const Cell& cell = cells_[r];
  if (cell.tag == Tag::Select) return holds_half(cell.yes) || holds_half(cell.no);
  return cell.tag == Tag::Half;
}

bool Cells::prefers_number(CellRef r) const noexcept {
  const Cell& cell = cells_[r];
  if (cell.tag == Tag::Select) return prefers_number(cell.yes) || prefers_number(cell.no);
  if (cell.tag == Tag::Value) return graph_[cell.ref].kind == Kind::Number;
  return cell.tag == Tag::Half;
}

Ref Cells::short_number(CellRef r) {
  const Cell cell = cells_[r];
  switch (cell.tag) {
    case Tag::Input:
    case Tag::Memory:
      return leaf(cell, Take::Short);
    case Tag::Constant:
      return graph_.constant(Kind::Number, cell.bits << short_shift);
    case Tag::Value:
      return graph_[cell.ref].kind == Kind::Bits ? graph_.as_number(cell.ref) : cell.ref;
    case Tag::Half:
      if (!cell.lower) return cell.ref;
      throw Unsupported("the lower half of a long number is read as a number");
    case Tag::Select:
      break;
  }
  return graph_.select(cell.ref, short_number(cell.yes), short_number(cell.no));
}

Ref Cells::bits(CellRef r) {
  const Cell cell = cells_[r];
  switch (cell.tag) {
    case Tag::Input:
    case Tag::Memory:
      return leaf(cell, Take::Bits);
    case Tag::Constant:
      return graph_.constant(Kind::Bits, cell.bits << short_shift);
    case Tag::Value:
      if (graph_[cell.ref].kind == Kind::Bits) return cell.ref;
      return graph_.as_bits(graph_.op(NodeOp::Round, Kind::Number, cell.ref));
    case Tag::Half:
      if (cell.lower) throw Unsupported("the bits of the lower half of a long number are read");
      return graph_.op(NodeOp::And, Kind::Bits, graph_.as_bits(cell.ref),
                       graph_.constant(Kind::Bits, short_mask));
    case Tag::Select:
      break;
  }
  return graph_.select(cell.ref, bits(cell.yes), bits(cell.no));
}

/// A long number out of the bits of its halves; what a double lacks of it is cut off.
Ref Cells::joined(CellRef upper, CellRef lower) {
  if (is_constant(upper) && exponent_field(constant_bits(upper)) == 0) {
    return graph_.constant(Kind::Number, (constant_bits(upper) >> 35) << 63);
  }
  if (is_constant(lower) && constant_bits(lower) == 0) return short_number(upper);
  const Ref count = graph_.constant(Kind::Bits, lower_half_shift << short_shift);
  const Ref low = graph_.op(NodeOp::ShiftRight, Kind::Bits, bits(lower), count);
  return graph_.as_number(graph_.op(NodeOp::Or, Kind::Bits, bits(upper), low));
}

Ref Cells::long_number(CellRef upper, CellRef lower) {
  const Cell hi = cells_[upper];
  const Cell lo = cells_[lower];
  if (hi.tag == Tag::Constant && lo.tag == Tag::Constant) {
    Flags ignored = no_flags;
    return graph_.number(double_from_long(join(Short{hi.bits}, Short{lo.bits}), ignored));
  }
  const bool adjacent = hi.tag == lo.tag && hi.space == lo.space && hi.place + 1 == lo.place;
  if ((hi.tag == Tag::Input || hi.tag == Tag::Memory) && adjacent) return leaf(hi, Take::Long);
  if (hi.tag == Tag::Half && lo.tag == Tag::Half && hi.ref == lo.ref && !hi.lower && lo.lower) {
    return hi.ref;
  }
  if (hi.tag == Tag::Select && lo.tag == Tag::Select && hi.ref == lo.ref) {
    return graph_.select(hi.ref, long_number(hi.yes, lo.yes), long_number(hi.no, lo.no));
  }
  return joined(upper, lower);
}

}  // namespace gdr::native
