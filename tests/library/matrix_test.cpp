// Matrix products on a device, compared with sums in long double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "emulator/host/isa.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double inf_value = std::numeric_limits<double>::infinity();

/// A stored matrix with padding rows.
struct Matrix {
  std::size_t rows, columns, stride;
  std::vector<double> data;

  Matrix(std::size_t r, std::size_t c, std::size_t spare = 0)
      : rows(r), columns(c), stride(std::max<std::size_t>(r + spare, 1)), data(stride * c, -77.0) {}
  double& at(std::size_t r, std::size_t c) { return data[r + c * stride]; }
  double at(std::size_t r, std::size_t c) const { return data[r + c * stride]; }
  MatrixView<const double> view(Transpose t = Transpose::No) const {
    return {data.data(), stride, t};
  }
};

Matrix random_row_matrix(std::size_t rows, std::size_t columns, unsigned seed,
                         std::size_t spare = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Matrix m(rows, columns, spare);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r) m.at(r, c) = normal(random);
  return m;
}

double element(const Matrix& x, Transpose t, std::size_t r, std::size_t c) {
  return t == Transpose::No ? x.at(r, c) : x.at(c, r);
}

struct RowShape {
  std::size_t m, n, k;
};

/// Checks a product of random matrices: every element within `tolerance` of the sum of the
/// magnitudes of its terms, and padding unchanged.
void check(MatrixProduct& product, const RowShape& s, Transpose ta, Transpose tb, double alpha,
           double beta, double tolerance) {
  CAPTURE(s.m, s.n, s.k, ta, tb, alpha, beta);
  const bool at = ta == Transpose::Yes, bt = tb == Transpose::Yes;
  const Matrix a = random_row_matrix(at ? s.k : s.m, at ? s.m : s.k, 1, 3);
  const Matrix b = random_row_matrix(bt ? s.n : s.k, bt ? s.k : s.n, 2, 1);
  const Matrix before = random_row_matrix(s.m, s.n, 3, 2);
  Matrix c = before;
  product.compute(s.m, s.n, s.k, alpha, a.view(ta), b.view(tb), beta, {c.data.data(), c.stride});
  for (std::size_t column = 0; column < s.n; ++column) {
    for (std::size_t row = 0; row < s.m; ++row) {
      long double sum = 0, size = 0;
      for (std::size_t i = 0; i < s.k; ++i) {
        const long double x = element(a, ta, row, i), y = element(b, tb, i, column);
        sum += x * y;
        size += std::fabs(x * y);
      }
      const long double old = before.at(row, column);
      const long double expected = alpha * sum + beta * old;
      const long double bound = tolerance * (std::fabs(alpha) * size + std::fabs(beta * old));
      if (!(std::fabs(c.at(row, column) - expected) <= bound))
        FAIL("row " << row << ", column " << column << ": " << c.at(row, column) << " instead of "
                    << static_cast<double>(expected));
    }
    for (std::size_t row = s.m; row < c.stride; ++row) REQUIRE(c.at(row, column) == -77);
  }
}

constexpr Transpose kept_rows = Transpose::No, turned_rows = Transpose::Yes;

}  // namespace

TEST_CASE("products of all shapes around tiles and all transposes are correct") {
  Device device = Device::open("exact:chips=2,blocks=2");
  const auto precision = GENERATE(MatrixPrecision::Chip, MatrixPrecision::Full);
  MatrixProduct product(device, precision);
  // Fifty bits of both factors of a product, and the last rounding.
  const double tolerance = precision == MatrixPrecision::Chip ? 0x1p-48 : 0x1p-52;
  for (const RowShape& s : {RowShape{1, 1, 1},
                            {5, 3, 2},
                            {31, 7, 33},
                            {255, 2, 31},
                            {256, 3, 32},
                            {257, 5, 127},
                            {64, 33, 128},
                            {17, 4, 129},
                            {513, 2, 257}}) {
    for (const Transpose ta : {kept_rows, turned_rows})
      for (const Transpose tb : {kept_rows, turned_rows})
        check(product, s, ta, tb, 1, 0, tolerance);
  }
  check(product, {40, 30, 50}, kept_rows, turned_rows, -1.5, 0.75, tolerance);
  check(product, {40, 30, 500}, turned_rows, kept_rows, 0.3, 1, tolerance);
}

