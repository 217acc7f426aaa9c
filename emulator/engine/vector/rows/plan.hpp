// Instructions translated for the vector engine: rows instead of operands, and the order of slots.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/lanes/strip.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

enum class SlotOrder : std::uint8_t { MulFirst, AdderFirst, Neither };

/// An order in which executing the slots element by element in place, the transfer last, is
/// equivalent to the rule: all reads before all writes. The second copy of a result to T comes last
/// in its slot, a mask last in its. Neither: no order is.
SlotOrder slot_order(const Instruction& instruction);

/// True if two slots write to the same location, so that the order of their elements matters.
bool writes_meet(const Instruction& instruction);

/// Which array of rows an operand is in.
enum class RowBase : std::uint8_t { Registers, Local, T, Constants, BlockNumber, Scratch };

/// Rows of an operand: row number of element 0, rows from an element to the next.
struct RowRef {
  RowBase base = RowBase::Constants;
  std::uint32_t row = 0;
  std::uint32_t step = 0;
};

/// A T-indirect operand: its words are collected into scratch rows before anything is computed.
struct Gather {
  std::uint32_t row = 0;  ///< scratch row; element k at row + 2k
  const Operand* operand = nullptr;
};

/// One prepared arithmetic operation.
struct ArithmeticPlan {
  bool used = false;
  StripKernel kernel = nullptr;  ///< null: lane by lane through the scalar arithmetic
  RowRef a, b, out;
  bool direct = false;  ///< `out` is the destination
};

/// One prepared instruction.
struct Plan {
  const Instruction* instruction = nullptr;
  /// Kernels write to the destinations. Else all results are computed before any is written.
  bool in_place = false;
  bool adder_first = false;  ///< whether the adder's slot comes first, if in place
  ArithmeticPlan mul, alu;
  std::vector<Gather> gathers;
};

/// A program translated for a geometry and a set of kernels.
struct PlannedProgram {
  std::vector<Plan> sections[section_count];
  LaneMemory constants;  ///< rows of immediates and PE numbers
};

/// Scratch rows that every plan may use: results of both slots (hi, lo by element), T-indirect
/// operands, mask flags, predicates, addresses.
struct ScratchRows {
  static constexpr std::uint32_t mul = 0, alu = 8, flags = 16, predicate = 20, gather = 24,
                                 addresses = 64, count = 76;
};

/// Translate. `program` must outlive the plan and have passed check_program.
PlannedProgram plan_program(const Program& program, const Geometry& geometry,
                            const StripKernels& kernels);

/// Computes a slot lane by lane, for operations without a kernel. Rows have the operands' own
/// widths. Where the slot sets a mask and `flags` is not null, flags[element * pes + pe] becomes
/// all ones or zero.
void scalar_strip(const Arithmetic& slot, const Strip& strip, std::uint64_t* flags);

}  // namespace gdr
