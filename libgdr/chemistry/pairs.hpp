// All pairs of primitives of a basis, with bounds of what they contribute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libgdr/chemistry/expansion.hpp"

namespace gdr::chemistry {

/// A pair of sites: one Gaussian charge distribution of exponent p at P.
struct Pair {
  std::uint32_t site_a, site_b;  ///< numbers within their centres
  unsigned l;                    ///< total angular momentum
  std::size_t hermite;           ///< index of the first value in arrays of Hermite coefficients
  std::size_t matrix;            ///< index of the first value among the stored matrices
  double p;
  Point centre;
  /// Largest sqrt((ab|ab)) of the products of its functions, of these primitives alone.
  double bound;
};

/// The pairs of two centres: consecutive in the list.
struct CentrePair {
  std::uint32_t a, b;  ///< a >= b
  std::size_t begin, end;
};

/// The pairs of all sites with a >= b. Pairs whose charge is below the range that any density could
/// lift above rounding are absent (overlap factor below 1e-26).
class PairList {
 public:
  /// `threads`: limit of host threads; 0: OpenMP's choice.
  explicit PairList(std::span<const Shell> shells, unsigned threads = 0);

  std::span<const Pair> pairs() const { return pairs_; }
  std::size_t functions() const { return functions_; }
  /// Total number of Hermite coefficients.
  std::size_t coefficients() const { return coefficients_; }
  /// Largest number of pairs that contribute to one product of two functions.
  std::size_t largest_contraction() const { return contraction_; }

  /// The charge of a density (n x n) in Hermite Gaussians of all pairs.
  std::vector<double> hermite_density(const double* density) const;
  /// Sets the coefficients of the pairs of two centres only, in an array of those of all pairs.
  void set_hermite_density(const CentrePair& c, const double* density, double* hermite) const;
  /// The centres of two functions.
  const CentrePair& centres_of(std::size_t f, std::size_t g) const {
    const auto [b, a] = std::minmax(centre_of_[f], centre_of_[g]);
    return centre_pairs_[std::size_t{a} * (a + 1) / 2 + b];
  }
  /// The matrix of potentials given at all pairs.
  void contract(std::span<const double> potential, double* matrix) const;

 private:
  const Site& site_a(const CentrePair& c, const Pair& p) const {
    return centres_[c.a].sites[p.site_a];
  }
  const Site& site_b(const CentrePair& c, const Pair& p) const {
    return centres_[c.b].sites[p.site_b];
  }
  Expansion expansion(const CentrePair& c, const Pair& p) const {
    return {centres_[c.a].position, site_a(c, p), centres_[c.b].position, site_b(c, p)};
  }
  /// Calls `work` for all pairs of centres, concurrently.
  void for_centre_pairs(const std::function<void(const CentrePair&)>& work) const;
  /// Number of doubles of a pair's matrix: functions of a x functions of b x Hermite coefficients,
  /// the Hermite coefficients of each product of two functions.
  std::size_t matrix_size(const CentrePair& c, const Pair& p) const {
    return site_a(c, p).functions.size() * site_b(c, p).functions.size() * hermite_count(p.l);
  }
  void compute_matrix(const CentrePair& c, const Pair& pair, double* matrix) const;
  /// The matrix of a pair: stored, or computed in `scratch`.
  const double* matrix_of(const CentrePair& c, const Pair& pair,
                          std::vector<double>& scratch) const;
  /// Stores the matrices if they are small, and sets the bounds of all pairs.
  void make_matrices();

  std::vector<Centre> centres_;
  std::vector<std::uint32_t> centre_of_;  ///< centre of each function
  std::vector<CentrePair> centre_pairs_;
  std::vector<Pair> pairs_;
  std::vector<double> matrices_;  ///< matrices of all pairs, or empty
  unsigned threads_;
  std::size_t functions_ = 0, coefficients_ = 0, contraction_ = 1;
};

}  // namespace gdr::chemistry
