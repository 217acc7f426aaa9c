// Positions in the order of lists, followed while particles move.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "libgdr/pairs/pair_lists.hpp"

namespace gdr {

using CoordinateArrays = std::array<std::vector<double>, 3>;

/// The positions for which lists were made, and where the particles are now.
class ListedPositions {
 public:
  /// Remembers the positions of new lists.
  void begin(std::span<const double> x);
  /// The largest distance of a particle from its position in the lists, or, if it is farther than
  /// `near` from it, from the nearest image: a particle that left the box on one side and came back
  /// on the other has not moved. Infinite for other numbers of particles.
  double follow(std::span<const double> x, double near, const Lattice& lattice, unsigned threads);
  /// The positions in the order of the lists, by coordinate.
  void place(std::span<const double> x, const std::vector<PlacedParticle>& order,
             const Lattice& lattice, unsigned threads, CoordinateArrays& placed) const;

 private:
  std::vector<double> listed_;
  std::vector<Shift> moved_;  ///< how particles went into other images since; empty: none has
};

}  // namespace gdr
