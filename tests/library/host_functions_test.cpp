// Host functions of factorisations: equal bits with every instruction set, compared with sums in
// long double.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "libgdr/dense/host/functions.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::dense;

namespace {

std::vector<double> numbers(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> normal;
  std::vector<double> all(n);
  for (double& x : all) x = normal(random);
  return all;
}

bool equal_bits(const std::vector<double>& x, const std::vector<double>& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

/// LU of some columns, column by column to the right. Returns the first pivot that is zero, or n.
std::size_t eliminate_plainly(std::size_t m, std::size_t n, std::vector<double>& a,
                              std::size_t stride, std::vector<std::int64_t>& pivots) {
  std::size_t zero = n;
  for (std::size_t j = 0; j < n; ++j) {
    double* const column = a.data() + j * stride;
    std::size_t pivot = j;
    for (std::size_t r = j + 1; r < m; ++r)
      if (std::fabs(column[r]) > std::fabs(column[pivot])) pivot = r;
    pivots[j] = static_cast<std::int64_t>(pivot);
    if (column[pivot] == 0) {
      zero = std::min(zero, j);
      continue;
    }
    for (std::size_t c = 0; c < n; ++c) std::swap(a[j + c * stride], a[pivot + c * stride]);
    for (std::size_t r = j + 1; r < m; ++r) column[r] /= column[j];
    for (std::size_t c = j + 1; c < n; ++c)
      for (std::size_t r = j + 1; r < m; ++r) {
        const double product = column[r] * a[j + c * stride];
        a[r + c * stride] -= product;
      }
  }
  return zero;
}

}  // namespace

/// Those of every instruction set of this host that has its own; others, as NEON, take the portable
/// ones.
std::vector<const HostFunctions*> functions_of_host() {
  std::vector<const HostFunctions*> list;
  for (const Isa isa : host_isas())
    if (const HostFunctions* const functions = host_functions_of(isa)) list.push_back(functions);
  return list;
}

TEST_CASE("host products have the same bits with every instruction set") {
  struct Shape {
    std::size_t m, n, k;
  };
  const HostFunctions& reference = *host_functions_of(Isa::Portable);
  for (const Shape& s : {Shape{1, 1, 1},
                         {3, 5, 7},
                         {24, 8, 192},
                         {25, 9, 193},
                         {23, 7, 400},
                         {240, 17, 33},
                         {48, 240, 10}}) {
    for (const bool a_turned : {false, true})
      for (const bool b_turned : {false, true}) {
        CAPTURE(s.m, s.n, s.k, a_turned, b_turned);
        const std::size_t lda = (a_turned ? s.k : s.m) + 2, ldb = (b_turned ? s.n : s.k) + 1;
        std::vector<double> a = numbers(lda * (a_turned ? s.m : s.k), 1);
        const std::vector<double> b = numbers(ldb * (b_turned ? s.k : s.n), 2);
        const std::vector<double> before = numbers((s.m + 3) * s.n, 3);
        if (s.m == 25) a[7] = std::numeric_limits<double>::infinity();
        const HostFactor of_a{a.data(), a_turned ? lda : 1, a_turned ? 1 : lda};
        const HostFactor of_b{b.data(), b_turned ? ldb : 1, b_turned ? 1 : ldb};
        const auto product = [&](const HostFunctions& functions) {
          std::vector<double> c = before, scratch(functions.scratch(s.m, s.n));
          functions.subtract_product(
              {s.m, s.n, s.k, of_a, of_b, c.data(), s.m + 3, scratch.data()});
          return c;
        };
        const std::vector<double> c = product(reference);
        for (std::size_t j = 0; j < s.n; ++j)
          for (std::size_t i = 0; i < s.m + 3; ++i) {
            const double old = before[i + j * (s.m + 3)], now = c[i + j * (s.m + 3)];
            long double exact = old, size = std::fabs(old);
            for (std::size_t l = 0; i < s.m && l < s.k; ++l) {
              const long double x = of_a.data[i * of_a.down + l * of_a.across];
              exact -= x * of_b.data[l * of_b.down + j * of_b.across];
              size += std::fabs(x * of_b.data[l * of_b.down + j * of_b.across]);
            }
            if (std::isinf(size)) {
              REQUIRE(!std::isfinite(now));
            } else {
              REQUIRE(std::fabs(now - exact) <= 0x1p-53L * static_cast<double>(s.k + 2) * size);
            }
          }
        for (const HostFunctions* const functions : functions_of_host()) {
          CAPTURE(isa_name(functions->isa));
          REQUIRE(equal_bits(product(*functions), c));
        }
      }
  }
}

TEST_CASE("steps of factorisations have the same bits with every instruction set") {
  for (const std::size_t n : {1, 2, 7, 8, 9, 16}) {
    for (const std::size_t m : {n, n + 1, n + 30, n + 99}) {
      const std::size_t stride = m + 1;
      std::vector<double> before = numbers(stride * n, 4);
      if (n == 7)  // its pivot is zero
        for (std::size_t i = 0; i < m; ++i) before[i + 2 * stride] = 0;
      for (const HostFunctions* const of_host : functions_of_host()) {
        CAPTURE(isa_name(of_host->isa), m, n);
        const HostFunctions& functions = *of_host;
        REQUIRE(host_functions_of(functions.isa) == of_host);
        std::vector<double> a = before, expected = before;
        std::vector<std::int64_t> pivots(n), expected_pivots(n);
        const std::size_t zero = eliminate_plainly(m, n, expected, stride, expected_pivots);
        REQUIRE(functions.factor.factor_columns(m, n, a.data(), stride, pivots.data()) == zero);
        REQUIRE(pivots == expected_pivots);
        REQUIRE(equal_bits(a, expected));
      }
    }
  }
}

TEST_CASE("small triangles have the same bits with every instruction set") {
  const std::size_t n = GENERATE(1, 3, 8, 13, 31, 32);
  const bool unit = GENERATE(false, true), forward = GENERATE(false, true);
  std::vector<double> t = numbers(triangle_rows * triangle_rows, 6);
  for (std::size_t i = 0; i < n; ++i) t[i + i * triangle_rows] += 9;
  const HostTriangle triangle{n, unit, t.data()};
  for (const std::size_t count : {0, 1, 7, 8, 16, 39}) {
    const std::vector<double> before = numbers((n + 2) * (count + 3), 7);
    const auto solved = [&](const std::vector<double>& b, std::size_t next, std::size_t across) {
      std::vector<double> x = b;
      for (std::size_t v = 0; v < count; ++v)
        for (std::size_t i = 0; i < n; ++i) {
          const auto at = [&](std::size_t k) -> double& {
            return x[(forward ? k : n - 1 - k) * next + v * across];
          };
          for (std::size_t j = 0; j < i; ++j) {
            const double product = t[i + j * triangle_rows] * at(j);
            at(i) -= product;
          }
          if (!unit) at(i) /= t[i + i * triangle_rows];
        }
      return x;
    };
    for (const HostFunctions* const of_host : functions_of_host()) {
      CAPTURE(isa_name(of_host->isa), n, unit, forward, count);
      const FactorFunctions& functions = of_host->factor;
      std::vector<double> along = before, across = before;
      functions.solve_along(triangle, along.data(), forward, n + 2, count);
      REQUIRE(equal_bits(along, solved(before, 1, n + 2)));
      const auto next = static_cast<std::ptrdiff_t>(count + 3);
      functions.solve_across(triangle, across.data() + (forward ? 0 : (n - 1) * (count + 3)),
                             forward ? next : -next, count);
      REQUIRE(equal_bits(across, solved(before, count + 3, 1)));
    }
  }
}

TEST_CASE("small Cholesky factors have the same bits with every instruction set") {
  const std::size_t n = GENERATE(1, 3, 8, 13, 31, 32);
  std::vector<double> before = numbers(triangle_rows * triangle_rows, 8);
  for (std::size_t i = 0; i < n; ++i) before[i + i * triangle_rows] = 40 + before[i];
  std::vector<double> expected = before;
  const auto at = [&](std::size_t i, std::size_t j) -> double& {
    return expected[i + j * triangle_rows];
  };
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) {
        const double product = at(i, k) * at(j, k);
        at(i, j) -= product;
      }
    }
    at(j, j) = std::sqrt(at(j, j));
    for (std::size_t i = j + 1; i < n; ++i) at(i, j) /= at(j, j);
  }
  for (const HostFunctions* const of_host : functions_of_host()) {
    CAPTURE(isa_name(of_host->isa), n);
    std::vector<double> a = before;
    const FactorFunctions& functions = of_host->factor;
    REQUIRE(functions.factor_triangle(n, a.data()) == n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i)
        REQUIRE(a[i + j * triangle_rows] == expected[i + j * triangle_rows]);
    a = before;
    a[n - 1 + (n - 1) * triangle_rows] = -1;
    REQUIRE(functions.factor_triangle(n, a.data()) == n - 1);
  }
}

