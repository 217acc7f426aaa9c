// The formulas of the fourth-order Hermite scheme on separate arrays of coordinates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libgdr/particle/block_steps.hpp"

namespace gdr {

/// Three coordinates of many particles, in an array each.
using Components = std::array<std::vector<double>, 3>;

inline Components make_components(std::size_t n) {
  return {std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
}
/// The coordinates of particle i.
inline std::array<double, 3> at(const Components& c, std::size_t i) noexcept {
  return {c[0][i], c[1][i], c[2][i]};
}
inline void put(Components& c, std::size_t i, const std::array<double, 3>& v) noexcept {
  for (std::size_t k = 0; k < 3; ++k) c[k][i] = v[k];
}
/// From n triples, and to them.
Components separate_triples(std::size_t n, const double* triples);
void join_triples(const Components& from, double* triples);

/// Particles at times of their own. Times and steps are in cycles.
struct HermiteParticles {
  std::vector<double> time, step, due;  ///< due: time + step
  Components x, v, a, j;                ///< position, velocity, acceleration, jerk at `time`

  std::size_t size() const noexcept { return time.size(); }
};

/// Position and velocity of all particles at time `now`, from acceleration and jerk. `dt` is
/// scratch of n values; `cycle` is the length of a cycle.
void predict_particles(const HermiteParticles& particles, double now, double cycle,
                       std::vector<double>& dt, Components& x, Components& v);

/// Results of the corrector for one particle.
struct Corrected {
  std::array<double, 3> x, v;
  double criterion;  ///< step of the Aarseth criterion, in units of time
};

/// Corrects one particle after a step of length dt. `xp`, `vp`: prediction; `a1`, `j1`:
/// acceleration and jerk there; `a0`, `j0`: those at the beginning of the step. `rounding`: largest
/// errors of acceleration and jerk.
Corrected correct_particle(double dt, double eta, const TermSizes& rounding,
                           const std::array<double, 3>& xp, const std::array<double, 3>& vp,
                           const std::array<double, 3>& a0, const std::array<double, 3>& j0,
                           const std::array<double, 3>& a1,
                           const std::array<double, 3>& j1) noexcept;

}  // namespace gdr
