#include "emulator/chip/state.hpp"

#include <algorithm>
#include <utility>

namespace gdr {
namespace {

u128 read_word(const LaneMemory& memory, std::size_t address, std::size_t lanes, std::size_t lane,
               Width width) {
  const std::uint64_t first = memory[address * lanes + lane];
  if (width == Width::Short) return first;
  return (u128{first} << Short::bit_count) | memory[(address + 1) * lanes + lane];
}

void write_word(LaneMemory& memory, std::size_t address, std::size_t lanes, std::size_t lane,
                Width width, u128 word) {
  const auto low = static_cast<std::uint64_t>(word) & Short::mask;
  if (width == Width::Short) {
    memory[address * lanes + lane] = low;
    return;
  }
  memory[address * lanes + lane] =
      static_cast<std::uint64_t>(word >> Short::bit_count) & Short::mask;
  memory[(address + 1) * lanes + lane] = low;
}

/// Memory of a location and the address in it; `block` may be const or not.
template <typename Block>
auto find(Block& block, const Operand& x, unsigned pe, unsigned element) {
  using Location = std::pair<decltype(&block.registers), std::size_t>;
  if (x.space == Space::Register) return Location{&block.registers, x.at(element)};
  if (x.space == Space::T) return Location{&block.t, element * 2 + x.address};
  if (x.space != Space::LocalByT) return Location{&block.local, x.at(element)};
  const std::size_t unit = shorts_in(x.width);
  const std::size_t words = block.local.size() / block.pes / unit;
  const std::uint64_t t = block.t[(element * 2 + 1) * block.pes + pe];
  return Location{&block.local, static_cast<std::size_t>(t % words) * unit};
}

}  // namespace

ChipState make_chip(const Geometry& g) {
  ChipState chip;
  chip.geometry = g;
  chip.blocks.resize(g.blocks);
  for (std::uint32_t b = 0; b < g.blocks; ++b) {
    BlockState& block = chip.blocks[b];
    const std::size_t pes = g.pes_per_block;
    block.number = b;
    block.pes = g.pes_per_block;
    block.registers.assign(std::size_t{g.register_words} * 2 * pes, 0);
    block.local.assign(std::size_t{g.local_words} * 2 * pes, 0);
    block.t.assign(std::size_t{max_elements} * 2 * pes, 0);
    block.masks.assign(std::size_t{mask_registers} * max_elements * pes, 0);
    block.bm.assign(std::size_t{g.broadcast_words} * 2, 0);
  }
  return chip;
}

void clear(ChipState& chip) noexcept {
  for (BlockState& block : chip.blocks) {
    for (const NamedMemory& memory : block_memories) std::ranges::fill(block.*memory.lanes, 0);
    block.flags = no_flags;
  }
}

u128 read_location(const BlockState& block, const Operand& location, unsigned pe,
                   unsigned element) {
  const auto [memory, address] = find(block, location, pe, element);
  return read_word(*memory, address, block.pes, pe, location.width);
}

void write_location(BlockState& block, const Operand& location, unsigned pe, unsigned element,
                    u128 word) {
  const auto [memory, address] = find(block, location, pe, element);
  write_word(*memory, address, block.pes, pe, location.width, word);
}

u128 read_bm(const BlockState& block, std::uint32_t address, Width width) {
  return read_word(block.bm, address, 1, 0, width);
}

void write_bm(BlockState& block, std::uint32_t address, Width width, u128 word) {
  write_word(block.bm, address, 1, 0, width, word);
}

std::optional<StateDifference> first_difference(const BlockState& a, const BlockState& b) {
  for (const auto& [name, memory] : block_memories) {
    const LaneMemory& x = a.*memory;
    const LaneMemory& y = b.*memory;
    const auto [in_x, in_y] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
    if (in_x == x.end() && in_y == y.end()) continue;
    const std::uint32_t lanes = memory == &BlockState::bm ? 1 : a.pes;
    const auto where = static_cast<std::uint32_t>(in_x - x.begin());
    StateDifference d{std::string(name), a.number, where % lanes, where / lanes, 0, 0};
    if (in_x != x.end()) d.first = *in_x;
    if (in_y != y.end()) d.second = *in_y;
    return d;
  }
  if (a.flags != b.flags) return StateDifference{"flags", a.number, 0, 0, a.flags, b.flags};
  return std::nullopt;
}

}  // namespace gdr
