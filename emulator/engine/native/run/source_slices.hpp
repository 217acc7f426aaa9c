// The sources of packed targets, divided into slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/api/pass.hpp"
#include "emulator/engine/native/run/packed_plan.hpp"
#include "emulator/engine/native/run/source_sets.hpp"

namespace gdr::native {

/// Groups of sources, and the last one of each of its parts (PackedSources). Either all lanes of a
/// vector have these groups and targets of their own, or the reverse.
struct SourceSlice {
  std::uint64_t first = 0, count = 0;  ///< groups
  bool over_lanes = false;             ///< whether it is the part of SourceVectors of this number
  std::size_t first_partial = 0;
  std::size_t partials = 1;  ///< partial results of a target, from `first_partial` on
  std::vector<std::uint64_t> last_groups;
};

/// Many sources are divided, so that threads share few targets, and few targets share the lanes of
/// a vector. The division depends only on the numbers of targets and sources, and so do the bits of
/// sums.
class SourceSlices {
 public:
  /// For a plan that is usable.
  SourceSlices(const CompiledProgram& compiled, const LoadedProgram& loaded,
               const PackedPlan& plan);

  /// Goes on to the sources of a pass.
  void use(std::span<const RecordSegment> segments);
  LaneSources& lanes() noexcept { return *lanes_; }
  const LaneSources& lanes() const noexcept { return *lanes_; }

  /// How sources may be divided: among threads and lanes, among threads only, or not at all.
  enum class Division { Any, AmongThreads, None };
  /// Divides the sources for a pass on so many targets, after the preparation of their lanes.
  void divide(const Pass& pass, std::uint64_t targets, Division allowed);
  std::span<const SourceSlice> all() const noexcept { return slices_; }
  /// Partial results of a target in all slices.
  std::size_t partials() const noexcept {
    return slices_.back().first_partial + slices_.back().partials;
  }
  /// Lanes that divide a slice.
  std::uint64_t vector_lanes() const noexcept { return vectors_->lanes(); }
  /// Targets of a vector.
  std::uint64_t targets_of_vector(bool over_lanes) const noexcept;
  /// Vectors of targets, or of lanes with different sources.
  std::uint64_t vectors_for(std::uint64_t targets, bool over_lanes) const noexcept;

  /// Appends the tasks that make vectors of sources; call `vectors_are_made` after them.
  void prepare_vectors(std::vector<Phase>& phases);
  void vectors_are_made() noexcept {
    if (over_lanes_) vectors_->done();
  }
  /// Copies the last groups of all slices, unless they are those of the same sources.
  void copy_last_groups();
  /// The last group of the only slice, in the layout of the broadcast memory.
  void copy_last_group(std::vector<std::uint64_t>& to) const;

  /// The sources of a slice, for targets in all lanes or with `over_lanes`.
  PackedSources of(std::size_t slice, bool over_lanes = false) const;

 private:
  bool lanes_may_differ(const CompiledSection& body) const;
  std::uint64_t slices_wanted(const Pass& pass) const;
  std::uint64_t slices_over_lanes(const Pass& pass, std::uint64_t targets) const;
  bool divides_over_lanes(const Pass& pass, std::uint64_t targets) const;
  void make_slices(std::uint64_t wanted, bool over_lanes);
  void copy_last_groups(SourceSlice& slice) const;
  void copy_group(std::uint64_t group, std::uint64_t* to) const;

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const PackedPlan& plan_;
  SourceSets sets_;
  LaneSources* lanes_ = nullptr;      ///< sources of this pass
  SourceVectors* vectors_ = nullptr;  ///< the same as vectors; null: lanes have the same sources
  std::vector<SourceSlice> slices_;
  std::uint64_t divided_groups_ = 0;  ///< groups of all slices
  bool over_lanes_ = false;
  Revision last_groups_revision_ = 0;  ///< revision of the copied last groups; 0: none
  std::vector<LaneSources::Range>
      vector_parts_;  ///< parts for vectors; a member to keep its memory
};

}  // namespace gdr::native