TEST_CASE(
    "factors, solutions and products of small matrices have the same bits with every "
    "instruction set") {
  const std::size_t n = GENERATE(1, 2, 5, 8, 15);
  constexpr std::size_t problems = 2;  // of every instruction set, the lanes of the shortest vector
  CAPTURE(n);
  const std::vector<double> before = numbers(problems * n * n, 11),
                            right = numbers(problems * n, 12);
  std::vector<double> factors, solutions, products;
  for (const HostFunctions* const of_host : functions_of_host()) {
    const HostFunctions& functions = *of_host;
    REQUIRE(functions.lanes >= problems);
    std::vector<double> a = before, x = right, c(problems * n);
    std::vector<std::int64_t> pivots(problems * n, -1);
    REQUIRE(functions.factor_batch(n, {a.data(), n, n * n}, problems, pivots.data()) == 0);
    functions.solve_batch(n, 1, {a.data(), n, n * n, pivots.data()}, problems, {x.data(), n, n});
    std::vector<double> left = before, column = x;
    functions.multiply_batch(
        {n, 1, n, {left.data(), n, n * n}, {column.data(), n, n}, {c.data(), n, n}}, problems);
    if (factors.empty()) {
      factors = a;
      solutions = x;
      products = c;
    }
    CHECK(equal_bits(a, factors));
    CHECK(equal_bits(x, solutions));
    CHECK(equal_bits(c, products));
    double most = 0;  // A x - b
    for (std::size_t i = 0; i < problems * n; ++i)
      most = std::max(most, std::fabs(c[i] - right[i]));
    CHECK(most < 1e-9);
  }
}

TEST_CASE("a small matrix with a zero pivot or a NaN is left to the caller") {
  const HostFunctions& functions = host_functions();
  std::vector<double> a = {1, 2, 2, 4, 1, 2, 3, 4};  // two matrices; the first is singular
  const std::vector<double> before = a;
  std::vector<std::int64_t> pivots(4);
  CHECK(functions.factor_batch(2, {a.data(), 2, 4}, 2, pivots.data()) == 1);
  CHECK(std::equal(a.begin(), a.begin() + 4, before.begin()));
  CHECK(a[4] == 2);
  a = before;
  a[5] = std::numeric_limits<double>::quiet_NaN();
  CHECK((functions.factor_batch(2, {a.data(), 2, 4}, 2, pivots.data()) & 2) == 2);
}
