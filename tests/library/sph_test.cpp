// Sph: densities, forces and smoothing lengths beside plain sums over pairs and images.
#include "gdr/sph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/ewald.hpp"
#include "libgdr/pairs/pair_lists.hpp"
#include "support/catch.hpp"

namespace {

struct Gas {
  std::vector<double> pos, vel, mass, h, rho, pressure, sound;
  std::optional<gdr::PeriodicBox> box;

  std::size_t size() const { return mass.size(); }
  gdr::SphParticles particles() const { return {pos, mass, h}; }
};

/// Particles in a cube of edge 2 with smoothing lengths from 0.15 to 3.
Gas random_gas(std::size_t n, const std::optional<gdr::PeriodicBox>& box) {
  Gas g;
  g.box = box;
  std::mt19937 random(17);
  std::uniform_real_distribution<double> at(-0.5, 1.5), some(0.5, 1.5), stretch(0, 1);
  std::normal_distribution<double> speed;
  for (std::size_t i = 0; i < n; ++i) {
    for (int c = 0; c < 3; ++c) g.pos.push_back(at(random));
    for (int c = 0; c < 3; ++c) g.vel.push_back(speed(random));
    g.mass.push_back(some(random));
    g.h.push_back(0.15 * std::pow(20, std::pow(stretch(random), 4)));
    g.rho.push_back(some(random));
    g.pressure.push_back(some(random));
    g.sound.push_back(some(random));
  }
  return g;
}

struct GasResults {
  std::vector<double> rho, acc, dudt, mumax;
  std::vector<std::int64_t> near;
  explicit GasResults(std::size_t n) : rho(n), acc(3 * n), dudt(n), mumax(n), near(n) {}
};

double spline(double q) {
  const double outer = std::max(2 - q, 0.0), inner = std::max(1 - q, 0.0);
  return 0.25 * outer * outer * outer - inner * inner * inner;
}
double spline_slope(double q) {
  const double outer = std::max(2 - q, 0.0), inner = std::max(1 - q, 0.0);
  return -0.75 * outer * outer + 3 * inner * inner;
}

constexpr double of_pi = 1 / std::numbers::pi;

/// The oracle.
GasResults plain_sums(const Gas& g, int images) {
  GasResults out(g.size());
  const int most = g.box ? images : 0;
  for (std::size_t i = 0; i < g.size(); ++i)
    for (std::size_t j = 0; j < g.size(); ++j)
      for (int a = -most; a <= most; ++a)
        for (int b = -most; b <= most; ++b)
          for (int c = -most; c <= most; ++c) {
            std::array<double, 3> d{}, v{};
            double r2 = 0, rv = 0;
            for (std::size_t x = 0; x < 3; ++x) {
              d[x] = g.pos[3 * i + x] - g.pos[3 * j + x];
              v[x] = g.vel[3 * i + x] - g.vel[3 * j + x];
              if (g.box)
                d[x] +=
                    a * g.box->vectors[0][x] + b * g.box->vectors[1][x] + c * g.box->vectors[2][x];
              r2 += d[x] * d[x];
              rv += d[x] * v[x];
            }
            const double h = (g.h[i] + g.h[j]) / 2, r = std::sqrt(r2), q = r / h;
            if (!(q < 2)) continue;
            ++out.near[i];
            out.rho[i] += g.mass[j] * of_pi / (h * h * h) * spline(q);
            if (r2 == 0) continue;
            const double mu = std::min(h * rv / (r2 + 0.01 * h * h), 0.0);
            const double sound = (g.sound[i] + g.sound[j]) / 2, rho = (g.rho[i] + g.rho[j]) / 2;
            const double visc = (-sound * mu + 2 * mu * mu) / rho;
            const double pi = g.pressure[i] / (g.rho[i] * g.rho[i]);
            const double pj = g.pressure[j] / (g.rho[j] * g.rho[j]);
            const double slope = g.mass[j] * of_pi / (h * h * h * h) * spline_slope(q) / r;
            for (std::size_t x = 0; x < 3; ++x)
              out.acc[3 * i + x] -= slope * (pi + pj + visc) * d[x];
            out.dudt[i] += slope * (pi + visc / 2) * rv;
            out.mumax[i] = std::max(out.mumax[i], -mu);
          }
  return out;
}

GasResults computed(gdr::Sph& sph, const Gas& g) {
  GasResults out(g.size());
  sph.set_box(g.box);
  sph.density(g.particles(), out.rho, out.near);
  sph.forces(g.particles(), {.vel = g.vel, .rho = g.rho, .pressure = g.pressure, .sound = g.sound},
             {.acc = out.acc, .dudt = out.dudt, .mumax = out.mumax});
  return out;
}

void check_equal(const std::vector<double>& found, const std::vector<double>& right,
                 double tolerance) {
  double scale = 0;
  for (const double r : right) scale = std::max(scale, std::abs(r));
  for (std::size_t k = 0; k < right.size(); ++k)
    REQUIRE(std::abs(found[k] - right[k]) <= tolerance * scale);
}

void check_equal(const GasResults& found, const GasResults& right, double tolerance) {
  CHECK(found.near == right.near);
  check_equal(found.rho, right.rho, tolerance);
  check_equal(found.acc, right.acc, tolerance);
  check_equal(found.dudt, right.dudt, tolerance);
  check_equal(found.mumax, right.mumax, tolerance);
}

struct Lengths {
  std::vector<double> h, rho;
  unsigned iterations = 0;
};

Lengths lengths_of(gdr::Sph& sph, const Gas& g, const gdr::SphLengthOptions& options = {}) {
  Lengths out{std::vector<double>(g.size()), std::vector<double>(g.size())};
  sph.set_box(g.box);
  out.iterations = sph.smoothing_lengths(g.particles(), options, out.h, out.rho);
  return out;
}

template <typename Call>
void sph_refuses(const Call& call, const char* part) {
  std::string error;
  try {
    call();
  } catch (const gdr::Error& e) {
    error = e.what();
  }
  CAPTURE(error);
  CHECK(error.find(part) != std::string::npos);
}

gdr::Device native() { return gdr::Device::open("emulator:engine=native"); }

}  // namespace

