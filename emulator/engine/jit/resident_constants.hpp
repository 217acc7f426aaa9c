// Constants that a loop keeps in registers, for hosts whose instructions have no operands in
// memory.
#pragma once

#include <functional>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// Values in memory of a loop's block that instructions need in a register, those of most
/// instructions first. `is_constant(p)`: no iteration changes what is at p. An addend of a fused
/// multiply-add is loaded to the register of the sum (VectorTarget::fma_replaces_any).
std::vector<ValueId> constants_by_uses(const Block& block,
                                       const std::function<bool(Place)>& is_constant);

/// The block with the first `count` of these values in registers over all iterations.
Block with_resident(Block block, const std::vector<ValueId>& constants, std::size_t count);

}  // namespace gdr::jit
