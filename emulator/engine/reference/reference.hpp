// The reference engine: one PE, one element, one operation at a time. The oracle of all others.
#pragma once

#include "emulator/engine/api/engine.hpp"

namespace gdr {

class ReferenceEngine final : public Engine {
 public:
  std::string_view name() const noexcept override { return "reference"; }
  Isa isa() const noexcept override { return Isa::Portable; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override;
};

/// Result of an arithmetic operation on one element of one PE.
struct LaneResult {
  u128 word = 0;  ///< result at the width of the operation
  bool flag = false;
};
/// Operands are words at their own widths; raised exceptions are added to `flags`.
LaneResult compute_lane(const Arithmetic& slot, u128 a, u128 b, Flags& flags);

}  // namespace gdr
