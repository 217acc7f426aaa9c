// Neighbour lists: the sources within a radius of each target, in lists of any length.
//
//   const gdr::NeighbourLists lists =
//       gdr::find_neighbours(positions, positions, radii, {.exclude_same_number = true});
//   for (std::int64_t j : lists[i]) ...;  // ascending numbers of the sources
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

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

/// Which pairs are left out, and how many threads search.
struct NeighbourOptions {
  /// Ids of all sources and all targets: a source with the id of the target is not in its list.
  /// Both or none.
  std::span<const std::int64_t> source_ids{}, target_ids{};
  /// Targets are the sources, in the same order: a target is not in its own list.
  bool exclude_same_number = false;
  unsigned threads = 0;  ///< limit; 0: one per core
  /// Ends the search, some milliseconds after a stop is requested, with Error (Device).
  std::stop_token stop{};
};

/// The sources j of each target i whose distance is below its radius: (x_j - x_i)^2 < r_i^2,
/// without softening, computed in double precision as dx*dx + dy*dy + dz*dz. `sources` and
/// `targets` have three coordinates for each; `radii` one for each target, or one for all. The
/// search takes O(N log N) work for short lists, on the host, in several threads; the lists do not
/// depend on them, nor on the instruction set. A pair of the lists takes 8 bytes, during the search
/// 12 to 16.
///
/// Throws Error (Usage) for arrays whose lengths do not belong together, and Error (Input) for
/// coordinates that are not finite and radii that are negative or NaN, with the first of them, and
/// for lists that take more memory than is available, with their size, before they are made. An
/// infinite radius lists all sources whose squared distance is finite, a radius of 0 none.
NeighbourLists find_neighbours(std::span<const double> sources, std::span<const double> targets,
                               std::span<const double> radii, const NeighbourOptions& options = {});

}  // namespace gdr
