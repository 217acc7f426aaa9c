// Operations on rows written down as single steps on vectors: what machine code is made of.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gdr::fused {

/// Steps, as FlagSteps has them.
enum class StepKind : std::uint8_t {
  Load,       ///< lanes of a row
  Broadcast,  ///< a word of the broadcast memory in all lanes
  Constant,   ///< the same bits in all lanes
  Add,
  Sub,
  Mul,
  Fma,   ///< a b + c
  Fms,   ///< a b - c
  Fnma,  ///< c - a b
  And,
  Or,
  Xor,
  Logic,    ///< bit by bit, by a table
  SetLast,  ///< b with its last bit set where the mask a says so
  Larger,   ///< of two the one of larger magnitude
  Select,   ///< mask a: b, else c
  Ones,     ///< a mask as lanes of ones and zeros
  IntegerAdd,
  IntegerSub,
  ShiftLeft,  ///< by a constant
  ShiftRight,
  ShiftLeftBy,  ///< by lanes
  ShiftRightBy,
  ToDouble,
  ToInteger,
  // masks
  NotEqual,
  Less,
  Equal,
  Unordered,
  BitsEqual,
  BitsLess,
  BitsMeet,  ///< a bit that is set in both
  Not,
  Both,
  Either,
  // no value
  Note,  ///< failure bits `detail` where the mask a has a lane
};
constexpr bool makes_mask(StepKind k) noexcept {
  return k >= StepKind::NotEqual && k <= StepKind::Either;
}

/// How a step rounds. Current: as the machine's floating-point mode says, raising flags.
enum class Rounding : std::uint8_t { Current, Nearest, Down, Up, Truncate };

/// How often a step is done: once for a pass, for every vector of lanes, or for every element of
/// each of these.
enum class Level : std::uint8_t { Pass, Lanes, Element };
constexpr unsigned level_count = 3;

using StepId = std::uint32_t;
constexpr StepId no_step = ~StepId{0};

struct Step {
  StepKind kind = StepKind::Constant;
  Level level = Level::Pass;
  std::uint8_t detail = 0;  ///< a Rounding, Logic's table, a shift's count, bits of DoublesFailure
  std::uint8_t memory = 0;  ///< Broadcast: of DoublesRun::memory
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
struct Recording {
  std::vector<Step> steps;
  std::vector<RowStore> stores;
  std::uint32_t elements = 1;   ///< rows of an element stand behind one another
  std::uint32_t row_bytes = 0;  ///< of one row
};

}  // namespace gdr::fused
