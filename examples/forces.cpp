// Gravity of 1000 particles: open a device, compute forces, print statistics.
//   c++ -std=c++20 forces.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>
#include <vector>

int main() {
  const std::size_t n = 1000;
  std::vector<double> x(3 * n), m(n, 1.0 / n), acc(3 * n), pot(n);
  for (std::size_t i = 0; i < n; ++i) {  // a spiral; replace with your particles
    const double turn = 0.1 * static_cast<double>(i);
    const double radius = static_cast<double>(i + 1) / n;
    x[3 * i] = radius * std::cos(turn);
    x[3 * i + 1] = radius * std::sin(turn);
    x[3 * i + 2] = 0.1 * std::sin(3 * turn);
  }
  try {
    gdr::Device device = gdr::Device::open();  // GDR_DEVICE, or an emulated board by default
    gdr::Gravity gravity(device);
    gravity.compute(n, x.data(), m.data(), 0.01, acc.data(), pot.data());
    double energy = 0;
    for (std::size_t i = 0; i < n; ++i) energy += 0.5 * m[i] * pot[i];
    const gdr::Statistics done = device.statistics();
    std::printf("%s\n", device.description().c_str());
    std::printf("potential energy %.9f, acceleration of the first (%g, %g, %g)\n", energy, acc[0],
                acc[1], acc[2]);
    std::printf("%.3g interactions; a real board would take %.3g ms\n",
                static_cast<double>(done.interactions), 1e3 * done.predicted_seconds);
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
