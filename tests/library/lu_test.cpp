// LU on a device, compared with Eigen and by residuals in long double.
#include <cmath>
#include <vector>

#include "library/dense.hpp"
#include "library/refused.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

/// Rows after the exchanges.
Eigen::VectorXi order_of(const std::vector<std::int64_t>& pivots, std::size_t rows) {
  Eigen::VectorXi order(static_cast<Eigen::Index>(rows));
  for (Eigen::Index i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < pivots.size(); ++i)
    std::swap(order[static_cast<Eigen::Index>(i)], order[pivots[i]]);
  return order;
}

/// Difference of P A and L U in units of the rounding of a factorisation.
double error_of_factors(const MatrixXd& a, const MatrixXd& lu, const Eigen::VectorXi& order) {
  const Eigen::Index k = std::min(lu.rows(), lu.cols());
  MatrixXd l = lu.leftCols(k).triangularView<Eigen::StrictlyLower>();
  l.diagonal().setOnes();
  const MatrixXd u = lu.topRows(k).triangularView<Eigen::Upper>();
  const LongMatrix product = l.cast<long double>() * u.cast<long double>();
  long double worst = 0;
  for (Eigen::Index r = 0; r < a.rows(); ++r)
    for (Eigen::Index c = 0; c < a.cols(); ++c)
      worst = std::max(worst, std::fabs(product(r, c) - a(order[r], c)));
  return static_cast<double>(worst) /
         (epsilon * std::max(norm(l) * u.cwiseAbs().maxCoeff(), 1e-300));
}

}  // namespace

TEST_CASE("LU has the pivots of Eigen, and L U is the permuted matrix") {
  Device device = Device::open("exact:chips=1,blocks=2");
  LinearSolver solver(device, on_device(32));
  const auto [m, n] = GENERATE(table<std::size_t, std::size_t>({{1, 1},
                                                                {2, 2},
                                                                {17, 17},
                                                                {31, 31},
                                                                {32, 32},
                                                                {33, 33},
                                                                {63, 63},
                                                                {64, 64},
                                                                {65, 65},
                                                                {129, 129},
                                                                {300, 40},
                                                                {40, 70},
                                                                {64, 97},
                                                                {97, 64},
                                                                {1, 9},
                                                                {9, 1}}));
  CAPTURE(m, n);
  const MatrixXd a = random_matrix(m, n, 7);
  Padded factors(a);
  const std::size_t steps = std::min(m, n);
  std::vector<std::int64_t> pivots(steps, -5);
  REQUIRE(!solver.lu(m, n, factors.view(), pivots));
  const MatrixXd lu = factors.value();
  CHECK(error_of_factors(a, lu, order_of(pivots, m)) < 4);
  if (m == n) {
    const Eigen::PartialPivLU<MatrixXd> reference(a);
    const Eigen::VectorXi order = order_of(pivots, m);
    for (Eigen::Index i = 0; i < order.size(); ++i)
      REQUIRE(reference.permutationP().indices()[order[i]] == i);
    CHECK((lu - reference.matrixLU()).cwiseAbs().maxCoeff() < 1e-10);
  }
}

TEST_CASE("solutions of linear systems pass the check of HPL") {
  Device device = Device::open("exact:chips=2,blocks=2");
  const bool far = GENERATE(false, true);  // everything, or nothing on the device
  LinearOptions options = on_device(0);
  if (far) options.device_flops = 1e300;
  LinearSolver solver(device, options);
  const std::size_t n = GENERATE(1, 5, 63, 64, 65, 200), columns = GENERATE(1, 3);
  CAPTURE(n, columns, far);
  const MatrixXd a = random_matrix(n, n, 11), b = random_matrix(n, columns, 12);
  Padded factors(a);
  std::vector<std::int64_t> pivots(n);
  REQUIRE(!solver.lu(n, n, factors.view(), pivots));
  for (const Transpose t : {no, yes}) {
    CAPTURE(t);
    Padded x(b);
    solver.solve(n, columns, factors.view(t), pivots, x.view());
    CHECK(residual(op(a, t), x.value(), b) < 16);
  }
}

