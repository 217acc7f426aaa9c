// The Coulomb matrix in plain double, without screening.
#include <cmath>
#include <vector>

#include "gdr/chemistry.hpp"
#include "libgdr/chemistry/derivatives.hpp"
#include "libgdr/chemistry/pairs.hpp"
#include "libgdr/chemistry/range_separation.hpp"

namespace gdr::chemistry {
namespace {

/// Adds the interactions of a bra with the charge of a ket: the Coulomb interaction, or for an
/// omega > 0 the long-range one, whose reduced exponent is alpha omega^2/(alpha + omega^2).
void add_potential(const Pair& bra, const Pair& ket, const double* charge, double omega,
                   double weight, double* potential) {
  const std::vector<Order>& orders = hermite_orders();
  const Point x = {bra.centre[0] - ket.centre[0], bra.centre[1] - ket.centre[1],
                   bra.centre[2] - ket.centre[2]};
  const double alpha = bra.p * ket.p / (bra.p + ket.p);
  const double share = omega == 0 ? 1 : 1 / (1 + alpha / (omega * omega));
  double r[hermite_count(max_total)];
  derivatives(bra.l + ket.l, alpha * share, x, r);
  const double factor = weight * interaction_factor(bra.p, ket.p) * std::sqrt(share);
  for (std::size_t i = 0; i < hermite_count(bra.l); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < hermite_count(ket.l); ++j) {
      const Order &a = orders[i], &b = orders[j];
      const double term = charge[j] * r[hermite_index(a[0] + b[0], a[1] + b[1], a[2] + b[2])];
      sum += (b[0] + b[1] + b[2]) % 2 == 1 ? -term : term;
    }
    potential[i] += factor * sum;
  }
}

}  // namespace

void coulomb_reference(std::span<const Shell> shells, Numbers<const double> density_matrix,
                       Numbers<double> coulomb_matrix, double omega) {
  check_omega(omega);
  const PairList list(shells);
  const std::size_t elements = list.functions() * list.functions();
  const double* const density = density_matrix.need(elements, "density");
  double* const coulomb = coulomb_matrix.need(elements, "coulomb");
  const std::vector<double> charge = list.hermite_density(density);
  std::vector<double> potential(list.coefficients(), 0.0);
  for (const Pair& bra : list.pairs()) {
    for (const Pair& ket : list.pairs()) {
      const double* const source = charge.data() + ket.hermite;
      double* const values = potential.data() + bra.hermite;
      if (omega <= 0) add_potential(bra, ket, source, 0, 1, values);
      if (omega != 0) add_potential(bra, ket, source, std::abs(omega), omega < 0 ? -1 : 1, values);
    }
  }
  list.contract(potential, coulomb);
}

}  // namespace gdr::chemistry
