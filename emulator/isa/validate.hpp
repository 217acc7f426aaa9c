// Validity of decoded instructions: the rules that hold for every geometry.
#pragma once

#include <string>

#include "emulator/isa/instruction.hpp"

namespace gdr {

/// Empty if the instruction is well formed and canonical (what is unused has its default value);
/// else one line saying what is wrong. Only well-formed instructions are encoded, loaded or run.
std::string validate(const Instruction& instruction);

/// True if anything in the instruction addresses local memory through T.
bool uses_t_address(const Instruction& instruction) noexcept;

}  // namespace gdr
