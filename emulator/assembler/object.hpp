// Object files (.gdo): versioned, checksummed, with symbols, line table and the host interface.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/isa/program.hpp"

namespace gdr {

/// The bytes of an object file. Layout: docs/reference/object-file.md.
std::vector<std::uint8_t> write_object(const Program& program);

/// The program in an object file. Throws gdr::Error (Program) with the reason: not an object file,
/// unsupported version, truncated, checksum error, invalid field or instruction. Never reads
/// outside `bytes`.
Program read_object(std::span<const std::uint8_t> bytes, const std::string& name = "object");

/// Empty if the program is valid, else a message: sizes in range, valid and unique names, variables
/// in memories that their kind allows, encodable instructions, source lines in files of the table.
std::string validate_program(const Program& program);

/// Whether two variables may be elements of one array: equal kinds, and values of the same type and
/// size on the host.
bool are_alike(const Variable& a, const Variable& b) noexcept;

/// Empty if `operand` is a valid location, else a message.
std::string validate_location(const Operand& operand);

/// File versions; write_object_file replaces the file atomically.
Program read_object_file(const std::string& path);
void write_object_file(const std::string& path, const Program& program);

}  // namespace gdr
