// Gravity by direct summation in double on the host: what the device is compared with.
#include "libgdr/nbody/direct_sum.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace gdr {
namespace {

/// Sources as separate arrays, which the compiler turns into SIMD lanes.
struct Sources {
  std::vector<double> x, y, z, m;
};

Sources separate(std::span<const double> position, std::span<const double> mass) {
  const std::size_t n = mass.size();
  Sources s{std::vector<double>(n),
            std::vector<double>(n),
            std::vector<double>(n),
            {mass.begin(), mass.end()}};
  for (std::size_t i = 0; i < n; ++i) {
    s.x[i] = position[3 * i];
    s.y[i] = position[3 * i + 1];
    s.z[i] = position[3 * i + 2];
  }
  return s;
}

struct Force {
  double x = 0, y = 0, z = 0, potential = 0;
};

/// Sum over all sources but `self`. The pair of a particle with itself is left out by its distance
/// where there is no softening; where there is, it adds nothing to the acceleration, and the caller
/// takes it out of the potential.
Force sum_on(const Sources& s, std::size_t self, double eps2) {
  const double xi = s.x[self], yi = s.y[self], zi = s.z[self];
  const double *x = s.x.data(), *y = s.y.data(), *z = s.z.data(), *m = s.m.data();
  double ax = 0, ay = 0, az = 0, phi = 0;
  const std::size_t n = s.m.size();
#pragma omp simd reduction(+ : ax, ay, az, phi)
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    const double r2 = dx * dx + dy * dy + dz * dz + eps2;
    const double inverse = r2 > 0 ? 1.0 / std::sqrt(r2) : 0.0;
    const double phi_j = m[j] * inverse;
    const double f = phi_j * inverse * inverse;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
    phi -= phi_j;
  }
  return {ax, ay, az, phi};
}

}  // namespace

void direct_sum(std::span<const double> position, std::span<const double> mass, double eps,
                std::span<double> acceleration, std::span<double> potential) {
  const Sources sources = separate(position, mass);
  const double eps2 = eps * eps;
  const auto n = static_cast<std::ptrdiff_t>(mass.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const auto target = static_cast<std::size_t>(i);
    const Force force = sum_on(sources, target, eps2);
    acceleration[3 * target] = force.x;
    acceleration[3 * target + 1] = force.y;
    acceleration[3 * target + 2] = force.z;
    const double own = eps2 > 0 ? mass[target] * (1.0 / std::sqrt(eps2)) : 0.0;
    potential[target] = force.potential + own;
  }
}

}  // namespace gdr
