// Instruction lines: an optional predicate and up to three operations separated by `;`.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/keywords.hpp"

namespace gdr::assembly {

/// The cursor is at the predicate or the first mnemonic.
void parse_instruction(Assembly& a, Cursor& c);

/// Source spans of operands, for messages about ports and limits.
struct OperandSpan {
  Span span;
  std::uint8_t slot = 0;  ///< as in Access: 0 multiplier, 1 adder/integer, 2 transfer
  bool write = false;
  Operand operand;
};
struct InstructionText {
  Span whole;
  Span predicate;
  std::array<OperandSpan, 16> operands;
  unsigned count = 0;

  void add(Span span, unsigned slot, bool write, const Operand& operand) {
    if (count < operands.size()) {
      operands[count++] = {span, static_cast<std::uint8_t>(slot), write, operand};
    }
  }
};

/// Check port limits, memory sizes and duplicate writes. Leaves the accesses of the instruction in
/// a.accesses. `item` is the K of NAME@K.
bool check_instruction(Assembly& a, const Instruction& instruction, const InstructionText& text,
                       unsigned item);

}  // namespace gdr::assembly
