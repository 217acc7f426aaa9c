// Gravity on Eigen matrices without copies: positions are the columns of a 3 x n matrix.
//   c++ -std=c++20 $(pkg-config --cflags eigen3 gdr) eigen.cpp -lgdr
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <cstdio>
#include <gdr/gdr.hpp>

int main() {
  const Eigen::Index n = 512;
  std::srand(1);
  Eigen::Matrix3Xd position = Eigen::Matrix3Xd::Random(3, n);  // a cube, flattened along z
  position.row(2) *= 0.25;
  const Eigen::VectorXd mass = Eigen::VectorXd::Constant(n, 1.0 / static_cast<double>(n));
  Eigen::Matrix3Xd acceleration(3, n);
  Eigen::VectorXd potential(n);
  try {
    gdr::Device device = gdr::Device::open();
    gdr::Gravity gravity(device);
    gravity.compute(static_cast<std::size_t>(n), position.data(), mass.data(), 0.05,
                    acceleration.data(), potential.data());
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  // The virial tensor W = sum m x a^T is symmetric; its trace is the potential energy (without
  // softening), and its principal axes are those of the flattened cube.
  const Eigen::Matrix3d virial = position * mass.asDiagonal() * acceleration.transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> axes(0.5 * (virial + virial.transpose()));
  const Eigen::Vector3d w = axes.eigenvalues();
  const double asymmetry = (virial - virial.transpose()).norm() / virial.norm();
  std::printf("virial tensor: eigenvalues %.6f %.6f %.6f, asymmetry %.1e\n", w[0], w[1], w[2],
              asymmetry);
  std::printf("trace %.6f, potential energy %.6f\n", virial.trace(), 0.5 * mass.dot(potential));
  return asymmetry < 1e-6 && w[2] < 0 ? 0 : 1;
}