TEST_CASE("full precision solves to the accuracy of the host, chip precision to fewer bits") {
  Device device = Device::open("exact:chips=1,blocks=2");
  constexpr std::size_t n = 192;
  const MatrixXd a = random_matrix(n, n, 1), b = random_matrix(n, 1, 2);
  double residuals[2];
  for (const auto precision : {MatrixPrecision::Chip, MatrixPrecision::Full}) {
    LinearOptions options = on_device(32);
    options.precision = precision;
    LinearSolver solver(device, options);
    Padded factors(a), x(b);
    std::vector<std::int64_t> pivots(n);
    REQUIRE(!solver.lu(n, n, factors.view(), pivots));
    solver.solve(n, 1, factors.view(no), pivots, x.view());
    residuals[precision == MatrixPrecision::Full] = residual(a, x.value(), b);
  }
  const VectorXd x = a.partialPivLu().solve(b.col(0));
  CAPTURE(residuals[0], residuals[1]);
  CHECK(residuals[1] < 2 * residual(a, x, b) + 0.01);
  CHECK(residuals[0] > residuals[1]);
  CHECK(residuals[0] < 16);
}

TEST_CASE("look-ahead gives the same bits for any number of threads") {
  constexpr std::size_t n = 150;
  const MatrixXd a = random_matrix(n, n, 3);
  MatrixXd first;
  for (const char* const name :
       {"exact:chips=1,blocks=2,threads=1", "exact:chips=1,blocks=2,threads=3"}) {
    for (const bool overlap : {false, true}) {
      CAPTURE(name, overlap);
      Device device = Device::open(name);
      LinearSolver solver(device, on_device(32, overlap));
      Padded factors(a);
      std::vector<std::int64_t> pivots(n);
      REQUIRE(!solver.lu(n, n, factors.view(), pivots));
      if (first.size() == 0) first = factors.value();
      CHECK(factors.value() == first);
    }
  }
}

TEST_CASE("singular matrices are factorised completely, and the first zero pivot is returned") {
  Device device = Device::open("exact:chips=1,blocks=1");
  LinearSolver solver(device, on_device(16));
  constexpr std::size_t n = 50;
  const std::size_t at = GENERATE(0, 5, 16, 33, 49);
  CAPTURE(at);
  // Rows of whole numbers, of which the leading columns are diagonal: exact on every machine.
  MatrixXd a = MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    a(i, (i * 7) % 50) = static_cast<double>(i + 1);
  }
  a.col(static_cast<Eigen::Index>(at)).setZero();
  Padded factors(a);
  std::vector<std::int64_t> pivots(n);
  const auto zero = solver.lu(n, n, factors.view(), pivots);
  REQUIRE(zero);
  CHECK(*zero == at);
  CHECK(error_of_factors(a, factors.value(), order_of(pivots, n)) == 0);
  Padded nothing(MatrixXd::Zero(4, 4));
  CHECK(solver.lu(4, 4, nothing.view(), pivots) == std::optional<std::size_t>(0));
}

TEST_CASE("empty matrices are factorised and solved without access") {
  Device device = Device::open("exact:chips=1,blocks=1");
  LinearSolver solver(device, on_device(0));
  CHECK(!solver.lu(0, 0, {nullptr, 1}, {}));
  CHECK(!solver.lu(0, 5, {nullptr, 1}, {}));
  CHECK(!solver.lu(5, 0, {nullptr, 5}, {}));
  CHECK(!solver.cholesky(Triangle::Lower, 0, {nullptr, 1}));
  solver.solve(0, 3, {nullptr, 1}, {}, {nullptr, 1});
  solver.solve_triangular(Side::Left, Triangle::Upper, Diagonal::Unit, 0, 4, 1, {nullptr, 1},
                          {nullptr, 1});
  solver.multiply(0, 4, 1, {nullptr, 1}, {nullptr, 1}, 0, {nullptr, 1});
}

