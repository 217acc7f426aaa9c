// Sets of a SetJob: checks of their arrays, and their conversion to link words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gdr/sets.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/shared_sources.hpp"

namespace gdr {

/// A set in link words, with the destination of its results.
struct PackedSet {
  std::size_t target_count = 0, source_count = 0;
  LinkWords targets = {}, sources = {};
  std::vector<ResultBinding> results = {};
};

/// Checks and packs sets for a job. Not thread-safe; remembers the names of the last set.
class SetPacker {
 public:
  /// The job must outlive it.
  explicit SetPacker(const JobData& job)
      : job_(&job), targets_(job.targets_group), sources_(job.sources_group) {}

  /// Checks numbers, names, types and pointers. Throws Error (Usage) that names the set.
  void check(const InteractionSet& set, std::size_t number);
  /// Converts the arrays, or copies what was converted, and binds the results. Throws Error (Input)
  /// that names the set, also for a bad index.
  void pack(const InteractionSet& set, std::size_t number, const SharedSources& shared,
            PackedSet& packed);

 private:
  const JobData* job_;
  InputPacker targets_, sources_;
  std::vector<ResultBinding> bound_;  ///< bindings of a check
};

}  // namespace gdr
