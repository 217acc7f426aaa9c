#include "libgdr/pairs/listed_positions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"

namespace gdr {

namespace {

double length2(const Point& d) noexcept { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

}  // namespace

void ListedPositions::begin(std::span<const double> x) {
  listed_.assign(x.begin(), x.end());
  moved_.clear();
}

double ListedPositions::follow(std::span<const double> x, double near, const Lattice& lattice,
                               unsigned threads) {
  if (x.size() != listed_.size()) return std::numeric_limits<double>::infinity();
  moved_.clear();
  const double near2 = near * near;
  const std::size_t n = x.size() / 3;
  std::vector<double> of_blocks(divide_up(n, particle_block));
  const auto largest_distance2 = [&](bool to_images) {
    for_particles(n, threads, [&](std::size_t first, std::size_t end) {
      double largest = 0;
      for (std::size_t k = first; k < end; ++k) {
        Point d{x[3 * k] - listed_[3 * k], x[3 * k + 1] - listed_[3 * k + 1],
                x[3 * k + 2] - listed_[3 * k + 2]};
        if (to_images && !(length2(d) <= near2)) moved_[k] = lattice.shorten(d);
        largest = std::max(largest, length2(d));
      }
      of_blocks[first / particle_block] = largest;
    });
    return of_blocks.empty() ? 0.0 : *std::ranges::max_element(of_blocks);
  };
  double largest = largest_distance2(false);
  if (largest > near2 && lattice.dimensions() > 0) {
    moved_.resize(n);
    largest = largest_distance2(true);
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
