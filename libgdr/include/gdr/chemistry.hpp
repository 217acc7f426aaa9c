// Quantum chemistry: Coulomb matrices, electrostatic potentials, nuclear attraction and
// two-electron integrals of Gaussian basis functions.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gdr/device.hpp"

namespace gdr::chemistry {

/// A shell of contracted Gaussian functions: the radial functions
///   R_c(r) = sum over primitives k of coefficients[c * primitives + k] r^l exp(-exponents[k] r^2),
/// times angular functions. Spherical (and all s and p) functions have real solid harmonics of norm
/// one: x, y, z for p, and xy, yz, 2 z^2 - x^2 - y^2, xz, x^2 - y^2 for d. Cartesian d functions
/// are xx, xy, xz, yy, yz, zz with the factor 1. These are order and normalisation of PySCF.
/// Functions of one contraction are consecutive.
struct Shell {
  std::array<double, 3> centre;  ///< Bohr
  unsigned l = 0;                ///< angular momentum: 0 (s), 1 (p) or 2 (d)
  bool spherical = true;  ///< whether d has five spherical functions instead of six Cartesian
  std::vector<double> exponents;     ///< Bohr^-2
  std::vector<double> coefficients;  ///< contractions x primitives, as above
};

/// The factor that normalises a primitive r^l exp(-exponent r^2): the integral of its square times
/// r^2 is one. Coefficients in tables of basis sets are for such primitives.
double radial_norm(unsigned l, double exponent);
/// Number of functions of the shells.
std::size_t function_count(std::span<const Shell> shells);

/// Settings of the evaluation.
struct CoulombOptions {
  /// Bound on the error of an element of the Coulomb matrix, Hartree: one half due to neglected
  /// pairs of charge distributions (rigorous, by the Cauchy-Schwarz inequality), one half due to
  /// pairs in short precision. Errors are much smaller.
  double threshold = 1e-10;
  /// Number of interactions that cost as much as one more job: with a larger number there are
  /// fewer jobs and more superfluous interactions.
  std::size_t call_cost = 100000;
  /// Smallest supported eigenvalue of the overlap matrix of the functions, scaled to norm one: a
  /// basis below it is rejected as linearly dependent, because a calculation with it would lose as
  /// many digits. 0: any basis, without a check.
  double least_overlap = 1e-8;
  /// Range separation of the interaction of electrons, in Bohr^-1, with the sign of PySCF: 0 is the
  /// Coulomb interaction 1/r, a positive number its long-range part erf(omega r)/r, a negative one
  /// the short-range part erfc(-omega r)/r. `matrix` and `integrals` are computed with it;
  /// `potential` and `nuclear_attraction` are always those of 1/r. Its magnitude is 0, or 1e-30 to
  /// 1e30.
  double omega = 0;
};

/// Numbers of the last evaluation.
struct CoulombWork {
  /// Pairs of primitives with charge at different (p, P); twice as many for a short range.
  std::size_t pairs = 0;
  std::size_t interactions = 0;        ///< evaluated interactions of such pairs
  std::size_t short_interactions = 0;  ///< the part of these in short precision
  double seconds_on_device = 0;        ///< wall time in jobs
  double seconds = 0;                  ///< wall time in total
};

/// Interactions of the charge distributions of a basis with the J-engine (McMurchie and Davidson,
/// J. Comput. Phys. 26, 218, 1978; Ahmadi and Almloef, Chem. Phys. Lett. 246, 364, 1995; White and
/// Head-Gordon, J. Chem. Phys. 104, 2620, 1996) on a device. Matrices are n x n for n functions,
/// row by row; energies in Hartree, lengths in Bohr. Results do not depend on boards, threads and
/// ranks. On a device of many ranks all calls are collective: every rank passes the same arguments
/// and gets all results. Arrays are pointers, or vectors, spans and arrays, whose sizes are checked
/// (Numbers).
class Coulomb {
 public:
  /// The device must outlive it. Throws Error (Unsupported) for angular momenta above d and for a
  /// linearly dependent basis, and Error (Input) for malformed shells or options.
  Coulomb(Device& device, std::span<const Shell> shells, const CoulombOptions& options = {});
  ~Coulomb();
  Coulomb(Coulomb&&) noexcept;
  Coulomb& operator=(Coulomb&&) noexcept;

  std::size_t functions() const noexcept;

  /// The Coulomb matrix J_ab = sum over c, d of (ab|cd) D_cd, of the interaction that
  /// `CoulombOptions::omega` states. Only the symmetric part of the
  /// density contributes. Linear in the density up to the threshold. Throws Error (Input) for an
  /// element that is not finite.
  void matrix(Numbers<const double> density, Numbers<double> coulomb);
  /// Orbitals must be real: the imaginary part of a density is antisymmetric and has no Coulomb
  /// energy, so pass the real part.
  void matrix(const std::complex<double>* density, Numbers<double> coulomb) = delete;
  /// The potential at n points (triples) of the electrons' charge of a density, counted positive:
  /// V(r) = sum over a, b of D_ab integral of a(x) b(x)/|x - r|.
  void potential(Numbers<const double> density, std::size_t n, Numbers<const double> points,
                 Numbers<double> values);
  /// The integrals of -sum over nuclei of charge/|x - position| between functions: the matrix of
  /// the attraction by n nuclei, with positions as triples.
  void nuclear_attraction(std::size_t n, Numbers<const double> positions,
                          Numbers<const double> charges, Numbers<double> matrix);
  /// All two-electron integrals (ab|cd) for the functions c and d of two shells, by number: for
  /// each c and d the matrix over a and b.
  void integrals(std::size_t shell_c, std::size_t shell_d, Numbers<double> values);

  const CoulombWork& work() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The kernel, as a text of the kernel language, for targets of total angular momentum `li` and
/// sources of `lj`, 0 to 4. For li = 4 it computes the first 20 of 35 results, or with `part` 1 the
/// others. `shorts`: for small contributions. Throws Error (Usage) for other arguments.
std::string kernel_text(unsigned li, unsigned lj, unsigned part = 0, bool shorts = false);

/// The Coulomb matrix by the same formulas in plain double on the host, without screening: the
/// reference for `Coulomb::matrix`, with `omega` as in `CoulombOptions`. Time grows with the fourth
/// power of the number of primitives.
void coulomb_reference(std::span<const Shell> shells, Numbers<const double> density,
                       Numbers<double> coulomb, double omega = 0);

}  // namespace gdr::chemistry
