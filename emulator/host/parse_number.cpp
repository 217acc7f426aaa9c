#include "emulator/host/parse_number.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gdr {
namespace {

/// Whether a decimal number, not zero, is at least 1.
bool is_large(std::string_view number) {
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  const std::string_view exponent = number.substr(std::min(mark + 1, number.size()));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  const auto places = static_cast<long>(point) - static_cast<long>(first);
  if (exponent.empty()) return places > 0;
  const auto power = parse_all<long>(exponent.substr(exponent.starts_with('+') ? 1 : 0));
  // An exponent beyond all integers decides alone.
  return power ? *power + places > 0 : !exponent.starts_with('-');
}

}  // namespace

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (end != last || error == std::errc::invalid_argument) return {};
  if (error == std::errc{}) return value;
  const double magnitude = is_large(text) ? std::numeric_limits<double>::infinity() : 0.0;
  return std::copysign(magnitude, text.starts_with('-') ? -1.0 : 1.0);
}

}  // namespace gdr
