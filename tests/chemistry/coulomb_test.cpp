// Coulomb matrices, potentials and integrals on a device, compared with published values and with
// the reference in plain double.
#include <complex>
#include <string>

#include "chemistry/molecules.hpp"
#include "gdr/device.hpp"
#include "libgdr/chemistry/overlap.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"

using namespace gdr;
using namespace gdr::test;
using chemistry::Coulomb;
using chemistry::Shell;

namespace {

std::vector<double> matrix_on(const std::string& device_name, const std::vector<Shell>& shells,
                              const std::vector<double>& density, double threshold = 1e-10) {
  Device device = Device::open(device_name);
  Coulomb coulomb(device, shells, {threshold});
  std::vector<double> made(density.size());
  coulomb.matrix(density.data(), made.data());
  return made;
}

std::vector<double> reference(const std::vector<Shell>& shells,
                              const std::vector<double>& density) {
  std::vector<double> made(density.size());
  chemistry::coulomb_reference(shells, density.data(), made.data());
  return made;
}

/// A chip with few blocks, so that exact engines are fast.
const std::string small = ",chips=1,blocks=2,pes=4";

/// The elements 00, 10 and 11 of a symmetric matrix of two functions.
using TwoFunctions = std::array<double, 3>;
/// The two-electron integrals (ab|cd) of two functions.
struct Integrals {
  std::array<TwoFunctions, 3> of;  ///< by ab and cd
};
Integrals integrals_of(Coulomb& coulomb) {
  Integrals made;
  const std::size_t pairs[3][2] = {{0, 0}, {1, 0}, {1, 1}};
  for (std::size_t cd = 0; cd < 3; ++cd) {
    double all[4];  // (ab|cd) of a, b
    coulomb.integrals(pairs[cd][0], pairs[cd][1], all);
    for (std::size_t ab = 0; ab < 3; ++ab) made.of[ab][cd] = all[2 * pairs[ab][0] + pairs[ab][1]];
  }
  return made;
}

/// The electronic energy of two electrons in two functions, by iteration from an empty density
/// matrix. Arguments: overlap of the normalised functions, core Hamiltonian.
double self_consistent_energy(const Integrals& two, double overlap, const TwoFunctions& core) {
  TwoFunctions density{}, fock{};
  double energy = 0;
  for (int iteration = 0; iteration < 40; ++iteration) {
    // Coulomb matrix, less half of the exchange matrix K_ab = sum over c, d of (ac|bd) P_cd.
    const auto& g = two.of;
    for (std::size_t ab = 0; ab < 3; ++ab)
      fock[ab] =
          core[ab] + g[ab][0] * density[0] + 2 * g[ab][1] * density[1] + g[ab][2] * density[2];
    fock[0] -= (g[0][0] * density[0] + 2 * g[0][1] * density[1] + g[1][1] * density[2]) / 2;
    fock[1] -= (g[0][1] * density[0] + (g[0][2] + g[1][1]) * density[1] + g[1][2] * density[2]) / 2;
    fock[2] -= (g[1][1] * density[0] + 2 * g[1][2] * density[1] + g[2][2] * density[2]) / 2;
    energy = 0;
    for (std::size_t ab = 0; ab < 3; ++ab)
      energy += (ab == 1 ? 1 : 0.5) * density[ab] * (core[ab] + fock[ab]);
    // The lowest root of det(F - E S) = 0 and its vector.
    const double a = 1 - overlap * overlap, b = 2 * fock[1] * overlap - fock[0] - fock[2];
    const double c = fock[0] * fock[2] - fock[1] * fock[1];
    const double root = (-b - std::sqrt(b * b - 4 * a * c)) / (2 * a);
    const double x = fock[1] - root * overlap, y = root - fock[0];
    const double norm = x * x + 2 * x * y * overlap + y * y;
    density = {2 * x * x / norm, 2 * x * y / norm, 2 * y * y / norm};
  }
  return energy;
}

}  // namespace

