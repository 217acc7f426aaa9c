// Ewald sums: constants of crystals, and a plain Ewald sum in long doubles.
#include "gdr/ewald.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "support/catch.hpp"

namespace {

struct Charges {
  std::vector<double> pos, charge;
  gdr::PeriodicBox box;

  void add(double x, double y, double z, double q) {
    pos.insert(pos.end(), {x, y, z});
    charge.push_back(q);
  }
};

struct Computed {
  gdr::EwaldResult total;
  std::vector<double> force, energy;
};

Computed ewald_of(gdr::Ewald& ewald, const Charges& c, const gdr::EwaldOptions& options = {}) {
  Computed out{{}, std::vector<double>(c.pos.size()), std::vector<double>(c.charge.size())};
  out.total = ewald.run({.pos = c.pos,
                         .charge = c.charge,
                         .box = c.box,
                         .options = options,
                         .force = out.force,
                         .energy = out.energy});
  return out;
}

Computed ewald_of(const Charges& c, const gdr::EwaldOptions& options = {},
                  const char* device = "emulator:engine=native") {
  gdr::Device opened = gdr::Device::open(device);
  gdr::Ewald ewald(opened);
  return ewald_of(ewald, c, options);
}

std::string ewald_error(const Charges& c, const gdr::EwaldOptions& options = {}) {
  try {
    ewald_of(c, options);
  } catch (const gdr::Error& e) {
    return e.what();
  }
  return {};
}

void ewald_error_has(const std::string& error, const char* part) {
  CAPTURE(error);
  CHECK(error.find(part) != std::string::npos);
}

using LongDouble = long double;

/// The oracle: E = 1/2 sum q_i q_j [erfc(alpha r) / r + 4 pi / V sum exp(-k^2 / 4 alpha^2) / k^2
/// cos(k (x_i - x_j))] and its constants, over so many images and waves that more change nothing.
struct Plain {
  LongDouble energy = 0;
  std::vector<LongDouble> energies, force;
  std::array<LongDouble, 9> virial{};
};

constexpr LongDouble pi_long = std::numbers::pi_v<LongDouble>;

using LongVector = std::array<LongDouble, 3>;

LongDouble dot_of(const LongVector& a, const LongVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
LongVector cross_of(const LongVector& a, const LongVector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Plain plain_ewald(const Charges& c, LongDouble alpha, int images, int waves) {
  std::array<LongVector, 3> h, dual;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t x = 0; x < 3; ++x) h[a][x] = c.box.vectors[a][x];
  const LongDouble volume = dot_of(h[0], cross_of(h[1], h[2]));
  for (std::size_t a = 0; a < 3; ++a) {
    dual[a] = cross_of(h[(a + 1) % 3], h[(a + 2) % 3]);
    for (LongDouble& x : dual[a]) x *= 2 * pi_long / volume;
  }
  const std::size_t n = c.charge.size();
  Plain out{0, std::vector<LongDouble>(n), std::vector<LongDouble>(3 * n)};
  const auto combine = [](const std::array<LongVector, 3>& v, int a, int b, int d) {
    LongVector sum{};
    for (std::size_t x = 0; x < 3; ++x) sum[x] = a * v[0][x] + b * v[1][x] + d * v[2][x];
    return sum;
  };
  LongDouble total = 0;
  for (const double q : c.charge) total += q;
  for (std::size_t i = 0; i < n; ++i) {
    const LongDouble qi = c.charge[i];
    LongDouble e = -alpha / std::sqrt(pi_long) * qi * qi -
                   pi_long * qi * total / (2 * std::abs(volume) * alpha * alpha);
    for (std::size_t j = 0; j < n; ++j) {
      const LongDouble qq = qi * c.charge[j];
      LongVector d;
      for (std::size_t x = 0; x < 3; ++x) d[x] = LongDouble{c.pos[3 * i + x]} - c.pos[3 * j + x];
      for (int a = -images; a <= images; ++a)
        for (int b = -images; b <= images; ++b)
          for (int g = -images; g <= images; ++g) {
            if (i == j && a == 0 && b == 0 && g == 0) continue;
            LongVector r = combine(h, a, b, g);
            for (std::size_t x = 0; x < 3; ++x) r[x] += d[x];
            const LongDouble r2 = dot_of(r, r), length = std::sqrt(r2);
            const LongDouble p = std::erfc(alpha * length) / length;
            const LongDouble f =
                (p + 2 * alpha / std::sqrt(pi_long) * std::exp(-alpha * alpha * r2)) / r2;
            e += qq * p / 2;
            for (std::size_t x = 0; x < 3; ++x) out.force[3 * i + x] += qq * f * r[x];
            for (std::size_t x = 0; x < 9; ++x) out.virial[x] += qq * f * r[x / 3] * r[x % 3] / 2;
          }
      for (int a = -waves; a <= waves; ++a)
        for (int b = -waves; b <= waves; ++b)
          for (int g = -waves; g <= waves; ++g) {
            if (a == 0 && b == 0 && g == 0) continue;
            const LongVector k = combine(dual, a, b, g);
            const LongDouble k2 = dot_of(k, k), phase = dot_of(k, d);
            const LongDouble w =
                qq * 4 * pi_long / std::abs(volume) * std::exp(-k2 / (4 * alpha * alpha)) / k2;
            e += w * std::cos(phase) / 2;
            for (std::size_t x = 0; x < 3; ++x) out.force[3 * i + x] += w * std::sin(phase) * k[x];
            for (std::size_t x = 0; x < 9; ++x)
              out.virial[x] += w * std::cos(phase) / 2 *
                               ((x % 4 == 0 ? 1 : 0) -
                                2 * k[x / 3] * k[x % 3] / k2 * (1 + k2 / (4 * alpha * alpha)));
          }
    }
    out.energies[i] = e;
    out.energy += e;
  }
  for (const std::size_t x : {0, 4, 8})
    out.virial[x] -= pi_long * total * total / (2 * std::abs(volume) * alpha * alpha);
  return out;
}

Charges random_charges(std::size_t n, unsigned seed, const gdr::PeriodicBox& box) {
  Charges c;
  c.box = box;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(-1, 2);  // also outside of the box
  std::normal_distribution<double> some;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, 3> x{};
    for (const auto& v : box.vectors) {
      const double u = place(random);
      for (std::size_t k = 0; k < 3; ++k) x[k] += u * v[k];
    }
    c.add(x[0], x[1], x[2], some(random));
  }
  return c;
}

gdr::PeriodicBox tilted_cell() {
  return {{{{3.0, 0.2, -0.3}, {1.1, 2.7, 0.3}, {-0.7, 0.9, 3.4}}}, {true, true, true}};
}

/// Sites of a face-centred lattice with edge 1 in a cubic cell of `cells` edges.
void add_fcc(Charges& c, int cells, double shift, double q) {
  for (int a = 0; a < cells; ++a)
    for (int b = 0; b < cells; ++b)
      for (int g = 0; g < cells; ++g) {
        const double x = a + shift, y = b + shift, z = g + shift;
        c.add(x, y, z, q);
        c.add(x + 0.5, y + 0.5, z, q);
        c.add(x + 0.5, y, z + 0.5, q);
        c.add(x, y + 0.5, z + 0.5, q);
      }
}

constexpr double rock_salt = 1.7475645946331822, caesium_chloride = 1.7626747730709,
                 zinc_blende = 1.6380550533887;
constexpr gdr::EwaldOptions exact{.accuracy = 1e-13};

/// The constant of a crystal of charges +1 and -1 whose nearest distance is `nearest`.
double madelung(gdr::Ewald& ewald, const Charges& c, double nearest) {
  const Computed found = ewald_of(ewald, c, exact);
  for (const double f : found.force) CHECK(std::abs(f) < 1e-9);
  for (const double e : found.energy)
    CHECK(std::abs(e - found.energy[0]) < 1e-9 * std::abs(found.energy[0]));
  return -2 * found.total.energy / static_cast<double>(c.charge.size()) * nearest;
}

}  // namespace

