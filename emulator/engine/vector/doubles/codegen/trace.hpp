// A trace: operations on rows as single steps on vectors, the input of code generation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::codegen {

/// How often a step is done: once for a pass, for every vector of lanes, or for every element of
/// each of these.
enum class Level : std::uint8_t { Pass, Lanes, Element };
constexpr unsigned level_count = 3;

using StepId = std::uint32_t;
constexpr StepId no_step = ~StepId{0};

/// An operation of the lowered IR (jit/ir.hpp), or what it works on.
struct Step {
  enum class Kind : std::uint8_t {
    Operation,
    Row,        ///< lanes of a row
    Broadcast,  ///< a word of the broadcast memory in all lanes
    Constant,   ///< the same bits in all lanes
  };
  Kind kind = Kind::Constant;
  Level level = Level::Pass;
  jit::Op op = jit::Op::Load;
  std::uint8_t detail = 0;  ///< detail of the operation; Collect: a bit of DoublesFailure
  jit::Rounding rounding = jit::Rounding::Current;
  std::uint8_t memory = 0;  ///< Broadcast: of DoublesRun::memory
  /// Operands; of Or the third is a mask: other lanes stay as the first has them.
  std::array<StepId, 3> in{no_step, no_step, no_step};
  std::uint64_t bits = 0;  ///< a constant; else the offset in bytes of what is read
  bool operator==(const Step&) const = default;
};

/// A row that a value is left in: of each element, or of one row for all.
struct RowStore {
  StepId value = no_step;
  std::uint32_t offset = 0;  ///< bytes in the frame
  Level level = Level::Element;
};

/// Steps in an order in which they can be done, and what is left in the rows afterwards. Rows that
/// are read keep their words until the last step that reads them.
struct Trace {
  std::vector<Step> steps;
  std::vector<RowStore> stores;
  std::uint32_t elements = 1;   ///< rows of an element stand behind one another
  std::uint32_t row_bytes = 0;  ///< size of a row
};

}  // namespace gdr::codegen
