// Neighbour lists: the sources within a radius of each target, in lists of any length.
//
//   const gdr::NeighbourLists lists =
//       gdr::find_neighbours(positions, positions, radii, {.exclude_same_number = true});
//   for (std::int64_t j : lists[i]) ...;  // ascending numbers of the sources
//
//   const gdr::NeighbourPairs pairs = gdr::find_neighbour_pairs(
//       positions, positions, radii, "ijD",
//       {.exclude_same_number = true, .box = gdr::PeriodicBox::orthorhombic({10, 10, 12})});
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "gdr/box.hpp"

namespace gdr {

/// Lists of all targets in compressed form: list i is `indices[offsets[i]]` up to
/// `indices[offsets[i + 1]]`, without the last.
struct NeighbourLists {
  std::vector<std::int64_t> offsets{0};  ///< offsets of the lists, one more than targets
  std::vector<std::int64_t> indices;     ///< numbers of sources, ascending in each list

  /// Number of targets.
  std::size_t size() const noexcept { return offsets.size() - 1; }
  /// The list of a target.
  std::span<const std::int64_t> operator[](std::size_t target) const noexcept {
    const auto first = static_cast<std::size_t>(offsets[target]);
    return {indices.data() + first, static_cast<std::size_t>(offsets[target + 1]) - first};
  }
};

/// Pairs of targets and sources, one element of each array for a pair; a vector has three. Arrays
/// that were not asked for are empty.
struct NeighbourPairs {
  std::vector<std::int64_t> targets;  ///< i: numbers of targets, ascending
  std::vector<std::int64_t> sources;  ///< j: numbers of sources, ascending for each target
  std::vector<double> distances;      ///< d: lengths of the differences
  std::vector<double> differences;    ///< D: x_j - x_i + S box
  std::vector<std::int64_t> shifts;   ///< S: numbers of edges, 0 in directions without period
};

/// Which pairs are left out, the box, and how many threads search.
struct NeighbourOptions {
  /// Ids of all sources and all targets: a source with the id of the target is not in its list.
  /// Both or none.
  std::span<const std::int64_t> source_ids{}, target_ids{};
  /// Targets are the sources, in the same order: a target is not in its own list. Its periodic
  /// images are.
  bool exclude_same_number = false;
  unsigned threads = 0;  ///< limit; 0: one per core
  /// Ends the search, some milliseconds after a stop is requested, with Error (Device).
  std::stop_token stop{};
  /// A box whose particles have periodic images; none: open space.
  std::optional<PeriodicBox> box{};
};

/// The sources j of each target i whose distance is below its radius: (x_j - x_i)^2 < r_i^2,
/// without softening, computed in double precision as dx*dx + dy*dy + dz*dz. `pos` has three
/// coordinates for each source, `targets` for each target; `radius` has one for each target, or one
/// for all. The search takes O(N) work for short lists, on the host, in several threads; the lists
/// do not depend on them, nor on the instruction set. A pair of the lists takes 8 bytes, during the
/// search 12 to 16.
///
/// Throws Error (Usage) for arrays whose lengths do not belong together, and Error (Input) for
/// coordinates that are not finite and radii that are negative or NaN, with the first of them, and
/// for lists that take more memory than is available, with their size, before they are made. An
/// infinite radius lists all sources whose squared distance is finite, a radius of 0 none.
///
/// In a box each image of a source within the radius is an entry of its own, also those of a target
/// itself, and of radii beyond the box: ((x_j - x_i) + S box)^2 < r_i^2 with S box computed as
/// S_0 a + S_1 b + S_2 c, for all integers S. Particles may be anywhere; sources with the id of a
/// target are left out with all images. Throws also Error (Input) for an infinite radius, for edges
/// without length, non-finite or in a plane, for radii that reach more than 1e7 images of the box,
/// and for particles more than 1e9 edges away from it.
NeighbourLists find_neighbours(std::span<const double> pos, std::span<const double> targets,
                               std::span<const double> radius,
                               const NeighbourOptions& options = {});

/// The same pairs as arrays, by target, then source, then shift. `quantities` has the letters of
/// the arrays to make, each once: i j d D S. A pair takes 8 bytes for each of i, j and d and 24 for
/// each of D and S, during the search 28 more. Throws as find_neighbours does, and Error (Usage)
/// for other letters.
NeighbourPairs find_neighbour_pairs(std::span<const double> pos, std::span<const double> targets,
                                    std::span<const double> radius,
                                    std::string_view quantities = "ijdDS",
                                    const NeighbourOptions& options = {});

}  // namespace gdr
