// Instructions and programs as assembly text.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/front/number.hpp"
#include "emulator/assembler/front/parser.hpp"
#include "emulator/assembler/instruction_text.hpp"
#include "emulator/host/parse_number.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 4> t_targets{"", "$t", "$th", "$tl"};

std::uint64_t key_of(const Operand& o) noexcept {
  return static_cast<std::uint64_t>(o.space) | static_cast<std::uint64_t>(o.width) << 4 |
         std::uint64_t{o.vector} << 5 | std::uint64_t{o.address} << 6 |
         std::uint64_t{o.range_first} << 22 | std::uint64_t{o.range_last} << 38;
}

/// Hexadecimal bits; the number of digits gives the width.
std::string hex_text(Long bits, Width width) {
  if (width == Width::Short) return fmt::format("0x{:09x}", lower_half(bits).bits);
  return fmt::format("0x{:09x}{:09x}", upper_half(bits).bits, lower_half(bits).bits);
}

/// Whether the assembler reads these bits from a decimal number without sign. A long has more bits
/// than a double, so that 0.1 as a double is not the long nearest to 0.1.
bool reads_as(std::string_view decimal, Long bits, Width width) {
  const std::size_t e = std::min(decimal.find('e'), decimal.size());
  std::string_view digits = decimal.substr(std::min(e + 1, decimal.size()));
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const int exponent = parse_all<int>(digits).value_or(0);
  const assembly::Rounded read =
      assembly::round_binary(assembly::binary_from_decimal(decimal.substr(0, e), exponent), width);
  return read.error == assembly::RoundError::None && read.bits == bits.bits;
}

/// A decimal number if it is short and gives these bits, else the bits.
std::string float_text(Long bits, Width width) {
  Flags flags = no_flags;
  const double value = double_from_long(widen_float(bits, width), flags);
  if (!std::isfinite(value) || std::signbit(value)) return hex_text(bits, width);
  const std::string text = fmt::format("{}", value);
  if (text.size() > 12 || !reads_as(text, bits, width)) return hex_text(bits, width);
  const bool real = text.find_first_of(".e") != std::string::npos;
  return text + (real ? "" : ".0") + (width == Width::Long ? "l" : "s");
}

std::string immediate_text(const Arithmetic& slot, const Operand& operand) {
  constexpr u128 largest_decimal = 1U << 20;
  if (info(slot.op).unit != Unit::Integer) return float_text(slot.immediate, operand.width);
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
                        mask_flag_names[static_cast<std::size_t>(slot.mask.flag)]);
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

constexpr unsigned vlen_at_start = 4;

/// A quoted string; braces (which would be expanded) and non-ASCII characters become `\xHH`.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e || c == '{' || c == '}') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string conversion_text(Conversion c) {
  const std::string name{conversion_name(c)};
  return c.machine == MachineFormat::Fixed ? fmt::format("{}.{}", name, c.point) : name;
}

void write_head(std::string& out, const Program& p, bool unchecked) {
  out +=
      fmt::format("# Disassembled; assembles to the same object.\n.kernel {}\n", in_quotes(p.name));
  if (unchecked)
    out += fmt::format(".unchecked  # exceeds limits of the chip or reads results too early\n");
  out += fmt::format(".flops {}\n.elements {}\n.group {}\n", p.flops, p.elements, p.group);
  out += fmt::format(".fixed {}\n.item {}\n.output {}\n", p.fixed_shorts, p.item_shorts,
                     p.output_shorts);
  for (std::size_t f = 0; f < p.files.size(); ++f) {
    out += fmt::format(".file {} {}\n", f, in_quotes(p.files[f]));
  }
  // Without a `.line` directive the assembler creates its own line table.
  out += ".line 0 0\n";
}

