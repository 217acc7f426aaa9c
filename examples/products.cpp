// Products of Eigen matrices on the device: the correlation matrix of four hundred samples, and the
// samples in two other bases, for which they are transferred once.
//   c++ -std=c++20 $(pkg-config --cflags eigen3 gdr) products.cpp -lgdr
#include <cstdio>
#include <gdr/eigen.hpp>
#include <gdr/gdr.hpp>

int main() {
  const Eigen::Index samples = 400, values = 64;
  std::srand(1);
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(values, samples);  // one sample per column
  const Eigen::MatrixXd frame = Eigen::MatrixXd::Random(values, values);
  Eigen::MatrixXd correlations(values, values), turned(values, samples), back(values, samples);
  try {
    gdr::Device device = gdr::Device::open("emulator:chips=1");
    gdr::MatrixProduct product(device, gdr::MatrixPrecision::Full);
    gdr::multiply(product, correlations, x, x.transpose(), 1.0 / static_cast<double>(samples));

    gdr::multiply(product, turned, frame, x);
    const auto sent = device.statistics().bytes_to_board;
    gdr::multiply(product, back, frame.transpose(), x, 1.0, 0.0, gdr::Reuse::B);
    const gdr::Statistics all = device.statistics();
    std::printf("%.1f MB to the boards, the last %.1f MB without the samples\n",
                1e-6 * static_cast<double>(all.bytes_to_board),
                1e-6 * static_cast<double>(all.bytes_to_board - sent));
    std::printf("%.0f million operations, predicted %.2f ms\n", 1e-6 * all.flops,
                1e3 * all.predicted_seconds);
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  const double error =
      (correlations - x * x.transpose() / static_cast<double>(samples)).cwiseAbs().maxCoeff() +
      (turned - frame * x).cwiseAbs().maxCoeff() +
      (back - frame.transpose() * x).cwiseAbs().maxCoeff();
  std::printf("largest difference from Eigen's own: %.1e\n", error);
  return error < 1e-13 * static_cast<double>(values) ? 0 : 1;
}