TEST_CASE("SPH densities and forces agree with plain sums over pairs and images") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  const gdr::PeriodicBox tilted{{{{2.0, 0.1, -0.2}, {0.9, 1.7, 0.3}, {-0.7, 0.6, 2.2}}},
                                {true, true, true}};
  for (const std::size_t n : {1, 2, 130}) {
    Gas g = random_gas(n, std::nullopt);
    check_equal(computed(sph, g), plain_sums(g, 0), 1e-12);
    for (double& x : g.pos) x += 1e-4;  // the same lists
    check_equal(computed(sph, g), plain_sums(g, 0), 1e-12);
    for (double& h : g.h) h *= 1.02;
    check_equal(computed(sph, g), plain_sums(g, 0), 1e-12);
    g.box = gdr::PeriodicBox::orthorhombic({2, 2.5, 3});
    check_equal(computed(sph, g), plain_sums(g, 5), 1e-12);
    g.box = tilted;
    check_equal(computed(sph, g), plain_sums(g, 6), 1e-12);
  }
}

TEST_CASE("SPH sums of exact engines and of floats agree with plain sums") {
  const std::string engine = GENERATE("vector", "native-float");
  gdr::Device device = gdr::Device::open("emulator:engine=" + engine);
  gdr::Sph sph(device);
  Gas g = random_gas(60, gdr::PeriodicBox::orthorhombic({2, 2.5, 3}));
  for (std::size_t i = 0; i < g.size(); ++i) g.h[i] = i % 2 == 0 ? 0.3 : 0.8;  // two classes
  const GasResults found = computed(sph, g), right = plain_sums(g, 2);
  check_equal(found.rho, right.rho, 1e-5);
  check_equal(found.acc, right.acc, 1e-5);
}

TEST_CASE("SPH forces conserve momentum and energy") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  const Gas g = random_gas(200, gdr::PeriodicBox::orthorhombic({2, 2, 2}));
  const GasResults found = computed(sph, g);
  std::array<double, 3> momentum{};
  double energy = 0, scale = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    energy += g.mass[i] * found.dudt[i];
    scale += g.mass[i] * std::abs(found.dudt[i]);
    for (std::size_t c = 0; c < 3; ++c) {
      momentum[c] += g.mass[i] * found.acc[3 * i + c];
      energy += g.mass[i] * found.acc[3 * i + c] * g.vel[3 * i + c];
    }
  }
  for (const double p : momentum) CHECK(std::abs(p) < 1e-11 * scale);
  CHECK(std::abs(energy) < 1e-11 * scale);
}

