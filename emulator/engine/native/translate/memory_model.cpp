#include "emulator/engine/native/translate/memory_model.hpp"

#include <bit>

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr::native {
namespace {

std::uint64_t exponent_field(std::uint64_t short_bits) { return (short_bits >> 24) & 2047; }

}  // namespace

CellValue MemoryModel::add(const Cell& cell) {
  const auto [found, is_new] = known_.try_emplace(cell, static_cast<CellValue>(cells_.size()));
  if (is_new) cells_.push_back(cell);
  return found->second;
}

CellValue MemoryModel::select(Ref mask, CellValue yes, CellValue no) {
  if (yes == no || mask == graph_.always()) return yes;
  if (mask == complement(graph_.always())) return no;
  return add({.tag = Tag::Select, .ref = mask, .yes = yes, .no = no});
}

Ref MemoryModel::leaf(const Cell& cell, WordType type) {
  if (cell.tag == Tag::Lookup)
    return graph_.lookup(cell.ref, {type, lookup_place(cell.place, cell.lower),
                                    static_cast<std::uint32_t>(cell.bits)});
  const NodeOp op = cell.tag == Tag::Input ? NodeOp::Input : cell.space;
  return graph_.leaf(op, {type, cell.place, 0});
}

bool MemoryModel::holds_half(CellValue r) const noexcept {
  const Cell& cell = cells_[r];
  if (cell.tag == Tag::Select) return holds_half(cell.yes) || holds_half(cell.no);
  return cell.tag == Tag::Half;
}

bool MemoryModel::prefers_number(CellValue r) const noexcept {
  const Cell& cell = cells_[r];
  if (cell.tag == Tag::Select) return prefers_number(cell.yes) || prefers_number(cell.no);
  if (cell.tag == Tag::Value) return graph_[cell.ref].kind == Kind::Number;
  return cell.tag == Tag::Half;
}

Ref MemoryModel::short_number(CellValue r) {
  const Cell cell = cells_[r];
  switch (cell.tag) {
    case Tag::Input:
    case Tag::Memory:
    case Tag::Lookup:
      return leaf(cell, WordType::Short);
    case Tag::Constant:
      return graph_.constant(Kind::Number, cell.bits << short_shift);
    case Tag::Value:
      return graph_[cell.ref].kind == Kind::Bits ? graph_.as_number(cell.ref) : cell.ref;
    case Tag::Half:
      if (!cell.lower) return cell.ref;
      throw Unsupported("the lower half of a long number is read as a number");
    case Tag::Sum:
      return graph_.as_number(bits(r));
    case Tag::Select:
      break;
  }
  return graph_.select(cell.ref, short_number(cell.yes), short_number(cell.no));
}

Ref MemoryModel::bits(CellValue r) {
  const Cell cell = cells_[r];
  switch (cell.tag) {
    case Tag::Input:
    case Tag::Memory:
    case Tag::Lookup:
      return leaf(cell, WordType::Bits);
    case Tag::Constant:
      return graph_.constant(Kind::Bits, cell.bits << short_shift);
    case Tag::Value:
      if (graph_[cell.ref].kind == Kind::Bits) return cell.ref;
      return graph_.as_bits(graph_.op(NodeOp::Round, Kind::Number, cell.ref));
    case Tag::Half:
      if (cell.lower) throw Unsupported("the bits of the lower half of a long number are read");
      return graph_.op(NodeOp::And, Kind::Bits, graph_.as_bits(cell.ref),
                       graph_.constant(Kind::Bits, short_mask));
    case Tag::Sum: {
      if (cell.lower) return cell.ref;
      // The integer's sign is added to the upper half.
      const Ref count = graph_.constant(Kind::Bits, std::uint64_t{63} << short_shift);
      const Ref sign = graph_.op(NodeOp::And, Kind::Bits,
                                 graph_.op(NodeOp::ShiftArith, Kind::Bits, cell.ref, count),
                                 graph_.constant(Kind::Bits, short_mask));
      return graph_.op(NodeOp::IntAdd, Kind::Bits,
                       graph_.constant(Kind::Bits, cell.bits << short_shift), sign);
    }
    case Tag::Select:
      break;
  }
  return graph_.select(cell.ref, bits(cell.yes), bits(cell.no));
}

/// Whether they are adjacent halves of one unchanged word.
bool MemoryModel::are_one_word(const Cell& upper, const Cell& lower) const noexcept {
  if (upper.tag == Tag::Lookup)
    return lower.tag == Tag::Lookup && upper.ref == lower.ref && upper.place == lower.place &&
           upper.bits == lower.bits && !upper.lower && lower.lower;
  return (upper.tag == Tag::Input || upper.tag == Tag::Memory) && upper.tag == lower.tag &&
         upper.space == lower.space && upper.place + 1 == lower.place;
}

bool MemoryModel::are_one_number(const Cell& upper, const Cell& lower) const noexcept {
  return upper.tag == Tag::Half && lower.tag == Tag::Half && upper.ref == lower.ref &&
         !upper.lower && lower.lower;
}

/// A double has the first 28 bits of a long's lower half, not the last eight. For a number that is
/// a rounding; but an integer may be entirely in these bits, below a constant that is subtracted
/// later. So halves must be of one number, or the lower one must be zero.
Ref MemoryModel::long_number(CellValue upper, CellValue lower) {
  const Cell hi = cells_[upper];
  const Cell lo = cells_[lower];
  if (hi.tag == Tag::Constant && lo.tag == Tag::Constant) {
    Flags ignored = no_flags;
    return graph_.number(double_from_long(join(Short{hi.bits}, Short{lo.bits}), ignored));
  }
  if (are_one_word(hi, lo)) return leaf(hi, WordType::Long);
  if (are_one_number(hi, lo)) return hi.ref;
  if (hi.tag == Tag::Select) {
    const bool both = lo.tag == Tag::Select && lo.ref == hi.ref;
    return graph_.select(hi.ref, long_number(hi.yes, both ? lo.yes : lower),
                         long_number(hi.no, both ? lo.no : lower));
  }
  if (lo.tag == Tag::Select) {
    return graph_.select(lo.ref, long_number(upper, lo.yes), long_number(upper, lo.no));
  }
  if (hi.tag == Tag::Constant && exponent_field(hi.bits) == 0) {
    return graph_.constant(Kind::Number, (hi.bits >> 35) << 63);
  }
  if (lo.tag == Tag::Constant && lo.bits == 0) return short_number(upper);
  throw Unsupported("a long made by integer operations is used as a number");
}

Ref MemoryModel::integer_added_to(std::uint64_t constant_upper, CellValue upper,
                                  CellValue lower) const {
  const Cell& hi = cells_[upper];
  const Cell& lo = cells_[lower];
  const bool is_sum = hi.tag == Tag::Sum && lo.tag == Tag::Sum && hi.ref == lo.ref &&
                      hi.bits == lo.bits && !hi.lower && lo.lower;
  return is_sum && hi.bits == constant_upper ? hi.ref : no_ref;
}

bool MemoryModel::made_of_integers(CellValue upper, CellValue lower, const AskPlace& place) const {
  const Cell& hi = cells_[upper];
  const Cell& lo = cells_[lower];
  if (are_one_word(hi, lo)) {
    return hi.tag != Tag::Lookup &&
           place(hi.tag == Tag::Input ? NodeOp::Input : hi.space, hi.place);
  }
  if (are_one_number(hi, lo) || lo.tag == Tag::Constant) {
    return lo.tag == Tag::Constant && lo.bits != 0 && hi.tag != Tag::Constant;
  }
  if (hi.tag == Tag::Select) {
    const bool both = lo.tag == Tag::Select && lo.ref == hi.ref;
    return made_of_integers(hi.yes, both ? lo.yes : lower, place) ||
           made_of_integers(hi.no, both ? lo.no : lower, place);
  }
  if (lo.tag == Tag::Select) {
    return made_of_integers(upper, lo.yes, place) || made_of_integers(upper, lo.no, place);
  }
  return hi.tag != Tag::Constant || exponent_field(hi.bits) != 0;
}

}  // namespace gdr::native
