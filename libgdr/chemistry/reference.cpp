// The Coulomb matrix in plain double, without screening.
#include <vector>

#include "gdr/chemistry.hpp"
#include "libgdr/chemistry/derivatives.hpp"
#include "libgdr/chemistry/pairs.hpp"

namespace gdr::chemistry {

void coulomb_reference(std::span<const Shell> shells, Numbers<const double> density_matrix,
                       Numbers<double> coulomb_matrix) {
  const PairList list(shells);
  const std::size_t elements = list.functions() * list.functions();
  const double* const density = density_matrix.need(elements, "density");
  double* const coulomb = coulomb_matrix.need(elements, "coulomb");
  const std::vector<Order>& orders = hermite_orders();
  const std::vector<double> charge = list.hermite_density(density);
  std::vector<double> potential(list.coefficients(), 0.0);
  for (const Pair& bra : list.pairs()) {
    for (const Pair& ket : list.pairs()) {
      const Point x = {bra.centre[0] - ket.centre[0], bra.centre[1] - ket.centre[1],
                       bra.centre[2] - ket.centre[2]};
      double r[hermite_count(max_total)];
      derivatives(bra.l + ket.l, bra.p * ket.p / (bra.p + ket.p), x, r);
      const double factor = interaction_factor(bra.p, ket.p);
      for (std::size_t i = 0; i < hermite_count(bra.l); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < hermite_count(ket.l); ++j) {
          const Order &a = orders[i], &b = orders[j];
          const double term =
              charge[ket.hermite + j] * r[hermite_index(a[0] + b[0], a[1] + b[1], a[2] + b[2])];
          sum += (b[0] + b[1] + b[2]) % 2 == 1 ? -term : term;
        }
        potential[bra.hermite + i] += factor * sum;
      }
    }
  }
  list.contract(potential, coulomb);
}

}  // namespace gdr::chemistry