TEST_CASE("a uniform lattice of particles has its density and equal smoothing lengths") {
  Gas g;
  for (int k = 0; k < 512; ++k) {
    for (const int n : {k % 8, k / 8 % 8, k / 64}) g.pos.push_back(0.5 * n);
    g.mass.push_back(0.25);  // density 2
  }
  g.box = gdr::PeriodicBox::orthorhombic({4, 4, 4});
  gdr::Device device = native();
  gdr::Sph sph(device);
  const Lengths found = lengths_of(sph, g, {.tolerance = 1e-8});
  for (std::size_t i = 0; i < g.size(); ++i) {
    CHECK_THAT(found.rho[i], Catch::Matchers::WithinRel(2.0, 0.01));
    CHECK_THAT(found.h[i], Catch::Matchers::WithinRel(1.2 * 0.5, 0.005));
  }
  CHECK(found.iterations < 16);
}

TEST_CASE("smoothing lengths belong to their densities, whatever the start") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  Gas g = random_gas(800, std::nullopt);
  // A dense cluster, a halo, and one far away.
  for (std::size_t i = 0; i < 3 * 400; ++i) g.pos[i] = 0.02 * g.pos[i];
  g.pos[2399] = 40;
  for (const bool periodic : {false, true}) {
    if (periodic) g.box = gdr::PeriodicBox::orthorhombic({50, 50, 50});
    g.h.clear();
    const Lengths found = lengths_of(sph, g, {.tolerance = 1e-6});
    g.h = found.h;
    g.rho.assign(g.size(), 1);
    const GasResults right = plain_sums(g, 1);
    check_equal(found.rho, right.rho, 1e-12);
    for (std::size_t i = 0; i < g.size(); ++i)
      CHECK_THAT(1.2 * std::cbrt(g.mass[i] / right.rho[i]),
                 Catch::Matchers::WithinRel(found.h[i], 1.001e-6));
    CHECK(lengths_of(sph, g, {.tolerance = 1.1e-6}).iterations == 1);
    g.h.assign(g.size(), 0.1);
    const Lengths other = lengths_of(sph, g, {.tolerance = 1e-6});
    for (std::size_t i = 0; i < g.size(); ++i)
      CHECK_THAT(other.h[i], Catch::Matchers::WithinRel(found.h[i], 1e-4));
    const Lengths limited = lengths_of(sph, g, {.least = 0.05, .most = 0.2});
    CHECK(*std::ranges::min_element(limited.h) == 0.05);
    CHECK(*std::ranges::max_element(limited.h) == 0.2);
  }
}

TEST_CASE("smoothing lengths of particles in a plane, on a line and in a cusp converge") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  Gas g = random_gas(600, std::nullopt);
  g.h.clear();
  for (std::size_t i = 0; i < 600; ++i) g.pos[3 * i + 1] = 7;
  CHECK(lengths_of(sph, g).iterations < 40);
  for (std::size_t i = 0; i < 600; ++i) g.pos[3 * i] = -3;
  CHECK(lengths_of(sph, g).iterations < 40);
  g = random_gas(600, std::nullopt);
  g.h.clear();
  for (std::size_t i = 0; i < 600; ++i) {
    const double factor = std::pow(10, -static_cast<double>(i % 8));
    for (std::size_t c = 0; c < 3; ++c) g.pos[3 * i + c] = factor * (g.pos[3 * i + c] - 0.5);
  }
  const Lengths found = lengths_of(sph, g);
  CHECK(found.iterations < 60);
  CHECK(*std::ranges::max_element(found.h) > 1e5 * *std::ranges::min_element(found.h));
}

TEST_CASE("particles far from a cluster, or first lengths far too long, have smoothing lengths") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  Gas g = random_gas(200, std::nullopt);
  g.h.clear();
  const Lengths cluster = lengths_of(sph, g, {.tolerance = 1e-6});
  g.h.assign(g.size(), 1e12);
  const Lengths from_afar = lengths_of(sph, g, {.tolerance = 1e-6});
  for (std::size_t i = 0; i < g.size(); ++i)
    CHECK_THAT(from_afar.h[i], Catch::Matchers::WithinRel(cluster.h[i], 1e-4));
  // A leaf of the estimate has the far particle and many of the cluster.
  g.h.clear();
  for (std::size_t c = 0; c < 3; ++c) g.pos[c] = 1e9;
  const Lengths found = lengths_of(sph, g, {.tolerance = 1e-6});
  g.h = found.h;
  g.rho.assign(g.size(), 1);
  const GasResults right = plain_sums(g, 1);
  for (std::size_t i = 0; i < g.size(); ++i)
    CHECK_THAT(1.2 * std::cbrt(g.mass[i] / right.rho[i]),
               Catch::Matchers::WithinRel(found.h[i], 1.001e-6));
}

