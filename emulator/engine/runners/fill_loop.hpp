// Sections of a program on a block, and its loop over j-items in the halves of the broadcast
// memory.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/runners/block_sources.hpp"
#include "emulator/engine/runners/block_work.hpp"
#include "emulator/engine/runners/joined_outputs.hpp"
#include "emulator/engine/runners/shared_sources.hpp"

namespace gdr {

/// Runs a section at a time, as the machine does: j-items are written to one half of the broadcast
/// memory, the body reads them there, and outputs are read from that half. For every engine and
/// program. Several threads may run different blocks.
class FillLoop {
 public:
  /// All arguments outlive this object.
  FillLoop(const LoadedProgram& program, const Geometry& geometry, const Executable& executable,
           const SharedSources& shared, BlockSources& own, JoinedOutputs& outputs)
      : program_(program),
        geometry_(geometry),
        executable_(executable),
        shared_sources_(shared),
        own_sources_(own),
        outputs_(outputs) {}

  /// PEs of a block up to the last one with a valid target.
  std::uint32_t live_pes(const PassState& pass, const BlockTask& task) const noexcept;
  /// Section Start or End.
  void run_section(const PassState& pass, const BlockTask& task, Section section) const;
  /// The body for the fills of a chunk.
  void run(const BlockWork& work);
  /// Writes groups of j-items to a half of the memory.
  void fill_half(const BlockWork& work, GroupRange groups, unsigned half,
                 std::vector<std::uint64_t>& scratch);

 private:
  void keep_outputs(const BlockWork& work, GroupRange groups, unsigned half,
                    std::vector<std::uint64_t>& scratch);

  const LoadedProgram& program_;
  const Geometry& geometry_;
  const Executable& executable_;
  const SharedSources& shared_sources_;
  BlockSources& own_sources_;
  JoinedOutputs& outputs_;
};

}  // namespace gdr
