// A user's program with Eigen's matrices.
#include <cstdio>
#include <gdr/eigen.hpp>
#include <gdr/gdr.hpp>

int main() {
  gdr::Device device = gdr::Device::open("exact:chips=1");
  gdr::MatrixProduct product(device);
  const Eigen::MatrixXd a{{1, 2}, {3, 4}};
  const Eigen::MatrixXd square = gdr::multiply(product, a, a);
  std::printf("%g %g %g %g\n", square(0, 0), square(0, 1), square(1, 0), square(1, 1));
  return square == a * a ? 0 : 1;
}
