// Float products, compared with sums in long double rounded once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "emulator/host/isa.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float float_infinity = std::numeric_limits<float>::infinity();
constexpr Transpose kept = Transpose::No, flipped = Transpose::Yes;

std::vector<float> random_floats(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> all(count);
  for (float& x : all) x = scale * normal(random);
  return all;
}

float element(const std::vector<float>& x, std::size_t stride, Transpose t, std::size_t row,
              std::size_t column) {
  return t == kept ? x[row + column * stride] : x[column + row * stride];
}

struct FloatShape {
  std::size_t m, n, k;
};

/// Checks a product of random matrices with padding rows: every element is the rounded sum, except
/// for the last bits of the sum itself.
void check(MatrixProduct& product, const FloatShape& s, Transpose ta, Transpose tb, float alpha,
           float beta, float size_a = 1, float size_b = 1) {
  CAPTURE(s.m, s.n, s.k, ta, tb, alpha, beta);
  const std::size_t lda = (ta == flipped ? s.k : s.m) + 3, ldb = (tb == flipped ? s.n : s.k) + 1;
  const std::size_t ldc = s.m + 2;
  const std::vector<float> a = random_floats(lda * (ta == flipped ? s.m : s.k), 1, size_a);
  const std::vector<float> b = random_floats(ldb * (tb == flipped ? s.k : s.n), 2, size_b);
  const std::vector<float> before = random_floats(ldc * s.n, 3);
  std::vector<float> c = before;
  product.compute(s.m, s.n, s.k, alpha, {a.data(), lda, ta}, {b.data(), ldb, tb}, beta,
                  {c.data(), ldc});
  for (std::size_t column = 0; column < s.n; ++column) {
    for (std::size_t row = 0; row < ldc; ++row) {
      const float old = before[row + column * ldc], now = c[row + column * ldc];
      if (row >= s.m) {
        REQUIRE(now == old);
        continue;
      }
      long double sum = 0, size = 0;
      for (std::size_t i = 0; i < s.k; ++i) {
        const long double x = element(a, lda, ta, row, i), y = element(b, ldb, tb, i, column);
        sum += x * y;
        size += std::fabs(x * y);
      }
      const long double scaled = beta == 0 ? 0.0L : static_cast<long double>(beta) * old;
      const long double expected = alpha * sum + scaled;
      const long double half_unit = std::max(0x1p-24L * std::fabs(expected), 0x1p-150L);
      const long double bound =
          half_unit + 0x1p-51L * (std::fabs(alpha) * size + std::fabs(scaled));
      if (!(std::fabs(now - expected) <= bound))
        FAIL("row " << row << ", column " << column << ": " << now << " instead of "
                    << static_cast<double>(expected));
    }
  }
}

}  // namespace

TEST_CASE("float products of all shapes and transposes take one pass") {
  Device device = Device::open("exact:chips=2,blocks=2");
  const auto precision = GENERATE(MatrixPrecision::Chip, MatrixPrecision::Full);
  MatrixProduct product(device, precision);
  for (const FloatShape& s :
       {FloatShape{1, 1, 1}, {5, 3, 2}, {31, 7, 33}, {257, 5, 127}, {17, 4, 129}, {513, 2, 257}}) {
    for (const Transpose ta : {kept, flipped})
      for (const Transpose tb : {kept, flipped}) check(product, s, ta, tb, 1, 0);
  }
  check(product, {40, 30, 500}, kept, flipped, -1.5F, 0.75F);
  // Doubles in `Full` take three passes of this product; floats none more than one.
  const Statistics before = device.statistics();
  check(product, {20, 4, 128}, kept, kept, 0.3F, 1);
  const Statistics after = device.statistics();
  CHECK(after.compute_clocks - before.compute_clocks < 2 * 5 * 544);
  CHECK(after.flops - before.flops == 2.0 * 20 * 4 * 128);
}

TEST_CASE("subnormal floats and subnormal results of float products are correct") {
  Device device = Device::open("exact:chips=1,blocks=2");
  MatrixProduct product(device);
  check(product, {20, 10, 40}, kept, kept, 1, 0, 0x1p-140F, 1);  // subnormal factors and result
  check(product, {20, 10, 40}, flipped, kept, 1, 0, 0x1p-140F, 0x1p100F);  // subnormal factors
  check(product, {20, 10, 150}, kept, kept, 1, 0, 0x1p-125F, 0x1p100F);   // some of them, more of k
  check(product, {20, 10, 40}, kept, flipped, 1, 0, 0x1p-72F, 0x1p-72F);  // subnormal result
  check(product, {20, 10, 40}, kept, kept, 0x1p100F, 1, 0x1p-120F,
        0x1p-120F);  // its sums below 2^-149
}

TEST_CASE("float results overflow to infinity after the complete sum only") {
  Device device = Device::open("exact:chips=1,blocks=1");
  MatrixProduct product(device);
  const float large = 0x1p100F;
  const std::vector<float> a{large, 1, large, 1}, b{large, -large, large, large};
  float c[4] = {7, 7, 7, 7};
  // Rows (large, large) and (1, 1); columns (large, -large) and (large, large).
  product.compute(2, 2, 2, 1, {a.data(), 2}, {b.data(), 2}, 0, {c, 2});
  CHECK(c[0] == 0);  // 2^200 - 2^200
  CHECK(c[1] == 0);
  CHECK(c[2] == float_infinity);
  CHECK(c[3] == 2 * large);
  product.compute(2, 2, 2, -0x1p-100F, {a.data(), 2}, {b.data(), 2}, 0, {c, 2});
  CHECK(c[2] == -2 * large);  // alpha before the rounding
  CHECK(c[3] == -2);
}

