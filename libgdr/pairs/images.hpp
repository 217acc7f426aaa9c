// The particles of a call in their box, and the images of sources near the targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/particle/box_tree.hpp"
#include "libgdr/particle/lattice.hpp"

namespace gdr {

/// A particle, or an image of it, moved by periodic vectors.
struct PlacedParticle {
  std::uint32_t number = 0;  ///< number in the caller's arrays
  Shift shift{};
  bool own = true;  ///< whether it is the particle itself, not an image
};

/// The particles of an array, moved into the box.
struct InBox {
  std::vector<NumberedPoint> points;
  std::vector<Shift> shifts;  ///< how they were moved

  /// Throws Error (Input) for the first particle of the array `name` that is so far away that its
  /// digits do not suffice.
  InBox(std::span<const double> x, const Lattice& lattice, const char* name, unsigned threads);
};

/// Images of particles, as points that have their numbers in `placed`.
struct PlacedImages {
  std::vector<NumberedPoint> points;
  std::vector<PlacedParticle> placed;
};

/// Where targets are, and how far they see: each source from its own radius farther away.
struct SeenRegion {
  std::span<const NumberedPoint> targets;
  double reach = 0;
  std::span<const double> source_radii = {};  ///< none: 0
};

/// The images of particles that may be within the reach of a target, the particles in the box
/// among them. Throws Error (Input) for images that take more than `memory` bytes, before they are
/// made.
PlacedImages images_seen(const InBox& sources, std::span<const double> x, const Lattice& lattice,
                         const SeenRegion& region, double memory, unsigned threads);

}  // namespace gdr
