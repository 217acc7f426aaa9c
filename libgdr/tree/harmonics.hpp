// Expansions of potentials in solid harmonics: multipoles of a cluster, and local expansions that
// hold inside of another (Greengard and Rokhlin 1987; in this form Dehnen 2014, Comput. Astrophys.
// Cosmol. 1, 1).
//
// With complex functions R of degree n and order m, n >= 0 and |m| <= n, for |y| < |x|,
//   1 / |x - y| = sum over n, m of conj(R_nm(y)) I_nm(x)
//   R_nm = r^n P_nm e^(i m phi) / (n + m)!,   I_nm = (n - m)! P_nm e^(i m phi) / r^(n + 1)
// A multipole is M_nm = sum of m_j R_nm(y_j), a local expansion the F_nm of
//   sum of m_j / |x - y_j| = sum over n, m of conj(R_nm(x)) F_nm.
// Numbers are in units of a radius of the cluster, so that none is huge: M_nm r^-n and F_nm r^n.
// An expansion has the real and imaginary parts of orders m >= 0: 0 0, 1 0, 1 1, 2 0 and so on.
#pragma once

#include <cstddef>
#include <span>

#include "libgdr/tree/octree.hpp"

namespace gdr::tree {

constexpr unsigned min_harmonics = 2, max_harmonics = 16;  ///< limits of degrees

/// Number of real numbers of an expansion.
constexpr std::size_t expansion_size(unsigned degree) {
  return (std::size_t{degree} + 1) * (degree + 2);
}

/// Particles, as arrays of coordinates, and masses.
struct ParticleArrays {
  const double *x, *y, *z, *mass;
  std::size_t n;
};

/// Centre and unit of an expansion.
struct Frame {
  Point centre = {};
  double radius = 1;
};

/// An expansion with its frame. The radius of a multipole may be zero: that of particles at the
/// centre.
struct Expansion {
  Frame frame;
  const double* numbers = nullptr;
};

/// Adds the multipoles of particles.
void add_particles(unsigned degree, const ParticleArrays& particles, const Frame& frame,
                   double* multipole);
/// Adds multipoles of parts of a cluster, in other frames.
void add_multipoles_of(unsigned degree, std::span<const Expansion> parts, const Frame& frame,
                       double* multipole);
/// Adds to a local expansion the potentials of clusters, far from its centre, with multipoles of at
/// most this degree.
void add_far_clusters(unsigned degree, unsigned multipole_degree,
                      std::span<const Expansion> clusters, const Frame& frame, double* local);
/// The same by sums over all pairs of terms, which is faster for low degrees.
void add_far_clusters_by_sums(unsigned degree, unsigned multipole_degree,
                              std::span<const Expansion> clusters, const Frame& frame,
                              double* local);
/// Adds a local expansion around another centre.
void add_local(unsigned from_degree, const Expansion& from, unsigned degree, const Frame& frame,
               double* local);

/// The potential sum of m / r of a local expansion, and its gradient.
struct FieldPoint {
  double potential = 0, x = 0, y = 0, z = 0;
};
/// Evaluates a local expansion at particles, whose masses are unused.
void evaluate_local(unsigned degree, const Expansion& local, const ParticleArrays& particles,
                    FieldPoint* fields);

/// Adds to a local expansion a potential that is linear around its centre, where this is its value.
void add_linear_field(const FieldPoint& field, const Frame& frame, double* local);

}  // namespace gdr::tree
