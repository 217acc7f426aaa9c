// The converted sources of several passes that alternate: the slices of a job.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "emulator/engine/native/run/lane_sources.hpp"
#include "emulator/engine/native/run/source_vectors.hpp"

namespace gdr::native {

/// Sources in some segments of the memories.
struct SourceSet {
  SourceSet(const CompiledSection& body, const LoadedProgram& loaded, bool with_vectors)
      : lanes(body, loaded) {
    if (with_vectors) vectors = std::make_unique<SourceVectors>(body, lanes, loaded.program.group);
  }
  LaneSources lanes;
  std::unique_ptr<SourceVectors> vectors;  ///< null: no loop reads vectors of sources
  std::vector<RecordSegment> segments;
};

/// The slices of a job's sources lie side by side in the memories, and each stays converted while
/// the others are used: those that come first, if all take too much memory. Sets never overlap.
class SourceSets {
 public:
  /// Words of sources in the memories, of all sets.
  static constexpr std::uint64_t max_words = std::uint64_t{1} << 25;

  /// `with_vectors`: whether loops may read vectors of sources. `several`: false for one set only.
  SourceSets(const CompiledSection& body, const LoadedProgram& loaded, bool with_vectors,
             bool several);

  /// The set in use; there is always one.
  SourceSet& now() const noexcept { return *now_; }
  /// Uses the set of these segments: that of the last call with the same places, or one whose place
  /// they take. False if it was in use.
  bool use(std::span<const RecordSegment> segments);

 private:
  bool is_full(std::span<const RecordSegment> more) const noexcept;

  const CompiledSection& body_;
  const LoadedProgram& loaded_;
  const bool with_vectors_, several_;
  std::list<SourceSet> sets_;
  SourceSet* now_ = nullptr;
};

}  // namespace gdr::native
