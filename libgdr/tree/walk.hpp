// Lists of the sources that act on a group of neighbouring targets (Barnes 1990; Makino 1991,
// PASJ 43, 621).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/tree/softening.hpp"
#include "libgdr/tree/sources.hpp"

namespace gdr::tree {

constexpr std::size_t max_kinds = 8;  ///< limit of kinds of proxies

/// The clusters of a tree with the proxies that may stand for them, and when they may.
struct Hierarchy {
  const Octree* tree = nullptr;
  std::span<const Moments> moments = {};
  std::span<const Proxies> proxies = {};  ///< proxies by degree, the cheapest first
  /// Proxies of the last kind stand for a cluster whose radius is less than theta times the
  /// distance of its centre from the box of the group, the others where their error is as small.
  /// Below 1.
  double theta = 0.5;
  /// Multipoles need the same distance from it, and proxies of any kind from the root of what it
  /// differs within their cluster.
  SquareSoftening softening = {};
};

/// Numbers of sources for the targets of a group: of particles, and of proxies of clusters that are
/// far from its box. `stack` is a buffer.
///
/// It begins with the clusters of the group, if it has some.
void list_sources(const Hierarchy& hierarchy, const Group& group, std::vector<std::int32_t>& list,
                  std::vector<std::uint32_t>& stack);

}  // namespace gdr::tree
