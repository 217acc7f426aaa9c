// Makes untrusted text safe to show on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr {

/// The text with control characters (C0 except line feed and tab, DEL, C1) and invalid UTF-8 bytes
/// as `\xHH`, so that names in files cannot control the terminal. All printed messages pass through
/// this function.
std::string printable(std::string_view text);

/// Length of the character at `at` if it is printable: valid UTF-8 and not a control character
/// (including line feed and tab); else 0.
std::size_t visible_length(std::string_view text, std::size_t at) noexcept;

}  // namespace gdr
