// Random particles, and their division among ranks: rank 1 of three has none.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace gdr_mpi {

/// A part of an array, `each` numbers of an item.
inline std::vector<double> cut(const std::vector<double>& all, std::size_t first, std::size_t count,
                               std::size_t each = 1) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(each * first);
  return {begin, begin + static_cast<std::ptrdiff_t>(each * count)};
}

struct Particles {
  std::vector<double> pos, charge, factor, radius;
  std::size_t size() const { return charge.size(); }

  static Particles random(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> at(-1, 7), some(0.5, 1.5);
    Particles p;
    for (std::size_t k = 0; k < 3 * n; ++k) p.pos.push_back(at(random));
    for (std::size_t k = 0; k < n; ++k) {
      p.charge.push_back(some(random));
      p.factor.push_back(some(random));
      p.radius.push_back(some(random));
    }
    return p;
  }
  Particles part(std::size_t first, std::size_t count) const {
    return {cut(pos, first, count, 3), cut(charge, first, count), cut(factor, first, count),
            cut(radius, first, count)};
  }
  void move() {
    for (std::size_t k = 0; k < pos.size(); ++k)
      pos[k] += 0.03 * std::sin(static_cast<double>(k % 97));
  }
};

/// The part of n particles that a rank has.
struct RankPart {
  std::size_t first, count;
};
inline RankPart part_of_rank(std::size_t n, unsigned rank, unsigned ranks) {
  if (ranks == 1) return {0, n};
  if (rank == 0) return {0, n - n / 3};
  return {n - n / 3, rank + 1 == ranks ? n / 3 : 0};
}

}  // namespace gdr_mpi
