// Results do not depend on the rounding mode of the calling thread, nor on that of the
// thread that made the process's helpers; and the caller keeps its mode.
#include <bit>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

/// Sets a rounding mode for a scope.
class Rounding {
 public:
  explicit Rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(before_); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  int before_;
};

constexpr std::size_t order = 150;

std::vector<double> rounding_numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> all(count);
  for (double& x : all) x = static_cast<float>(uniform(random));  // converted exactly
  return all;
}

/// A symmetric positive definite matrix, of integers: the rounding mode does not change it.
std::vector<double> definite() {
  std::vector<double> a(order * order);
  for (std::size_t c = 0; c < order; ++c)
    for (std::size_t r = 0; r < order; ++r)
      a[r + c * order] = r == c ? 2.0 * order : static_cast<int>((r * c + r + c) % 5) - 2;
  return a;
}

/// The results of products, factorisations, systems and batches.
std::vector<double> results(const std::string& name, const std::vector<double>& a,
                            const std::vector<double>& b) {
  Device device = Device::open(name);
  std::vector<double> all;
  const auto keep = [&](const auto& some) { all.insert(all.end(), some.begin(), some.end()); };
  std::vector<double> c(order * order, 0.3);
  for (const MatrixPrecision precision : {MatrixPrecision::Full, MatrixPrecision::Chip}) {
    MatrixProduct product(device, precision);
    product.compute(order, order, order, 1.1, {a.data(), order}, {b.data(), order}, 0.7,
                    {c.data(), order});
    keep(c);
    const std::vector<float> x(a.begin(), a.end());
    std::vector<float> y(order * order, 0.3F);
    product.compute(order, order, order, 1.1F, {x.data(), order}, {x.data(), order}, 0.7F,
                    {y.data(), order});
    keep(y);
    product.start(order, order, order, 0.9, {b.data(), order}, {a.data(), order}, 0.1,
                  {c.data(), order});
    product.wait();
    keep(c);
  }
  LinearSolver solver(device);
  std::vector<double> lu = a, x = b, l = definite(), z = b, batch(a.begin(), a.begin() + 900);
  std::vector<std::int64_t> pivots(order), batch_pivots(90);
  solver.lu(order, order, {lu.data(), order}, pivots);
  solver.solve(order, order, {lu.data(), order}, pivots, {x.data(), order});
  solver.cholesky(Triangle::Lower, order, {l.data(), order});
  solver.solve_cholesky(Triangle::Lower, order, order, {l.data(), order}, {z.data(), order});
  BatchedMatrices batches(device);
  batches.lu(9, 10, {batch.data(), 10, 100}, batch_pivots);
  for (const auto* const some : {&lu, &x, &l, &z, &batch}) keep(*some);
  return all;
}

/// Inputs, which are made before a mode is set.
struct Stars {
  static constexpr std::size_t n = 96;
  std::vector<double> x = rounding_numbers(3 * n, 3), v = rounding_numbers(3 * n, 4),
                      m = rounding_numbers(n, 5);
  std::vector<double> time = rounding_numbers(n, 6);
};

/// The results of forces, integrations, neighbour lists, predicted sources and integrals.
std::vector<double> particle_results(const std::string& name, const Stars& stars_given) {
  constexpr std::size_t n = Stars::n;
  const auto& [x, v, m, time] = stars_given;
  std::vector<double> all, a(3 * n), pot(n);
  const auto keep = [&](const auto& some) { all.insert(all.end(), some.begin(), some.end()); };
  Device device = Device::open(name);
  Gravity gravity(device);
  gravity.compute(n, x, m, 0.1, a, pot);
  keep(a), keep(pot);
  gravity.compute_on(n, v, n, x, m, 0.3, a, pot);
  keep(a), keep(pot);

  HermiteOptions options;
  options.eps = 0.1;
  Hermite stars(device, n, x, v, m, options);
  for (int k = 0; k < 3; ++k) stars.step();
  std::vector<double> speed(3 * n);
  stars.predict(a, speed);
  keep(a), keep(speed);
  stars.forces(a, pot);
  keep(a), keep(pot);
  const HermiteState state = stars.state();
  keep(state.position), keep(state.jerk), keep(state.step);

  const std::vector<double> radii(n, 0.7);
  keep(find_neighbours(x, x, radii).indices);

  MovingSources sources;
  for (std::size_t k = 0; k < n; ++k)
    sources.set(k, {.time = time[k],
                    .mass = m[k],
                    .id = static_cast<std::int64_t>(k),
                    .x = {x[3 * k], x[3 * k + 1], x[3 * k + 2]},
                    .v = {v[3 * k], v[3 * k + 1], v[3 * k + 2]},
                    .half_a = {0.1, 0.2, 0.3},
                    .sixth_j = {0.3, 0.1, 0.7}});
  Job job = device.job(Kernel::builtin("gravity_jerk_long"));
  job.set("eps2", 0.01);
  const std::vector<double> zero(n);
  job.targets(n,
              {{"xi", pot}, {"yi", pot}, {"zi", pot}, {"vxi", zero}, {"vyi", zero}, {"vzi", zero}});
  std::vector<double> ax(n), jx(n);
  sources.run(job, 0.37, n, std::vector<NamedResult>{{"ax", ax}, {"jx", jx}});
  sources.predict_on_host();
  keep(ax), keep(jx);
  for (const std::span<const double> column : sources.positions()) keep(column);

  const std::vector<chemistry::Shell> shells = {{{0, 0, 0}, 0, true, {1.3, 0.4}, {0.7, 0.3}},
                                                {{0, 0.3, 1.4}, 1, true, {0.9}, {1.0}}};
  chemistry::Coulomb coulomb(device, shells, {});
  std::vector<double> density(16, 0.3), matrix(16);
  coulomb.matrix(density, matrix);
  keep(matrix);
  return all;
}

}  // namespace

TEST_CASE("a host that rounds up, down or to zero gets the same bits of particles and integrals") {
  const std::string engine = GENERATE("vector", "native", "native-mixed");
  const std::string name = "emulator:chips=1,blocks=2,threads=2,engine=" + engine;
  const Stars stars;
  const std::vector<double> expected = particle_results(name, stars);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::vector<double> got;
    int after = 0;
    {
      const Rounding rounding(mode);
      got = particle_results(name, stars);
      after = std::fegetround();
    }
    CAPTURE(engine, mode);
    CHECK(after == mode);
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      if (std::bit_cast<std::uint64_t>(got[k]) != std::bit_cast<std::uint64_t>(expected[k])) {
        FAIL_CHECK("result " << k << " of " << got.size() << " depends on the mode");
        break;
      }
  }
}

TEST_CASE("a host that rounds up, down or to zero gets the same bits of matrices") {
  const std::vector<double> a = rounding_numbers(order * order, 1),
                            b = rounding_numbers(order * order, 2);
  const std::string engine =
      GENERATE("vector", "native", "native-mixed", "native-float", "native-fast");
  const std::string name = "emulator:chips=1,blocks=2,threads=2,engine=" + engine;
  const std::vector<double> expected = results(name, a, b);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::vector<double> got;
    int after = 0;
    {
      const Rounding rounding(mode);
      got = results(name, a, b);
      after = std::fegetround();
    }
    CAPTURE(engine, mode);
    CHECK(after == mode);
    CHECK(std::memcmp(got.data(), expected.data(), 8 * expected.size()) == 0);
  }
}