TEST_CASE("Ewald sums give the Madelung constants of crystals to 1e-10") {
  const std::string engine = GENERATE("native", "vector");
  CAPTURE(engine);
  gdr::Device device = gdr::Device::open("emulator:engine=" + engine);
  gdr::Ewald ewald(device);
  const double edge = engine == "native" ? 2 : 1;
  Charges nacl, primitive, cscl, zns;
  nacl.box = zns.box = gdr::PeriodicBox::orthorhombic({edge, edge, edge});
  add_fcc(nacl, static_cast<int>(edge), 0, 1);
  add_fcc(nacl, static_cast<int>(edge), 0.5, -1);
  add_fcc(zns, static_cast<int>(edge), 0, 1);
  add_fcc(zns, static_cast<int>(edge), 0.25, -1);
  primitive.box.vectors = {{{0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}}};
  primitive.add(0, 0, 0, 1);
  primitive.add(0.5, 0.5, 0.5, -1);
  cscl.box = gdr::PeriodicBox::orthorhombic({1, 1, 1});
  cscl.add(0.1, 0.2, 0.3, 1);
  cscl.add(0.6, 0.7, 0.8, -1);
  CHECK_THAT(madelung(ewald, nacl, 0.5), Catch::Matchers::WithinRel(rock_salt, 1e-10));
  CHECK_THAT(madelung(ewald, primitive, 0.5), Catch::Matchers::WithinRel(rock_salt, 1e-10));
  CHECK_THAT(madelung(ewald, cscl, std::sqrt(0.75)),
             Catch::Matchers::WithinRel(caesium_chloride, 1e-10));
  CHECK_THAT(madelung(ewald, zns, std::sqrt(3.0) / 4),
             Catch::Matchers::WithinRel(zinc_blende, 1e-10));
}

