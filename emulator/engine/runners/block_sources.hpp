// The j-items of a run of which each block reads a slice or a part of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "emulator/engine/runners/block_chunks.hpp"
#include "emulator/engine/runners/encoded_sources.hpp"
#include "emulator/engine/runners/transfers.hpp"

namespace gdr {

/// j-items of a single block.
struct BlockStream {
  EncodedSources items;
  /// A fill of a half of the broadcast memory that stays visible.
  struct LastFill {
    std::uint32_t base = 0;   ///< address of the half, shorts
    std::uint64_t first = 0;  ///< first word of the fill in EncodedSources::words
    std::uint64_t count = 0;  ///< number of words
  };
  std::vector<LastFill> last_fills;
  std::uint32_t last_group = 0;  ///< address of the last group, shorts
  bool in_memory = false;        ///< whether the broadcast memory still holds these fills

  /// Writes the visible fills to a broadcast memory.
  void write_fills(std::uint64_t* bm) const;
};

/// These items by block, kept from pass to pass.
class BlockSources {
 public:
  /// `streamed`: the engine whose streams blocks read; null: none, and nothing is kept.
  BlockSources(const LoadedProgram& program, const StreamingExecutable* streamed)
      : program_(program), streamed_(streamed) {}
  /// Before a run over streams.
  void reserve(std::size_t chips, std::size_t blocks);
  BlockStream& of(BlockPlace place) { return streams_[place.chip * blocks_ + place.block]; }
  /// Where a block's own records are.
  static SourceRecords records_of(const PassRun& run, std::uint32_t block) noexcept {
    return {run.address, run.plan.parts > 1 ? block : 0};
  }
  /// Makes the stream of a block that of these groups of its slice; `last` is the fill of the last
  /// group. False if the engine cannot represent them.
  bool provide(const PassState& pass, BlockPlace place, GroupRange groups, std::uint64_t last);
  /// The broadcast memory of a block, or of all, no longer holds its items.
  void overwritten(BlockPlace place) noexcept {
    if (!streams_.empty()) of(place).in_memory = false;
  }
  void overwritten() noexcept;

 private:
  const LoadedProgram& program_;
  const StreamingExecutable* const streamed_;
  std::size_t blocks_ = 0;           ///< blocks of a chip
  std::deque<BlockStream> streams_;  ///< streams by chip and block
};

}  // namespace gdr