TEST_CASE(
    "products at the boundaries of tiles, chips and boards are correct in exact and fast "
    "numerics") {
  const bool exact = GENERATE(true, false);
  Device device = Device::open(exact ? "exact" : "emulator:engine=native");
  MatrixProduct product(device, MatrixPrecision::Full);
  // Exact: the boards return terms as doubles, and their sum and the scaled result are doubles.
  // Fast numerics round up to two thousand sums in double.
  const double tolerance = exact ? 0x1.8p-52 : 0x1p-46;
  for (const RowShape& s : {RowShape{31, 33, 511},
                            {32, 32, 512},
                            {33, 31, 513},
                            {255, 13, 257},
                            {511, 12, 33},
                            {512, 11, 31},
                            {3, 511, 255},
                            {2, 513, 256},
                            {2047, 9, 32},
                            {2049, 8, 2},
                            {7, 2047, 3},
                            {5, 10, 2047},
                            {4, 11, 2048},
                            {6, 9, 2049}}) {
    check(product, s, kept_rows, turned_rows, 1, 0, tolerance);
    check(product, s, turned_rows, kept_rows, -0.5, 2, tolerance);
  }
}

namespace {

/// Products with general factors, in doubles or floats.
template <typename Number>
std::vector<Number> scaled_product(MatrixProduct& product, const Matrix& a, const Matrix& b,
                                   Transpose t, std::size_t m, std::size_t n, std::size_t k) {
  const std::vector<Number> x(a.data.begin(), a.data.end()), y(b.data.begin(), b.data.end());
  std::vector<Number> c(m * n, Number{1} / 3);
  product.compute(m, n, k, Number(0.7), {x.data(), a.stride, t}, {y.data(), b.stride, t},
                  Number(0.3), {c.data(), m});
  return c;
}

}  // namespace

TEST_CASE("fast products have the same bits for any number of threads") {
  const std::string isa = GENERATE("", ",isa=avx2", ",isa=portable");
  const std::vector<Isa> has = host_isas();
  if (isa == ",isa=avx2" && std::ranges::find(has, Isa::Avx2) == has.end()) return;
  const bool turned = GENERATE(false, true);
  const Transpose t = turned ? turned_rows : kept_rows;
  // Several slabs and tiles, more columns than a part of the memory holds, and incomplete blocks.
  const std::size_t m = 301, n = 397, k = 700;
  const Matrix a = random_row_matrix(turned ? k : m, turned ? m : k, 1);
  const Matrix b = random_row_matrix(turned ? n : k, turned ? k : n, 2);
  std::vector<double> one, scaled;
  std::vector<float> floats;
  for (const unsigned threads : {1U, 2U, 3U, 5U}) {
    CAPTURE(isa, turned, threads);
    Device device =
        Device::open("emulator:chips=2,engine=native,threads=" + std::to_string(threads) + isa);
    MatrixProduct product(device, MatrixPrecision::Full);
    Matrix c(m, n);
    product.compute(m, n, k, 1, a.view(t), b.view(t), 0, {c.data.data(), c.stride});
    const auto in_doubles = scaled_product<double>(product, a, b, t, m, n, k);
    const auto in_floats = scaled_product<float>(product, a, b, t, m, n, k);
    if (one.empty()) {
      one = c.data;
      scaled = in_doubles;
      floats = in_floats;
    }
    REQUIRE(c.data == one);
    REQUIRE(in_doubles == scaled);
    REQUIRE(in_floats == floats);
  }
}

TEST_CASE(
    "products are correct on a full chip, on several boards, with small memories and fast "
    "numerics") {
  const char* const name =
      GENERATE("exact:chips=1", "exact:chips=3,blocks=5,boards=2",
               "exact:chips=1,blocks=2,dram=8192", "exact:chips=2,blocks=2,pes=40",
               "emulator:chips=2,blocks=2,engine=native", "emulator:chips=1,blocks=1,isa=portable");
  CAPTURE(name);
  Device device = Device::open(name);
  MatrixProduct product(device);
  check(product, {300, 19, 150}, kept_rows, kept_rows, 1, 0, 0x1p-48);
  check(product, {600, 3, 70}, turned_rows, turned_rows, 2, 1, 0x1p-48);
}

TEST_CASE("partial sums of a tile from several lists are added like those of one list") {
  // Five parts of the inner dimension, two tiles, and a list that returns less than all of that.
  constexpr std::size_t m = 300, n = 9000, k = 150, some = 30;
  Device device = Device::open("emulator:chips=1,blocks=1,engine=native");
  MatrixProduct product(device);
  const Matrix a = random_row_matrix(m, k, 1), b = random_row_matrix(k, n, 2);
  Matrix all(m, n), few(m, some);
  product.compute(m, n, k, 1, a.view(), b.view(), 0, {all.data.data(), m});
  for (const std::size_t first : {std::size_t{0}, n - some}) {
    const MatrixView<const double> columns{b.data.data() + first * k, k};
    product.compute(m, some, k, 1, a.view(), columns, 0, {few.data.data(), m});
    CHECK(std::ranges::equal(few.data, std::span(all.data).subspan(first * m, some * m)));
  }
}

