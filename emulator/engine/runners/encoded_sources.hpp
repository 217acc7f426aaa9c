// The j-items of a run as blocks read them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/sources/view_cache.hpp"

namespace gdr {

/// The records of some groups of the run's j-items in a chip's memory.
RecordSegment segment_of(const PassState& pass, std::size_t chip, GroupRange groups) noexcept;

/// Groups of j-items: the words that the broadcast memory would hold, and the stream that the
/// engine reads in place of them. Exact numerics read these words; others have a form of their own.
struct EncodedSources {
  ViewCache view;
  std::vector<std::uint64_t> words;    ///< shorts of consecutive groups
  std::vector<std::byte> own;          ///< groups in the engine's form, if it is another one
  ChangeLog changes{encoded_changes};  ///< changed groups
  std::atomic<bool> usable = true;     ///< whether the engine can represent all of them
  bool streamed = false;               ///< whether streams were asked for

  /// Makes room for so many groups; keeps those that are there if it suffices.
  void reserve(const LoadedProgram& program, const StreamingExecutable* engine,
               std::uint64_t groups);
  /// Encodes groups `first` .. `first + count - 1` of those that begin with group `base` of the
  /// run. `part`: the part of each record that is read.
  void encode(const PassState& pass, std::size_t chip, std::uint64_t part, std::uint64_t base,
              GroupRange groups, const StreamingExecutable* engine);
  /// The stream from group `first` on.
  const std::byte* stream(const StreamingExecutable& engine, std::uint64_t first) const noexcept;
};

}  // namespace gdr