TEST_CASE("Ewald sums of random charges agree with a plain sum in long doubles") {
  const auto box = GENERATE(gdr::PeriodicBox::orthorhombic({3, 4, 2.5}), tilted_cell(),
                            gdr::PeriodicBox{{{{0, 0, 3}, {0, 4, 0}, {2.5, 0, 0}}}});
  const Charges c = random_charges(9, 5, box);  // with a total charge
  const Plain right = plain_ewald(c, 1.6L, 4, 10);
  const Plain again = plain_ewald(c, 1.3L, 5, 8);
  CHECK(std::abs(right.energy - again.energy) < 1e-12L);
  const Computed found = ewald_of(c, exact);
  CHECK(std::abs(found.total.energy - right.energy) < 1e-11L);
  LongDouble trace = 0;
  for (std::size_t i = 0; i < c.charge.size(); ++i)
    CHECK(std::abs(found.energy[i] - right.energies[i]) < 1e-11L);
  for (std::size_t k = 0; k < c.pos.size(); ++k)
    CHECK(std::abs(found.force[k] - right.force[k]) < 1e-11L);
  for (std::size_t x = 0; x < 9; ++x) {
    CHECK(std::abs(found.total.virial[x] - right.virial[x]) < 1e-11L);
    if (x % 4 == 0) trace += found.total.virial[x];
  }
  CHECK(std::abs(trace - found.total.energy) < 1e-11L);
}

