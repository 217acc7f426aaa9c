// The j-items of a run of which each block reads a slice or a part of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/runners/transfers.hpp"

namespace gdr {

/// Fills of the memory's halves that remain visible afterwards: the last one may be short, and then
/// the rest of its half still holds an earlier fill.
constexpr std::uint64_t visible_fills = 3;

/// j-items of a single block, converted for the engine and cached for later runs.
struct CachedStream {
  std::optional<ItemsKey> key;
  std::vector<std::byte> groups;
  std::uint64_t revision = 0;
  /// Contents of the last fills of the broadcast memory's halves.
  struct LastFill {
    std::uint32_t base = 0;  ///< address in shorts
    std::vector<std::uint64_t> shorts;
  };
  std::array<LastFill, visible_fills> last_fills;
  std::uint32_t last_group = 0;  ///< address of the last group, in shorts
  bool in_memory = false;        ///< the broadcast memory still holds them
};

/// A block of a chip.
struct BlockPlace {
  std::uint32_t chip = 0, block = 0;
};

/// These items by block, kept from pass to pass.
class BlockSources {
 public:
  /// `streamed`: converts groups for the engine; null: it reads no streams, and nothing is kept.
  BlockSources(const LoadedProgram& program, const StreamingExecutable* streamed)
      : program_(program), streamed_(streamed) {}
  /// Before a run over streams.
  void reserve(std::size_t chips, std::size_t blocks);
  CachedStream& of(BlockPlace place) { return streams_[place.chip][place.block]; }
  /// Where a block's own records are.
  static SourceRecords records_of(const PassRun& run, std::uint32_t block) noexcept {
    return {run.address, run.plan.parts > 1 ? block : 0};
  }
  /// Whether the stream of a block holds the current contents of these groups.
  bool is_unchanged(const PassState& pass, BlockPlace place, GroupRange groups);
  /// Converts groups of a block's slice; `last` is the fill of the last group. False if the engine
  /// cannot represent them.
  bool convert(const PassState& pass, BlockPlace place, GroupRange groups, std::uint64_t last);
  /// The broadcast memory of a block, or of all, no longer holds its items.
  void overwritten(BlockPlace place) noexcept {
    if (!streams_.empty()) of(place).in_memory = false;
  }
  void overwritten() noexcept;

 private:
  const LoadedProgram& program_;
  const StreamingExecutable* const streamed_;
  std::vector<std::vector<CachedStream>> streams_;  ///< [chip][block]
};

}  // namespace gdr
