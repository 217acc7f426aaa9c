// Numbers with units, as options and configuration files have them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::relay {

/// A finite number with k, M or G for powers of 1000: "1G". Throws Error (Usage) naming `what`.
double parse_amount(std::string_view what, std::string_view text);
/// A time with its unit, ns, us, ms or s: "200ms"; at most a year.
std::chrono::nanoseconds parse_time(std::string_view what, std::string_view text);
/// The one or two parts between a comma.
std::vector<std::string> parse_pair(std::string_view what, std::string_view text);

}  // namespace gdr::relay
