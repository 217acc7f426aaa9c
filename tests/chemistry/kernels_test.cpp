// The generated kernels, compared with derivatives in double on the host.
#include <cmath>
#include <random>
#include <string>

#include "gdr/device.hpp"
#include "libgdr/chemistry/derivatives.hpp"
#include "libgdr/chemistry/field.hpp"
#include "libgdr/chemistry/range_separation.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::chemistry;

namespace {

struct Class {
  unsigned li, lj;
};
/// Each order on both sides; 35 results are computed by two kernels.
constexpr Class classes[] = {{0, 0}, {1, 1}, {0, 4}, {4, 0}, {2, 3}, {3, 2}, {4, 4}};

/// A charge distribution with random Hermite coefficients.
struct Charge {
  Point centre;
  double exponent;
  std::vector<double> hermite;
  double magnitude;

  Charge(unsigned l, std::mt19937& random) {
    std::uniform_real_distribution<double> unit(-1, 1);
    for (double& x : centre) x = 1.5 * unit(random);
    exponent = std::pow(10, unit(random));
    for (const Order& o : hermite_orders()) {
      if (o[0] + o[1] + o[2] > l) break;
      hermite.push_back(unit(random) * std::pow(exponent, -0.5 * (o[0] + o[1] + o[2])));
    }
    magnitude = std::sqrt(self_interaction(l, exponent, hermite.data()));
  }

  /// The charge whose Coulomb potential is the potential of this one in the long range of `omega`.
  void convolve(unsigned l, double omega) {
    const Substitute wide = substitutes(exponent, omega).front();
    for (double& c : hermite) c *= wide.factor;
    exponent = wide.exponent;
    magnitude = std::sqrt(self_interaction(l, exponent, hermite.data()));
  }
};

/// The interaction energy, by derivatives on the host.
double energy(unsigned li, const Charge& bra, unsigned lj, const Charge& ket) {
  const Point x = {bra.centre[0] - ket.centre[0], bra.centre[1] - ket.centre[1],
                   bra.centre[2] - ket.centre[2]};
  double r[hermite_count(max_total)];
  const double p = bra.exponent, q = ket.exponent;
  derivatives(li + lj, p * q / (p + q), x, r);
  double sum = 0;
  for (std::size_t i = 0; i < hermite_count(li); ++i) {
    for (std::size_t j = 0; j < hermite_count(lj); ++j) {
      const Order &a = hermite_orders()[i], &b = hermite_orders()[j];
      const double sign = (b[0] + b[1] + b[2]) % 2 == 1 ? -1 : 1;
      sum += sign * bra.hermite[i] * ket.hermite[j] *
             r[hermite_index(a[0] + b[0], a[1] + b[1], a[2] + b[2])];
    }
  }
  return sum * interaction_factor(p, q);
}

/// Largest error of an interaction relative to its Cauchy-Schwarz bound; of a long-range one for an
/// omega above 0.
double worst_error(Device& device, const Class& c, Accuracy accuracy, double omega = 0) {
  std::mt19937 random(5);
  double worst = 0;
  for (int repeat = 0; repeat < 4; ++repeat) {
    Charge ket(c.lj, random);
    if (omega > 0) ket.convolve(c.lj, omega);
    std::vector<Charge> bras;
    TargetLists targets;
    for (int k = 0; k < 20; ++k) {
      const Charge& bra = bras.emplace_back(c.li, random);
      targets[c.li].centre.push_back(bra.centre);
      targets[c.li].exponent.push_back(bra.exponent);
    }
    SourceLists sources;
    sources[c.lj] = {{ket.centre}, {ket.exponent}, ket.hermite, {}};
    double allowed = 0;
    if (accuracy == Accuracy::Short) {
      // Bounds such that no interaction is negligible, and all are small enough for shorts.
      sources[c.lj].magnitude = {1};
      targets[c.li].bound.assign(bras.size(), 1);
      allowed = 5;
    }
    Field field(device, 0);
    field.evaluate(sources, targets, allowed);
    REQUIRE(field.interactions() == bras.size());
    REQUIRE(field.short_interactions() == (accuracy == Accuracy::Short ? bras.size() : 0));
    for (std::size_t k = 0; k < bras.size(); ++k) {
      double made = 0;
      for (std::size_t i = 0; i < hermite_count(c.li); ++i)
        made += bras[k].hermite[i] * targets[c.li].potential[k * hermite_count(c.li) + i];
      const double error = made - energy(c.li, bras[k], c.lj, ket);
      worst = std::max(worst, std::abs(error) / (bras[k].magnitude * ket.magnitude));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("kernels in longs are accurate on native and exact engines", "[chemistry]") {
  for (const std::string engine : {"native", "vector"}) {
    Device device = Device::open("emulator:engine=" + engine + ",chips=1,blocks=2,pes=4");
    for (const Class& c : classes) {
      INFO(engine << ", orders " << c.li << " and " << c.lj);
      CHECK(worst_error(device, c, Accuracy::Long) < 1e-12);
    }
  }
}

TEST_CASE("errors of kernels in shorts are below the bound that the screening assumes",
          "[chemistry]") {
  Device device = Device::open("emulator:engine=vector,chips=1,blocks=2,pes=4");
  for (const Class& c : classes) {
    INFO("orders " << c.li << " and " << c.lj);
    const double error = worst_error(device, c, Accuracy::Short);
    CHECK(error < 0x1p-16);
    CHECK(error > 1e-10);
    CHECK(worst_error(device, c, Accuracy::Short, 0.3) < 0x1p-16);
    CHECK(worst_error(device, c, Accuracy::Long, 0.01) < 1e-12);
  }
}
