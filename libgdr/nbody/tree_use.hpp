// How the force calculations of a run to an accuracy are computed, and how they were.
#pragma once

#include <cstdint>

#include "gdr/tree.hpp"

namespace gdr {

/// The choice of a tree (gdr::TreeOptions). Auto: it is to be made by the accuracy.
struct TreeChoice {
  TreeMethod method = TreeMethod::Auto;
  unsigned degree = 0;
  double theta = 0;

  bool operator==(const TreeChoice&) const = default;
};

/// How the forces of a run to an accuracy are to be computed. A choice takes as long as some
/// calculations of a small system, so that it is kept: until the error is too large, and until the
/// next step whose number is a multiple of `steps_of_choice`.
struct TreeRequest {
  static constexpr std::int64_t steps_of_choice = 32;
  double accuracy = 0;
  std::int64_t step = 0;  ///< number of the step of the first calculation
  TreeChoice choice;      ///< choice of the first calculation
};

/// Sums and extremes of the reports of force calculations; times in seconds.
struct TreeUse {
  std::uint64_t calls = 0;         ///< force calculations
  std::uint64_t direct_calls = 0;  ///< those by direct sums
  double error = 0;                ///< largest root mean square of the errors of a sample
  double largest_error = 0;        ///< largest error of a target of the samples
  double seconds = 0;              ///< time of the calculations
  /// The choice with which the last calculation was made; Auto if it made one, as it does again
  /// for the same positions.
  TreeChoice latest;
  // Of those with trees:
  std::size_t samples = 0;            ///< largest number of targets of a sample
  std::uint64_t expansion_calls = 0;  ///< those with expansions, not proxies
  unsigned min_degree = 0, max_degree = 0;
  double min_theta = 0, max_theta = 0;
  double max_sources = 0;  ///< largest mean number of sources of a target
  double build_seconds = 0, choice_seconds = 0, expansion_seconds = 0, list_seconds = 0,
         force_seconds = 0;

  /// Adds a calculation, which took this time.
  void add(const TreeReport& report, double elapsed);
};

}  // namespace gdr
