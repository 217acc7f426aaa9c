// Why and where a run in host numbers failed, as text.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// The meaning of raised flags (bits of MXCSR) and of bits of DoublesFailure.
std::string failure_text(unsigned flags, std::uint64_t failure);

/// Section, instruction and source line of an operation.
std::string place_text(const Program& program, const OpOrigin& place);

}  // namespace gdr
