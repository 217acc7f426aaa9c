// Rank 1 never makes the call that the others make; they print the error thrown.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "gdr/gdr.hpp"

int main(int, char** argv) {
  gdr::Device device = gdr::Device::open(argv[1]);
  if (device.rank() == 1) {
    ::sleep(100);
    return 0;
  }
  const double x[3] = {0.5, 0.25, device.rank() * 1.0}, m = 1;
  double a[3];
  try {
    gdr::Gravity(device).compute(1, x, &m, 0.1, a, nullptr);
    std::printf("no error\n");
  } catch (const gdr::Error& e) {
    std::printf("%d %s\n", static_cast<int>(e.category()), e.what());
  }
  std::fflush(stdout);
  std::_Exit(1);  // ends the one that hangs, too
}
