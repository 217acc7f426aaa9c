// In which order the slots of an instruction may write straight to their places.
#pragma once

#include <cstdint>

#include "emulator/isa/instruction.hpp"

namespace gdr {

enum class SlotOrder : std::uint8_t { MulFirst, AdderFirst, Neither };

/// An order in which computing the slots' elements one after the other, each straight into its
/// place, the transfer last, gives what the rule gives: all reads before all writes. The second
/// copy of a result to T comes last in its slot, a mask last in its. Neither: no order does.
SlotOrder slot_order(const Instruction& instruction);

/// True if two slots write to one place, so that the order of their elements decides.
bool writes_meet(const Instruction& instruction);

}  // namespace gdr
