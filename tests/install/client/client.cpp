// A user's program: two bodies of mass one at distance two, then two charges by the structures of
// their kernel, from an installed library.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <gdr/gdr.hpp>
#include <gdr/kernels/coulomb.hpp>

static_assert(GDR_VERSION_NUMBER >= GDR_MAKE_VERSION(0, 1, 0));

int main() {
  if (std::strcmp(GDR_VERSION_STRING, gdr::version()) != 0) return 1;
  gdr::Device device = gdr::Device::open("exact");
  gdr::Gravity gravity(device);
  const double position[6] = {0, 0, 0, 2, 0, 0};
  const double mass[2] = {1, 1};
  double acceleration[6];
  double potential[2];
  gravity.compute(2, position, mass, 0.0, acceleration, potential);
  std::printf("%.6f %.6f\n", acceleration[0], potential[0]);

  namespace coulomb = gdr::kernels::coulomb;
  const coulomb::Source charges[2] = {{.xj = 0, .qj = 1, .idj = 0}, {.xj = 2, .qj = 1, .idj = 1}};
  const coulomb::Target places[1] = {{.xi = 0, .idi = 0}};
  const auto fields = coulomb::compute(device, charges, places);
  std::printf("%.6f %.6f\n", fields[0].ex, fields[0].pot);
  if (std::abs(fields[0].ex + 0.25) > 1e-6 || std::abs(fields[0].pot - 0.5) > 1e-6) return 1;
  return std::abs(acceleration[0] - 0.25) < 1e-6 && std::abs(potential[0] + 0.5) < 1e-6 ? 0 : 1;
}
