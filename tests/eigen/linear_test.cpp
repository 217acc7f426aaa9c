// Systems of equations of Eigen matrices, compared with Eigen; blocks are written in place.
#include <Eigen/Dense>

#include "gdr/eigen.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

using namespace gdr;
using Eigen::MatrixXd, Eigen::VectorXd;

namespace {

const char* const solver_name = "exact:chips=1,blocks=2";

/// All products on the device.
LinearSolver solver_on(Device& device) {
  LinearOptions options;
  options.device_flops = 0;
  options.block = 16;
  return LinearSolver(device, options);
}

MatrixXd some(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::srand(seed);
  return MatrixXd::Random(rows, columns);
}

}  // namespace

TEST_CASE("systems of Eigen matrices and vectors are solved") {
  Device device = Device::open(solver_name);
  LinearSolver solver = solver_on(device);
  const MatrixXd a = some(60, 60, 1), b = some(60, 3, 2);
  CHECK((solve(solver, a, b) - a.partialPivLu().solve(b)).norm() < 1e-9);
  const VectorXd v = b.col(1);
  const VectorXd x = solve(solver, a.transpose() * 2.0, v);
  CHECK((2 * a.transpose() * x - v).norm() < 1e-10);
  CHECK(device.statistics().runs > 0);

  MatrixXd singular = a;
  singular.col(7).setZero();
  CHECK_THROWS_WITH(solve(solver, singular, b), Catch::Contains("pivot 7 is zero"));
  CHECK_THROWS_AS(solve(solver, a, some(59, 1, 3)), Error);
  CHECK_THROWS_AS(solve(solver, some(60, 59, 3), b), Error);
}

TEST_CASE("a block of a larger matrix is factorised in place without changes outside") {
  Device device = Device::open(solver_name);
  LinearSolver solver = solver_on(device);
  MatrixXd large = some(80, 80, 4);
  const MatrixXd before = large;
  auto block = large.block(5, 9, 50, 40);
  Pivots pivots;
  CHECK_FALSE(lu(solver, block, pivots).has_value());
  REQUIRE(pivots.size() == 40);
  MatrixXd lower = block.triangularView<Eigen::StrictlyLower>(), moved = before.block(5, 9, 50, 40);
  lower.diagonal().setOnes();
  const MatrixXd upper = block.topRows(40).triangularView<Eigen::Upper>();
  for (Eigen::Index i = 0; i < pivots.size(); ++i) moved.row(i).swap(moved.row(pivots(i)));
  CHECK((lower * upper - moved).norm() < 1e-11);
  large.block(5, 9, 50, 40) = before.block(5, 9, 50, 40);
  CHECK(large == before);
}

TEST_CASE("factors are reusable for solves, including transposed, Cholesky and triangular ones") {
  Device device = Device::open(solver_name);
  LinearSolver solver = solver_on(device);
  const MatrixXd a = some(48, 48, 5), b = some(48, 2, 6);
  MatrixXd factors = a, x = b;
  Pivots pivots;
  lu(solver, factors, pivots);
  solve(solver, factors, pivots, x, Transpose::Yes);
  CHECK((a.transpose() * x - b).norm() < 1e-9);

  const MatrixXd s = a * a.transpose() + MatrixXd::Identity(48, 48);
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
    MatrixXd half = s;
    CHECK_FALSE(cholesky(solver, triangle, half).has_value());
    x = b;
    solve_cholesky(solver, triangle, half, x);
    CHECK((s * x - b).norm() < 1e-9);
  }

  MatrixXd t = a;
  t.diagonal().setConstant(4);
  x = b;
  solve_triangular(solver, Side::Left, Triangle::Lower, Diagonal::Stored, t, x, 3.0);
  CHECK((t.triangularView<Eigen::Lower>() * x - 3 * b).norm() < 1e-9);
  MatrixXd y = b.transpose();
  solve_triangular(solver, Side::Right, Triangle::Upper, Diagonal::Stored, t, y, 1.0,
                   Transpose::Yes);
  CHECK((y * MatrixXd(t.triangularView<Eigen::Upper>()).transpose() - b.transpose()).norm() < 1e-9);
  CHECK_THROWS_AS(solve_triangular(solver, Side::Right, Triangle::Upper, Diagonal::Stored, t, x),
                  Error);
}

TEST_CASE("a matrix is multiplied by a vector") {
  Device device = Device::open(solver_name);
  LinearSolver solver = solver_on(device);
  const MatrixXd a = some(30, 20, 7), vectors = some(30, 2, 8);
  const VectorXd x = vectors.col(0).head(20), z = vectors.col(1);
  VectorXd y = z;
  multiply(solver, y, a, x, 2.0, -1.0);
  CHECK((y - (2 * a * x - z)).norm() < 1e-12);
  VectorXd u(20);
  u.setConstant(std::nan(""));
  multiply(solver, u, a, z, 1.0, 0.0, Transpose::Yes);
  CHECK((u - a.transpose() * z).norm() < 1e-12);
  CHECK_THROWS_AS(multiply(solver, u, a, x), Error);
}
