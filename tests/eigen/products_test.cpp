// Products of Eigen matrices of all layouts, compared with Eigen, without unnecessary copies.
// Forbidden allocations throw, also without assertions.
#include <stdexcept>
#define EIGEN_RUNTIME_NO_MALLOC
#define eigen_assert(condition) \
  if (!(condition)) throw std::logic_error(#condition)
#include <algorithm>
#include <functional>

#include "gdr/eigen.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;
using Eigen::Dynamic, Eigen::Index, Eigen::MatrixXd, Eigen::MatrixXf;
using ByRows = Eigen::Matrix<double, Dynamic, Dynamic, Eigen::RowMajor>;

namespace {

/// Small integers: sums are exact in any order.
template <typename Matrix = MatrixXd>
Matrix whole(Index rows, Index columns, int seed) {
  Matrix x(rows, columns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      x(i, j) = static_cast<typename Matrix::Scalar>((i * 7 + j * 3 + i * j + seed) % 19 - 9);
  return x;
}

const char* const name = "exact:chips=1,blocks=1";

/// Runs `action` while Eigen may not allocate.
void without_copies(const std::function<void()>& action) {
  Eigen::internal::set_is_malloc_allowed(false);
  try {
    action();
  } catch (...) {
    Eigen::internal::set_is_malloc_allowed(true);
    throw;
  }
  Eigen::internal::set_is_malloc_allowed(true);
}

}  // namespace

TEST_CASE("matrices, transposes, blocks, maps and Refs are multiplied in place") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  const MatrixXd a = whole(5, 8, 1), b = whole(8, 4, 2), at = a.transpose(), bt = b.transpose();
  const ByRows ra = a, rb = b;
  const MatrixXd expected = a * b;
  MatrixXd c(5, 4);
  ByRows rc(5, 4);
  MatrixXd large = whole(9, 9, 3);
  const MatrixXd large_before = large;
  const auto check = [&](const auto& x, const auto& y) {
    c.setConstant(std::nan(""));
    rc.setConstant(std::nan(""));
    large = large_before;
    without_copies([&] {
      multiply(product, c, x, y);
      multiply(product, rc, x, y);
      multiply(product, large.block(2, 3, 5, 4), x, y, 2.0, -1.0);
    });
    CHECK(c == expected);
    CHECK(rc == expected);
    CHECK(large.block(2, 3, 5, 4) == 2 * expected - large_before.block(2, 3, 5, 4));
    large.block(2, 3, 5, 4) = large_before.block(2, 3, 5, 4);
    CHECK(large == large_before);
  };
  check(a, b);
  check(ra, b);
  check(a, rb);
  check(at.transpose(), bt.adjoint());
  check(ra, rb);
  MatrixXd home = whole(20, 20, 4);
  home.block(3, 2, 5, 8) = a;
  home.block(10, 11, 4, 8) = bt;
  check(home.block(3, 2, 5, 8), home.block(10, 11, 4, 8).transpose());
  check(Eigen::Ref<const MatrixXd>(a), Eigen::Map<const MatrixXd>(b.data(), 8, 4));
  check(Eigen::Map<const MatrixXd, 0, Eigen::OuterStride<>>(home.data() + 3 + 2 * 20, 5, 8,
                                                            Eigen::OuterStride<>(20)),
        b);
}

TEST_CASE("vectors, rows of column-major matrices and fixed sizes are multiplied in place") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  const MatrixXd a = whole(6, 7, 1), b = whole(7, 6, 2);
  const Eigen::VectorXd x = whole(7, 1, 3);
  Eigen::VectorXd y(6);
  Eigen::MatrixXd one(1, 1), rows = MatrixXd::Zero(4, 7), outer(6, 6);
  Eigen::Matrix<double, 6, 6> fixed;
  ByRows columns = ByRows::Zero(6, 4);
  without_copies([&] {
    multiply(product, y, a, x);
    multiply(product, one, x.transpose(), x);
    multiply(product, rows.row(2), b.row(3), a);  // both with an inner stride
    multiply(product, columns.col(1), a, b.col(2));
    multiply(product, outer, b.transpose().col(0), b.row(1));
    multiply(product, fixed, a, b);
  });
  CHECK(y == a * x);
  CHECK(one(0, 0) == x.squaredNorm());
  CHECK(rows.row(2) == b.row(3) * a);
  CHECK(rows.row(1).isZero(0));
  CHECK(columns.col(1) == a * b.col(2));
  CHECK(columns.col(2).isZero(0));
  CHECK(outer == b.transpose().col(0) * b.row(1));
  CHECK(fixed == a * b);
}

TEST_CASE("expressions that are not contiguous or overlap the result are copied") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  const MatrixXd a = whole(5, 5, 1), b = whole(5, 5, 2);
  CHECK(multiply(product, a + b, 2 * b) == (a + b) * (2 * b));
  using Wide = Eigen::Map<MatrixXd, 0, Eigen::Stride<Dynamic, Dynamic>>;
  MatrixXd store = whole(10, 10, 3);
  const MatrixXd before = store;
  Wide apart(store.data(), 5, 5, {20, 2});  // every second row and column
  CHECK(multiply(product, apart, b) == apart * b);
  const MatrixXd expected = a * b - MatrixXd(apart);
  multiply(product, apart, a, b, 1.0, -1.0);
  CHECK(apart == expected);
  CHECK(store(1, 0) == before(1, 0));
  CHECK(store(0, 1) == before(0, 1));
  MatrixXd same = a;
  multiply(product, same, same, same.transpose());
  CHECK(same == a * a.transpose());
  same = a;
  multiply(product, same.leftCols(3), same, b.leftCols(3));
  CHECK(same.leftCols(3) == a * b.leftCols(3));
}

