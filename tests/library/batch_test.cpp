// Batched matrices, compared with Eigen and by residuals in long double.
#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gdr/distributed.hpp"
#include "gdr/gdr.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"

using namespace gdr;
using Eigen::Index;
using Eigen::MatrixXd;
using gdr::test::has;
using gdr::test::refused;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

namespace {

constexpr double no_id = -77;

/// Matrices with padding rows and gaps.
struct Batch {
  std::size_t count, rows, columns, stride, step;
  std::vector<double> data;

  Batch(std::size_t n, std::size_t r, std::size_t c, std::size_t spare = 1)
      : count(n),
        rows(r),
        columns(c),
        stride(r + spare),
        step(stride * c + spare),
        data(n * step + 1, no_id) {}
  MatrixXd get(std::size_t i) const {
    return Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>>(
        data.data() + i * step, static_cast<Index>(rows), static_cast<Index>(columns),
        Eigen::OuterStride<>(static_cast<Index>(stride)));
  }
  void set(std::size_t i, const MatrixXd& x) {
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r)
        data[i * step + c * stride + r] = x(static_cast<Index>(r), static_cast<Index>(c));
  }
  MatrixBatch<double> view() { return {data.data(), stride, step}; }
  MatrixBatch<const double> view() const { return {data.data(), stride, step}; }
  /// Whether the padding is unchanged.
  bool untouched() const {
    std::vector<bool> used(data.size(), false);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t r = 0; r < rows; ++r) used[i * step + c * stride + r] = true;
    for (std::size_t k = 0; k < data.size(); ++k)
      if (!used[k] && data[k] != no_id) return false;
    return true;
  }
};

Batch random_batch(std::size_t count, std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Batch batch(count, rows, columns);
  for (std::size_t i = 0; i < count; ++i)
    batch.set(i, MatrixXd::NullaryExpr(static_cast<Index>(rows), static_cast<Index>(columns),
                                       [&] { return normal(random); }));
  return batch;
}

/// The largest element of P A - L U relative to the rounding of products of 50 bits.
double error_of_factors(const MatrixXd& a, const MatrixXd& lu,
                        const std::vector<std::int64_t>& pivots, std::size_t first) {
  LongMatrix rows = a.cast<long double>();
  for (Index i = 0; i < a.rows(); ++i)
    rows.row(i).swap(rows.row(pivots[first + static_cast<std::size_t>(i)]));
  LongMatrix l = lu.cast<long double>().triangularView<Eigen::StrictlyLower>();
  l.diagonal().setOnes();
  const LongMatrix u = lu.cast<long double>().triangularView<Eigen::Upper>();
  const LongMatrix size = l.cwiseAbs() * u.cwiseAbs();
  return static_cast<double>((l * u - rows).cwiseAbs().maxCoeff() / (size.maxCoeff() * 0x1p-49L));
}

constexpr const char* batch_machine = "exact:chips=1,blocks=2,pes=4";
constexpr const char* native_engine = "emulator:chips=1,blocks=2,pes=4,engine=native";

}  // namespace

TEST_CASE("batched products of all shapes are correct") {
  Device device = Device::open(GENERATE(batch_machine, native_engine));
  BatchedMatrices small(device);
  struct Shape {
    std::size_t m, n, k;
  };
  for (const Shape& s : {Shape{1, 1, 1},
                         {4, 4, 4},
                         {5, 5, 5},
                         {9, 9, 9},
                         {2, 7, 3},
                         {8, 1, 8},
                         {1, 30, 5},
                         {3, 2, 0}}) {
    CAPTURE(s.m, s.n, s.k);
    constexpr std::size_t count = 45;  // more than the machine holds at once
    const Batch a = random_batch(count, s.m, s.k, 1), b = random_batch(count, s.k, s.n, 2);
    Batch c(count, s.m, s.n);
    small.multiply(count, s.m, s.n, s.k, a.view(), b.view(), c.view());
    CHECK(c.untouched());
    for (std::size_t i = 0; i < count; ++i) {
      const LongMatrix exact = a.get(i).cast<long double>() * b.get(i).cast<long double>();
      const MatrixXd size = a.get(i).cwiseAbs() * b.get(i).cwiseAbs();
      for (Index row = 0; row < exact.rows(); ++row)
        for (Index column = 0; column < exact.cols(); ++column)
          REQUIRE(std::fabs(c.get(i)(row, column) - exact(row, column)) <=
                  0x1p-48L * size(row, column));
    }
  }
}

