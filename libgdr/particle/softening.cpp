#include "libgdr/particle/softening.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <string>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// As kernels/particle/gravity_potential.gdk.
constexpr const char* gravity_text = R"(
flops 39;
VARI xi, yi, zi as pos; VARI e2i as eps^2; VARI int idi = -1 as id;
VARJ xj, yj, zj as pos; VARJ mj as mass; VARJ e2j as eps^2; VARJ int idj = -2 as id;
VARF ax, ay, az, pot;

dx = xj - xi; dy = yj - yi; dz = zj - zi;
r2 = dx*dx + e2i + e2j + dy*dy + dz*dz;
skip if (idi == idj || r2 == 0);
rinv = rsqrt(r2);
mr = mj*rinv;
f = mr*rinv*rinv;
ax += f*dx; ay += f*dy; az += f*dz;
pot -= mr;
)";

/// As kernels/particle/gravity_jerk.gdk.
constexpr const char* jerk_text = R"(
flops 61;
VARI xi, yi, zi as pos; VARI vxi, vyi, vzi as vel; VARI e2i as eps^2; VARI int idi = -1 as id;
VARJ xj, yj, zj as pos; VARJ mj as mass; VARJ vxj, vyj, vzj as vel; VARJ e2j as eps^2;
VARJ int idj = -2 as id;
VARF ax, ay, az, jx, jy, jz, pot;

dx = xj - xi; dy = yj - yi; dz = zj - zi;
dvx = vxj - vxi; dvy = vyj - vyi; dvz = vzj - vzi;
r2 = dx*dx + e2i + e2j + dy*dy + dz*dz;
skip if (idi == idj || r2 == 0);
rv = dx*dvx + dy*dvy + dz*dvz;
rinv = rsqrt(r2);
r2inv = rinv*rinv;
mr = mj*rinv;
f = mr*r2inv;
al = 3*rv*r2inv;
ax += f*dx; ay += f*dy; az += f*dz;
jx += f*(dvx - al*dx); jy += f*(dvy - al*dy); jz += f*(dvz - al*dz);
pot -= mr;
)";

/// The squares of lengths, times a factor.
std::vector<double> scaled_squares(const double* eps, std::size_t n, double factor,
                                   const char* what) {
  const auto refuse = [&](std::size_t k, const std::string& reason) {
    throw Error(ErrorCategory::Input,
                std::string(what) + " " + std::to_string(k) + ": its softening " + reason);
  };
  std::vector<double> squares(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (!std::isfinite(eps[k]) || eps[k] < 0)
      refuse(k, fmt::format("must be finite and not negative, it is {}", eps[k]));
    squares[k] = factor * eps[k] * eps[k];
    if (!std::isfinite(squares[k]) ||
        (eps[k] > 0 && squares[k] < std::numeric_limits<double>::min()))
      refuse(k, "has a square that is out of the range of a double; scale the units");
  }
  return squares;
}

}  // namespace

SquareParts square_parts(const Softening& eps, std::size_t n_sources, std::size_t n_targets,
                         bool same) {
  if (!eps.of_each()) return {};
  const double* const sources = eps.sources().need(n_sources, "eps");
  const double* const targets = eps.targets().need(n_targets, "eps of targets");
  if (sources == nullptr && n_sources > 0)
    throw Error(ErrorCategory::Usage, "the array of softening lengths is a null pointer");
  if (eps.of_targets() && targets == nullptr && n_targets > 0)
    throw Error(ErrorCategory::Usage,
                "the array of softening lengths of targets is a null pointer");
  if (same && eps.of_targets())
    throw Error(ErrorCategory::Usage,
                "softening lengths of targets are for targets that are not the sources");
  SquareParts parts;
  const bool half = same || eps.of_targets();
  parts.sources = scaled_squares(sources, n_sources, half ? 0.5 : 1, same ? "particle" : "source");
  if (same)
    parts.targets = parts.sources;
  else if (eps.of_targets())
    parts.targets = scaled_squares(targets, n_targets, 0.5, "target");
  else
    parts.targets.assign(n_targets, 0);
  return parts;
}

std::string name_with_softening(std::string name, const Softening& eps) {
  if (eps.of_each()) name += " and softening of each particle";
  if (eps.of_targets()) name += " and of each target";
  return name;
}

void set_softening(tree::GravityInput& in, const Softening& eps, const SquareParts& parts) {
  in.softening = eps.of_all();
  in.softening_of_each = eps.of_each();
  if (!eps.of_each()) return;
  in.source_square = parts.sources.data();
  in.target_square = parts.targets.data();
}

Kernel softened_gravity() { return Kernel::compile(gravity_text, "softened_gravity"); }
Kernel softened_gravity_jerk() { return Kernel::compile(jerk_text, "softened_gravity_jerk"); }

}  // namespace gdr