TEST_CASE("two-electron integrals of H2 are those of Szabo and Ostlund", "[chemistry]") {
  // Modern Quantum Chemistry, 3.5.2; more digits: this project's notes and libcint.
  const auto shells = hydrogen();
  for (const std::string engine : {"native", "vector", "reference"}) {
    INFO(engine);
    Device device = Device::open("emulator:engine=" + engine + small);
    Coulomb coulomb(device, shells, {});
    REQUIRE(coulomb.functions() == 2);
    double same[4], other[4];  // (ab|00) and (ab|10)
    coulomb.integrals(0, 0, same);
    coulomb.integrals(1, 0, other);
    CHECK(std::abs(same[0] - 0.7746059439) < 1e-9);
    CHECK(std::abs(same[3] - 0.5696759256) < 1e-9);
    CHECK(std::abs(same[2] - 0.4441076580) < 1e-9);
    CHECK(std::abs(other[2] - 0.2970285403) < 1e-9);
  }
}

TEST_CASE("HeH+ has the energy and the two-electron integrals of Szabo and Ostlund",
          "[chemistry]") {
  // Modern Quantum Chemistry, 3.5.3 and appendix B; their functions are normalised to six digits.
  const double published[3][3] = {{1.307152, 0.437279, 0.605703},
                                  {0.437279, 0.177267, 0.311795},
                                  {0.605703, 0.311795, 0.774608}};
  for (const std::string engine : {"native", "vector", "reference"}) {
    INFO(engine);
    Device device = Device::open("emulator:engine=" + engine + small);
    Coulomb coulomb(device, helium_hydride(), {});
    const Integrals two = integrals_of(coulomb);
    for (std::size_t ab = 0; ab < 3; ++ab)
      for (std::size_t cd = 0; cd < 3; ++cd)
        CHECK(std::abs(two.of[ab][cd] - published[ab][cd]) < 1e-5);
    const double energy = self_consistent_energy(two, 0.450770, {-2.652745, -1.347205, -1.731828});
    CHECK(std::abs(energy + 2 / 1.4632 - -2.860662) < 1e-5);
  }
}

TEST_CASE("the reference has the integrals of H2, too", "[chemistry]") {
  const auto shells = hydrogen();
  const auto coulomb = reference(shells, {1, 0, 0, 0});
  CHECK(std::abs(coulomb[0] - 0.7746059439) < 1e-9);
  CHECK(std::abs(coulomb[3] - 0.5696759256) < 1e-9);
  CHECK(std::abs(coulomb[1] - 0.4441076580) < 1e-9);
}

TEST_CASE("Coulomb matrices of s, p and d shells equal the reference", "[chemistry]") {
  for (const bool spherical : {true, false}) {
    const auto shells = various_shells(spherical);
    const auto density = random_density(chemistry::function_count(shells));
    const auto expected = reference(shells, density);
    CHECK(distance(matrix_on("emulator:engine=native", shells, density), expected) < 1e-11);
  }
}

TEST_CASE("exact engines compute the Coulomb matrix of a d shell", "[chemistry]") {
  const std::vector<Shell> shells{{{0, 0, 0}, 0, true, {1.1}, {1.0}},
                                  {{0.3, -0.5, 0.8}, 2, true, {0.7}, {1.2}}};
  const auto density = random_density(chemistry::function_count(shells));
  const auto expected = reference(shells, density);
  const auto vector = matrix_on("emulator:engine=vector" + small, shells, density);
  CHECK(distance(vector, expected) < 1e-12);
  CHECK(matrix_on("emulator:engine=reference" + small, shells, density) == vector);
}

TEST_CASE("neglected interactions change the Coulomb matrix by less than the threshold",
          "[chemistry]") {
  const auto shells = various_shells(true, 5);
  const auto density = random_density(chemistry::function_count(shells));
  Device device = Device::open("emulator:engine=native");
  std::vector<double> exact(density.size()), made(density.size());
  Coulomb all(device, shells, {0});
  all.matrix(density.data(), exact.data());
  std::size_t interactions = all.work().interactions;
  double change = 0;
  for (const double threshold : {1e-6, 1e-3, 1.0, 30.0}) {
    INFO(threshold);
    Coulomb some(device, shells, {threshold});
    some.matrix(density.data(), made.data());
    CHECK(some.work().interactions <= interactions);
    interactions = some.work().interactions;
    change = distance(made, exact);
    CHECK(change <= threshold);
  }
  CHECK(interactions < all.work().interactions);
  CHECK(change > 1e-6);
}

