// The instruction reference, a section for every row of the instruction table.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/encoding.hpp"
#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "gdr/error.hpp"
#include "libgdr/cli/reference.hpp"

namespace gdr::cli {
namespace {

constexpr std::string_view introduction = R"(# Instruction reference

Made by `gdr docs isa` from the instruction table (`emulator/isa/table.cpp`); do not edit.

The operations, and what each computes, follow what is published of the original chip; names and
encodings are this project's own, as no bit-level description of the original is public.
[assembler.md](assembler.md) describes the language around them, [arithmetic.md](arithmetic.md) the
formats and their rounding, [encoding.md](encoding.md) the instruction word.

In the syntax DST is up to one location, T and (not of the multiplier) a mask flag, joined by `:`; A
and B are locations, fixed inputs or immediates. In the meaning, `round` is one rounding to nearest
even into the destination's format, below 2^-1022 to a zero and from 2^1024 on to an infinity;
`leading(x, n)` is x cut to its leading n significant bits. Integer operands arrive at the width of
the result: a short one widens to the low half, of a long one the low 36 bits count.

An instruction takes as many clocks as it has elements (`vlen`, 1 to 4), twice that with a `dmul` in
it. An element can use in a clock: two reads and one write of the register file, one access of the
local memory, one read and one write of T, one access of the broadcast memory. The ports of an
example are those of one element.

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
  text += fmt::format("| its ports | {} |\n", ports_text(example));
  text += fmt::format("| its words | {} |\n\n", encoding_text(example));
  return text;
}

}  // namespace

std::string isa_page() {
  std::string text(introduction);
  text += "| operation | unit | clocks an element | |\n|---|---|---|---|\n";
  for (const OpInfo& op : instruction_table())
    text += fmt::format("| [{}](#{}) | {} | {} | {} |\n", op.mnemonic, op.mnemonic,
                        op.op == Op::None ? "none" : unit_name(op.unit), op.passes, op.summary);
  text += '\n';
  for (const OpInfo& op : instruction_table()) text += section_text(op);
  text.pop_back();
  return text;
}

}  // namespace gdr::cli