void write_declarations(std::string& out, const Program& p) {
  if (!p.variables.empty()) out += "\n";
  for (const Variable& v : p.variables) {
    const bool reduced = v.kind == VarKind::Result || v.kind == VarKind::Output;
    out += fmt::format("{:<5} {:<5} {} {}", variable_keywords[static_cast<std::size_t>(v.kind)],
                       v.location.width == Width::Long ? "long" : "short", name_text(v.name),
                       conversion_text(v.conversion));
    if (reduced) out += fmt::format(" {}", reduce_names[static_cast<std::size_t>(v.reduce)]);
    if (v.reduce == Reduce::Index)
      out += fmt::format(" {}", name_text(p.variables[static_cast<std::size_t>(v.key)].name));
    out += fmt::format(" at {}", location_text(v.location));
    // A group requires at least one explicit pad, so zeros are written too.
    if (v.kind == VarKind::Source)
      out += fmt::format("{}", v.pad_is_copy ? " pad copy" : fmt::format(" pad 0x{:016x}", v.pad));
    if (!v.quantity.empty()) out += fmt::format(" as {}{}", v.quantity, v.squared ? "^2" : "");
    if (v.default_value) out += fmt::format(" default {}", *v.default_value);
    out += "\n";
  }
  for (const VariableArray& array : p.arrays) {
    out += fmt::format(".array {}", name_text(array.name));
    for (const std::uint32_t size : array.sizes) out += fmt::format(" {}", size);
    out += array.complex ? " complex\n" : "\n";
  }
  for (const HostName& n : p.host_names)
    out += fmt::format(".host {} {}\n", name_text(n.name), in_quotes(n.host));
  if (p.cutoff) {
    out += fmt::format(".cutoff {}", name_text(p.variables[p.cutoff->radius2].name));
    for (const auto* const coordinates : {&p.cutoff->target, &p.cutoff->source})
      for (const std::uint32_t v : *coordinates)
        out += fmt::format(" {}", name_text(p.variables[v].name));
    out += "\n";
  }
  if (!p.symbols.empty()) out += "\n";
  for (const Symbol& s : p.symbols) {
    out += fmt::format(".symbol {} {}\n", name_text(s.name), location_text(s.location));
  }
}

void write_sections(std::string& out, const Program& p) {
  const OperandNames names(p);
  unsigned vlen = vlen_at_start;
  SourceLine line;
  for (unsigned s = 0; s < section_count; ++s) {
    const auto& section = p.sections[s];
    if (section.empty()) continue;
    out += fmt::format("\n.{}  # {} instructions, {} clocks\n", section_names[s], section.size(),
                       p.clocks(static_cast<Section>(s)));
    std::uint64_t clock = 0;
    for (std::size_t i = 0; i < section.size(); ++i) {
      const SourceLine from = p.lines[s].empty() ? SourceLine{} : p.lines[s][i];
      if (from != line) out += fmt::format("  .line {} {}\n", from.file, from.line);
      if (section[i].vlen != vlen) out += fmt::format("  vlen {}\n", section[i].vlen);
      line = from;
      vlen = section[i].vlen;
      out += fmt::format("    {:<51} # clock {}\n", instruction_text(section[i], names), clock);
      clock += section[i].clocks();
    }
  }
}

std::string write_program(const Program& program, bool unchecked) {
  std::string text;
  write_head(text, program, unchecked);
  write_declarations(text, program);
  write_sections(text, program);
  return text;
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
  if (!has_address(location.space)) return;
  Operand other = location;
  other.vector = !location.vector;
  add(name + (other.vector ? ".v" : ".s"), other);
}

const std::string* OperandNames::find(const Operand& operand) const {
  const auto found = names_.find(key_of(operand));
  return found == names_.end() ? nullptr : &found->second;
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

namespace {

std::string disassemble_one(const Program& program) {
  // Only the assembler can tell whether the program obeys all rules: try it.
  const std::string text = write_program(program, false);
  const AssembleResult again = assemble(text, "disassembly");
  Program expected = program;
  for (unsigned s = 0; s < section_count; ++s)
    expected.lines[s].resize(expected.sections[s].size());
  if (again.ok() && *again.program == expected) return text;
  return write_program(program, true);
}

}  // namespace

std::string disassemble(const Program& program) {
  if (program.in_longs.empty()) return disassemble_one(program);
  Program alone = program;
  alone.in_longs.clear();
  return disassemble_one(alone) +
         "\n# The same kernel in longs, which engines that compute in doubles execute.\n.longs\n" +
         disassemble_one(program.in_longs.front());
}

}  // namespace gdr
