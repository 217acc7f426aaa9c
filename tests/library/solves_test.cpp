// Triangular solves, Cholesky, and matrix-vector products on a device.
#include <cmath>

#include "emulator/host/isa.hpp"
#include "library/dense.hpp"

using namespace gdr;
using namespace gdr::test;

TEST_CASE("triangular solves of all kinds are accurate") {
  Device device = Device::open("exact:chips=1,blocks=2");
  LinearSolver solver(device, on_device(0));
  const Side side = GENERATE(Side::Left, Side::Right);
  const Triangle triangle = GENERATE(Triangle::Lower, Triangle::Upper);
  const Diagonal diagonal = GENERATE(Diagonal::Stored, Diagonal::Unit);
  const Transpose t = GENERATE(no, yes);
  for (const std::size_t n : {1, 31, 32, 33, 65, 100}) {
    const std::size_t others = n == 65 ? 70 : 3;
    CAPTURE(side, triangle, diagonal, t, n);
    const std::size_t m = side == Side::Left ? n : others, k = side == Side::Left ? others : n;
    // Well conditioned; elements that must not be read are NaN.
    MatrixXd stored = random_matrix(n, n, 5) / static_cast<double>(n);
    stored.diagonal().array() += 2;
    MatrixXd used = MatrixXd::Zero(stored.rows(), stored.cols());
    for (Eigen::Index r = 0; r < stored.rows(); ++r) {
      for (Eigen::Index c = 0; c < stored.cols(); ++c) {
        const bool inside = triangle == Triangle::Lower ? r > c : r < c;
        if (inside || (r == c && diagonal == Diagonal::Stored)) {
          used(r, c) = stored(r, c);
        } else {
          stored(r, c) = not_a_number;
          if (r == c) used(r, c) = 1;
        }
      }
    }
    const MatrixXd b = random_matrix(m, k, 6);
    const Padded a(stored);
    Padded x(b);
    solver.solve_triangular(side, triangle, diagonal, m, k, -0.5, a.view(t), x.view());
    const MatrixXd factor = op(used, t), half = -0.5 * b;
    if (side == Side::Left) {
      CHECK(residual(factor, x.value(), half) < 2);
    } else {
      CHECK(residual(factor.transpose(), x.value().transpose(), half.transpose()) < 2);
    }
    solver.solve_triangular(side, triangle, diagonal, m, k, 0, a.view(t), x.view());
    CHECK(x.value().isZero(0));
  }
}

TEST_CASE("Cholesky factors and solutions are accurate, and indefinite matrices are detected") {
  Device device = Device::open("exact:chips=1,blocks=2");
  LinearOptions options = on_device(0);
  options.precision = MatrixPrecision::Chip;  // one pass: this is about shapes
  LinearSolver solver(device, options);
  const Triangle triangle = GENERATE(Triangle::Lower, Triangle::Upper);
  const bool lower = triangle == Triangle::Lower;
  for (const Eigen::Index n : {1, 31, 32, 33, 64, 100, 270}) {
    CAPTURE(n, triangle);
    const auto size = static_cast<std::size_t>(n);
    const MatrixXd half = random_matrix(size, size + 2, 8);
    const MatrixXd a = half * half.transpose(), b = random_matrix(size, 2, 9);
    MatrixXd stored = a;
    for (Eigen::Index r = 0; r < n; ++r)
      for (Eigen::Index c = r + 1; c < n; ++c)
        (lower ? stored(r, c) : stored(c, r)) = Padded::padding;
    Padded factor(stored), x(b);
    REQUIRE(!solver.cholesky(triangle, size, factor.view()));
    const MatrixXd l = lower ? factor.value() : factor.value().transpose();
    const MatrixXd expected = a.llt().matrixL();
    for (Eigen::Index c = 0; c < n; ++c) {
      for (Eigen::Index r = 0; r < c; ++r) REQUIRE(l(r, c) == Padded::padding);
      for (Eigen::Index r = c; r < n; ++r)
        REQUIRE(std::fabs(l(r, c) - expected(r, c)) < 1e-9 * std::sqrt(a(r, r)));
    }
    solver.solve_cholesky(triangle, size, 2, factor.view(no), x.view());
    CHECK(residual(a, x.value(), b) < 16);
    // The last pivot becomes negative; the first is zero.
    for (const Eigen::Index at : {n - 1, n / 2, Eigen::Index{0}}) {
      stored(at, at) = at == 0 ? 0 : -1;
      Padded bad(stored);
      CHECK(solver.cholesky(triangle, size, bad.view()) ==
            std::optional<std::size_t>(static_cast<std::size_t>(at)));
    }
  }
}

