// Choosing native loops, and the portable one.
#include "libgdr/cli/bench/native.hpp"

#include <algorithm>
#include <cmath>

namespace gdr::bench {

NativeParticles native_particles(std::size_t n, const double* position, const double* mass) {
  NativeParticles p;
  p.n = (n + native_lanes - 1) / native_lanes * native_lanes;
  for (std::vector<double>* values : {&p.x, &p.y, &p.z, &p.m}) values->assign(p.n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    p.x[i] = position[3 * i];
    p.y[i] = position[3 * i + 1];
    p.z[i] = position[3 * i + 2];
    p.m[i] = mass[i];
  }
  return p;
}

std::vector<NativeVariant> native_variants(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512)
    return {{"rsqrt14 + 2 Newton steps", isa, native_avx512_newton},
            {"rsqrt14 + one step of fourth order", isa, native_avx512_fourth}};
  if (isa == Isa::Avx2)
    return {{"float estimate + one step of fifth order", isa, native_avx2_estimate},
            {"square root and division", isa, native_avx2_divide}};
#endif
  return {{"square root and division", Isa::Portable, native_portable}};
}

void native_forces(const NativeVariant& variant, const NativeParticles& particles, double eps2,
                   unsigned threads, NativeForces& forces) {
  for (std::vector<double>* values : {&forces.ax, &forces.ay, &forces.az, &forces.pot})
    values->resize(particles.n);
  // Small slices, dealt out evenly: the last thread has hardly more to do than the others.
  const std::size_t slice = 4 * native_lanes;
  const auto slices = static_cast<std::ptrdiff_t>((particles.n + slice - 1) / slice);
#pragma omp parallel for num_threads(static_cast <int>(std::max(1U, threads))) schedule(static)
  for (std::ptrdiff_t k = 0; k < slices; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * slice;
    variant.loop(particles, first, std::min(first + slice, particles.n), eps2, forces);
  }
}

void native_portable(const NativeParticles& p, std::size_t first, std::size_t last, double eps2,
                     NativeForces& forces) {
  constexpr std::size_t lanes = 8;
  for (std::size_t i = first; i < last; i += lanes) {
    double ax[lanes] = {}, ay[lanes] = {}, az[lanes] = {}, pot[lanes] = {};
    for (std::size_t j = 0; j < p.n; ++j) {
      for (std::size_t k = 0; k < lanes; ++k) {
        const double dx = p.x[j] - p.x[i + k], dy = p.y[j] - p.y[i + k], dz = p.z[j] - p.z[i + k];
        const double inverse = 1.0 / std::sqrt(dx * dx + dy * dy + dz * dz + eps2);
        const double potential = p.m[j] * inverse;
        const double factor = potential * inverse * inverse;
        ax[k] += factor * dx;
        ay[k] += factor * dy;
        az[k] += factor * dz;
        pot[k] -= potential;
      }
    }
    std::copy_n(ax, lanes, &forces.ax[i]);
    std::copy_n(ay, lanes, &forces.ay[i]);
    std::copy_n(az, lanes, &forces.az[i]);
    std::copy_n(pot, lanes, &forces.pot[i]);
  }
}

}  // namespace gdr::bench
