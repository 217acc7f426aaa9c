// Orders of an instruction's slots in which results can be written in place.
#pragma once

#include <cstdint>

#include "emulator/isa/instruction.hpp"

namespace gdr {

enum class SlotOrder : std::uint8_t { MulFirst, AdderFirst, Neither };

/// An order in which executing the slots element by element in place, the transfer last, is
/// equivalent to the rule: all reads before all writes. The second copy of a result to T comes last
/// in its slot, a mask last in its. Neither: no order is.
SlotOrder slot_order(const Instruction& instruction);

/// True if two slots write to the same location, so that the order of their elements matters.
bool writes_meet(const Instruction& instruction);

}  // namespace gdr
