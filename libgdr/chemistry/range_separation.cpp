#include "libgdr/chemistry/range_separation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gdr/error.hpp"

namespace gdr::chemistry {

std::vector<Substitute> substitutes(double q, double omega) {
  if (omega == 0) return {{q, 1}};
  const double wide = q / (1 + q / (omega * omega));
  const double factor = wide / q * std::sqrt(wide / q);  // of the height, at the same charge
  if (omega > 0) return {{wide, factor}};
  return {{q, 1}, {wide, -factor}};
}

void check_omega(double omega) {
  const double magnitude = std::abs(omega);
  if (magnitude == 0 || (magnitude >= 1e-30 && magnitude <= 1e30)) return;
  throw Error(
      ErrorCategory::Input,
      fmt::format("omega is {}: it must be 0 (the Coulomb interaction), or have a magnitude "
                  "from 1e-30 to 1e30 Bohr^-1",
                  omega));
}

}  // namespace gdr::chemistry
