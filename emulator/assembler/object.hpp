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

/// The program in an object file. Throws gdr::Error (Program), naming what is wrong: not an object
/// file, a version this library does not know, cut short, checksum, a field out of range, an
/// instruction that does not decode. Never reads outside `bytes`, whatever they hold.
Program read_object(std::span<const std::uint8_t> bytes, const std::string& name = "object");

/// The same with files; write_object_file replaces the file at once or not at all.
Program read_object_file(const std::string& path);
void write_object_file(const std::string& path, const Program& program);

}  // namespace gdr
