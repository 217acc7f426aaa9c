#include "libgdr/relay/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"

namespace gdr::relay {
namespace {

using Unit = std::pair<std::string_view, double>;

template <std::size_t Count>
double with_unit(std::string_view what, std::string_view text, const Unit (&units)[Count],
                 std::string_view examples) {
  const std::size_t end = text.find_last_of("0123456789.");
  const std::string_view name = end == text.npos ? text : text.substr(end + 1);
  for (const auto& [unit, factor] : units) {
    if (unit != name) continue;
    const auto number = parse_all<double>(text.substr(0, text.size() - name.size()));
    if (number && std::isfinite(*number) && *number >= 0) return *number * factor;
  }
  throw Error(ErrorCategory::Usage,
              fmt::format("{}: '{}' is not a number with its unit, as {}", what, text, examples));
}

}  // namespace

double parse_amount(std::string_view what, std::string_view text) {
  static constexpr Unit units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
  return with_unit(what, text, units, "1G, 64k or 1500");
}

std::chrono::nanoseconds parse_time(std::string_view what, std::string_view text) {
  static constexpr Unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const double time = with_unit(what, text, units, "200ms or 2s");
  // A year is far below the largest time, and longer than any run.
  if (time > 3.2e16)
    throw Error(ErrorCategory::Usage, fmt::format("{}: {} is more than a year", what, text));
  return std::chrono::nanoseconds(std::llround(time));
}

std::vector<std::string> parse_pair(std::string_view what, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return {std::string(text)};
  if (text.find(',', comma + 1) != text.npos)
    throw Error(ErrorCategory::Usage,
                fmt::format("{}: '{}' has more than two values, to the server and to the client",
                            what, text));
  return {std::string(text.substr(0, comma)), std::string(text.substr(comma + 1))};
}

}  // namespace gdr::relay
