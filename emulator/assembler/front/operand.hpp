// Operands of arithmetic: locations, fixed inputs and immediates.
#pragma once

#include <array>

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/isa/table.hpp"

namespace gdr::assembly {

/// An operand in the source text.
struct SourceOperand {
  Span span;
  bool number = false;
  Location location;
  Value value;  ///< value of a number
};

/// A location, or a number in any of its forms. False after an error.
bool parse_operand(Assembly& a, Cursor& c, SourceOperand& operand);

/// Set the operands of an operation: choose the format of immediates and combine them. `slot.width`
/// must be set. False after an error.
bool set_operands(Assembly& a, const OpInfo& op, std::array<SourceOperand, 2>& operands,
                  Arithmetic& slot);

}  // namespace gdr::assembly