TEST_CASE("Ewald sums do not depend on their division into two parts") {
  const Charges c = random_charges(40, 8, tilted_cell());
  const Computed first = ewald_of(c, exact);
  for (const double alpha : {0.7, 1.5, 3.0}) {
    const Computed other = ewald_of(c, {.accuracy = 1e-13, .alpha = alpha});
    CHECK(other.total.alpha == alpha);
    CHECK(std::abs(other.total.energy - first.total.energy) < 1e-10);
    for (std::size_t k = 0; k < c.pos.size(); ++k)
      CHECK(std::abs(other.force[k] - first.force[k]) < 1e-10);
  }
  const Computed by_cutoff = ewald_of(c, {.accuracy = 1e-13, .cutoff = 1.0});
  CHECK(by_cutoff.total.cutoff == 1.0);
  CHECK(std::abs(by_cutoff.total.energy - first.total.energy) < 1e-10);
}

TEST_CASE("a box that is sheared far has the Ewald sum of the same lattice") {
  Charges c = random_charges(30, 8, tilted_cell());
  const Computed right = ewald_of(c, exact);
  for (std::size_t x = 0; x < 3; ++x) {
    c.box.vectors[0][x] += 50 * c.box.vectors[1][x];
    c.box.vectors[2][x] -= 33 * c.box.vectors[0][x];
  }
  const Computed found = ewald_of(c, exact);
  CHECK(std::abs(found.total.energy - right.total.energy) < 1e-10);
  for (std::size_t k = 0; k < c.pos.size(); ++k)
    CHECK(std::abs(found.force[k] - right.force[k]) < 1e-9);
}

TEST_CASE("Forces and virial of Ewald sums are differences of energies") {
  const Charges c = random_charges(12, 3, tilted_cell());
  const Computed found = ewald_of(c, exact);
  constexpr double step = 1e-4;
  const auto difference = [&](const auto& change) {
    Charges more = c, less = c;
    change(more, step);
    change(less, -step);
    return (ewald_of(more, exact).total.energy - ewald_of(less, exact).total.energy) / (2 * step);
  };
  for (const std::size_t k : {0, 7, 35}) {
    const double slope = difference([&](Charges& moved, double h) { moved.pos[k] += h; });
    CHECK_THAT(found.force[k], Catch::Matchers::WithinAbs(-slope, 1e-5));
  }
  for (const std::size_t ab : {0, 1, 5, 8}) {
    const double slope = difference([&](Charges& strained, double h) {
      const std::size_t a = ab / 3, b = ab % 3;
      for (auto& v : strained.box.vectors) v[a] += h * v[b];
      for (std::size_t i = 0; i < c.charge.size(); ++i)
        strained.pos[3 * i + a] += h * c.pos[3 * i + b];
    });
    CHECK_THAT(found.total.virial[ab], Catch::Matchers::WithinAbs(-slope, 1e-5));
  }
}

TEST_CASE("Measured errors of Ewald sums are within the accuracy asked for") {
  const auto box = gdr::PeriodicBox::orthorhombic({10, 8, 13});
  const Charges c = random_charges(600, 11, box);
  double square = 0;
  for (const double q : c.charge) square += q * q / 600;
  const double distance = std::cbrt(10 * 8 * 13 / 600.0);
  const Computed right = ewald_of(c, exact);
  for (const double accuracy : {1e-2, 1e-4, 1e-7}) {
    const Computed found = ewald_of(c, {.accuracy = accuracy});
    double forces = 0, energies = 0;
    for (std::size_t k = 0; k < c.pos.size(); ++k)
      forces += std::pow(found.force[k] - right.force[k], 2) / 600;
    for (std::size_t i = 0; i < 600; ++i)
      energies += std::pow(found.energy[i] - right.energy[i], 2) / 600;
    const double of_forces = std::sqrt(forces) / (square / (distance * distance));
    const double of_energies = std::sqrt(energies) / (square / distance);
    CAPTURE(accuracy, of_forces, of_energies, found.total.error);
    CHECK(of_forces < accuracy);
    CHECK(of_energies < accuracy);
    CHECK(of_forces > 0.01 * accuracy);  // no more work than needed
    CHECK(found.total.error < accuracy);
  }
}

