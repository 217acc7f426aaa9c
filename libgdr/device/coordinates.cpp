#include "libgdr/device/coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "gdr/error.hpp"

namespace gdr {

std::size_t count_of_coordinates(const char* name, std::span<const double> x) {
  if (x.size() % 3 != 0)
    throw Error(ErrorCategory::Usage, std::string(name) + " has " + std::to_string(x.size()) +
                                          " numbers; expected three for each particle");
  return x.size() / 3;
}

std::size_t check_coordinates(const char* name, std::span<const double> x) {
  const std::size_t n = count_of_coordinates(name, x);
  const auto bad = std::ranges::find_if(x, [](double v) { return !std::isfinite(v); });
  if (bad == x.end()) return n;
  const auto k = static_cast<std::size_t>(bad - x.begin());
  throw Error(ErrorCategory::Input, std::string(name) + "[" + std::to_string(k / 3) +
                                        "], coordinate " + std::to_string(k % 3) + ", is " +
                                        std::to_string(*bad) + "; coordinates must be finite");
}

}  // namespace gdr
