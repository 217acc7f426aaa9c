#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string_view>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/front/keywords.hpp"
#include "emulator/assembler/instruction_text.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

/// Letters of address spaces, indexed by Space; longs have the prefix `l`.
constexpr std::array<std::string_view, 11> letters{"", "r", "m", "m", "", "",
                                                   "", "",  "b", "s", "o"};
constexpr std::array<std::string_view, 4> t_targets{"", "$t", "$th", "$tl"};
constexpr std::array<std::string_view, 4> flag_names{"", "neg", "zero", "carry"};

std::uint64_t key_of(const Operand& o) noexcept {
  return static_cast<std::uint64_t>(o.space) | static_cast<std::uint64_t>(o.width) << 4 |
         std::uint64_t{o.vector} << 5 | std::uint64_t{o.address} << 6 |
         std::uint64_t{o.range_first} << 22 | std::uint64_t{o.range_last} << 38;
}

bool is_addressed(Space space) noexcept {
  return space != Space::LocalByT && !letters[static_cast<std::size_t>(space)].empty();
}

/// Hexadecimal bits; the number of digits gives the width.
std::string hex_text(Long bits, Width width) {
  const auto high = static_cast<std::uint64_t>(bits.bits >> 36);
  const auto low = static_cast<std::uint64_t>(bits.bits) & Short::mask;
  return width == Width::Long ? fmt::format("0x{:09x}{:09x}", high, low)
                              : fmt::format("0x{:09x}", low);
}

/// A decimal number if it is short and exact, else the bits.
std::string float_text(Long bits, Width width) {
  Flags flags = no_flags;
  const Long wide =
      width == Width::Long ? bits : widen_float(Short{static_cast<std::uint64_t>(bits.bits)});
  const double value = double_from_long(wide, flags);
  const bool same = long_from_double(value) == wide && std::isfinite(value) && !std::signbit(value);
  const std::string text = fmt::format("{}", value);
  if (!same || text.size() > 12) return hex_text(bits, width);
  const bool real = text.find_first_of(".e") != std::string::npos;
  return text + (real ? "" : ".0") + (width == Width::Long ? "l" : "s");
}

std::string immediate_text(const Arithmetic& slot, const Operand& operand) {
  constexpr u128 largest_decimal = 1U << 20;
  const bool whole_number = info(slot.op).unit == Unit::Integer;
  if (!whole_number) return float_text(slot.immediate, operand.width);
  if (operand.width == slot.width && slot.immediate.bits < largest_decimal) {
    return fmt::format("{}", static_cast<std::uint64_t>(slot.immediate.bits));
  }
  return hex_text(slot.immediate, operand.width);
}

std::string operand_text(const Operand& operand, const OperandNames& names) {
  const std::string* name = names.find(operand);
  return name != nullptr ? *name : location_text(operand);
}

/// `location:$t:m0.neg`; $null and $lnull give the width of an operation without location (a mask
/// alone means long).
std::string destination_text(const Arithmetic& slot, const OperandNames& names) {
  const bool masks = slot.mask.flag != MaskFlag::None;
  std::string text;
  if (slot.dst.used()) {
    text = operand_text(slot.dst, names);
  } else if (slot.width == Width::Short) {
    text = "$null";
  } else if (slot.t != TTarget::None || !masks) {
    text = "$lnull";
  }
  if (slot.t != TTarget::None)
    text += fmt::format(":{}", t_targets[static_cast<std::size_t>(slot.t)]);
  if (masks) {
    text += fmt::format("{}m{}.{}", text.empty() ? "" : ":", slot.mask.mask,
                        flag_names[static_cast<std::size_t>(slot.mask.flag)]);
  }
  return text;
}

std::string arithmetic_text(const Arithmetic& slot, const OperandNames& names) {
  std::string text{info(slot.op).mnemonic};
  text += ' ' + destination_text(slot, names);
  for (const Operand* o : {&slot.a, &slot.b}) {
    if (!o->used()) continue;
    const bool immediate = o->space == Space::Immediate;
    text += ' ' + (immediate ? immediate_text(slot, *o) : operand_text(*o, names));
  }
  return text;
}

std::string transfer_text(const Transfer& move, const OperandNames& names) {
  const std::string pe = operand_text(move.pe, names);
  const std::string bm = operand_text(move.bm, names);
  if (move.op == Op::Bget) return fmt::format("bget {} {}", pe, bm);
  return fmt::format("bput {} {} {}", bm, pe, move.pe_number);
}

}  // namespace

std::string name_text(const std::string& name) {
  return assembly::is_reserved(name) ? '"' + name + '"' : name;
}

OperandNames::OperandNames(const Program& program) {
  for (const Variable& v : program.variables) {
    add_with_suffixes(name_text(v.name), v.location);
    const bool source = v.kind == VarKind::Source;
    if (!source && v.kind != VarKind::Output) continue;
    const std::uint32_t step = source ? program.item_shorts : program.output_shorts;
    for (std::uint32_t item = 1; item < program.group; ++item) {
      Operand location = v.location;
      if (location.address + std::uint64_t{item} * step > 0xffff) break;
      location.address = static_cast<std::uint16_t>(location.address + item * step);
      add_with_suffixes(fmt::format("{}@{}", name_text(v.name), item), location);
    }
  }
  for (const Symbol& s : program.symbols) add_with_suffixes(name_text(s.name), s.location);
}

void OperandNames::add(const std::string& name, Operand operand) {
  names_.try_emplace(key_of(operand), name);
}

void OperandNames::add_with_suffixes(const std::string& name, const Operand& location) {
  add(name, location);
  if (!is_addressed(location.space)) return;
  Operand other = location;
  other.vector = !location.vector;
  add(name + (other.vector ? ".v" : ".s"), other);
}

const std::string* OperandNames::find(const Operand& operand) const {
  const auto found = names_.find(key_of(operand));
  return found == names_.end() ? nullptr : &found->second;
}

std::string location_text(const Operand& o) {
  const std::string_view letter = letters[static_cast<std::size_t>(o.space)];
  const std::string_view wide = o.width == Width::Long ? "l" : "";
  switch (o.space) {
    case Space::T:
      return std::string(o.width == Width::Long ? "$t" : o.address == 0 ? "$th" : "$tl");
    case Space::PeNumber:
      return "$pe";
    case Space::BlockNumber:
      return "$bb";
    case Space::LocalByT:
      if (o.range_last == 0) return fmt::format("${}{}[$t]", wide, letter);
      return fmt::format("${}{}[$t:{}..{}]", wide, letter, o.range_first, o.range_last);
    default:
      return fmt::format("${}{}{}{}", wide, letter, o.address, o.vector ? "v" : "");
  }
}

std::string instruction_text(const Instruction& i, const OperandNames& names) {
  std::string text;
  const auto join = [&text](const std::string& part) {
    text += (text.empty() ? "" : " ; ") + part;
  };
  if (i.mul.used()) join(arithmetic_text(i.mul, names));
  if (i.alu.used()) join(arithmetic_text(i.alu, names));
  if (i.move.used()) join(transfer_text(i.move, names));
  if (text.empty()) text = "nop";
  if (!i.predicate.used) return text;
  return fmt::format("[{}m{}] {}", i.predicate.value ? "" : "!", i.predicate.mask, text);
}

std::string to_text(const Instruction& instruction) { return instruction_text(instruction, {}); }

}  // namespace gdr