TEST_CASE("batched LU has the pivots of Eigen, and solves are accurate") {
  Device device = Device::open(GENERATE(batch_machine, native_engine));
  BatchedMatrices small(device);
  const std::size_t n = GENERATE(1, 2, 3, 4, 7, 8, 10, 11, 15);
  const std::size_t columns = n == 15 ? 3 : n == 4 ? 9 : 1;  // one at a time, and many at a time
  CAPTURE(n);
  constexpr std::size_t count = 37;
  const Batch before = random_batch(count, n, n, 3), right = random_batch(count, n, columns, 4);
  Batch a = before, x = right;
  std::vector<std::int64_t> pivots(count * n + 2, -5);
  REQUIRE(small.lu(count, n, a.view(), pivots) == 0);
  CHECK(a.untouched());
  CHECK(pivots[count * n] == -5);
  small.solve(count, n, columns, std::as_const(a).view(), pivots, x.view());
  CHECK(x.untouched());
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(i);
    const MatrixXd matrix = before.get(i), lu = a.get(i);
    REQUIRE(error_of_factors(matrix, lu, pivots, i * n) < 4);
    const Eigen::PartialPivLU<MatrixXd> reference(matrix);
    const double condition = reference.rcond();
    REQUIRE((lu - reference.matrixLU()).cwiseAbs().maxCoeff() < 1e-12 / condition);
    const LongMatrix rest = matrix.cast<long double>() * x.get(i).cast<long double>() -
                            right.get(i).cast<long double>();
    const double scale =
        matrix.cwiseAbs().rowwise().sum().maxCoeff() * x.get(i).cwiseAbs().maxCoeff() +
        right.get(i).cwiseAbs().maxCoeff();
    REQUIRE(static_cast<double>(rest.cwiseAbs().maxCoeff()) < 0x1p-47 * scale);
  }
}

TEST_CASE("full-precision batches have the accuracy of one rounding to double") {
  Device device = Device::open(batch_machine);
  BatchedMatrices small(device, MatrixPrecision::Full);
  constexpr std::size_t count = 37;
  const std::size_t n = GENERATE(1, 2, 4, 5, 9, 10, 15);
  CAPTURE(n);
  const Batch before = random_batch(count, n, n, 5), right = random_batch(count, n, 2, 6);
  if (n <= 9) {
    const Batch b = random_batch(count, n, n, 7);
    Batch c(count, n, n);
    small.multiply(count, n, n, n, before.view(), b.view(), c.view());
    for (std::size_t i = 0; i < count; ++i) {
      const LongMatrix exact = before.get(i).cast<long double>() * b.get(i).cast<long double>();
      const MatrixXd size = before.get(i).cwiseAbs() * b.get(i).cwiseAbs();
      for (Index row = 0; row < exact.rows(); ++row)
        for (Index column = 0; column < exact.cols(); ++column)
          REQUIRE(std::fabs(c.get(i)(row, column) - exact(row, column)) <=
                  0x1p-53L * std::fabs(exact(row, column)) + 0x1p-57L * size(row, column));
    }
  }
  Batch a = before, x = right;
  std::vector<std::int64_t> pivots(count * n);
  REQUIRE(small.lu(count, n, a.view(), pivots) == 0);
  small.solve(count, n, 2, std::as_const(a).view(), pivots, x.view());
  double ours = 0, theirs = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const MatrixXd matrix = before.get(i);
    // In units of 2^-49: the rounding of both factors to double, not of the products.
    REQUIRE(error_of_factors(matrix, a.get(i), pivots, i * n) < 0x1p-3);
    const auto rest = [&](const MatrixXd& solution) {
      const LongMatrix r = matrix.cast<long double>() * solution.cast<long double>() -
                           right.get(i).cast<long double>();
      return static_cast<double>(r.cwiseAbs().maxCoeff());
    };
    ours += rest(x.get(i));
    theirs += rest(Eigen::PartialPivLU<MatrixXd>(matrix).solve(right.get(i)));
  }
  CHECK(ours <= 1.1 * theirs);
}

