// A user's program: two bodies of mass one at distance two, from an installed library.
#include <cmath>
#include <cstdio>
#include <gdr/gdr.hpp>

int main() {
  gdr::Device device = gdr::Device::open("emulator");
  gdr::Gravity gravity(device);
  const double position[6] = {0, 0, 0, 2, 0, 0};
  const double mass[2] = {1, 1};
  double acceleration[6];
  double potential[2];
  gravity.compute(2, position, mass, 0.0, acceleration, potential);
  std::printf("%.6f %.6f\n", acceleration[0], potential[0]);
  return std::abs(acceleration[0] - 0.25) < 1e-6 && std::abs(potential[0] + 0.5) < 1e-6 ? 0 : 1;
}