TEST_CASE("alpha, beta, infinities and errors of float products are those of double") {
  Device device = Device::open("exact:chips=1,blocks=1");
  MatrixProduct product(device);
  std::vector<float> a{1, 2, 3, 4}, b{1, 0, 0, 1}, c(4, float_nan);
  const auto run = [&](float alpha, float beta) {
    product.compute(2, 2, 2, alpha, {a.data(), 2}, {b.data(), 2}, beta, {c.data(), 2});
  };
  run(1, 0);
  CHECK(c == a);
  run(0, 0.5F);
  CHECK(c == std::vector<float>{0.5F, 1, 1.5F, 2});
  a[0] = float_infinity;
  run(1, 0);
  CHECK(c[0] == float_infinity);
  CHECK(c[1] == 2);
  CHECK(std::isnan(c[2]));  // infinity times 0
  const float* const nothing = nullptr;
  const auto refused = [&](std::size_t lda, const float* data) {
    try {
      product.compute(2, 2, 2, 1, {data, lda}, {b.data(), 2}, 0, {c.data(), 2});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused(1, a.data()).find("the leading dimension of A is 1") != std::string::npos);
  CHECK(refused(2, nothing).find("A is a null pointer") != std::string::npos);
  CHECK(refused(std::size_t{1} << 61, a.data()).find("larger than any memory") !=
        std::string::npos);
}

TEST_CASE("floats with a long inner dimension use the short format, with fewer clocks and bytes") {
  struct Case {
    std::size_t k;
    std::uint64_t clocks, tile_words, item_words;
  };
  // A chip has two blocks of 32 doubles, or of 64 floats. Both kernels fill 256 rows of 32 words,
  // in the blocks that have some.
  constexpr std::uint64_t tile = 2 * 256 * 32, item = 2 * 32;
  for (const Case& x :
       {Case{64, 544, tile, item}, Case{65, 544, 3 * tile / 2, 2 * item},
        Case{128, 544, 2 * tile, 2 * item}, Case{129, 788, 3 * tile / 2, 2 * item},
        Case{256, 788, 2 * tile, 2 * item}, Case{257, 2 * 788, 4 * tile, 4 * item}}) {
    Device device = Device::open("exact:chips=2,blocks=2");
    MatrixProduct product(device);
    check(product, {40, 6, x.k}, kept, kept, 1, 0);
    const Statistics before = device.statistics();
    check(product, {40, 6, x.k}, kept, flipped, 0.5F, 1);
    const Statistics after = device.statistics();
    CAPTURE(x.k);
    // Six columns and one more, and section Start.
    const std::uint64_t clocks = after.compute_clocks - before.compute_clocks;
    CHECK(clocks >= 7 * x.clocks);
    CHECK(clocks < 7 * x.clocks + 100);
    CHECK(after.bytes_to_board - before.bytes_to_board == 8 * (x.tile_words + 7 * x.item_words));
  }
}

TEST_CASE(
    "floats in the short format give the same bits on every engine, including infinities and "
    "zeros") {
  constexpr std::size_t m = 37, n = 11, k = 90;
  std::vector<float> a = random_floats(m * k, 5), b = random_floats(k * n, 6, 0x1p-110F);
  a[3] = float_infinity;
  a[40] = float_nan;
  b[5] = -float_infinity;
  b[7] = -0.0F;
  std::vector<std::vector<float>> results;
  for (const char* name :
       {"emulator:chips=1,blocks=1,engine=reference", "emulator:chips=1,blocks=1,engine=vector",
        "emulator:chips=1,blocks=1,engine=vector,isa=portable"}) {
    Device device = Device::open(name);
    MatrixProduct product(device);
    std::vector<float>& c = results.emplace_back(m * n, 0.0F);
    product.compute(m, n, k, 1, {a.data(), m}, {b.data(), k}, 0, {c.data(), m});
  }
  const auto same = [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  };
  CHECK(std::ranges::equal(results[0], results[1], same));
  CHECK(std::ranges::equal(results[0], results[2], same));
  CHECK(std::isnan(results[0][40 % m]));
}

TEST_CASE(
    "float products of every native engine have the error of floats, and none runs on the exact "
    "engine") {
  constexpr std::size_t n = 600;
  const std::vector<float> a = random_floats(n * n, 1), b = random_floats(n * n, 2);
  const std::string engine = GENERATE("native", "native-float", "native-mixed", "native-fast");
  const std::vector<Isa> isas = host_isas();
  const Isa isa = GENERATE_REF(from_range(isas));
  CAPTURE(engine, isa_name(isa));
  Device device =
      Device::open("emulator:chips=1,engine=" + engine + ",isa=" + std::string(isa_name(isa)));
  MatrixProduct product(device);
  const bool transposed = GENERATE(false, true);
  std::vector<float> c(n * n);
  product.compute(n, n, n, 1, {a.data(), n, transposed ? flipped : kept}, {b.data(), n, kept}, 0,
                  {c.data(), n});
  double worst = 0;
  for (std::size_t at = 0; at < n; ++at) {
    const std::size_t row = at, column = (7 * at) % n;
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double term = static_cast<double>(element(a, n, transposed ? flipped : kept, row, i)) *
                          static_cast<double>(b[i + column * n]);
      sum += term;
      size += std::fabs(term);
    }
    worst = std::max(worst, std::fabs(c[row + column * n] - sum) / size);
  }
  CHECK(worst < 2.5e-7);
  std::vector<double> wide(a.begin(), a.end()), sums(n * n);
  product.compute(n, n, n, 1, {wide.data(), n}, {wide.data(), n}, 0, {sums.data(), n});
  const Statistics statistics = device.statistics();
  CHECK(statistics.fallback_runs == 0);
  CHECK(statistics.fallback_reason.empty());
}