TEST_CASE("the identity times integers is exact, and times any matrix in full precision") {
  Device device = Device::open("exact:chips=2,blocks=4");
  constexpr std::size_t n = 260;
  Matrix identity(n, n), whole(n, n), c(n, n);
  std::ranges::fill(identity.data, 0.0);
  for (std::size_t i = 0; i < n; ++i) identity.at(i, i) = 1;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) whole.at(i, j) = static_cast<double>(2048 * i + j);
  MatrixProduct chip(device);
  chip.compute(n, n, n, 1, identity.view(), whole.view(), 0, {c.data.data(), n});
  CHECK(c.data == whole.data);
  const Matrix random = random_row_matrix(n, n, 5);
  chip.compute(n, n, n, 1, identity.view(), random.view(), 0, {c.data.data(), n});
  CHECK(c.data != random.data);  // three bits are cut
  MatrixProduct full(device, MatrixPrecision::Full);
  full.compute(n, n, n, 1, identity.view(), random.view(), 0, {c.data.data(), n});
  CHECK(c.data == random.data);
  full.compute(n, n, n, 1, random.view(), identity.view(), 0, {c.data.data(), n});
  CHECK(c.data == random.data);
}

TEST_CASE("bits that an engine does not truncate are counted once") {
  const char* const name = GENERATE("emulator:chips=2,blocks=4,engine=native",
                                    "emulator:chips=2,blocks=4,engine=native,isa=portable");
  CAPTURE(name);
  Device device = Device::open(name);
  MatrixProduct full(device, MatrixPrecision::Full);
  constexpr std::size_t n = 40;
  Matrix identity(n, n), c(n, n);
  std::ranges::fill(identity.data, 0.0);
  for (std::size_t i = 0; i < n; ++i) identity.at(i, i) = 1;
  const Matrix random = random_row_matrix(n, n, 5);
  full.compute(n, n, n, 1, identity.view(), random.view(), 0, {c.data.data(), n});
  CHECK((c.data == random.data));
  full.compute(n, n, n, 1, random.view(), identity.view(), 0, {c.data.data(), n});
  CHECK((c.data == random.data));
  check(full, {40, 30, 300}, kept_rows, turned_rows, 1, 0, 0x1p-50);
}

TEST_CASE("infinities and NaN propagate as in sums of products") {
  Device device = Device::open("exact:chips=1,blocks=2");
  const auto precision = GENERATE(MatrixPrecision::Chip, MatrixPrecision::Full);
  MatrixProduct product(device, precision);
  constexpr std::size_t n = 20;
  Matrix a = random_row_matrix(n, n, 1), b = random_row_matrix(n, n, 2), c(n, n);
  a.at(3, 4) = inf_value;
  a.at(5, 6) = nan_value;
  b.at(7, 8) = -inf_value;
  b.at(4, 9) = 0;
  product.compute(n, n, n, 1, a.view(), b.view(), 0, {c.data.data(), n});
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      CAPTURE(row, column);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += a.at(row, i) * b.at(i, column);
      if (std::isnan(sum)) {
        CHECK(std::isnan(c.at(row, column)));
      } else if (std::isinf(sum)) {
        CHECK(c.at(row, column) == sum);
      } else {
        CHECK(std::fabs(c.at(row, column) - sum) < 1e-12);
      }
    }
  }
}