TEST_CASE("Coulomb matrices have the same bits for any threads and boards", "[chemistry]") {
  const auto shells = various_shells(true, 3);
  const auto density = random_density(chemistry::function_count(shells));
  const auto one = matrix_on("emulator:engine=native,threads=1", shells, density);
  for (const std::string options : {"threads=2", "threads=3,boards=2", "boards=3"})
    CHECK(matrix_on("emulator:engine=native," + options, shells, density) == one);
}

TEST_CASE("a second Coulomb matrix compiles nothing", "[chemistry]") {
  const auto shells = various_shells(true);
  const auto density = random_density(chemistry::function_count(shells));
  std::vector<double> made(density.size());
  Device device = Device::open("emulator:engine=native");
  Coulomb coulomb(device, shells, {0});
  coulomb.matrix(density.data(), made.data());
  const double compiled = device.statistics().compile_seconds;
  coulomb.matrix(density.data(), made.data());
  Coulomb(device, shells, {0}).matrix(density.data(), made.data());
  CHECK(compiled > 0);
  CHECK(std::abs(device.statistics().compile_seconds - compiled) < 1e-6 * compiled);
}

TEST_CASE("Coulomb matrices of two bases on one device alternate without a change of bits",
          "[chemistry]") {
  Device device = Device::open("emulator:engine=native");
  const auto one = various_shells(true), other = various_shells(false, 3);
  const auto d = random_density(chemistry::function_count(one));
  const auto e = random_density(chemistry::function_count(other));
  Coulomb first(device, one, {}), second(device, other, {});
  std::vector<double> points{1, 2, 3, -1, 0.5, 0}, values(2), again(2);
  std::vector<double> j(d.size()), k(e.size());
  for (int repeat = 0; repeat < 3; ++repeat) {
    first.matrix(d.data(), j.data());
    second.matrix(e.data(), k.data());
    first.potential(d.data(), 2, points.data(), values.data());
    CHECK(j == matrix_on("emulator:engine=native", one, d));
    CHECK(k == matrix_on("emulator:engine=native", other, e));
    // Targets at other places of the same memory are not taken for the earlier ones.
    points[3] += 0.25;
    Device fresh = Device::open("emulator:engine=native");
    first.potential(d.data(), 2, points.data(), values.data());
    Coulomb(fresh, one, {}).potential(d.data(), 2, points.data(), again.data());
    CHECK(values == again);
  }
}

TEST_CASE("integrals of two shells are Coulomb matrices of their products", "[chemistry]") {
  const auto shells = various_shells(true);
  const std::size_t n = chemistry::function_count(shells);
  Device device = Device::open("emulator:engine=native");
  Coulomb coulomb(device, shells, {});
  struct Pair {
    std::size_t c, d, c_first, c_count, d_first, d_count;
  };
  // Shells have 2 s, 3 p and 5 d functions on each centre: the same shell, two of one centre, two
  // of different centres in both orders.
  for (const Pair& p : {Pair{1, 1, 2, 3, 2, 3}, Pair{1, 2, 2, 3, 5, 5}, Pair{4, 0, 12, 3, 0, 2},
                        Pair{0, 4, 0, 2, 12, 3}, Pair{3, 3, 10, 2, 10, 2}}) {
    std::vector<double> made(p.c_count * p.d_count * n * n);
    coulomb.integrals(p.c, p.d, made.data());
    for (std::size_t c = 0; c < p.c_count; ++c) {
      for (std::size_t d = 0; d < p.d_count; ++d) {
        INFO("shells " << p.c << " and " << p.d << ", functions " << c << " and " << d);
        std::vector<double> density(n * n, 0.0);
        density[(p.c_first + c) * n + p.d_first + d] = 1;
        const double* const block = made.data() + (c * p.d_count + d) * n * n;
        CHECK(distance({block, block + n * n}, reference(shells, density)) < 1e-11);
      }
    }
  }
}

