// One kernel on many sets of targets and sources, as tree codes make them.
//
//   gdr::SetJob job(device, gdr::Kernel::builtin("gravity"));
//   job.set("eps2", 1e-4);
//   const std::vector<gdr::NamedInput> targets{...}, particles{...}, nodes{...};
//   const std::vector<gdr::SourceSegment> sources{{n, particles}, {n_nodes, nodes}};
//   job.run({{n_targets, targets, sources, results}, ...});
//
// gdr/set_list.hpp makes sets from flattened lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "gdr/device.hpp"

namespace gdr {

/// Some sources of a set, from arrays of their own. The arrays are those of Job::sources.
struct SourceSegment {
  std::size_t n = 0;                   ///< number of sources
  std::span<const NamedInput> arrays;  ///< all `jvar`s; unused if n is 0
  /// The sources are items index[0] .. index[n - 1] of the arrays; null: items 0 .. n - 1.
  const std::int32_t* index = nullptr;
  std::size_t items = 0;  ///< number of items of the arrays, with which an index is checked
  std::size_t first = 0;  ///< sources without an index: items first .. first + n - 1
};

/// Targets, the sources that act on them, and the destination of their results. An empty set has no
/// effect; without sources, results are those of section Start.
struct InteractionSet {
  std::size_t targets = 0;                    ///< number of targets
  std::span<const NamedInput> target_arrays;  ///< all `ivar`s, as in Job::targets
  std::span<const SourceSegment> sources;     ///< sources in the order of the sums
  std::span<const NamedResult> results;       ///< `fvar`s, as in Job::run
  /// The targets are items first .. first + targets - 1 of their arrays, and so are the results.
  std::size_t first = 0;
};

/// A kernel with its parameters, computed on many independent sets in one call. The results of a
/// set are those of a Job with its targets and sources, with the device's number of boards or one.
///
/// On an emulated device with a native engine, threads compute different sets, each with an
/// emulated board of its own; their number follows from the amount of work. Results do not depend
/// on it, and the device's timeline does not show them. On other devices the sets are computed one
/// after the other. Results of a set must not overlap those of another set, nor the targets and
/// sources of any. On a device of kind "mpi" all ranks make the same calls with the same number of
/// sets.
///
/// Must be used by one thread at a time. The device must outlive it.
class SetJob {
 public:
  /// Throws Error (Unsupported) for a kernel with outputs, which have one value for each source.
  SetJob(Device& device, const Kernel& kernel);
  ~SetJob();
  SetJob(SetJob&&) noexcept;
  SetJob& operator=(SetJob&&) noexcept;

  /// Set a `param`, or all elements of an array of them, for all sets. As Job::set.
  void set(std::string_view name, double value) { set(name, {&value, 1}); }
  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, std::initializer_list<double> values) {
    set(name, std::span(values.begin(), values.size()));
  }

  /// Compute all sets. Errors are those of Job, with the number of the set and of the segment
  /// before the message: "set 3, segment 1: ...". Throws Error (Usage) for wrong names, types, null
  /// pointers and an index without `items`, before anything is computed; Error (Input) for values
  /// that are not finite and for an index outside of the arrays, that of the first such set. The
  /// results are undefined after an error.
  void run(std::span<const InteractionSet> sets);
  void run(std::initializer_list<InteractionSet> sets) {
    run(std::span(sets.begin(), sets.size()));
  }
  /// Compute in the background. The targets and sources are copied before the call returns, which
  /// throws the errors of `run`. The results are complete when `wait`, or the next call on this
  /// job, returns; errors of the device are thrown there.
  void start(std::span<const InteractionSet> sets);
  void start(std::initializer_list<InteractionSet> sets) {
    start(std::span(sets.begin(), sets.size()));
  }
  bool ready() const;
  void wait();

 private:
  friend class CutoffSum;
  friend class Gravity;
  friend class GravityJerk;
  friend class TreeSum;
  struct Impl;
  /// `alone`: sets of this process only, also on a device of kind "mpi".
  SetJob(Device& device, const Kernel& kernel, bool alone);
  SetJob(std::shared_ptr<struct DeviceCore> queue, const Kernel& kernel, bool alone);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
