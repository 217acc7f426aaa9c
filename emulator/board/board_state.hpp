// What a board holds between commands, as plain data.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/board/loaded_program.hpp"
#include "emulator/board/memory.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/engine/products/factors.hpp"

namespace gdr {

/// Which j-items something was made of: it is good for a run on them as long as nobody writes to
/// the memory that they came from.
struct KeptItems {
  std::uint64_t contents = 0;  ///< BoardMemory::contents
  std::uint64_t address = 0, items = 0;
  Share share{};
  std::shared_ptr<const Executable> executable;  ///< null: nothing is kept
  friend bool operator==(const KeptItems&, const KeptItems&) = default;
};

/// j-items that all blocks of a chip see, converted for the broadcast memory and for the engine.
/// Chips whose memories hold the same share them. They stay for the next run on them.
struct StagedItems {
  KeptItems kept;
  bool converted = false;             ///< `groups` is filled, too
  std::vector<std::uint64_t> shorts;  ///< as in the broadcast memory, one item behind the other
  std::vector<std::byte> groups;
  std::atomic<bool> usable = true;  ///< the engine could take all of them
};

/// Fills that can be seen in the memory's halves afterwards: the last one may not fill its half,
/// and then what the one before it left there stands behind it.
constexpr std::uint64_t fills_seen = 3;

/// j-items that a block worked on alone, converted for the engine, for the next run on them.
struct KeptStream {
  KeptItems kept;
  std::vector<std::byte> groups;
  /// What the last fills brought to the broadcast memory's halves.
  struct LastFill {
    std::uint32_t base = 0;  ///< where, in shorts
    std::vector<std::uint64_t> shorts;
  };
  std::array<LastFill, fills_seen> last_fills;
  std::uint32_t last_group = 0;  ///< where the last group stood, in shorts
  bool in_memory = false;        ///< the broadcast memory holds them still
};

/// A chip with its control processor.
struct BoardChip {
  ChipState state;
  BoardMemory memory;
  std::optional<std::uint64_t> targets;  ///< slots that WriteTargets filled, from 0; none: never
  ChipClocks clocks;
  std::vector<KeptStream> streams;              ///< by block, where sources are spread over blocks
  std::shared_ptr<const LoadedProgram> loaded;  ///< its instruction store; null: nothing
};

struct BoardState {
  Geometry geometry;
  std::shared_ptr<const Engine> engine;
  unsigned threads = 0;
  std::vector<BoardChip> chips;
  /// That of the chips which the command in work names: they hold the same, or it is refused.
  std::shared_ptr<const LoadedProgram> loaded;
  /// Buffers of runs, kept because memory that was never touched costs more than what is done in
  /// it.
  std::deque<StagedItems> staged;                   ///< by chip
  std::vector<std::vector<std::uint64_t>> outputs;  ///< of each chip: [block][shorts of a pass]
  PackedFactors factors;
};

constexpr bool takes_part(std::uint64_t chips, std::size_t chip) noexcept {
  return ((chips >> chip) & 1) != 0;
}

/// Chips that a command names: LoadProgram names all of them by naming none.
constexpr std::uint64_t chips_of(const Command& command) noexcept {
  const bool all = command.kind == CommandKind::LoadProgram && command.chips == 0;
  return all ? ~std::uint64_t{0} : command.chips;
}

/// Targets of a chip that a Run command asks for.
std::uint64_t targets_of(const BoardState& board, const Command& run, std::size_t chip) noexcept;

}  // namespace gdr
