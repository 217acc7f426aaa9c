// Lists of the pairs within a cut-off: groups of targets, sources with their images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/pairs/images.hpp"
#include "libgdr/pairs/skin_choice.hpp"
#include "libgdr/particle/lattice.hpp"

namespace gdr {

/// Consecutive sources.
struct ListedRange {
  std::size_t first = 0, count = 0;
};

/// Neighbouring targets, consecutive in the order of the lists, and the sources of their pairs.
/// Every 16 of them, in rows, are neighbours of each other, and so are every 8 and every 4.
struct TargetGroup {
  std::size_t first = 0, count = 0;
  std::vector<std::int32_t> single;  ///< single sources
  std::vector<ListedRange> whole;    ///< many sources in a row, all of them within the cut-off
};

/// Lists as they were made; distances have changed since if particles have moved.
struct PairLists {
  std::vector<PlacedParticle> targets, sources;
  std::vector<TargetGroup> groups;
  ListCounts counts;
  double diagonal2 = 0;  ///< at least the square of the distance of any pair
};

/// What lists are made of.
struct ListInput {
  std::span<const double> sources, targets;  ///< three finite coordinates each
  std::span<const double> radii;             ///< one, or one for each target
  std::span<const double> source_radii;      ///< one for each source, added to those of targets
  double skin = 0;                           ///< added to radii
  const Lattice& lattice;
  unsigned threads = 0;
  bool rows_select = false;  ///< whether the engine leaves out sources far from a row of targets
};

/// Makes the lists, in threads. The work is O(N) for a given number of neighbours: groups have
/// targets of similar radii where that makes fewer pairs. Throws Error
/// (Input) for images or lists that take more than half of the available memory, before they are
/// made, and for positions that are too far away from the box or from each other.
PairLists make_pair_lists(const ListInput& input);

}  // namespace gdr