TEST_CASE("batched products of the identity and doubles are exact in full precision only") {
  Device device = Device::open(batch_machine);
  constexpr std::size_t count = 9, n = 4;
  Batch identity(count, n, n);
  for (std::size_t i = 0; i < count; ++i) identity.set(i, MatrixXd::Identity(n, n));
  const Batch b = random_batch(count, n, n, 8);
  for (const auto precision : {MatrixPrecision::Chip, MatrixPrecision::Full}) {
    BatchedMatrices small(device, precision);
    Batch c(count, n, n);
    small.multiply(count, n, n, n, std::as_const(identity).view(), b.view(), c.view());
    CHECK((c.data == b.data) == (precision == MatrixPrecision::Full));
    small.multiply(count, n, n, n, b.view(), std::as_const(identity).view(), c.view());
    CHECK((c.data == b.data) == (precision == MatrixPrecision::Full));
  }
}

TEST_CASE("singular, extreme and NaN matrices of a batch give the results of LAPACK") {
  Device device = Device::open(GENERATE(batch_machine, native_engine));
  BatchedMatrices small(device);
  constexpr std::size_t count = 7, n = 4;
  Batch a = random_batch(count, n, n, 5);
  MatrixXd singular = a.get(1);
  singular.col(2).setZero();
  a.set(1, singular);
  a.set(2, MatrixXd::Zero(n, n));
  MatrixXd poisoned = a.get(3);
  poisoned(2, 1) = std::numeric_limits<double>::quiet_NaN();
  a.set(3, poisoned);
  a.set(4, a.get(4) * 0x1p1015);
  a.set(5, a.get(5) * 0x1p-1015);
  const Batch before = a;
  std::vector<std::int64_t> pivots(count * n);
  CHECK(small.lu(count, n, a.view(), pivots) == 2);
  for (const std::size_t i : {0, 1, 2, 4, 5, 6}) {
    CAPTURE(i);
    const MatrixXd matrix = before.get(i);
    CHECK(a.get(i).allFinite());
    if (i == 2) {
      CHECK(a.get(i).isZero(0));
    } else {
      CHECK(error_of_factors(matrix, a.get(i), pivots, i * n) < 4);
    }
  }
  CHECK(a.get(3).allFinite() == false);
  Batch x = random_batch(count, n, 1, 6);
  const Batch right = x;
  small.solve(count, n, 1, std::as_const(a).view(), pivots, x.view());
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(i);
    CHECK(x.get(i).allFinite() == (i != 1 && i != 2 && i != 3));
    if (!x.get(i).allFinite()) continue;
    const MatrixXd expected = before.get(i).partialPivLu().solve(right.get(i));
    CHECK((x.get(i) - expected).cwiseAbs().maxCoeff() <= 1e-11 * expected.cwiseAbs().maxCoeff());
  }
  // Infinities and NaN do not affect other matrices.
  Batch c(count, n, n);
  small.multiply(count, n, n, n, before.view(), before.view(), c.view());
  CHECK(!c.get(3).allFinite());
  CHECK(c.get(0).allFinite());
  CHECK((c.get(0) - before.get(0) * before.get(0)).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("the factors of a matrix do not depend on its position in the batch or the geometry") {
  constexpr std::size_t count = 9, n = 6;
  const Batch before = random_batch(count, n, n, 8);
  Batch first(0, 0, 0);
  std::vector<std::int64_t> first_pivots;
  for (const char* const name : {batch_machine, "exact:chips=3,blocks=3,pes=2,boards=2",
                                 "exact:chips=1,blocks=1,isa=portable"}) {
    CAPTURE(name);
    Device device = Device::open(name);
    BatchedMatrices small(device);
    Batch a = before;
    std::vector<std::int64_t> pivots(count * n);
    small.lu(count, n, a.view(), pivots);
    if (first_pivots.empty()) {
      first = a;
      first_pivots = pivots;
    }
    CHECK(a.data == first.data);
    CHECK(pivots == first_pivots);
  }
}

TEST_CASE("a native engine gives a matrix the same bits at every place and for any threads") {
  constexpr std::size_t count = 300, n = 6;  // more than one task, and an incomplete vector
  Batch a = random_batch(count, n, n, 9), x = random_batch(count, n, 2, 10);
  for (std::size_t i = 7; i < count; ++i) {  // the same seven matrices again
    a.set(i, a.get(i % 7));
    x.set(i, x.get(i % 7));
  }
  std::vector<double> factors, solutions;
  for (const char* const name :
       {"emulator:engine=native,threads=1", "emulator:engine=native,threads=3"}) {
    Device device = Device::open(name);
    BatchedMatrices small(device);
    Batch lu = a, y = x;
    std::vector<std::int64_t> pivots(count * n);
    CHECK(small.lu(count, n, lu.view(), pivots) == 0);
    small.solve(count, n, 2, std::as_const(lu).view(), pivots, y.view());
    for (std::size_t i = 7; i < count; ++i) {
      CAPTURE(i);
      REQUIRE(lu.get(i) == lu.get(i % 7));
      REQUIRE(y.get(i) == y.get(i % 7));
    }
    if (factors.empty()) {
      factors = lu.data;
      solutions = y.data;
    }
    CHECK(lu.data == factors);
    CHECK(y.data == solutions);
  }
}

TEST_CASE("batches and vectors beyond the address space are errors") {
  Device device = Device::open(batch_machine);
  BatchedMatrices small(device);
  std::vector<double> x(600);
  double* const p = x.data();
  // 128 words of each problem: their number would overflow to 0.
  constexpr std::size_t count = std::size_t{1} << 57;
  has(refused([&] {
        small.multiply(count, 1, 1, 128, {p, 1, 0}, {p, 128, 0}, {p, 1, 1});
      }),
      "larger than any memory");
  std::vector<std::int64_t> pivots(32);
  constexpr std::size_t columns = std::size_t{1} << 60;
  has(refused([&] {
        small.solve(1, 1, columns, {p, 1, 1}, pivots, {p, 1, 1});
      }),
      "larger than any memory");
  Device whole = Device::open("exact:chips=1");
  LinearSolver solver(whole);
  has(refused([&] {
        solver.multiply(columns, 1, 0, {p, columns}, {p}, 1, {p});
      }),
      "larger than any memory");
  DistributedMatrices matrices(whole);
  has(refused([&] { matrices.solve(2 * columns, p); }), "larger than any memory");
  has(refused([&] { matrices.multiply(columns, 64, 64, 1, p, p, 0, p); }),
      "larger than any memory");
}

TEST_CASE("batches that do not fit a PE and invalid arguments are errors") {
  Device device = Device::open(batch_machine);
  BatchedMatrices small(device);
  std::vector<double> x(600);
  std::vector<std::int64_t> pivots(32);
  double* const p = x.data();
  has(refused([&] { small.lu(2, 16, {p, 16, 256}, pivots); }), "need 272 words");
  has(refused([&] { small.lu(2, 3, {p, 2, 9}, pivots); }), "leading dimension of A is 2");
  has(refused([&] { small.lu(2, 3, {p, 3, 8}, pivots); }), "8 elements apart");
  has(refused([&] { small.lu(11, 3, {p, 3, 9}, pivots); }), "has 32 elements; 33 are needed");
  has(refused([&] { small.lu(1, 3, {nullptr, 3, 9}, pivots); }), "null pointer");
  has(refused([&] {
        small.multiply(1, 10, 10, 10, {p, 10, 0}, {p, 10, 0}, {p, 10, 0});
      }),
      "need 300 words");
  pivots = {0, 1, 2, 3, 1, 2};
  has(refused([&] {
        small.solve(2, 3, 1, {p, 3, 9}, pivots, {p, 3, 3});
      }),
      "pivot 0 of matrix 1 is 3");
  CHECK(small.lu(0, 3, {nullptr, 3, 9}, {}) == 0);
  CHECK(small.lu(3, 0, {nullptr, 1, 0}, {}) == 0);
  small.multiply(5, 0, 3, 3, {nullptr, 1, 0}, {nullptr, 3, 0}, {nullptr, 1, 0});
}
