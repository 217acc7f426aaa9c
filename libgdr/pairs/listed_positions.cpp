#include "libgdr/pairs/listed_positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/host/for_blocks.hpp"

namespace gdr {

void ListedPositions::begin(std::span<const double> x) {
  listed_.assign(x.begin(), x.end());
  moved_.clear();
}

double ListedPositions::follow(std::span<const double> x, double near, const Lattice& lattice) {
  if (x.size() != listed_.size()) return std::numeric_limits<double>::infinity();
  moved_.clear();
  const double near2 = near * near;
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); k += 3) {
    Point d{x[k] - listed_[k], x[k + 1] - listed_[k + 1], x[k + 2] - listed_[k + 2]};
    double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (!(d2 <= near2) && lattice.dimensions() > 0) {
      if (moved_.empty()) moved_.resize(x.size() / 3);
      moved_[k / 3] = lattice.shorten(d);
      d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
    largest = std::max(largest, d2);
  }
  return std::sqrt(largest);
}

void ListedPositions::place(std::span<const double> x, const std::vector<PlacedParticle>& order,
                            const Lattice& lattice, unsigned threads,
                            CoordinateArrays& placed) const {
  for (std::vector<double>& coordinate : placed) coordinate.resize(order.size());
  for_particles(order.size(), threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t k = first; k < end; ++k) {
      const std::size_t number = order[k].number;
      Shift shift = order[k].shift;
      if (!moved_.empty())
        for (std::size_t c = 0; c < 3; ++c) shift[c] += moved_[number][c];
      const Point at = lattice.moved({x[3 * number], x[3 * number + 1], x[3 * number + 2]}, shift);
      for (std::size_t c = 0; c < 3; ++c) placed[c][k] = at[c];
    }
  });
}

}  // namespace gdr
