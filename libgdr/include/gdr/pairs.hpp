// Sums of a kernel over the pairs within a cut-off, in open space or in a periodic box.
//
//   gdr::PairSum liquid(device, gdr::Kernel::builtin("lennard_jones"),
//                       {.cutoff = {2.5}, .box = gdr::PeriodicBox::orthorhombic({10, 10, 10})});
//   liquid.set("rc2", 6.25);
//   liquid.run({.pos = x, .results = results});  // x: three coordinates of each particle
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "gdr/box.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// How PairSum makes its lists.
struct PairOptions {
  std::vector<double> cutoff;           ///< a radius for all targets, or one for each
  std::optional<PeriodicBox> box = {};  ///< none: open space
  /// How much farther than the cut-off the lists reach: they are used again until a particle has
  /// moved by half of it. 0: new lists in every run. None: at first 0.12 of the largest cut-off,
  /// later what makes runs with new lists now and then cheapest, by counted costs, where particles
  /// move as far in a run as they did.
  std::optional<double> skin = {};
  unsigned threads = 0;  ///< limit of the threads that make lists; 0: that of the device
};

/// The particles of a run. Arrays are those of Job::sources, Job::targets and Job::run, without
/// positions.
struct PairCall {
  std::span<const double> pos;  ///< three coordinates of each source
  /// Three coordinates of each target. None: the particles act on each other, but not on
  /// themselves, with `targets` as their variables as targets.
  std::optional<std::span<const double>> target_pos = {};
  std::span<const NamedInput> sources = {};   ///< other `jvar`s
  std::span<const NamedInput> targets = {};   ///< other `ivar`s
  std::span<const NamedResult> results = {};  ///< `fvar`s, one value for each target
};

/// What PairSum did last, and how often it made lists.
struct PairStatistics {
  std::size_t runs = 0, lists_made = 0;  ///< since the PairSum was created
  std::size_t groups = 0;                ///< groups of targets with a common list
  std::size_t sources = 0;               ///< sources with their images
  double pairs = 0;         ///< pairs that a run computes, those beyond the cut-off among them
  double list_seconds = 0;  ///< time for the last lists
  double skin = 0;          ///< skin of the last lists
};

/// A kernel summed over all pairs of a target and a source, or an image of a source, whose distance
/// is below the target's cut-off: each image counts, also those of the target itself and where the
/// cut-off exceeds half of the box. The kernel needs no condition of its own; it sees plain
/// differences of positions, never a box. Positions may lie outside of the box.
///
/// Internally, groups of neighbouring targets have common lists of sources and images of sources,
/// which a SetJob computes. A run and new lists take O(N) work for a given density, in threads.
/// Results do not depend on the number of threads. Lists that are used again have the sums in
/// another order than new ones: the last bits of results depend on when lists were made, that is on
/// the runs before, unless `skin` is 0. No times are measured for that: the same runs have the same
/// bits.
///
/// On a device of kind "mpi" all calls are collective: every rank passes its own particles, targets
/// and cut-offs (one, or one for each of its targets), and gets the results of its targets. All
/// ranks get all particles and make the same lists, and each computes a share of the groups: the
/// bits do not depend on the number of ranks. Kernel, params, box and skin must be equal on all.
///
/// Whether a pair is within the cut-off is computed in longs, on native engines in doubles or
/// floats. Must be used by one thread at a time. The device must outlive it.
class PairSum {
 public:
  /// Throws Error (Unsupported) for a kernel that Kernel::with_cutoff or SetJob refuses, and Error
  /// (Input) for a cut-off, skin or box that makes no sense: a cut-off that is not positive, an
  /// infinite one in a periodic box, box vectors that are zero or in one plane.
  PairSum(Device& device, const Kernel& kernel, const PairOptions& options);
  ~PairSum();
  PairSum(PairSum&&) noexcept;
  PairSum& operator=(PairSum&&) noexcept;

  /// Set a `param`, as Job::set.
  void set(std::string_view name, double value) { set(name, {&value, 1}); }
  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, std::initializer_list<double> values) {
    set(name, std::span(values.begin(), values.size()));
  }
  /// Other radii, or another box; the next run makes new lists if they differ. Errors as those of
  /// the constructor.
  void set_cutoff(std::span<const double> radii);
  void set_box(const std::optional<PeriodicBox>& box);

  /// Compute. Throws Error (Usage) for wrong names, types and lengths; Error (Input) for values
  /// that are not finite, with their index, and for lists or images that take more memory than is
  /// available, before they are made. The results are undefined after an error.
  void run(const PairCall& call);

  PairStatistics statistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