TEST_CASE("LU and Cholesky terminate with NaN and infinities") {
  Device device = Device::open("exact:chips=1,blocks=2");
  LinearSolver solver(device, on_device(16));
  const double poison = GENERATE(not_a_number, std::numeric_limits<double>::infinity());
  constexpr Eigen::Index n = 70;
  MatrixXd a = random_matrix(n, n, 4);
  a(40, 3) = poison;
  Padded factors(a);
  std::vector<std::int64_t> pivots(n);
  CHECK(!solver.lu(n, n, factors.view(), pivots));
  // Compared with textbook elimination with the pivots of the BLAS.
  MatrixXd plain = a;
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::Index pivot = j;
    for (Eigen::Index r = j; r < n; ++r)
      if (std::fabs(plain(r, j)) > std::fabs(plain(pivot, j))) pivot = r;
    REQUIRE(pivots[static_cast<std::size_t>(j)] == pivot);
    plain.row(j).swap(plain.row(pivot));
    for (Eigen::Index r = j + 1; r < n; ++r) {
      plain(r, j) /= plain(j, j);
      plain.row(r).tail(n - j - 1) -= plain(r, j) * plain.row(j).tail(n - j - 1);
    }
  }
  const MatrixXd lu = factors.value();
  CHECK(std::isnan(lu(n - 1, n - 1)) == std::isnan(poison));
  for (Eigen::Index c = 0; c < n; ++c)
    for (Eigen::Index r = 0; r < n; ++r)
      REQUIRE(std::isfinite(lu(r, c)) == std::isfinite(plain(r, c)));
  MatrixXd s = a * a.transpose();
  s(50, 50) = not_a_number;
  s(0, 0) = 1;
  s.row(0).tail(n - 1).setZero();
  s.col(0).tail(n - 1).setZero();
  Padded square(s);
  const auto stop = solver.cholesky(Triangle::Lower, n, square.view());
  REQUIRE(stop);
  CHECK(*stop <= 50);
}

TEST_CASE("invalid arguments of factorisations and solves are errors") {
  Device device = Device::open("exact:chips=1,blocks=1");
  LinearSolver solver(device);
  double a[4] = {1, 0, 0, 1}, b[2] = {1, 1};
  std::vector<std::int64_t> pivots(2);
  has(refused([&] { solver.lu(2, 2, {a, 1}, pivots); }), "the leading dimension of A is 1");
  has(refused([&] { solver.lu(2, 2, {nullptr, 2}, pivots); }), "null pointer");
  has(refused([&] { solver.lu(2, 2, {a, 2, yes}, pivots); }), "cannot be transposed");
  has(refused([&] {
        solver.lu(2, 2, {a, 2}, std::span(pivots).first(1));
      }),
      "has 1 elements; 2 are needed");
  pivots = {1, 2};
  has(refused([&] { solver.solve(2, 1, {a, 2}, pivots, {b, 2}); }), "pivot 1 is 2");
  has(refused([&] { solver.multiply(2, 2, 1, {a, 2}, {b, 0}, 0, {b, 1}); }), "increment of x is 0");
  has(refused([&] {
        solver.solve_triangular(Side::Right, Triangle::Lower, Diagonal::Unit, 2, 2, 1, {a, 2},
                                {b, 1});
      }),
      "leading dimension of B");
}

TEST_CASE("a background product has the bits of a foreground one") {
  Device device = Device::open("exact:chips=1,blocks=2");
  MatrixProduct product(device, MatrixPrecision::Full);
  CHECK(product.depth() == 64);
  const MatrixXd a = random_matrix(300, 70, 1), b = random_matrix(70, 20, 2);
  MatrixXd c = MatrixXd::Zero(300, 20), d = c;
  product.compute(300, 20, 70, 1, {a.data(), 300}, {b.data(), 70}, 0, {c.data(), 300});
  product.wait();  // returns immediately: no work is in progress
  product.start(300, 20, 70, 1, {a.data(), 300}, {b.data(), 70}, 0, {d.data(), 300});
  product.wait();
  CHECK(c == d);
  // A second one waits for the first.
  product.start(300, 20, 70, 1, {a.data(), 300}, {b.data(), 70}, 0, {c.data(), 300});
  product.compute(300, 20, 70, 1, {a.data(), 300}, {b.data(), 70}, 1, {c.data(), 300});
  CHECK(c == 2 * d);
}
