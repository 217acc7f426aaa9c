// Pieces of generated headers, for the C and the C++ ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gdr/kernel.hpp"

namespace gdr {

/// Is it a word of C or C++?
bool is_c_word(std::string_view text);
/// Letters, digits and _, not a digit first.
bool is_c_identifier(std::string_view text);
/// A variable's name as that of a member: a reserved word gets a _ behind it.
std::string member_name(const KernelVariable& v);
/// Bytes as the elements of an array, in lines.
std::string bytes_text(std::span<const std::uint8_t> bytes);

}  // namespace gdr
