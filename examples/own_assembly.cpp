// A user-defined pair law in assembly: every target counts its neighbours within a radius and sums
// their masses. The emulated chip executes the kernel bit-exactly; see docs/reference/assembler.md.
//   c++ -std=c++20 own_assembly.cpp -lgdr
#include <cstdio>
#include <gdr/gdr.hpp>
#include <vector>

namespace {

constexpr const char* neighbours = R"(
.kernel neighbours
.flops 7

ivar  long xi yi      f64to72         # one value per target
jvar  long xj yj mj   f64to72         # one value per source
param long radius2    f64to72         # one value for all pairs
fvar  long mass       f64to72 fadd at $lr24v    # results in registers 24 to 31
fvar  long count      i64int  iadd at $lr32v    # results in registers 32 to 39

.start                                # runs once before the loop
    upass mass 0
    upass count 0
    vlen 1
    bget $lr6 radius2
.body                                 # runs once per source
    vlen 1                            # one word, for all PEs of a block
    bget $lr0 xj
    bget $lr2 yj
    bget $lr4 mj
    vlen 4                            # four targets per PE
    fsub $lr8v $lr0 xi
    fsub $lr16v $lr2 yi
    dmul $lr8v $lr8v $lr8v
    dmul $lr16v $lr16v $lr16v
    fadd $lr8v $lr8v $lr16v
    fsub m0.neg $lr8v $lr6            # mask 0: distance^2 - radius^2 < 0
    [m0] fadd mass mass $lr4
    [m0] iadd count count 1
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
  std::vector<double> mass(n);
  std::vector<std::int64_t> count(n);
  constexpr std::ptrdiff_t step = sizeof(Star);
  try {
    gdr::Device device = gdr::Device::open();
    gdr::Job job = device.job(gdr::Kernel::assemble(neighbours, "neighbours.gds"));
    job.set("radius2", 1.5 * 1.5);
    job.sources(
        n,
        {{"xj", {&stars[0].x, step}}, {"yj", {&stars[0].y, step}}, {"mj", {&stars[0].mass, step}}});
    job.targets(n, {{"xi", {&stars[0].x, step}}, {"yi", {&stars[0].y, step}}});
    job.run({{"mass", mass}, {"count", count.data()}});
  } catch (const gdr::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("corner: %lld stars of mass %g; edge: %lld; inside: %lld\n",
              static_cast<long long>(count[0]), mass[0], static_cast<long long>(count[1]),
              static_cast<long long>(count[31]));
  // Neighbours, plus the particle itself: three at a corner, five at an edge, eight inside.
  return count[0] == 4 && mass[0] == 2 && count[1] == 6 && count[31] == 9 ? 0 : 1;
}
