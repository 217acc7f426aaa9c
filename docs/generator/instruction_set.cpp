// The instruction reference, a section for every row of the instruction table.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "docs/generator/pages.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/encoding.hpp"
#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "gdr/error.hpp"

namespace gdr::docs {
namespace {

constexpr std::string_view introduction = R"(# Instruction set

Generated from the instruction table (`emulator/isa/table.cpp`) and the field table
(`emulator/isa/encoding.cpp`); do not edit.

The operations and their results follow what is published about the original chip. Their names and
encodings are this project's own, because no bit-level description of the original is public.
[assembler.md](assembler.md) describes the assembly language, [arithmetic.md](arithmetic.md) the
number formats and their rounding.

Syntax: DST is at most one location, T and (not for the multiplier) a mask flag, joined by `:`. A
and B are locations, fixed inputs or immediates. Meaning: `round` is one rounding to nearest even
into the format of the destination, to zero below 2^-1022 and to infinity from 2^1024 upwards;
`leading(x, n)` is x truncated to its leading n significant bits. Integer operands are converted to
the width of the result: a short operand widens to the low half, a long operand contributes its low
36 bits.

An instruction takes one clock for each element (`vlen`, 1 to 4), or two if it contains a `dmul`. In
one clock an element can use two reads and one write of the register file, one access of the local
memory, one read and one write of T, and one access of the broadcast memory. The ports listed with
an example are those of one element.

)";

std::string_view unit_name(Unit unit) {
  constexpr std::string_view names[] = {"multiplier", "adder", "integer", "transfer"};
  return names[static_cast<unsigned>(unit)];
}

/// The field that holds an operation's opcode.
std::string_view opcode_field(Unit unit) {
  constexpr std::string_view names[] = {"mul.op", "alu.op", "alu.op", "move.op"};
  return names[static_cast<unsigned>(unit)];
}

std::string syntax(const OpInfo& op) {
  if (op.op == Op::None) return std::string(op.mnemonic);
  if (op.op == Op::Bget) return "bget PE_LOCATION BM_LOCATION";
  if (op.op == Op::Bput) return "bput BM_LOCATION PE_LOCATION PE_NUMBER";
  return fmt::format("{} DST A{}", op.mnemonic, op.operands > 1 ? " B" : "");
}

std::string mask_flags(const OpInfo& op) {
  if (op.unit == Unit::Adder) return "negative (below zero; not -0, not NaN), zero (either sign)";
  if (op.unit == Unit::Integer)
    return std::string("negative (top bit), zero") + (op.has_carry ? ", carry" : "");
  return "none";
}

Instruction assembled_example(const OpInfo& op) {
  const std::string text = fmt::format(".kernel example\n.body\n    {}\n", op.example);
  const AssembleResult result = assemble(text, "example.gds");
  if (!result.ok() || result.program->section(Section::Body).empty())
    throw Error(ErrorCategory::Internal, fmt::format("the example of {} does not assemble:\n{}",
                                                     op.mnemonic, result.diagnostics.render()));
  return result.program->section(Section::Body).front();
}

std::string ports_text(const Instruction& instruction) {
  std::vector<Access> accesses;
  accesses_of_element(instruction, 0, Geometry{}, accesses);
  std::array<unsigned, port_count> uses{};
  for (const Access& access : accesses)
    if (access.what != Access::What::Mask) ++uses[static_cast<unsigned>(port_of(access))];
  std::string text;
  for (unsigned p = 0; p < port_count; ++p)
    if (uses[p] != 0)
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", uses[p],
                          port_name(static_cast<Port>(p)));
  return text.empty() ? "none" : text;
}

std::string encoding_text(const Instruction& instruction) {
  const EncodedInstruction word = encode(instruction);
  std::string text;
  for (std::size_t k = 0; k < word.size(); ++k)
    if (word[k] != 0) text += fmt::format("{}{}: `{:016x}`", text.empty() ? "" : ", ", k, word[k]);
  return text;
}

std::string section_text(const OpInfo& op) {
  const Instruction example = assembled_example(op);
  std::string text = fmt::format("## {}\n\n{}\n\n    {}\n\n", op.mnemonic, op.summary, syntax(op));
  if (!op.meaning.empty()) text += fmt::format("```\n{}\n```\n\n", op.meaning);
  if (!op.notes.empty()) text += fmt::format("{}\n\n", op.notes);
  text += "| | |\n|---|---|\n";
  if (op.op != Op::None) {
    text += fmt::format("| unit | {} |\n", unit_name(op.unit));
    text += fmt::format("| opcode | {} in `{}` |\n", static_cast<unsigned>(op.op),
                        opcode_field(op.unit));
    text += fmt::format("| mask flags | {} |\n", mask_flags(op));
  }
  text += fmt::format("| clocks | {} an element |\n", op.passes);
  text += fmt::format("| example | `{}` |\n", op.example);
  text += fmt::format("| ports | {} |\n", ports_text(example));
  text += fmt::format("| encoded words | {} |\n\n", encoding_text(example));
  return text;
}

}  // namespace

std::string instruction_set_page() {
  std::string text(introduction);
  text += "| operation | unit | clocks an element | |\n|---|---|---|---|\n";
  for (const OpInfo& op : instruction_table())
    text += fmt::format("| [{}](#{}) | {} | {} | {} |\n", op.mnemonic, op.mnemonic,
                        op.op == Op::None ? "none" : unit_name(op.unit), op.passes, op.summary);
  text += '\n';
  for (const OpInfo& op : instruction_table()) text += section_text(op);
  return text + encoding_section();
}

}  // namespace gdr::docs
