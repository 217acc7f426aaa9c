// Eigen's vectors and matrices as arrays of jobs.
#include <Eigen/Core>

#include "gdr/device.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "support/catch.hpp"

namespace gdr::test {

TEST_CASE("vectors, rows and matrices of Eigen are arrays of jobs, and short ones are refused") {
  Device device = Device::open("emulator:chips=1,blocks=2,pes=4");
  Job job = device.job(Kernel::compile(
      "kernel vectors; VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 f; f += m*(xs - x);"));
  Eigen::Matrix3Xd x(3, 2), f(3, 2);
  x << 1, 4, 2, 5, 3, 6;
  Eigen::Matrix<double, Eigen::Dynamic, 3> xs(2, 3), by_rows(2, 3);
  xs << 1, 2, 3, 0, 0, 1;
  Eigen::MatrixXd masses(2, 2);
  masses << 1, 2, 7, 7;
  job.targets(2, {{"x", x}});
  job.sources(2, {{"xs", xs}, {"m", masses.row(0)}});
  job.run({{"f", f}});
  job.run({{"f", by_rows}});
  for (int i = 0; i < 2; ++i)
    for (int c = 0; c < 3; ++c) {
      CHECK(f(c, i) == (xs(0, c) - x(c, i)) + 2 * (xs(1, c) - x(c, i)));
      CHECK(by_rows(i, c) == f(c, i));
    }
  CHECK_THROWS_AS(job.targets(3, {{"x", x}}), Error);
  CHECK_THROWS_AS(job.run({{"f", f.leftCols(1)}}), Error);
  Gravity gravity(device);
  Eigen::VectorXd m = Eigen::VectorXd::Ones(2), pot(2);
  gravity.compute(2, x, m, 0.0, f, pot);
  CHECK(pot(0) == pot(1));
  CHECK_THROWS_AS(gravity.compute(3, x, m, 0.0, f, pot), Error);
}

}  // namespace gdr::test
