// Lists of the sources that act on a group of neighbouring targets (Barnes 1990; Makino 1991,
// PASJ 43, 621).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/tree/sources.hpp"

namespace gdr::tree {

constexpr std::size_t most_kinds = 8;  ///< limit of kinds of proxies

/// The clusters of a tree with the proxies that may stand for them, and when they may.
struct Hierarchy {
  const Octree* tree = nullptr;
  std::span<const Moments> moments = {};
  std::span<const Proxies> proxies = {};  ///< by degree, the cheapest first
  /// Proxies of the last kind stand for a cluster whose radius is less than theta times the
  /// distance of its centre from the box of the group, the others where their error is as small.
  /// Below 1.
  double theta = 0.5;
  double softening = 0;  ///< multipoles of clusters need the same distance from it
};

/// Numbers of sources for the targets within a box: of particles, and of proxies of clusters that
/// are far from it. `stack` is a buffer.
void list_sources(const Hierarchy& hierarchy, const Box& group, std::vector<std::int32_t>& list,
                  std::vector<std::uint32_t>& stack);
/// The same for the targets of a group, from the clusters with which it begins.
void list_sources(const Hierarchy& hierarchy, const Group& group, std::vector<std::int32_t>& list,
                  std::vector<std::uint32_t>& stack);

}  // namespace gdr::tree
