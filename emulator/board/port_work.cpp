#include "emulator/board/port_work.hpp"

#include <algorithm>
#include <bit>

#include "emulator/board/port_rows.hpp"
#include "emulator/engine/vector/strip.hpp"

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

/// One element of a field in PEs `pe` .. `pe + count - 1` of some block.
struct Row {
  const PortField& field;
  unsigned element;
  std::uint64_t pe, count;
};

/// Sums of fast numerics: they have no more bits than a double. A row is a double for each PE.
struct HostSums {
  static constexpr std::size_t words = 1;

  static bool serve(const LoadedProgram& loaded, const PortField&) noexcept {
    return !loaded.exact;
  }
  /// A double's bits are a long's first 64; what an exact section left behind them is cut.
  static void read(const Row& row, const BlockState& block, std::uint64_t* to) noexcept {
    const auto lanes = pe_lanes(block, row.field.location, row.element);
    const std::uint64_t* const upper = lanes.shorts + row.pe;
    const std::uint64_t* const lower = upper + lanes.lower;
    for (std::uint64_t i = 0; i < row.count; ++i) to[i] = (upper[i] << 28) | (lower[i] >> 8);
  }
  static void add(const Row& row, const std::uint64_t* left, const std::uint64_t* right,
                  std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < row.count; ++i)
      to[i] = std::bit_cast<std::uint64_t>(std::bit_cast<double>(left[i]) +
                                           std::bit_cast<double>(right[i]));
  }
  static void give(const Row& row, const std::uint64_t* sums, std::uint64_t* numbers) noexcept {
    std::copy_n(sums, row.count, numbers);
  }
};

/// The machine's sums in the vectors of the host, which the engine has for its own additions. A row
/// is an upper short for each PE, and then a lower one.
struct ExactSums {
  static constexpr std::size_t words = 2;

  static bool serve(const LoadedProgram& loaded, const PortField& field) noexcept {
    return loaded.exact && field.isa != Isa::Portable;
  }
  static void read(const Row& row, const BlockState& block, std::uint64_t* to) noexcept {
    const auto lanes = pe_lanes(block, row.field.location, row.element);
    std::copy_n(lanes.shorts + row.pe, row.count, to);
    std::copy_n(lanes.shorts + lanes.lower + row.pe, row.count, to + row.count);
  }
  static void add(const Row& row, const std::uint64_t* left, const std::uint64_t* right,
                  std::uint64_t* to) noexcept {
    const StripKernels& kernels = row.field.isa == Isa::Avx512 ? avx512_kernels() : avx2_kernels();
    const std::uint64_t n = row.count;
    kernels.fadd[1][1][1]({1, n, {left, left + n, 0}, {right, right + n, 0}, {to, to + n, 0}});
  }
  static void give(const Row& row, const std::uint64_t* sums, std::uint64_t* numbers) noexcept {
    port_rows(row.field.isa).long_to_double(sums, sums + row.count, row.count, numbers);
  }
};

/// Sums over blocks and chips, in the order of the tree, PEs side by side.
template <typename Sums>
class RowSum {
 public:
  struct SlotRange {
    std::uint64_t first, last;
  };

  static bool serves(const LoadedProgram& loaded, const PortField& field) noexcept {
    return field.reduce == Reduce::Fadd && field.width == Width::Long &&
           field.conversion.host == HostType::F64 &&
           field.conversion.machine == MachineFormat::FloatLong && Sums::serve(loaded, field);
  }

  /// Sums of slots first .. last - 1 of one field as doubles, by `store(slot, bits)`.
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
        const Row row{field, static_cast<unsigned>(e), pe % pes,
                      std::min(last, (block + 1) * pes) - pe};
        const std::uint64_t* const sums = share == Share::SourcesOverBlocks
                                              ? over_blocks(row, chips)
                                              : over_chips(row, chips, block);
        numbers_.resize(row.count);
        Sums::give(row, sums, numbers_.data());
        for (std::uint64_t i = 0; i < row.count; ++i) store((pe + i) * elements + e, numbers_[i]);
        pe += row.count;
      }
    }
  }

 private:
  static std::size_t size(const Row& row) noexcept { return Sums::words * row.count; }

  const std::uint64_t* over_blocks(const Row& row, std::span<const ChipState* const> chips) {
    chips_.resize(chips.size() * size(row));
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const auto& blocks = chips[c]->blocks;
      blocks_.resize(blocks.size() * size(row));
      for (std::size_t b = 0; b < blocks.size(); ++b)
        Sums::read(row, blocks[b], blocks_.data() + b * size(row));
      tree(row, blocks_);
      std::copy_n(blocks_.data(), size(row), chips_.data() + c * size(row));
    }
    return tree(row, chips_);
  }
  const std::uint64_t* over_chips(const Row& row, std::span<const ChipState* const> chips,
                                  std::uint64_t block) {
    chips_.resize(chips.size() * size(row));
    for (std::size_t c = 0; c < chips.size(); ++c)
      Sums::read(row, chips[c]->blocks[block], chips_.data() + c * size(row));
    return tree(row, chips_);
  }
  /// Adds up rows into the first, as reduce_tree does.
  static const std::uint64_t* tree(const Row& row, std::vector<std::uint64_t>& rows) noexcept {
    std::uint64_t* const first = rows.data();
    for (std::size_t n = rows.size() / size(row); n > 1; n = (n + 1) / 2) {
      for (std::size_t k = 0; k < n / 2; ++k) {
        std::uint64_t* const left = first + 2 * k * size(row);
        Sums::add(row, left, left + size(row), first + k * size(row));
      }
      if (n % 2 != 0)
        std::copy_n(first + (n - 1) * size(row), size(row), first + n / 2 * size(row));
    }
    return first;
  }
  std::vector<std::uint64_t> blocks_, chips_, numbers_;
};

/// The fields that a kind of sums serves, into their records.
template <typename Sums>
void join_rows(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
               const TargetSlots& slots, std::span<const PortField> fields,
               typename RowSum<Sums>::SlotRange range, std::uint64_t* records) {
  const std::size_t words = loaded.layout.result_words;
  RowSum<Sums> rows;
  for (const PortField& field : fields) {
    if (!RowSum<Sums>::serves(loaded, field)) continue;
    rows.sum(field, chips, slots.share, range, loaded.program.elements,
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
