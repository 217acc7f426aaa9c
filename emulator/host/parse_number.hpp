// Numbers in texts. The same in every locale, unlike strtod, std::stod and streams, which take the
// decimal point from the locale that a program has chosen.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace gdr {

/// Removes the number at the front of a text, written as std::from_chars takes it; nothing if there
/// is none, or if it is out of range: then the text stays.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// All of a text as a number; nothing if it is none, or out of range. `format`: the base of an
/// integer.
template <typename Number, typename... Format>
std::optional<Number> parse_all(std::string_view text, Format... format) {
  Number value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, format...);
  return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

/// All of a text as a decimal number; nothing if it is none. Of numbers out of range those that are
/// too large become infinities, those that are too small zeros.
std::optional<double> parse_decimal(std::string_view text);
/// The same for hexadecimal digits without 0x, and a power of two: "1.8p-3".
std::optional<double> parse_hexadecimal(std::string_view text);

}  // namespace gdr
