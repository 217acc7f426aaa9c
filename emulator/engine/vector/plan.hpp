// Instructions translated for the vector engine: rows instead of operands.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/vector/strip.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

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
};

/// One prepared arithmetic operation.
struct ArithmeticPlan {
  bool used = false;
  StripKernel kernel = nullptr;  ///< null: lane by lane through the scalar arithmetic
  RowRef a, b, out;
  bool direct = false;  ///< `out` is the destination; no copy is needed
};

/// How an instruction's results are written.
enum class WriteMode : std::uint8_t {
  InPlace,     ///< kernels write to the destination
  Predicated,  ///< through scratch rows, blended under the predicate
  Staged,      ///< all reads, then all writes, element by element
};

/// One prepared instruction.
struct Plan {
  const Instruction* instruction = nullptr;
  WriteMode mode = WriteMode::Staged;
  bool adder_first =
      false;  ///< Straight, Masked: the adder's slot is computed before the multiplier's
  ArithmeticPlan mul, alu;
  std::vector<Gather> gathers;
  std::vector<const Operand*> gathered;  ///< the operand of each gather
};

/// A program translated for a geometry and a set of kernels.
struct PlannedProgram {
  std::vector<Plan> sections[section_count];
  LaneMemory constants;  ///< rows of immediates and PE numbers
  std::uint32_t scratch_rows = 0;
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

}  // namespace gdr
