#include "emulator/engine/runners/transfers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/port.hpp"

namespace gdr {
namespace {

/// The slots in one element of one block's PEs.
struct PeRange {
  std::uint64_t first_pe = 0, count = 0;
  std::uint64_t record = 0;  ///< record of the first PE, relative to the first slot
};

PeRange pes_of(const TargetSlots& slots, const BlockState& block, std::uint64_t elements,
               std::uint64_t element) noexcept {
  const std::uint64_t lanes = block.pes * elements;
  const std::uint64_t base =
      slots.partition == ChipPartition::SourcesOverBlocks ? 0 : block.number * lanes;
  const std::uint64_t end = slots.first + slots.count;
  // PEs p with first <= base + p * elements + element < end.
  const auto pes_below = [&](std::uint64_t slot) -> std::uint64_t {
    if (slot <= base + element) return 0;
    if (slot >= base + lanes) return block.pes;
    // Less than a block's lanes: 32-bit division is three times as fast.
    const auto inside = static_cast<std::uint32_t>(slot - base - element + elements - 1);
    return inside / static_cast<std::uint32_t>(elements);
  };
  const std::uint64_t first = pes_below(slots.first);
  const std::uint64_t last = pes_below(end);
  if (first >= last) return {};
  return {first, last - first, base + first * elements + element - slots.first};
}

/// Prefetches a block's records sequentially, since fields access them with a stride.
void prefetch(const TargetSlots& slots, const BlockState& block, std::uint64_t elements,
              std::size_t words, const std::uint64_t* records) noexcept {
  constexpr std::size_t line = 8;
  const PeRange first = pes_of(slots, block, elements, 0);
  const std::uint64_t* const from = records + first.record * words;
  for (std::size_t i = 0; i < first.count * elements * words; i += line)
    __builtin_prefetch(from + i, 0, 2);
}

using Rows = std::array<std::uint64_t*, adjacent_words>;

/// Upper halves of the first words of a list, for some PEs.
Rows rows_of(BlockState& block, std::span<const PortField> fields, unsigned element,
             const PeRange& pes) {
  Rows upper;
  for (std::size_t k = 0; k < adjacent_words; ++k)
    upper[k] = pe_lanes(block, fields[k].location, element).shorts + pes.first_pe;
  return upper;
}

void prefetch(const PeRange& pes, const Rows& upper, std::size_t lower) noexcept {
  constexpr std::size_t line = 8;
  for (std::uint64_t* const row : upper)
    for (std::size_t i = 0; i < pes.count; i += line) {
      __builtin_prefetch(row + i, 1, 2);
      __builtin_prefetch(row + lower + i, 1, 2);
    }
}

}  // namespace

void load_targets(const LoadedProgram& loaded, BlockState& block, const TargetSlots& slots,
                  const std::uint64_t* records) noexcept {
  const std::size_t words = loaded.layout.target_words;
  const unsigned elements = loaded.program.elements;
  prefetch(slots, block, elements, words, records);
  for (unsigned e = 0; e < elements; ++e) {
    const PeRange pes = pes_of(slots, block, elements, e);
    if (pes.count == 0) continue;
    const LinkIn from{records + pes.record * words, words * elements};
    for (std::span<const PortField> fields = loaded.targets; !fields.empty();) {
      if (begins_with_adjacent_words(fields)) {
        if (begins_with_adjacent_words(fields.subspan(adjacent_words)))
          prefetch(pes, rows_of(block, fields.subspan(adjacent_words), e, pes), block.pes);
        port_load_words(fields, from, pes.count, rows_of(block, fields, e, pes), block.pes);
        fields = fields.subspan(adjacent_words);
        continue;
      }
      Lanes<std::uint64_t> lanes = pe_lanes(block, fields[0].location, e);
      lanes.shorts += pes.first_pe;
      port_load(fields[0], from, pes.count, lanes);
      fields = fields.subspan(1);
    }
  }
}

void store_results(const LoadedProgram& loaded, const BlockState& block, const TargetSlots& slots,
                   std::uint64_t* records) noexcept {
  const std::size_t words = loaded.layout.result_words;
  const unsigned elements = loaded.program.elements;
  for (unsigned e = 0; e < elements; ++e) {
    const PeRange pes = pes_of(slots, block, elements, e);
    if (pes.count == 0) continue;
    if (loaded.packs_results) {
      for (std::uint64_t i = 0; i < pes.count; ++i)
        std::fill_n(records + (pes.record + i * elements) * words, words, 0);
    }
    for (const PortField& field : loaded.results) {
      Lanes<const std::uint64_t> lanes = pe_lanes(block, field.location, e);
      lanes.shorts += pes.first_pe;
      port_store(field, lanes, pes.count, {records + pes.record * words, words * elements});
    }
  }
}

void load_sources(const LoadedProgram& loaded, const LoopPlan& plan, const BoardMemory& memory,
                  const SourceRecords& from, GroupRange groups, std::uint64_t* shorts,
                  std::vector<std::uint64_t>& scratch) {
  const std::size_t words = plan.record_words(loaded);
  const std::size_t item_shorts = loaded.program.item_shorts;
  const std::uint64_t count = plan.items_in(groups);
  const std::uint64_t first = groups.first * plan.group;
  const std::uint64_t* const records =
      memory.view(from.address + first * words, count * words, scratch) +
      from.part * loaded.layout.source_words;
  for (const PortField& field : loaded.sources) {
    port_load(field, {records, words}, count, {shorts + field.location.address, item_shorts, 1});
  }
  const std::uint64_t pads = groups.count * plan.group - count;
  if (pads == 0) return;
  std::vector<std::uint64_t> pad(loaded.layout.source_words);
  make_pad(loaded, records + (count - 1) * words, pad.data());
  std::uint64_t* const to = shorts + count * item_shorts;
  std::fill_n(to, pads * item_shorts, 0);
  for (const PortField& field : loaded.sources)
    port_load(field, {pad.data(), 0}, pads, {to + field.location.address, item_shorts, 1});
}

void store_outputs(const LoadedProgram& loaded, const std::uint64_t* shorts,
                   const OutputItems& items, BoardMemory& memory,
                   std::vector<std::uint64_t>& scratch) {
  const std::size_t words = loaded.layout.output_words;
  scratch.assign(items.count * words, 0);
  for (const PortField& field : loaded.outputs) {
    port_store(field, {shorts + field.location.address, loaded.program.output_shorts, 1},
               items.count, {scratch.data(), words});
  }
  memory.store(items.address + items.first * words, scratch);
}

}  // namespace gdr
