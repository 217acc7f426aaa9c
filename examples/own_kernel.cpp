// A pair law of your own, from a string: every target counts its neighbours within a radius, sums
// their masses, and finds how far the nearest one is. The compiler makes microcode of it, which
// runs on the emulated chip bit for bit; the language is in docs/reference/kernel-language.md.
//   c++ -std=c++20 own_kernel.cpp -lgdr
#include <cstdio>
#include <gdr/gdr.hpp>
#include <vector>

namespace {

constexpr const char* neighbours = R"(
kernel neighbours; flops 8;
CONST radius2;                   // one for all
VARI xi, yi;                     // one of each for every target
VARJ xj, yj, mj;                 // one of each for every source
VARF mass, nearest;              // results, one of each for every target
VARF int count;

dx = xj - xi;
dy = yj - yi;
r2 = dx*dx + dy*dy;
skip if (r2 == 0);               // not the target itself
nearest min= r2;
mass += r2 < radius2 ? mj : 0;
count += r2 < radius2 ? 1 : 0;
)";

struct Star {  // arrays are taken as they lie, here as members of a structure
  double x, y, mass;
};

}  // namespace

int main() {
  std::vector<Star> stars;
  for (int k = 0; k < 900; ++k)  // a grid of 30 by 30, one apart
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
  // A corner has three around it, an edge five, the inside eight.
  return count[0] == 3 && mass[0] == 1.5 && count[1] == 5 && count[31] == 8 && nearest[31] == 1 ? 0
                                                                                                : 1;
}
