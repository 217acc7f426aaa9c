// Text from files and from other programs, made safe to show on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdr {

/// The text with every control character (C0 but line feed and tab, DEL, C1) and every byte that is
/// not UTF-8 as `\xHH`. A name in a file must not move the cursor, change colours or title, or make
/// the terminal answer. Everything that prints messages passes them through this function.
std::string printable(std::string_view text);

/// Length of the character at `at` if it may be shown as it is: valid UTF-8 and no control
/// character; else 0. Line feeds and tabs count as control characters here.
std::size_t visible_length(std::string_view text, std::size_t at) noexcept;

}  // namespace gdr
