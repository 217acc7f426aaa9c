// The state of the machine as plain data, to be copied, compared and saved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/host/line_allocator.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr {

/// Shorts of one memory, a 64-bit lane each.
using LaneMemory = std::vector<std::uint64_t, LineAllocator<std::uint64_t>>;

/// One broadcast block: its PEs' memories and its broadcast memory.
///
/// Every memory is an array of shorts (36 bits in a 64-bit lane, the upper 28 bits zero), structure
/// of arrays: the lanes of all PEs for one address are adjacent, `[address][PE]`. The long at
/// an even address is the short there (upper half) and the one after it.
struct BlockState {
  std::uint32_t number = 0;  ///< number of the block in its chip
  std::uint32_t pes = 0;     ///< PEs of the block
  LaneMemory registers;      ///< [short address][PE]
  LaneMemory local;          ///< [short address][PE]
  LaneMemory t;              ///< [element * 2 + half][PE]
  LaneMemory masks;          ///< [mask * 4 + element][PE]: all ones, or zero
  LaneMemory bm;             ///< [short address]
  Flags flags = no_flags;    ///< sticky, where a run asks for them

  friend bool operator==(const BlockState&, const BlockState&) = default;
};

/// A memory of a block, by the name that messages use.
struct NamedMemory {
  std::string_view name;
  LaneMemory BlockState::*lanes;
};
constexpr std::array<NamedMemory, 5> block_memories{{{"register", &BlockState::registers},
                                                     {"local", &BlockState::local},
                                                     {"t", &BlockState::t},
                                                     {"mask", &BlockState::masks},
                                                     {"bm", &BlockState::bm}}};

/// One chip.
struct ChipState {
  Geometry geometry;
  std::vector<BlockState> blocks;
  friend bool operator==(const ChipState&, const ChipState&) = default;
};

/// A chip with all memories zero and all masks clear, as it is when a program is loaded.
ChipState make_chip(const Geometry& geometry);
void clear(ChipState& chip) noexcept;

/// The word of a PE's location for an element (Register, Local, T; LocalByT through T). A short
/// is in the low 36 bits. `location` must be within the memory.
u128 read_location(const BlockState& block, const Operand& location, unsigned pe, unsigned element);
void write_location(BlockState& block, const Operand& location, unsigned pe, unsigned element,
                    u128 word);

/// A word of the broadcast memory at an address in shorts.
u128 read_bm(const BlockState& block, std::uint32_t address, Width width);
void write_bm(BlockState& block, std::uint32_t address, Width width, u128 word);

/// Where two states first differ, for messages: memory, block, PE, address and both words.
struct StateDifference {
  std::string memory;  ///< "register", "local", "t", "mask", "bm", "flags"
  std::uint32_t block = 0, pe = 0, address = 0;
  std::uint64_t first = 0, second = 0;
};
std::optional<StateDifference> first_difference(const BlockState& a, const BlockState& b);

}  // namespace gdr
