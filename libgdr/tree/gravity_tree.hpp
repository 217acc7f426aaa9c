// Gravity with a tree: choice of method and distance, sums, measured errors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "gdr/sets.hpp"
#include "gdr/tree.hpp"
#include "libgdr/tree/group_share.hpp"
#include "libgdr/tree/sample.hpp"

namespace gdr::tree {

/// The arguments of a calculation: finite numbers, positions as triples.
struct GravityInput {
  std::size_t n_targets = 0;
  const double* target = nullptr;
  std::size_t n_sources = 0;
  const double* source = nullptr;
  const double* mass = nullptr;
  double softening = 0;  ///< softening of all pairs, unless each particle has its own:
  bool softening_of_each = false;
  /// Then the squares for each source and target, whose sums are those of the pairs.
  const double *source_square = nullptr, *target_square = nullptr;
  /// Velocities, as triples, for the jerks; null: without jerks.
  const double *target_velocity = nullptr, *source_velocity = nullptr;
  /// The numbers of targets among the sources, which do not act on them; null: none of them is one.
  const std::uint32_t* target_source = nullptr;
  bool has_negative = true;  ///< whether a mass may be negative; compute_with_tree looks
  double engine_speed = 1;   ///< TreeCosts::speed of the device's engine
  bool same = false;  ///< whether the targets are the sources, which do not act on themselves
};

/// Throws Error (Usage) for options out of range.
void check_options(const TreeOptions& options);

/// The destination of results, each of which may be null.
struct GravityResults {
  double *acceleration = nullptr, *potential = nullptr;
  double* jerk = nullptr;  ///< results of calls with velocities
};

/// Executes a step of the host so that it can be cancelled, with the exceptions of the step.
using HostSteps = std::function<void(const std::function<void()>& step)>;

/// Computes gravity with a job for the kernel "gravity", or "gravity_jerk" if there are velocities,
/// or for one of those with softening of each particle, whose parameters are set. The report has
/// the method Direct, and no result is written, if direct sums are to be used: they are asked for,
/// faster, or no tree is as accurate. `direct_jerk` is called after `direct`, for the same targets.
/// `share`: the processes that compute accelerations and potentials with the same arguments, on all
/// of which it throws if it throws on one; null: this process only.
TreeReport compute_with_tree(SetJob& job, const GravityInput& given, const TreeOptions& options,
                             unsigned threads, const DirectSums& direct,
                             const DirectSums& direct_jerk, const GravityResults& results,
                             const HostSteps& host, GroupShare* share = nullptr);

}  // namespace gdr::tree
