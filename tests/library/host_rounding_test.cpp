// Results of matrices do not depend on the rounding mode of the calling thread, nor on that of the
// thread that made the process's helpers; and the caller keeps its mode.
#include <cfenv>
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

std::vector<double> numbers(std::size_t count, unsigned seed) {
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

}  // namespace

TEST_CASE("a host that rounds up, down or to zero gets the same bits of matrices") {
  const std::vector<double> a = numbers(order * order, 1), b = numbers(order * order, 2);
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