TEST_CASE("the energy of nuclei in a potential equals that of a charge in their potential",
          "[chemistry]") {
  const auto shells = various_shells(true, 3);
  const std::size_t n = chemistry::function_count(shells);
  const auto density = random_density(n);
  const std::vector<double> positions{0.1, 0.2, 0.3, -1, 2, 0.5, 3, 1, -2};
  const std::vector<double> charges{1, 6, 2.5};
  Device device = Device::open("emulator:engine=native");
  Coulomb coulomb(device, shells, {});
  std::vector<double> potential(3), attraction(n * n);
  coulomb.potential(density.data(), 3, positions.data(), potential.data());
  coulomb.nuclear_attraction(3, positions.data(), charges.data(), attraction.data());
  double by_potential = 0, by_attraction = 0;
  for (std::size_t k = 0; k < 3; ++k) by_potential -= charges[k] * potential[k];
  for (std::size_t k = 0; k < n * n; ++k) by_attraction += density[k] * attraction[k];
  CHECK(std::abs(by_potential - by_attraction) < 1e-11 * std::abs(by_potential) + 1e-11);
}

TEST_CASE("the potential of a Gaussian charge is that of electrostatics", "[chemistry]") {
  // A normalised s function: its density is (2 a/pi)^(3/2) exp(-2 a r^2), of charge 1, whose
  // potential is erf(sqrt(2 a) r)/r.
  const double a = 0.8;
  const std::vector<Shell> shells{{{0.5, 0, 0}, 0, true, {a}, {chemistry::radial_norm(0, a)}}};
  Device device = Device::open("emulator:engine=native");
  Coulomb coulomb(device, shells, {});
  const double density = 1;
  for (const double r : {0.01, 0.7, 3.0, 40.0}) {
    const double point[3] = {0.5, r, 0};
    double value = 0;
    coulomb.potential(&density, 1, point, &value);
    CHECK(std::abs(value * r / std::erf(std::sqrt(2 * a) * r) - 1) < 1e-13);
  }
}

TEST_CASE("range-separated integrals of s functions equal their quadrature", "[chemistry]") {
  // erf(omega r)/r = 2/sqrt(pi) times the integral of exp(-r^2 t^2) over 0 <= t <= omega, and the
  // mean of exp(-r^2 t^2) over two normalised s functions' charges is
  // (alpha/(alpha + t^2))^(3/2) exp(-alpha t^2/(alpha + t^2) R^2); Simpson's rule with 40000 steps.
  const double a = 0.8, b = 1.7, distance = 1.3;
  const std::vector<Shell> shells{{{0, 0, 0}, 0, true, {a}, {chemistry::radial_norm(0, a)}},
                                  {{0, 0, distance}, 0, true, {b}, {chemistry::radial_norm(0, b)}}};
  const double alpha = 2 * a * 2 * b / (2 * a + 2 * b);
  const auto long_range = [&](double omega) {
    const int steps = 40000;
    double sum = 0;
    for (int k = 0; k <= steps; ++k) {
      const double t = omega * k / steps, share = alpha / (alpha + t * t);
      const double weight = k == 0 || k == steps ? 1 : k % 2 == 1 ? 4 : 2;
      sum += weight * share * std::sqrt(share) * std::exp(-share * t * t * distance * distance);
    }
    return 2 / std::sqrt(M_PI) * omega * sum / (3 * steps);
  };
  const double full = std::erf(std::sqrt(alpha) * distance) / distance;
  for (const std::string engine : {"native", "vector"}) {
    Device device = Device::open("emulator:engine=" + engine + small);
    for (const double omega : {1e-3, 0.3, 1.0, 20.0}) {
      INFO(engine << ", omega = " << omega);
      const double expected = long_range(omega);
      double values[4];
      Coulomb(device, shells, {.omega = omega}).integrals(1, 1, values);
      CHECK(std::abs(values[0] - expected) < 1e-12);
      Coulomb(device, shells, {.omega = -omega}).integrals(1, 1, values);
      CHECK(std::abs(values[0] - (full - expected)) < 1e-12);
    }
  }
}

