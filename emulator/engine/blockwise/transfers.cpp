#include "emulator/engine/blockwise/transfers.hpp"

#include <algorithm>
#include <array>

#include "emulator/engine/blockwise/row_sums.hpp"

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
void send_for(const TargetSlots& slots, const BlockState& block, std::uint64_t elements,
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

void send_for(const PeRange& pes, const Rows& upper, std::size_t lower) noexcept {
  constexpr std::size_t line = 8;
  for (std::uint64_t* const row : upper)
    for (std::size_t i = 0; i < pes.count; i += line) {
      __builtin_prefetch(row + i, 1, 2);
      __builtin_prefetch(row + lower + i, 1, 2);
    }
}

u128 word_of(const PortField& field, Lanes<const std::uint64_t> lanes, std::size_t i) noexcept {
  const std::uint64_t* const at = lanes.shorts + i * lanes.stride;
  return field.width == Width::Short ? u128{*at} : join(Short{at[0]}, Short{at[lanes.lower]}).bits;
}

/// Leaves of a reduction tree; reused to avoid allocation.
struct Leaves {
  std::vector<Long> blocks, chips;
};

Long join_word(const PortField& field, std::span<const ChipState* const> chips,
               ChipPartition partition, std::uint64_t slot, std::uint64_t elements,
               Leaves& leaves) {
  Flags ignored = no_flags;
  const std::uint64_t pe = slot / elements;
  const auto element = static_cast<unsigned>(slot % elements);
  leaves.chips.clear();
  for (const ChipState* chip : chips) {
    const std::uint64_t pes = chip->geometry.pes_per_block;
    const auto word = [&](const BlockState& block) {
      return network_word(field,
                          word_of(field, pe_lanes(block, field.location, element), pe % pes));
    };
    if (partition == ChipPartition::TargetsOverBlocks) {
      leaves.chips.push_back(word(chip->blocks[pe / pes]));
      continue;
    }
    leaves.blocks.clear();
    for (const BlockState& block : chip->blocks) leaves.blocks.push_back(word(block));
    leaves.chips.push_back(reduce_tree(field.reduce, leaves.blocks, ignored));
  }
  return leaves.chips.size() == 1 ? leaves.chips[0]
                                  : reduce_tree(field.reduce, leaves.chips, ignored);
}

/// Reduces the fields that `Sums` supports.
template <typename Sums>
void join_rows(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
               const TargetSlots& slots, std::span<const PortField> fields,
               typename RowSum<Sums>::SlotRange range, std::uint64_t* records) {
  const std::size_t words = loaded.layout.result_words;
  RowSum<Sums> rows;
  for (const PortField& field : fields) {
    if (!RowSum<Sums>::serves(loaded, field)) continue;
    rows.sum(field, chips, slots.partition, range, loaded.program.elements,
             [&](std::uint64_t slot, std::uint64_t bits) {
               put_host_bits(field, bits, records + (slot - slots.first) * words);
             });
  }
}

bool joined_in_rows(const LoadedProgram& loaded, const PortField& field) noexcept {
  return RowSum<HostSums>::serves(loaded, field) || RowSum<ExactSums>::serves(loaded, field);
}

}  // namespace

void load_targets(const LoadedProgram& loaded, BlockState& block, const TargetSlots& slots,
                  const std::uint64_t* records) noexcept {
  const std::size_t words = loaded.layout.target_words;
  const unsigned elements = loaded.program.elements;
  send_for(slots, block, elements, words, records);
  for (unsigned e = 0; e < elements; ++e) {
    const PeRange pes = pes_of(slots, block, elements, e);
    if (pes.count == 0) continue;
    const LinkIn from{records + pes.record * words, words * elements};
    for (std::span<const PortField> fields = loaded.targets; !fields.empty();) {
      if (begins_with_adjacent_words(fields)) {
        if (begins_with_adjacent_words(fields.subspan(adjacent_words)))
          send_for(pes, rows_of(block, fields.subspan(adjacent_words), e, pes), block.pes);
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

void join_results(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
                  const TargetSlots& slots, std::span<const PortField> fields, std::uint64_t first,
                  std::uint64_t last, std::uint64_t* records) {
  const std::size_t words = loaded.layout.result_words;
  const std::uint64_t elements = loaded.program.elements;
  if (loaded.packs_results)
    std::fill_n(records + (first - slots.first) * words, (last - first) * words, 0);
  join_rows<HostSums>(loaded, chips, slots, fields, {first, last}, records);
  join_rows<ExactSums>(loaded, chips, slots, fields, {first, last}, records);
  const bool all = std::ranges::all_of(
      fields, [&](const PortField& field) { return joined_in_rows(loaded, field); });
  if (all) return;
  Leaves leaves;
  for (std::uint64_t slot = first; slot < last; ++slot) {
    std::uint64_t* const record = records + (slot - slots.first) * words;
    for (const PortField& field : fields) {
      if (joined_in_rows(loaded, field)) continue;
      const Long word = join_word(field, chips, slots.partition, slot, elements, leaves);
      put_host_bits(field, network_to_host(field, word), record);
    }
  }
}

void join_raw(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
              const TargetSlots& slots, std::uint64_t first, std::uint64_t last,
              std::uint64_t* records) {
  std::uint64_t* to = records + (first - slots.first) * 2 * loaded.results.size();
  Leaves leaves;
  for (std::uint64_t slot = first; slot < last; ++slot) {
    for (const PortField& field : loaded.results) {
      const u128 word =
          join_word(field, chips, slots.partition, slot, loaded.program.elements, leaves).bits;
      *to++ = static_cast<std::uint64_t>(word);
      *to++ = static_cast<std::uint64_t>(word >> 64);
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
  for (std::uint64_t i = count; i < groups.count * plan.group; ++i) {
    std::copy(loaded.pad_item.begin(), loaded.pad_item.end(), shorts + i * item_shorts);
  }
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

void join_outputs(const LoadedProgram& loaded,
                  std::span<const std::vector<const std::uint64_t*>> chips, std::uint64_t records,
                  std::uint64_t count, std::uint64_t* to) {
  if (ItemSums<HostSums>::serves(loaded, records))
    return ItemSums<HostSums>().join(loaded, chips, count, to);
  if (ItemSums<ExactSums>::serves(loaded, records))
    return ItemSums<ExactSums>().join(loaded, chips, count, to);
  const std::size_t words = loaded.layout.output_words;
  const std::size_t step = loaded.program.output_shorts;
  std::vector<Long> blocks(chips[0].size()), joined(chips.size());
  Flags ignored = no_flags;
  std::fill_n(to, count * records * words, 0);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t* const record = to + i * records * words;
    for (const PortField& field : loaded.outputs) {
      const bool passed = field.reduce == Reduce::Pass;
      for (std::size_t c = 0; c < chips.size(); ++c) {
        for (std::size_t b = 0; b < blocks.size(); ++b) {
          const Lanes<const std::uint64_t> lanes{chips[c][b] + field.location.address, step, 1};
          blocks[b] = network_word(field, word_of(field, lanes, i));
        }
        if (!passed) joined[c] = reduce_tree(field.reduce, blocks, ignored);
      }
      if (!passed && chips.size() > 1) joined[0] = reduce_tree(field.reduce, joined, ignored);
      for (std::uint64_t r = 0; r < records; ++r) {
        const Long word = passed ? blocks[r] : joined[0];
        put_host_bits(field, network_to_host(field, word), record + r * words);
      }
    }
  }
}

}  // namespace gdr