TEST_CASE("alpha, beta and empty shapes follow BLAS") {
  Device device = Device::open("exact:chips=1,blocks=1");
  MatrixProduct product(device);
  Matrix a = random_row_matrix(3, 3, 1), b = random_row_matrix(3, 3, 2), c(3, 3);
  const auto run = [&](std::size_t m, std::size_t n, std::size_t k, double alpha, double beta,
                       double old) {
    std::ranges::fill(c.data, old);
    product.compute(m, n, k, alpha, a.view(), b.view(), beta, {c.data.data(), 3});
    return c.at(0, 0);
  };
  CHECK(run(3, 3, 3, 1, 0, nan_value) ==
        Approx(a.at(0, 0) * b.at(0, 0) + a.at(0, 1) * b.at(1, 0) + a.at(0, 2) * b.at(2, 0)));
  CHECK(run(3, 3, 3, 0, 0, nan_value) == 0);
  CHECK(run(3, 3, 0, 1, 2, 5) == 10);
  CHECK(run(3, 3, 3, 0, 1, 5) == 5);
  CHECK(std::isnan(run(3, 3, 3, 1, 1, nan_value)));
  CHECK(run(0, 3, 3, 1, 0, 5) == 5);
  CHECK(run(3, 0, 3, 1, 0, 5) == 5);
  a.at(0, 0) = nan_value;  // not read
  CHECK(run(3, 3, 3, 0, 0, 5) == 0);
  const Statistics before = device.statistics();
  run(3, 3, 3, 1, 0, 0);
  CHECK(device.statistics().flops - before.flops == 54);
  CHECK(device.statistics().runs == before.runs + 1);
}

TEST_CASE("a result can be written to a transpose") {
  Device device = Device::open("exact:chips=1,blocks=1");
  MatrixProduct product(device);
  const std::size_t m = 260, n = 7, k = 40;
  const Matrix a = random_row_matrix(m, k, 1), b = random_row_matrix(k, n, 2);
  Matrix c = random_row_matrix(m, n, 3), flipped(n, m, 2);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) flipped.at(j, i) = c.at(i, j);
  const auto run = [&](double alpha) {
    product.compute(m, n, k, alpha, a.view(), b.view(), 0.5, {c.data.data(), c.stride});
    product.compute(m, n, k, alpha, a.view(), b.view(), 0.5,
                    {flipped.data.data(), flipped.stride, turned_rows});
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) REQUIRE(flipped.at(j, i) == c.at(i, j));
    for (std::size_t i = 0; i < m; ++i) REQUIRE(flipped.data[n + i * flipped.stride] == -77);
  };
  run(2);
  run(0);
  double x = 1;
  // Three columns, of which a stride of 2 is too short.
  CHECK_THROWS_AS(product.compute(2, 3, 1, 1, {&x, 2}, {&x, 1}, 0, {&x, 2, turned_rows}), Error);
}

TEST_CASE("invalid matrices and unsupported geometries are errors") {
  Device device = Device::open("exact:chips=1,blocks=1");
  MatrixProduct product(device);
  double x[4] = {};
  const auto refused = [&](MatrixView<const double> a, MatrixView<const double> b,
                           MatrixView<double> c) {
    try {
      product.compute(2, 2, 2, 1, a, b, 0, c);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(
      refused({x, 1}, {x, 2}, {x, 2}).find("the leading dimension of A is 1, but it has 2 rows") !=
      std::string::npos);
  CHECK(refused({x, 2}, {nullptr, 2}, {x, 2}).find("B is a null pointer") != std::string::npos);
  CHECK(refused({x, 2}, {x, 2}, {x, std::size_t{1} << 62}).find("larger than any memory") !=
        std::string::npos);
  Device small = Device::open("exact:chips=1,pes=16");
  REQUIRE_THROWS_AS(MatrixProduct(small), Error);
}

TEST_CASE("products and other jobs alternate on a device") {
  Device device = Device::open("exact:chips=1,blocks=2");
  Gravity gravity(device);
  MatrixProduct product(device);
  const double position[6] = {0, 0, 0, 1, 0, 0}, mass[2] = {1, 2};
  double acceleration[6] = {};
  for (int k = 0; k < 2; ++k) {
    check(product, {10, 4, 12}, kept_rows, kept_rows, 1, 0, 0x1p-48);
    gravity.compute(2, position, mass, 0, acceleration, nullptr);
    CHECK(acceleration[0] == Approx(2));
  }
}

TEST_CASE("full-precision products are proved exact in doubles like chip-precision ones") {
  // Residuals and leading parts in one sum of the network would need integer arithmetic.
  Device device = Device::open("exact:chips=3,blocks=2");
  const auto precision = GENERATE(MatrixPrecision::Chip, MatrixPrecision::Full);
  const std::size_t k = GENERATE(20, 100);
  CAPTURE(precision, k);
  const Matrix a = random_row_matrix(40, k, 1), b = random_row_matrix(k, 30, 2);
  Matrix c(40, 30);
  MatrixProduct product(device, precision);
  product.compute(40, 30, k, 1, a.view(), b.view(), 0, {c.data.data(), c.stride});
  const Statistics statistics = device.statistics();
  CHECK(statistics.fast_runs > 0);
  if (statistics.isa == "avx512") CHECK(statistics.fallback_runs == 0);
}
