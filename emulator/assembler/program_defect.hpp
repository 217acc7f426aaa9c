// What every program must be, whichever way it came about: the rules of an object file.
#pragma once

#include <string>

#include "emulator/isa/program.hpp"

namespace gdr {

/// Longest name of a kernel, variable, symbol or file, in bytes.
constexpr std::size_t longest_name = 4096;

/// Empty if the program is well formed, else one line that says what is wrong: sizes in range,
/// names of variables and symbols that the assembly language has and that are unique, variables
/// where their kind can live, instructions that have an encoding, source lines that name a file of
/// the table.
std::string program_defect(const Program& program);

/// Empty if `operand` can be named in assembly and means one thing, else what is wrong with it.
std::string location_defect(const Operand& operand);

/// Letters, digits and `_`, not starting with a digit.
bool is_identifier(std::string_view name) noexcept;

}  // namespace gdr
