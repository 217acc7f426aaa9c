// Operations that no strip kernel does: lane by lane through the scalar arithmetic.
#pragma once

#include <cstdint>

#include "emulator/engine/vector/strip.hpp"
#include "emulator/isa/instruction.hpp"

namespace gdr {

/// Compute a slot on rows of its operands' own widths. Where the slot sets a mask and `flags` is
/// not null, flags[element * pes + pe] becomes all ones or zero.
void scalar_strip(const Arithmetic& slot, const Strip& strip, std::uint64_t* flags);

}  // namespace gdr