TEST_CASE("SPH functions refuse what has no answer, naming the particle") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Gas few = random_gas(3, std::nullopt), one = random_gas(1, std::nullopt);
  few.h.clear();
  one.h.clear();
  sph_refuses([&] { lengths_of(sph, few); }, "too few particles");
  sph_refuses([&] { lengths_of(sph, one); }, "particle 0 is");
  CHECK(lengths_of(sph, one, {.most = 2}).h[0] == 2);
  one.box = gdr::PeriodicBox::orthorhombic({1, 1, 1});
  CHECK_THAT(lengths_of(sph, one).h[0], Catch::Matchers::WithinRel(1.2, 0.01));
  CHECK(lengths_of(sph, {}).iterations == 0);
  Gas same = random_gas(300, std::nullopt);
  std::ranges::fill(same.pos, 0.5);
  same.h.clear();
  sph_refuses([&] { lengths_of(sph, same); }, "too many particles");
  same.h.assign(same.size(), 1e30);
  sph_refuses([&] { lengths_of(sph, same); }, "too many particles");
  same.h.clear();
  Gas twice = random_gas(300, std::nullopt);
  std::copy_n(twice.pos.begin(), 3, twice.pos.begin() + 3);
  twice.h.clear();
  CHECK(lengths_of(sph, twice, {.eta = 1.5}).h[0] > 0);
  sph_refuses([&] { lengths_of(sph, twice, {.eta = 0.1}); }, "for this eta");
  sph_refuses([&] { lengths_of(sph, twice, {.tolerance = 1e-12, .iterations = 1}); },
              "in 1 iteration: ");
  sph_refuses([&] { lengths_of(sph, twice, {.tolerance = 1e-12, .iterations = 2}); },
              "allow more iterations");
  sph_refuses([&] { lengths_of(sph, twice, {.tolerance = 1e-17}); }, "allow more iterations");
  CHECK(lengths_of(sph, same, {.least = 0.1}).h[7] == 0.1);
  const Gas g = random_gas(10, std::nullopt);
  const auto refused = [&](const auto& change, const char* part) {
    Gas other = g;
    change(other);
    sph_refuses([&] { computed(sph, other); }, part);
  };
  refused([&](Gas& o) { o.h[4] = 0; }, "h[4] is 0;");
  refused([&](Gas& o) { o.h[4] = -1e-20; }, "h[4] is -1e-20;");
  refused([&](Gas& o) { o.h[4] = nan; }, "h[4] is");
  refused([&](Gas& o) { o.h.pop_back(); }, "h has 9 numbers");
  refused([&](Gas& o) { o.pos[7] = nan; }, "pos[2] is");
  refused([&](Gas& o) { o.mass[3] = -nan; }, "mass[3] is");
  refused([&](Gas& o) { o.rho[2] = 0; }, "rho[2] is 0");
  refused([&](Gas& o) { o.vel[29] = nan; }, "vel[9] is");
  refused([&](Gas& o) { o.rho[2] = 1e-200; }, "pressure / rho^2[2]");
  sph_refuses([&] { lengths_of(sph, g, {.eta = 0}); }, "eta is 0");
  sph_refuses([&] { lengths_of(sph, g, {.tolerance = nan}); }, "tolerance is");
  sph_refuses([&] { lengths_of(sph, g, {.least = 2, .most = 1}); }, "most is 1");
}

