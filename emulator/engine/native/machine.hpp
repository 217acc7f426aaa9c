// A segment as operations of a vector unit, in the order in which they are to run.
#pragma once

#include <array>
#include <vector>

#include "emulator/engine/native/lower.hpp"

namespace gdr::native {

/// One operation. Masked ones come of a select or a conjunction that they are part of.
struct MachineOp {
  std::uint32_t node = 0;  ///< what it defines
  NodeOp op = NodeOp::Add;
  std::uint8_t detail = 0;
  bool inverted = false;  ///< comparisons: the complement is computed
  std::array<Ref, 3> in{no_ref, no_ref, no_ref};
  Ref mask = no_ref;  ///< lanes that count; elsewhere `otherwise`, or zero
  Ref otherwise = no_ref;
};

/// A segment ready for code.
struct MachineCode {
  std::vector<MachineOp> ops;
  std::vector<bool> inverted;  ///< by node: a mask that is kept as its complement
  unsigned pressure = 0;       ///< most values alive at a time that are neither leaves nor masks
};

/// Through AsBits and AsNumber, which cost nothing.
Ref value_behind(const Graph& graph, Ref r) noexcept;

/// Chooses operations and their order. `resident`, by input slot, says which inputs are in
/// registers from the beginning (a loop's carried values).
MachineCode make_machine_code(const Segment& segment, Target target,
                              const std::vector<bool>& resident);

}  // namespace gdr::native