TEST_CASE("Ewald sums of one charge, of none, and of engines among floats") {
  Charges one;
  one.box = gdr::PeriodicBox::orthorhombic({2, 2, 2});
  CHECK(ewald_of(one).total.energy == 0);
  one.add(5, -7, 0.3, 3);
  // -2.837297479... / 2 is the energy of a unit charge with its background in a unit cube.
  const Computed found = ewald_of(one, exact);
  CHECK_THAT(found.total.energy, Catch::Matchers::WithinRel(-2.8372974794806 / 2 * 9 / 2, 1e-11));
  CHECK(std::abs(found.force[0]) < 1e-11);
  const Charges c = random_charges(50, 2, tilted_cell());
  const Computed floats = ewald_of(c, {}, "emulator:engine=native-float");
  const Computed right = ewald_of(c, exact);
  for (std::size_t k = 0; k < c.pos.size(); ++k)
    CHECK(std::abs(floats.force[k] - right.force[k]) < 1e-3 * (1 + std::abs(right.force[k])));
}

TEST_CASE("Ewald sums have the same bits on any number of threads and boards") {
  const Charges c = random_charges(700, 9, tilted_cell());
  const Computed one = ewald_of(c, {}, "emulator:engine=native,threads=1");
  for (const char* device :
       {"emulator:engine=native,threads=3", "emulator:engine=native,boards=2"}) {
    const Computed other = ewald_of(c, {}, device);
    CHECK(other.force == one.force);
    CHECK(other.total.virial == one.total.virial);
  }
}

TEST_CASE("Runs of one Ewald object do not disturb each other") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::Ewald ewald(device);
  for (const std::size_t n : {30, 0, 1, 45}) {
    const Charges c =
        random_charges(n, 4, n == 1 ? tilted_cell() : gdr::PeriodicBox::orthorhombic({3, 3, 3}));
    const Computed mine = ewald_of(ewald, c), fresh = ewald_of(c);
    CHECK(mine.total.energy == fresh.total.energy);
    CHECK(mine.force == fresh.force);
  }
}

TEST_CASE("Ewald sums refuse what has no energy, naming it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Charges c = random_charges(6, 1, tilted_cell());
  const auto with = [&](const auto& change) {
    Charges other = c;
    change(other);
    return ewald_error(other);
  };
  ewald_error_has(with([&](Charges& o) { o.pos[7] = nan; }), "pos[2] is");
  ewald_error_has(with([&](Charges& o) { o.charge[3] = nan; }), "charge[3] is");
  ewald_error_has(with([&](Charges& o) { o.charge.pop_back(); }), "expected 15");
  ewald_error_has(with([&](Charges& o) {
                    for (std::size_t k = 0; k < 3; ++k)
                      o.pos[15 + k] = o.pos[3 + k] + o.box.vectors[1][k] - o.box.vectors[0][k];
                  }),
                  "at the same place");
  ewald_error_has(with([&](Charges& o) { std::fill(o.pos.begin(), o.pos.end(), 0.5); }),
                  "charges 0 and");
  ewald_error_has(with([](Charges& o) { o.box.periodic[1] = false; }), "not periodic");
  ewald_error_has(with([](Charges& o) { o.box.vectors[2] = o.box.vectors[0]; }), "in one plane");
  ewald_error_has(with([&](Charges& o) { o.box.vectors[2][0] = nan; }), "not finite");
  ewald_error_has(ewald_error(c, {.accuracy = 0}), "accuracy is 0");
  ewald_error_has(ewald_error(c, {.accuracy = nan}), "accuracy is");
  ewald_error_has(ewald_error(c, {.alpha = -1}), "alpha is -");
  ewald_error_has(ewald_error(c, {.wave_cutoff = 1e5}), "wave vectors");
  ewald_error_has(ewald_error(c, {.wave_cutoff = 1e-300}), "wave_cutoff is 1e-300");
  ewald_error_has(ewald_error(c, {.alpha = 1e200}), "alpha is 1e+200");
}