TEST_CASE("overlap of blocks of one matrix is detected") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  // All pairs of positions of a 2 x 3 result and a 3 x 3 factor in one matrix.
  const MatrixXd before = whole(8, 8, 5), left = whole(2, 3, 6);
  int apart = 0, over = 0;
  for (Index i = 0; i <= 6; i += 2)
    for (Index j = 0; j <= 5; ++j)
      for (Index row = 0; row <= 5; ++row)
        for (Index column = 0; column <= 5; column += 3) {
          MatrixXd all = before;
          auto to = all.block(i, j, 2, 3);
          const auto from = all.block(row, column, 3, 3);
          const bool overlap = std::max(i, row) < std::min(i + 2, row + 3) &&
                               std::max(j, column) < std::min(j + 3, column + 3);
          const MatrixXd expected = left * from;
          if (overlap) {
            multiply(product, to, left, from);
          } else {
            without_copies([&] { multiply(product, to, left, from); });
          }
          CAPTURE(i, j, row, column);
          REQUIRE(all.block(i, j, 2, 3) == expected);
          ++(overlap ? over : apart);
        }
  CHECK(over > 50);
  CHECK(apart > 100);
}

TEST_CASE("floats and empty shapes are supported, mismatched shapes are errors") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  const MatrixXf a = whole<MatrixXf>(4, 6, 1), b = whole<MatrixXf>(6, 3, 2);
  MatrixXf c = MatrixXf::Ones(4, 3);
  multiply(product, c, a, b, 0.5F, 2.0F);
  CHECK(c == 0.5F * a * b + MatrixXf::Constant(4, 3, 2));
  CHECK(multiply(product, a, b) == a * b);
  CHECK(multiply(product, MatrixXf(3, 0), MatrixXf(0, 2)) == MatrixXf::Zero(3, 2));
  CHECK(multiply(product, MatrixXf(0, 4), a).size() == 0);
  try {
    multiply(product, c, a, a);
    FAIL("4 x 6 times 4 x 6");
  } catch (const Error& e) {
    CHECK(e.category() == ErrorCategory::Usage);
    CHECK(std::string(e.what()).find("C is 4 x 3, A is 4 x 6 and B is 4 x 6") != std::string::npos);
  }
}

TEST_CASE("matrices by rows without elements are multiplied as others") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  for (const Eigen::Index rows : {0, 1, 3})
    for (const Eigen::Index columns : {0, 1, 3})
      for (const Eigen::Index inner : {0, 1, 2}) {
        INFO(rows << " x " << columns << ", inner " << inner);
        const ByRows a = ByRows::Ones(rows, inner), b = ByRows::Ones(inner, columns);
        ByRows c = ByRows::Constant(rows, columns, 7);
        CHECK_NOTHROW(multiply(product, c, a, b, 1.0, 0.0));
        CHECK(c == ByRows::Constant(rows, columns, static_cast<double>(inner)));
      }
}

TEST_CASE("the native engine computes and predicts products in full precision in one pass") {
  const MatrixXd x = MatrixXd::Constant(40, 40, 1.0 / 3);  // more than 50 bits
  const auto clocks = [&x](const char* engine, MatrixPrecision precision) {
    Device device = Device::open(std::string(name) + ",engine=" + engine);
    MatrixProduct product(device, precision);
    CHECK((multiply(product, x, x) - x * x).norm() < 1e-9);
    return device.statistics().chip_clocks;
  };
  const std::uint64_t chip = clocks("vector", MatrixPrecision::Chip);
  CHECK(clocks("native", MatrixPrecision::Chip) == chip);
  CHECK(clocks("native", MatrixPrecision::Full) == chip);
  CHECK(clocks("vector", MatrixPrecision::Full) > 2 * chip);
}

TEST_CASE("B of Eigen matrices stays resident") {
  Device device = Device::open(name);
  MatrixProduct product(device);
  const MatrixXd a = whole(5, 8, 1), b = whole(8, 4, 2);
  MatrixXd c(5, 4);
  ByRows rc(5, 4);
  const auto sent = [&](auto& to, const MatrixXd& left, Reuse reuse) {
    const std::uint64_t before = device.statistics().bytes_to_board;
    multiply(product, to, left, b, 1.0, 0.0, reuse);
    CHECK(to == left * b);
    return device.statistics().bytes_to_board - before;
  };
  sent(c, a, Reuse::Nothing);
  const std::uint64_t all = sent(c, a, Reuse::Nothing);
  CHECK(sent(c, 2 * a, Reuse::B) == all - 5 * 32 * sizeof(double));
  CHECK(sent(rc, 3 * a, Reuse::B) == all - 5 * 32 * sizeof(double));
}
