// Registers for the values of a block.
#pragma once

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// An operand of an instruction.
struct Location {
  enum class Kind : std::uint8_t { None, Vector, Mask, Memory } kind = Kind::None;
  std::uint8_t number = 0;  ///< register number
  Place place;
  bool lane = false;  ///< a register with a number in lane 0, for all lanes
};

/// Which operand of a fused multiply-add the result replaces.
enum class FmaForm : std::uint8_t { Form132, Form213, Form231 };

/// An operation with registers; a, b and c in the order of the machine instruction.
struct Instruction {
  Op op = Op::Load;  ///< Load: any move into a register; Store: any move into memory
  std::uint8_t detail = 0;
  Rounding rounding = Rounding::Current;
  FmaForm form = FmaForm::Form231;
  bool zeroing = false;   ///< lanes outside the mask become zero
  std::int8_t mask = -1;  ///< mask register
  Location to, a, b, c;
};

/// Registers that values may have. Mask register 0 is never one of them.
struct RegisterLimits {
  unsigned vectors = 32;
  unsigned masks = 8;  ///< numbers 1 to masks - 1
};

/// Memory for spilled values: vectors at `base`, from `first` on.
struct SpillArea {
  std::uint8_t base = 0;
  std::int32_t first = 0;
  std::uint32_t slots = 0;  ///< maximum over the blocks so far
};

/// A block's instructions. For a loop, `before` loads the carried values, `body` begins and ends
/// with them in the same registers, and `after` stores them.
struct AllocatedBlock {
  std::vector<Instruction> before, body, after;
};

/// Linear scan: evicts the value with the most distant next use. Values with a memory operand are
/// reloaded instead of spilled.
AllocatedBlock allocate(const Block& block, VectorTarget target, RegisterLimits limits,
                        SpillArea& spills);

}  // namespace gdr::jit
