// Products and factorisations on a GPU, compared with Eigen and by residuals. Without an OpenCL
// device these tests are skipped; the processor's (pocl) will do.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/host/gpu/device.hpp"
#include "library/dense.hpp"
#include "support/gpu.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

Device open(const std::string& engine, const std::string& options = "chips=2,blocks=2") {
  return Device::open("emulator:" + options + ",engine=" + engine);
}

struct Sizes {
  std::size_t m, n, k;
};

/// alpha op(A) op(B) + beta C, with padding rows everywhere.
MatrixXd product(Device& device, const Sizes& s, Transpose ta, Transpose tb, double alpha,
                 double beta) {
  const bool at = ta == yes, bt = tb == yes;
  const Padded a(random_matrix(at ? s.k : s.m, at ? s.m : s.k, 1));
  const Padded b(random_matrix(bt ? s.n : s.k, bt ? s.k : s.n, 2), 1);
  Padded c(random_matrix(s.m, s.n, 3), 2);
  MatrixProduct multiply(device);
  multiply.compute(s.m, s.n, s.k, alpha, a.view(ta), b.view(tb), beta, c.view());
  return c.value();
}
/// The largest difference from Eigen's, relative to the sum of the magnitudes of the terms.
double error(const MatrixXd& c, const Sizes& s, Transpose ta, Transpose tb, double alpha,
             double beta) {
  const bool at = ta == yes, bt = tb == yes;
  const MatrixXd a = op(random_matrix(at ? s.k : s.m, at ? s.m : s.k, 1), ta);
  const MatrixXd b = op(random_matrix(bt ? s.n : s.k, bt ? s.k : s.n, 2), tb);
  const MatrixXd before = random_matrix(s.m, s.n, 3);
  const LongMatrix expected =
      alpha * (a.cast<long double>() * b.cast<long double>()) + beta * before.cast<long double>();
  const MatrixXd size =
      std::abs(alpha) * (a.cwiseAbs() * b.cwiseAbs()) + std::abs(beta) * before.cwiseAbs();
  double worst = 0;
  for (Eigen::Index i = 0; i < c.rows(); ++i)
    for (Eigen::Index j = 0; j < c.cols(); ++j)
      if (c(i, j) != expected(i, j))
        worst =
            std::max(worst, std::abs(static_cast<double>(c(i, j) - expected(i, j))) / size(i, j));
  return worst;
}

}  // namespace

TEST_CASE("products of all sizes and transposes are correct on a GPU") {
  if (!use_gpu_for_all()) return;
  for (const char* engine : {"gpu", "gpu-float", "gpu-exact"}) {
    Device device = open(engine), host = open("vector");
    // Roundings of floats, as the guide has it; of doubles; and factors of fifty bits.
    const double tolerance = engine == std::string("gpu-float") ? 258 * 0x1p-24
                             : engine == std::string("gpu")     ? 260 * 0x1p-53
                                                                : 0x1p-48;
    for (const Sizes& s : {Sizes{0, 3, 2},
                           {3, 0, 2},
                           {3, 2, 0},
                           {1, 1, 1},
                           {5, 3, 2},
                           {257, 5, 127},
                           {64, 33, 129},
                           {300, 70, 500}}) {
      for (const Transpose ta : {no, yes})
        for (const Transpose tb : {no, yes})
          for (const double beta : {0.0, 0.75}) {
            const double alpha = beta == 0 ? 1 : -1.5;
            CAPTURE(engine, s.m, s.n, s.k, ta, tb, beta);
            const MatrixXd c = product(device, s, ta, tb, alpha, beta);
            CHECK(error(c, s, ta, tb, alpha, beta) <= tolerance);
            if (engine == std::string("gpu-exact"))
              CHECK(c == product(host, s, ta, tb, alpha, beta));
          }
    }
    const Statistics statistics = device.statistics();
    INFO(statistics.fallback_reason);
    CHECK(statistics.gpu_runs > 0);
    CHECK(statistics.fallback_reason.empty());
  }
}

TEST_CASE("products on a GPU have the same bits for any number of boards and threads") {
  if (!use_gpu_for_all()) return;
  for (const char* engine : {"gpu", "gpu-float"}) {
    constexpr Sizes sizes{600, 90, 700};
    Device one = open(engine, "chips=2,blocks=2,threads=1");
    const MatrixXd c = product(one, sizes, no, no, 1, 0);
    for (const char* options :
         {"boards=3,chips=2,blocks=2,threads=1", "chips=2,blocks=2,threads=4"}) {
      CAPTURE(engine, options);
      Device other = open(engine, options);
      CHECK(product(other, sizes, no, no, 1, 0) == c);
      CHECK(other.statistics().gpu_runs > 0);
    }
  }
}

TEST_CASE("LU and Cholesky factorisations solve linear systems on a GPU") {
  if (!use_gpu_for_all()) return;
  for (const char* engine : {"gpu", "gpu-exact"}) {
    Device device = open(engine);
    LinearSolver solver(device, on_device(32));
    constexpr std::size_t n = 200;
    const MatrixXd a = random_matrix(n, n, 11), b = random_matrix(n, 2, 12);
    CAPTURE(engine);
    {
      Padded factors(a), x(b);
      std::vector<std::int64_t> pivots(n);
      REQUIRE(!solver.lu(n, n, factors.view(), pivots));
      solver.solve(n, 2, factors.view(no), pivots, x.view());
      CHECK(residual(a, x.value(), b) < 16);
    }
    const MatrixXd positive = a * a.transpose() + MatrixXd::Identity(n, n);
    Padded factors(positive), x(b);
    REQUIRE(!solver.cholesky(Triangle::Lower, n, factors.view()));
    solver.solve_cholesky(Triangle::Lower, n, 2, factors.view(no), x.view());
    CHECK(residual(positive, x.value(), b) < 16);
    CHECK(device.statistics().gpu_runs > 0);
  }
}

TEST_CASE("small products of a GPU engine run on the processor, with the same bits in doubles") {
  if (!use_gpu_for_all()) return;
  const GpuBlas blas("own");
  constexpr Sizes sizes{70, 60, 50};
  Device native = open("native"), device = open("gpu");
  const MatrixXd c = product(native, sizes, no, no, 1, 0);
  CHECK(c == product(device, sizes, no, no, 1, 0));
  const std::uint64_t before = device.statistics().gpu_runs;
  CHECK(before > 0);
  double& limit = open_gpu("")->min_pairs;
  limit = 1e5;
  CHECK(c == product(device, sizes, no, no, 1, 0));
  limit = 0;
  CHECK(device.statistics().gpu_runs == before);
}
