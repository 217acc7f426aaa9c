#include "emulator/board/port_work.hpp"

#include <algorithm>
#include <bit>

namespace gdr {
namespace {

/// The part of some slots that stands in one element of one block's PEs.
struct PeRange {
  std::uint64_t first_pe = 0, count = 0;
  std::uint64_t record = 0;  ///< of the first PE, counted from the first slot's
};

PeRange pes_of(const TargetSlots& slots, const BlockState& block, std::uint64_t elements,
               std::uint64_t element) noexcept {
  const std::uint64_t lanes = block.pes * elements;
  const std::uint64_t base = slots.share == Share::TargetsOverBlocks ? block.number * lanes : 0;
  const std::uint64_t end = slots.first + slots.count;
  // PEs p with first <= base + p * elements + element < end.
  const auto pes_below = [&](std::uint64_t slot) -> std::uint64_t {
    if (slot <= base + element) return 0;
    if (slot >= base + lanes) return block.pes;
    // Less than a block's lanes: a short division, which hosts do in a third of the time.
    const auto inside = static_cast<std::uint32_t>(slot - base - element + elements - 1);
    return inside / static_cast<std::uint32_t>(elements);
  };
  const std::uint64_t first = pes_below(slots.first);
  const std::uint64_t last = pes_below(end);
  if (first >= last) return {};
  return {first, last - first, base + first * elements + element - slots.first};
}

u128 word_of(const PortField& field, Lanes<const std::uint64_t> lanes, std::size_t i) noexcept {
  const std::uint64_t* const at = lanes.shorts + i * lanes.stride;
  return field.width == Width::Short ? u128{*at} : join(Short{at[0]}, Short{at[lanes.lower]}).bits;
}

/// Leaves of a tree, put together anew for every word; kept so that nothing is allocated each time.
struct Leaves {
  std::vector<Long> blocks, chips;
};

Long join_word(const PortField& field, std::span<const ChipState* const> chips, Share share,
               std::uint64_t slot, std::uint64_t elements, Leaves& leaves) {
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
    if (share == Share::TargetsOverBlocks) {
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

/// A sum over blocks and chips in host numbers, in the order of the tree: for fast numerics, whose
/// results have no more bits than a double. PEs side by side, so that the host's vectors serve.
class FastSum {
 public:
  struct SlotRange {
    std::uint64_t first, last;
  };

  static bool serves(const LoadedProgram& loaded, const PortField& field) noexcept {
    return !loaded.exact && field.reduce == Reduce::Fadd && field.width == Width::Long &&
           field.conversion.host == HostType::F64 &&
           field.conversion.machine == MachineFormat::FloatLong;
  }

  /// Sums of slots first .. last - 1 of one field, by `store(slot, sum)`.
  template <typename Store>
  void sum(const PortField& field, std::span<const ChipState* const> chips, Share share,
           SlotRange slots, std::uint64_t elements, Store store) {
    const std::uint64_t pes = chips[0]->geometry.pes_per_block;
    for (std::uint64_t e = 0; e < elements; ++e) {
      const auto pes_below = [&](std::uint64_t slot) {
        return (std::max(slot, e) - e + elements - 1) / elements;
      };
      const std::uint64_t last = pes_below(slots.last);
      for (std::uint64_t pe = pes_below(slots.first); pe < last;) {
        const std::uint64_t block = pe / pes;
        const std::uint64_t count = std::min(last, (block + 1) * pes) - pe;
        const Location at{field, static_cast<unsigned>(e), pe % pes, count};
        const double* const sums = share == Share::SourcesOverBlocks ? over_blocks(at, chips)
                                                                     : over_chips(at, chips, block);
        for (std::uint64_t i = 0; i < count; ++i) store((pe + i) * elements + e, sums[i]);
        pe += count;
      }
    }
  }

 private:
  /// One element of a field in PEs `pe` .. `pe + count - 1` of some block.
  struct Location {
    const PortField& field;
    unsigned element;
    std::uint64_t pe, count;
  };

  /// A double's bits are a long's first 64; what an exact section left behind them is cut.
  static void read(const Location& at, const BlockState& block, double* to) noexcept {
    const auto lanes = pe_lanes(block, at.field.location, at.element);
    const std::uint64_t* const upper = lanes.shorts + at.pe;
    const std::uint64_t* const lower = upper + lanes.lower;
    for (std::uint64_t i = 0; i < at.count; ++i)
      to[i] = std::bit_cast<double>((upper[i] << 28) | (lower[i] >> 8));
  }
  const double* over_blocks(const Location& at, std::span<const ChipState* const> chips) {
    chips_.resize(chips.size() * at.count);
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const auto& blocks = chips[c]->blocks;
      blocks_.resize(blocks.size() * at.count);
      for (std::size_t b = 0; b < blocks.size(); ++b)
        read(at, blocks[b], blocks_.data() + b * at.count);
      tree(blocks_, at.count);
      std::copy_n(blocks_.data(), at.count, chips_.data() + c * at.count);
    }
    return tree(chips_, at.count);
  }
  const double* over_chips(const Location& at, std::span<const ChipState* const> chips,
                           std::uint64_t block) {
    chips_.resize(chips.size() * at.count);
    for (std::size_t c = 0; c < chips.size(); ++c)
      read(at, chips[c]->blocks[block], chips_.data() + c * at.count);
    return tree(chips_, at.count);
  }
  /// Adds up rows of `count` numbers into the first.
  static const double* tree(std::vector<double>& rows, std::uint64_t count) noexcept {
    for (std::size_t n = rows.size() / count; n > 1; n = (n + 1) / 2) {
      for (std::size_t k = 0; k < n / 2; ++k) {
        const double* const left = rows.data() + 2 * k * count;
        double* const to = rows.data() + k * count;
        for (std::uint64_t i = 0; i < count; ++i) to[i] = left[i] + left[count + i];
      }
      if (n % 2 != 0)
        std::copy_n(rows.data() + (n - 1) * count, count, rows.data() + n / 2 * count);
    }
    return rows.data();
  }
  std::vector<double> blocks_, chips_;
};

}  // namespace

void load_targets(const LoadedProgram& loaded, BlockState& block, const TargetSlots& slots,
                  const std::uint64_t* records) noexcept {
  const std::size_t words = loaded.layout.target_words;
  const unsigned elements = loaded.program.elements;
  for (unsigned e = 0; e < elements; ++e) {
    const PeRange pes = pes_of(slots, block, elements, e);
    if (pes.count == 0) continue;
    for (const PortField& field : loaded.targets) {
      Lanes<std::uint64_t> lanes = pe_lanes(block, field.location, e);
      lanes.shorts += pes.first_pe;
      port_load(field, {records + pes.record * words, words * elements}, pes.count, lanes);
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
  Leaves leaves;
  FastSum fast;
  for (const PortField& field : fields) {
    if (!FastSum::serves(loaded, field)) continue;
    fast.sum(field, chips, slots.share, {first, last}, elements,
             [&](std::uint64_t slot, double sum) {
               put_host_bits(field, std::bit_cast<std::uint64_t>(sum),
                             records + (slot - slots.first) * words);
             });
  }
  for (std::uint64_t slot = first; slot < last; ++slot) {
    std::uint64_t* const record = records + (slot - slots.first) * words;
    for (const PortField& field : fields) {
      if (FastSum::serves(loaded, field)) continue;
      const Long word = join_word(field, chips, slots.share, slot, elements, leaves);
      put_host_bits(field, network_to_host(field, word), record);
    }
  }
}

void load_param(const PortField& field, unsigned elements, BlockState& block,
                const std::uint64_t* record) noexcept {
  const Operand& x = field.location;
  if (x.space == Space::Bm) {
    port_load(field, {record, 0}, 1, {block.bm.data() + x.address, 1, 1});
    return;
  }
  const bool every_element = x.vector || x.space == Space::T;
  for (unsigned e = 0; e < (every_element ? elements : 1); ++e) {
    port_load(field, {record, 0}, block.pes, pe_lanes(block, x, e));
  }
}

void load_sources(const LoadedProgram& loaded, const LoopPlan& plan, const BoardMemory& memory,
                  std::uint64_t address, GroupRange groups, std::uint64_t* shorts,
                  std::vector<std::uint64_t>& scratch) {
  const std::size_t words = loaded.layout.source_words;
  const std::size_t item_shorts = loaded.program.item_shorts;
  const std::uint64_t count = plan.items_in(groups);
  const std::uint64_t first = groups.first * plan.group;
  const std::uint64_t* const records = memory.view(address + first * words, count * words, scratch);
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
  memory.write(items.address + items.first * words, scratch);
}

void join_outputs(const LoadedProgram& loaded, std::span<const std::uint64_t* const> shorts,
                  std::uint64_t records, const OutputItems& items, BoardMemory& memory,
                  std::vector<std::uint64_t>& scratch) {
  const std::size_t words = loaded.layout.output_words;
  const std::size_t step = loaded.program.output_shorts;
  std::vector<Long> leaves(shorts.size());
  Flags ignored = no_flags;
  scratch.assign(items.count * records * words, 0);
  for (std::uint64_t i = 0; i < items.count; ++i) {
    std::uint64_t* const record = scratch.data() + i * records * words;
    for (const PortField& field : loaded.outputs) {
      for (std::size_t b = 0; b < shorts.size(); ++b) {
        const Lanes<const std::uint64_t> lanes{shorts[b] + field.location.address, step, 1};
        leaves[b] = network_word(field, word_of(field, lanes, i));
      }
      const bool passed = field.reduce == Reduce::Pass;
      const Long joined = passed ? Long{} : reduce_tree(field.reduce, leaves, ignored);
      for (std::uint64_t r = 0; r < records; ++r) {
        const Long word = passed ? leaves[r] : joined;
        put_host_bits(field, network_to_host(field, word), record + r * words);
      }
    }
  }
  memory.write(items.address + items.first * records * words, scratch);
}

}  // namespace gdr
