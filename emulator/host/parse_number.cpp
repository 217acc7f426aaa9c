#include "emulator/host/parse_number.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gdr {
namespace {

struct Notation {
  std::chars_format format;
  std::string_view marks;   ///< letters before an exponent
  std::string_view digits;  ///< digits except 0
  long power;  ///< power of the exponent's base that a digit has more than the next one
};
constexpr Notation decimal{std::chars_format::general, "eE", "123456789", 1};
constexpr Notation hexadecimal{std::chars_format::hex, "pP", "123456789abcdefABCDEF", 4};

/// Whether a number, not zero, that no double has is too large, not too small.
bool is_large(std::string_view number, const Notation& notation) {
  const std::size_t mark = std::min(number.find_first_of(notation.marks), number.size());
  const std::string_view digits = number.substr(0, mark);
  const std::string_view exponent = number.substr(std::min(mark + 1, number.size()));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of(notation.digits);
  const long places = notation.power * (static_cast<long>(point) - static_cast<long>(first));
  if (exponent.empty()) return places > 0;
  const auto power = parse_all<long>(exponent.substr(exponent.starts_with('+') ? 1 : 0));
  // An exponent beyond all integers decides alone.
  return power ? *power + places > 0 : !exponent.starts_with('-');
}

std::optional<double> parse(std::string_view text, const Notation& notation) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, notation.format);
  if (end != last || error == std::errc::invalid_argument) return {};
  if (error == std::errc{}) return value;
  const double magnitude = is_large(text, notation) ? std::numeric_limits<double>::infinity() : 0.0;
  return std::copysign(magnitude, text.starts_with('-') ? -1.0 : 1.0);
}

}  // namespace

std::optional<double> parse_decimal(std::string_view text) { return parse(text, decimal); }
std::optional<double> parse_hexadecimal(std::string_view text) { return parse(text, hexadecimal); }

}  // namespace gdr