TEST_CASE("range-separated Coulomb matrices of s, p and d shells equal the reference",
          "[chemistry]") {
  const auto shells = various_shells(true);
  const auto density = random_density(chemistry::function_count(shells));
  Device device = Device::open("emulator:engine=native");
  const auto on_device = [&](double omega) {
    std::vector<double> made(density.size());
    Coulomb(device, shells, {.omega = omega}).matrix(density.data(), made.data());
    return made;
  };
  const auto full = on_device(0);
  const std::vector<double> none(density.size(), 0.0);
  for (const double omega : {1e-30, 1e-3, 0.3, 4.0, 1e5, 1e30, -1e-30, -0.3, -4.0, -1e30}) {
    INFO("omega = " << omega);
    std::vector<double> expected(density.size());
    chemistry::coulomb_reference(shells, density.data(), expected.data(), omega);
    CHECK(distance(on_device(omega), expected) < 1e-10);
  }
  CHECK(distance(on_device(1e30), full) < 1e-12);
  CHECK(distance(on_device(-1e-30), full) < 1e-12);
  CHECK(distance(on_device(1e-30), none) < 1e-20);
  CHECK(distance(on_device(-1e30), none) < 1e-10);
  CHECK(on_device(-0.0) == full);
}

TEST_CASE("neglected interactions change a range-separated matrix by less than the threshold",
          "[chemistry]") {
  const auto shells = various_shells(true, 5);
  const auto density = random_density(chemistry::function_count(shells));
  Device device = Device::open("emulator:engine=native");
  std::vector<double> exact(density.size()), made(density.size());
  for (const double omega : {0.4, -0.4}) {
    Coulomb all(device, shells, {.threshold = 0, .omega = omega});
    all.matrix(density.data(), exact.data());
    for (const double threshold : {1e-6, 1e-3, 1.0}) {
      INFO("omega = " << omega << ", threshold " << threshold);
      Coulomb some(device, shells, {.threshold = threshold, .omega = omega});
      some.matrix(density.data(), made.data());
      CHECK(some.work().interactions < all.work().interactions);
      CHECK(distance(made, exact) <= threshold);
    }
  }
}

TEST_CASE("attraction by nuclei and potentials do not depend on omega", "[chemistry]") {
  const auto shells = various_shells(true);
  const std::size_t n = chemistry::function_count(shells);
  const auto density = random_density(n);
  const std::vector<double> places{0.1, 0.2, 0.3, -1, 2, 0.5}, charges{1, 6};
  Device device = Device::open("emulator:engine=native");
  std::vector<std::vector<double>> made;
  for (const double omega : {0.0, 0.3, -0.3}) {
    Coulomb coulomb(device, shells, {.omega = omega});
    std::vector<double> values(2 + n * n);
    coulomb.potential(density.data(), 2, places.data(), values.data());
    coulomb.nuclear_attraction(2, places.data(), charges.data(), values.data() + 2);
    made.push_back(values);
  }
  CHECK(made[1] == made[0]);
  CHECK(made[2] == made[0]);
}

TEST_CASE("a range separation that is not a number or out of range is rejected", "[chemistry]") {
  const std::vector<Shell> shells{{{0, 0, 0}, 0, true, {1.0}, {1.0}}};
  Device device = Device::open("emulator:engine=native");
  double value = 1;
  for (const double omega : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e-40, -1e40}) {
    expect_error(ErrorCategory::Input, {"omega is"},
                 [&] { Coulomb(device, shells, {.omega = omega}); });
    expect_error(ErrorCategory::Input, {"omega is"},
                 [&] { chemistry::coulomb_reference(shells, &value, &value, omega); });
  }
}

