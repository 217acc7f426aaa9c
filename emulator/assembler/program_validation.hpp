// Validity of programs, as required by object files.
#pragma once

#include <string>

#include "emulator/isa/program.hpp"

namespace gdr {

/// Limit of names of kernels, variables, symbols and files, in bytes.
constexpr std::size_t max_name_length = 4096;

/// Empty if the program is valid, else a message: sizes in range, valid and unique names, variables
/// in memories that their kind allows, encodable instructions, source lines in files of the table.
std::string validate_program(const Program& program);

/// Empty if `operand` is a valid location, else a message.
std::string validate_location(const Operand& operand);

}  // namespace gdr
