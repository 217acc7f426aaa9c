// Common text fragments of generated C and C++ headers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gdr/kernel.hpp"

namespace gdr {

/// Whether a text is a keyword of C or C++.
bool is_c_word(std::string_view text);
/// Whether a text consists of letters, digits and _, without a leading digit.
bool is_c_identifier(std::string_view text);
/// Name of the structure member for a variable; keywords get a trailing _.
std::string member_name(const KernelVariable& v);
/// Bytes as the elements of an array, in lines.
std::string bytes_text(std::span<const std::uint8_t> bytes);

}  // namespace gdr