TEST_CASE("Cholesky does not depend on look-ahead and is accurate for any panel width") {
  Device device = Device::open("exact:chips=1,blocks=2");
  constexpr std::size_t n = 330;
  const MatrixXd half = random_matrix(n, n + 2, 11), right = random_matrix(n, 1, 12);
  const MatrixXd a = half * half.transpose();
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
    for (const std::size_t block : {7, 64, 100, 330, 400}) {
      CAPTURE(triangle, block);
      std::vector<MatrixXd> factors;
      for (const bool overlap : {false, true}) {
        LinearSolver solver(device, on_device(block, overlap));
        Padded factor(a), x(right);
        REQUIRE(!solver.cholesky(triangle, n, factor.view()));
        factors.push_back(factor.value());
        solver.solve_cholesky(triangle, n, 1, factor.view(no), x.view());
        REQUIRE(residual(a, x.value(), right) < 16);
        for (const Eigen::Index at : {40, 170, 329}) {
          MatrixXd indefinite = a;
          indefinite(at, at) = -1;
          Padded bad(indefinite);
          REQUIRE(solver.cholesky(triangle, n, bad.view()) ==
                  std::optional<std::size_t>(static_cast<std::size_t>(at)));
        }
      }
      CHECK((factors[0].array() == factors[1].array()).all());
    }
  }
}

TEST_CASE("factors on native are accurate and have the same bits for any number of threads") {
  const std::string isa = GENERATE("avx512", "avx2", "portable");
  if (std::ranges::none_of(host_isas(), [&](Isa has) { return isa_name(has) == isa; })) return;
  const std::size_t n = GENERATE(37, 150, 333), block = GENERATE(0, 50);
  const MatrixXd general = random_matrix(n + 5, n, 13), right = random_matrix(n, 19, 14);
  const MatrixXd square = general.topRows(static_cast<Eigen::Index>(n));
  const MatrixXd definite =
      general.transpose() * general + MatrixXd::Identity(square.rows(), square.cols());
  std::vector<MatrixXd> first;
  for (const unsigned threads : {1U, 2U, 3U}) {
    CAPTURE(isa, n, block, threads);
    Device device = Device::open("emulator:chips=1,engine=native,isa=" + isa +
                                 ",threads=" + std::to_string(threads));
    LinearOptions options;
    options.block = block;
    LinearSolver solver(device, options);
    Padded rectangle(general), lu(square), x(right);
    std::vector<std::int64_t> pivots(n);
    REQUIRE(!solver.lu(n + 5, n, rectangle.view(), pivots));
    REQUIRE(!solver.lu(n, n, lu.view(), pivots));
    solver.solve(n, 19, lu.view(no), pivots, x.view());
    CHECK(residual(square, x.value(), right) < 16);
    std::vector<MatrixXd> all{rectangle.value(), lu.value(), x.value()};
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
      MatrixXd stored = definite;
      if (triangle == Triangle::Lower)
        stored.triangularView<Eigen::StrictlyUpper>().setConstant(Padded::padding);
      else
        stored.triangularView<Eigen::StrictlyLower>().setConstant(Padded::padding);
      Padded factor(stored), y(right);
      REQUIRE(!solver.cholesky(triangle, n, factor.view()));
      const MatrixXd whole = factor.value();
      const MatrixXd other =
          triangle == Triangle::Lower ? MatrixXd(whole) : MatrixXd(whole.transpose());
      bool untouched = true;
      for (Eigen::Index c = 0; c < other.cols(); ++c)
        untouched = untouched && (other.col(c).head(c).array() == Padded::padding).all();
      CHECK(untouched);
      solver.solve_cholesky(triangle, n, 19, factor.view(no), y.view());
      CHECK(residual(definite, y.value(), right) < 16);
      all.push_back(whole);
      all.push_back(y.value());
    }
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) CHECK((all[i].array() == first[i].array()).all());
  }
}

TEST_CASE("matrix-vector products support increments and transposes") {
  Device device = Device::open("exact:chips=1,blocks=2");
  LinearSolver solver(device, on_device(0));
  for (const Transpose t : {no, yes}) {
    for (const auto& [m, n] : {std::pair<std::size_t, std::size_t>{1, 1}, {257, 65}, {40, 200}}) {
      const MatrixXd stored = t == no ? random_matrix(m, n, 1) : random_matrix(n, m, 1);
      const Padded a(stored);
      const MatrixXd used = op(stored, t);
      for (const std::size_t step : {1, 3}) {
        CAPTURE(m, n, t, step);
        const MatrixXd x = random_matrix(n * step, 1, 2), y = random_matrix(m * step, 1, 3);
        MatrixXd got = y;
        solver.multiply(m, n, 1.5, a.view(t), {x.data(), step}, -2, {got.data(), step});
        for (std::size_t r = 0; r < m * step; ++r) {
          const auto row = static_cast<Eigen::Index>(r);
          if (r % step != 0) {
            CHECK(got(row) == y(row));
            continue;
          }
          long double sum = -2.0L * y(row), size = std::fabs(sum);
          for (std::size_t c = 0; c < n; ++c) {
            const long double term =
                1.5L * used(static_cast<Eigen::Index>(r / step), static_cast<Eigen::Index>(c)) *
                x(static_cast<Eigen::Index>(c * step));
            sum += term;
            size += std::fabs(term);
          }
          CHECK(std::fabs(got(row) - sum) <= 0x1p-51L * size);
        }
      }
    }
  }
  double y[2] = {not_a_number, 7};
  const double a[4] = {1, 2, 3, 4}, x[2] = {1, 1};
  solver.multiply(1, 2, 1, {a, 2}, {x, 1}, 0, {y, 2});  // beta = 0 does not read y
  CHECK(y[0] == 4);
  CHECK(y[1] == 7);
}