TEST_CASE("unsupported and malformed shells are rejected by number", "[chemistry]") {
  Device device = Device::open("exact");
  const Shell good{{0, 0, 0}, 0, true, {1.0}, {1.0}};
  const auto rejected = [&](const Shell& bad, ErrorCategory category, const std::string& word) {
    const std::vector<Shell> shells{good, bad};
    expect_error(category, {"shell 1", word}, [&] { Coulomb(device, shells, {}); });
  };
  rejected({{0, 0, 0}, 3, true, {1.0}, {1.0}}, ErrorCategory::Unsupported, "s, p and d");
  rejected({{0, 0, 0}, 3, true, {1.0}, {1.0}}, ErrorCategory::Unsupported, "f shells");
  rejected({{0, 0, 0}, 5, true, {1.0}, {1.0}}, ErrorCategory::Unsupported, "h shells");
  rejected({{0, 0, 0}, 99, true, {1.0}, {1.0}}, ErrorCategory::Unsupported, "momentum 99");
  rejected({{0, 0, 0}, 1, true, {}, {}}, ErrorCategory::Input, "no primitives");
  rejected({{0, 0, 0}, 1, true, {1.0, 2.0}, {1.0}}, ErrorCategory::Input, "multiple");
  rejected({{0, 0, 0}, 1, true, {-1.0}, {1.0}}, ErrorCategory::Input, "exponent");
  Coulomb coulomb(device, std::vector<Shell>{good}, {});
  const double infinite = HUGE_VAL;
  double out = 0;
  expect_error(ErrorCategory::Input, {"density", "finite"},
               [&] { coulomb.matrix(&infinite, &out); });
  expect_error(ErrorCategory::Usage, {"no shell 1"}, [&] { coulomb.integrals(0, 1, &out); });
}

TEST_CASE("a linearly dependent basis is rejected with the eigenvalue and the supported range",
          "[chemistry]") {
  Device device = Device::open("emulator:engine=native");
  const auto helium = [](double z) {
    return std::vector<Shell>{{{0, 0, 0}, 0, true, {2.0, 0.5}, {1.2, 0.4}},
                              {{0, 0, z}, 0, true, {2.0, 0.5}, {1.2, 0.4}}};
  };
  const auto make = [&](const std::vector<Shell>& shells, double least) {
    return Coulomb(device, shells, {.least_overlap = least});
  };
  expect_error(ErrorCategory::Unsupported,
               {"linearly dependent", "smallest eigenvalue", "from 1e-08 on are supported"},
               [&] { Coulomb(device, helium(1e-6), {}); });
  expect_error(ErrorCategory::Unsupported, {"linearly dependent", "zero within rounding"},
               [&] { Coulomb(device, helium(0), {}); });
  CHECK(make(helium(0), 0).functions() == 2);
  CHECK(make(helium(0.1), 1e-8).functions() == 2);
  const Shell zero{{1, 0, 0}, 0, true, {1.0}, {0.0}};
  expect_error(ErrorCategory::Input, {"function 0", "zero"},
               [&] { Coulomb(device, std::vector<Shell>{zero}, {}); });
}

TEST_CASE("the smallest eigenvalue of a matrix of two overlaps is one minus the overlap",
          "[chemistry]") {
  for (const double gap : {1e-2, 1e-6, 1e-10}) {
    const double found = chemistry::min_eigenvalue(2, {1, 1 - gap, 1 - gap, 1});
    CHECK(std::abs(found / gap - 1) < 1e-3);
  }
  CHECK(chemistry::min_eigenvalue(2, {1, 1, 1, 1}) == 0);
}

TEST_CASE("a linear chain of s functions has the smallest overlap eigenvalue of its dispersion",
          "[chemistry]") {
  // Equal Gaussians at distance h have the overlaps exp(-a h^2 k^2/2); those of a long chain have
  // eigenvalues 1 + 2 sum over k of the overlaps (-1)^k at least.
  const double a = 0.5, h = 1.2;
  double least = 1;
  for (int k = 1; k < 20; ++k) least += (k % 2 == 1 ? -2 : 2) * std::exp(-a * h * h * k * k / 2);
  std::vector<Shell> shells;
  for (int k = 0; k < 60; ++k)
    shells.push_back({{0, 0, k * h}, 0, true, {a}, {chemistry::radial_norm(0, a)}});
  const chemistry::PairList list(shells);
  const double found = chemistry::min_eigenvalue(60, chemistry::overlap_matrix(list));
  CHECK(std::abs(found / least - 1) < 0.05);
}

// A complex density is refused by the compiler.
template <typename Scalar>
concept accepts = requires(Coulomb& c, const Scalar* density, double* out) {
  c.matrix(density, out);
};
static_assert(accepts<double> && !accepts<std::complex<double>>);
