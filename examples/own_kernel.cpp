// A user-defined pair law in the kernel language (docs/reference/kernel-language.md): every target
// counts its neighbours within a radius, sums their masses, and finds the distance of the nearest
// one. The kernel is compiled to microcode, which the emulated chip executes bit-exactly.
//   c++ -std=c++20 own_kernel.cpp -lgdr
#include <cstdio>
#include <gdr/gdr.hpp>
#include <vector>

namespace {

constexpr const char* neighbours = R"(
kernel neighbours; flops 8;
CONST radius2;                   // one value for all pairs
VARI xi, yi;                     // one value per target
VARJ xj, yj, mj;                 // one value per source
VARF mass, nearest;              // results, one value per target
VARF int count;

dx = xj - xi;
dy = yj - yi;
r2 = dx*dx + dy*dy;
skip if (r2 == 0);               // excludes the target itself
nearest min= r2;
mass += r2 < radius2 ? mj : 0;
count += r2 < radius2 ? 1 : 0;
)";

struct Star {  // arrays are read in place, here as members of a structure
  double x, y, mass;
};

}  // namespace

int main() {
  std::vector<Star> stars;
  for (int k = 0; k < 900; ++k)  // a grid of 30 x 30 with spacing 1
    stars.push_back({static_cast<double>(k % 30), static_cast<double>(k / 30), 0.5});
  const std::size_t n = stars.size();
  std::vector<double> mass(n), nearest(n);
  std::vector<std::int64_t> count(n);
  constexpr std::ptrdiff_t step = sizeof(Star);
  try {
    gdr::Device device = gdr::Device::open();
    const gdr::Kernel kernel = gdr::Kernel::compile(neighbours, "neighbours.gdk");
    std::printf("%s: %g clocks an interaction\n", kernel.name().c_str(),
                kernel.clocks_per_interaction());
    gdr::Job job = device.job(kernel);
    job.set("radius2", 1.5 * 1.5);
    job.sources(
        n,
        {{"xj", {&stars[0].x, step}}, {"yj", {&stars[0].y, step}}, {"mj", {&stars[0].mass, step}}});
    job.targets(n, {{"xi", {&stars[0].x, step}}, {"yi", {&stars[0].y, step}}});
    job.run({{"mass", mass}, {"nearest", nearest}, {"count", count.data()}});
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("corner: %lld stars of mass %g; edge: %lld; inside: %lld; nearest at distance^2 %g\n",
              static_cast<long long>(count[0]), mass[0], static_cast<long long>(count[1]),
              static_cast<long long>(count[31]), nearest[31]);
  // Neighbours: three at a corner, five at an edge, eight inside.
  return count[0] == 3 && mass[0] == 1.5 && count[1] == 5 && count[31] == 8 && nearest[31] == 1 ? 0
                                                                                                : 1;
}
