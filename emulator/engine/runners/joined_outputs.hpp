// Output items of blocks for the same j-items, which the reduction network joins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/runners/block_chunks.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// Buffers for the output items of a chunk, of all blocks. They are reused: page faults of fresh
/// memory cost more than the work in it.
class JoinedOutputs {
 public:
  JoinedOutputs(const LoadedProgram& program, const Geometry& geometry)
      : program_(program), geometry_(geometry) {}

  /// Whether a run has output items that are joined over blocks.
  bool are_used(const PassState& pass) const noexcept {
    return pass.run().plan.partition != ChipPartition::SourcesOverBlocks &&
           !program_.outputs.empty();
  }
  /// Makes room for a chunk.
  void reserve(const PassState& pass, const FillChunk& chunk);
  /// Output items of a block from a group on.
  std::uint64_t* row(const PassState& pass, const FillChunk& chunk, BlockPlace place,
                     std::uint64_t group);
  /// Stores the output items of the last fills before `end` to the halves of a block's memory,
  /// which they bypassed.
  void store_visible(const PassState& pass, const FillChunk& chunk, BlockPlace place,
                     std::uint64_t end);
  /// Appends the tasks that reduce a chunk's items, of each chip to its memory, or of all chips for
  /// the host.
  void add_tasks(const PassState& pass, const FillChunk& chunk, std::vector<Phase>& phases);

 private:
  void join(const PassState& pass, const FillChunk& chunk, std::size_t chip, GroupRange part);

  const LoadedProgram& program_;
  const Geometry& geometry_;
  std::vector<std::vector<std::uint64_t>> buffers_;  ///< items of each chip: [block][shorts]
};

}  // namespace gdr