namespace {

/// Densities of each particle, and their relative errors, beside plain sums.
void check_densities(gdr::Sph& sph, const Gas& g, int images) {
  std::vector<double> rho(g.size());
  std::vector<std::int64_t> near(g.size());
  sph.set_box(g.box);
  sph.density(g.particles(), rho, near);
  const GasResults right = plain_sums(g, images);
  CHECK(near == right.near);
  for (std::size_t i = 0; i < g.size(); ++i)
    REQUIRE(std::abs(rho[i] - right.rho[i]) <= 1e-11 * right.rho[i]);
}

/// Pairs within the sum of two lengths, and those of lists for that.
struct ListedPairs {
  double needed = 0, listed = 0;
  bool complete = true;
};
ListedPairs listed_pairs(const Gas& g) {
  const gdr::Lattice open{std::nullopt};
  const gdr::PairLists lists = gdr::make_pair_lists({.sources = g.pos,
                                                     .targets = g.pos,
                                                     .radii = g.h,
                                                     .source_radii = g.h,
                                                     .lattice = open,
                                                     .threads = 2});
  ListedPairs out;
  out.listed = lists.counts.pairs;
  for (const gdr::TargetGroup& group : lists.groups) {
    std::vector<char> in_list(g.size());
    for (const std::int32_t j : group.single)
      in_list[lists.sources[static_cast<std::size_t>(j)].number] = 1;
    for (const gdr::ListedRange& r : group.whole)
      for (std::size_t j = 0; j < r.count; ++j) in_list[lists.sources[r.first + j].number] = 1;
    for (std::size_t t = group.first; t < group.first + group.count; ++t) {
      const std::size_t i = lists.targets[t].number;
      for (std::size_t j = 0; j < g.size(); ++j) {
        const double r =
            std::hypot(g.pos[3 * i] - g.pos[3 * j], g.pos[3 * i + 1] - g.pos[3 * j + 1],
                       g.pos[3 * i + 2] - g.pos[3 * j + 2]);
        if (!(r < g.h[i] + g.h[j])) continue;
        out.needed += 1;
        out.complete = out.complete && in_list[j] != 0;
      }
    }
  }
  return out;
}

/// Particles in a cube of edge 2 with equal lengths, lengths that vary by 1e9 at random, and in two
/// clusters, one of which is smaller by 1e9 and has lengths to match.
Gas gas_of_lengths(const std::string& name, std::size_t n) {
  Gas g = random_gas(n, std::nullopt);
  for (std::size_t i = 0; i < n; ++i) {
    g.h[i] = 0.3;
    if (name == "mixed")
      g.h[i] = 0.3 * std::pow(10, -9 * static_cast<double>(i) / static_cast<double>(n));
    if (name != "clusters" || i % 2 == 0) continue;
    g.h[i] *= 1e-9;
    for (std::size_t c = 0; c < 3; ++c) g.pos[3 * i + c] = 1e-9 * (g.pos[3 * i + c] + 0.6);
  }
  return g;
}

}  // namespace

TEST_CASE("densities of smoothing lengths that vary by 1e9 agree with plain sums") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  for (const char* name : {"equal", "mixed", "clusters"}) {
    CAPTURE(name);
    Gas g = gas_of_lengths(name, 300);
    check_densities(sph, g, 0);
    g.box = gdr::PeriodicBox::orthorhombic({2, 2, 2});
    check_densities(sph, g, 1);
    g.h[7] = 1.4;  // sees its own images
    check_densities(sph, g, 2);
  }
}

TEST_CASE("lists for lengths that vary by 1e9 have all pairs and few others") {
  constexpr std::size_t n = 4000;
  for (const char* name : {"equal", "mixed", "clusters"}) {
    const ListedPairs pairs = listed_pairs(gas_of_lengths(name, n));
    CAPTURE(name, pairs.needed, pairs.listed);
    CHECK(pairs.complete);
    // Of an octave of lengths, groups of 48 targets have boxes with 48 sources of each.
    const double of_groups = std::string(name) == "mixed" ? 48.0 * 31 * n : 0;
    CHECK(pairs.listed < 6 * pairs.needed + of_groups);
    CHECK(pairs.listed < 0.6 * n * n);
  }
}

TEST_CASE("smoothing lengths whose quotient overflows have densities") {
  gdr::Device device = native();
  gdr::Sph sph(device);
  Gas g = random_gas(4, std::nullopt);
  for (double& x : g.pos) x *= 1e-70;
  g.h = {1e-160, 1e90, 1e-80, 1e-150};
  std::vector<double> rho(4);
  std::vector<std::int64_t> near(4);
  sph.density(g.particles(), rho, near);
  CHECK(near == std::vector<std::int64_t>{2, 4, 2, 2});
}

TEST_CASE("SPH and Ewald sums compute after their device was moved") {
  gdr::Device first = native();
  gdr::Sph sph(first);
  gdr::Ewald ewald(first);
  const Gas g = random_gas(50, gdr::PeriodicBox::orthorhombic({2, 2, 2}));
  const gdr::Device second = std::move(first);
  check_densities(sph, g, 4);
  CHECK(ewald.run({.pos = g.pos, .charge = g.mass, .box = *g.box}).waves > 0);
}
