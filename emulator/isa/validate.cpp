#include "emulator/isa/validate.hpp"

#include <algorithm>
#include <array>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

enum Place : std::uint8_t { can_write = 1, can_read = 2, in_bm = 4 };

/// Valid places of a space.
constexpr unsigned places_of(Space space) noexcept {
  if (space == Space::None || space > Space::BmOutput) return 0;
  if (in_broadcast_memory(space)) return in_bm;
  if (space > Space::T) return can_read;
  return can_write | can_read;
}

std::string check_operand(const Operand& x, Place place, const char* role) {
  if ((places_of(x.space) & place) == 0) return std::string(role) + " cannot be in this place";
  const bool addressed = has_address(x.space);
  const bool half_of_t = x.space == Space::T && x.width == Width::Short && x.address == 1;
  if (!addressed && (x.vector || (x.address != 0 && !half_of_t))) {
    return std::string(role) + " has an address where it takes none";
  }
  if (addressed && x.width == Width::Long && x.address % 2 != 0) {
    return std::string(role) + " is a long at an odd address";
  }
  const bool fixed = x.space == Space::PeNumber || x.space == Space::BlockNumber;
  if (fixed && x.width != Width::Long) return std::string(role) + " is a long integer";
  const bool ranged = x.range_first != 0 || x.range_last != 0;
  if (ranged && (x.space != Space::LocalByT || x.range_last == 0 || x.range_first > x.range_last)) {
    return std::string(role) + " has a wrong range";
  }
  return {};
}

std::string check_immediate(const Arithmetic& slot) {
  const bool a = slot.a.space == Space::Immediate;
  const bool b = slot.b.space == Space::Immediate;
  const bool long_one = (a && slot.a.width == Width::Long) || (b && slot.b.width == Width::Long);
  const u128 allowed = long_one ? Long::mask : a || b ? u128{Short::mask} : 0;
  return (slot.immediate.bits & ~allowed) != 0 ? "the immediate has bits that no operand reads"
                                               : "";
}

std::string check_arithmetic(const Arithmetic& slot, bool multiplier) {
  if (!slot.used()) return slot == Arithmetic{} ? "" : "an empty slot has operands";
  if (static_cast<std::size_t>(slot.op) >= instruction_table().size()) return "unknown operation";
  const OpInfo& op = info(slot.op);
  if (op.unit == Unit::Transfer || (op.unit == Unit::Multiplier) != multiplier) {
    return "the operation does not belong in this slot";
  }
  if (slot.dst.used()) {
    if (auto why = check_operand(slot.dst, can_write, "the destination"); !why.empty()) return why;
    if (slot.dst.width != slot.width) return "the destination's width is not the operation's";
    if (slot.dst.space == Space::T && slot.t != TTarget::None) return "T is written twice";
  } else if (slot.dst != Operand{}) {
    return "an empty destination has an address";
  }
  if (slot.t != TTarget::None && (slot.t == TTarget::Whole) != (slot.width == Width::Long)) {
    return "the width in T is not the operation's";
  }
  if (slot.mask.flag == MaskFlag::None ? slot.mask.mask != 0 : slot.mask.mask >= mask_registers) {
    return "there is no such mask";
  }
  if (multiplier && slot.mask.flag != MaskFlag::None) return "the multiplier sets no masks";
  if (slot.mask.flag == MaskFlag::Carry && op.unit != Unit::Integer) {
    return "carry is a flag of the integer unit";
  }
  if (auto why = check_operand(slot.a, can_read, "the first operand"); !why.empty()) return why;
  if (op.operands == 2) {
    if (auto why = check_operand(slot.b, can_read, "the second operand"); !why.empty()) return why;
  } else if (slot.b != Operand{}) {
    return "the operation takes one operand";
  }
  return check_immediate(slot);
}

std::string check_transfer(const Transfer& move) {
  if (!move.used()) return move == Transfer{} ? "" : "an empty slot has operands";
  if (move.op != Op::Bget && move.op != Op::Bput)
    return "the operation does not belong in this slot";
  const Place side = move.op == Op::Bget ? can_write : can_read;
  if (auto why = check_operand(move.pe, side, "the PE's side"); !why.empty()) return why;
  if (move.pe.space > Space::T) return "the PE's side is not a location";
  if (auto why = check_operand(move.bm, in_bm, "the memory's side"); !why.empty()) return why;
  if (move.pe.width != move.bm.width) return "a transfer has the same width on both sides";
  if (move.op == Op::Bget && move.pe_number != 0) return "a broadcast goes to all PEs";
  return {};
}

/// Operands that may be T-indirect.
std::array<const Operand*, 7> operands_of(const Instruction& i) noexcept {
  return {&i.mul.dst, &i.mul.a, &i.mul.b, &i.alu.dst, &i.alu.a, &i.alu.b, &i.move.pe};
}

bool is_t_indirect(const Operand* x) noexcept { return x->space == Space::LocalByT; }

/// The instruction word has one T range for all operands that use it.
std::string check_ranges(const Instruction& i) {
  const Operand* first = nullptr;
  for (const Operand* x : operands_of(i)) {
    if (!is_t_indirect(x)) continue;
    if (first == nullptr) first = x;
    if (first->range_first != x->range_first || first->range_last != x->range_last) {
      return "all accesses through T in an instruction have the same range";
    }
  }
  return {};
}

}  // namespace

std::string validate(const Instruction& i) {
  if (i.vlen < 1 || i.vlen > max_elements) return "the vector length is not 1 to 4";
  if (i.predicate.mask >= mask_registers) return "there is no such mask";
  if (!i.predicate.used && i.predicate != Predicate{}) return "an unused predicate names a mask";
  if (auto why = check_arithmetic(i.mul, true); !why.empty()) return "multiplier: " + why;
  if (auto why = check_arithmetic(i.alu, false); !why.empty()) return "adder: " + why;
  if (auto why = check_transfer(i.move); !why.empty()) return "transfer: " + why;
  return check_ranges(i);
}

bool uses_t_address(const Instruction& i) noexcept {
  return std::ranges::any_of(operands_of(i), is_t_indirect);
}

}  // namespace gdr
