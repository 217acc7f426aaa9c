// A built-in kernel on structures that match its declarations: forces of Lennard-Jones particles on
// a line. Every built-in kernel has a header <gdr/kernels/NAME.hpp>; for other kernels `gdr header
// --cpp` writes it.
//   c++ -std=c++20 structures.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/kernels/lennard_jones.hpp>
#include <vector>

namespace lj = gdr::kernels::lennard_jones;

int main() {
  std::vector<lj::Source> sources;
  std::vector<lj::Target> targets;
  for (int k = 0; k < 100; ++k) {
    sources.push_back({.xj = 1.125 * k});
    targets.push_back({.xi = 1.125 * k});
  }
  try {
    gdr::Device device = gdr::Device::open();
    const std::vector<lj::Result> forces = lj::compute(device, {.rc2 = 6.25}, sources, targets);

    // A job keeps its sources for several runs. Lists are spans.
    lj::Job job(device);
    job.set({.rc2 = 6.25});
    job.sources(sources);
    job.targets({targets.data(), 10});
    std::vector<lj::Result> ten(10);
    job.run(ten);

    std::printf("at the end: force %.6f, energy %.6f; inside: force %.6f, energy %.6f\n",
                forces[0].fx, forces[0].u, forces[50].fx, forces[50].u);
    // For inner particles the forces from both sides cancel.
    return std::abs(forces[50].fx) < 1e-4 && std::abs(ten[0].fx - forces[0].fx) < 1e-5 ? 0 : 1;
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
