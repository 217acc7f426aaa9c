#include "emulator/engine/runners/reduction_network.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "emulator/engine/lanes/doubles/add_rows.hpp"
#include "emulator/engine/lanes/strip.hpp"
#include "emulator/port/port.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

// --- vectorised sums of the reduction network, in the order of the tree

/// One element of a field in PEs `pe` .. `pe + count - 1` of some block.
struct FieldRow {
  const PortField& field;
  unsigned element;
  std::uint64_t pe, count;
};

/// Sums of fast numerics, in doubles. A row is one double per PE.
struct HostSums {
  static constexpr std::size_t words = 1;

  static bool supports(const LoadedProgram& loaded, const PortField&) noexcept {
    return !loaded.exact;
  }
  /// The upper 64 bits of a long are a double; the rest, from an exact section, is truncated.
  static void read(const FieldRow& row, const BlockState& block, std::uint64_t* to) noexcept {
    const auto lanes = pe_lanes(block, row.field.location, row.element);
    const std::uint64_t* const upper = lanes.shorts + row.pe;
    const std::uint64_t* const lower = upper + lanes.lower;
    for (std::uint64_t i = 0; i < row.count; ++i) to[i] = (upper[i] << 28) | (lower[i] >> 8);
  }
  /// Reads consecutive longs.
  static void read_items(std::uint64_t n, const std::uint64_t* shorts, std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < n; ++i) to[i] = (shorts[2 * i] << 28) | (shorts[2 * i + 1] >> 8);
  }
  static void add(const FieldRow& row, const std::uint64_t* left, const std::uint64_t* right,
                  std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < row.count; ++i)
      to[i] = std::bit_cast<std::uint64_t>(std::bit_cast<double>(left[i]) +
                                           std::bit_cast<double>(right[i]));
  }
  static bool add_all(const FieldRow&, std::vector<std::uint64_t>&) noexcept { return false; }
  /// Host NaNs may have a sign; the machine's canonical NaN has none.
  static void to_doubles(const FieldRow& row, const std::uint64_t* sums,
                         std::uint64_t* numbers) noexcept {
    std::transform(sums, sums + row.count, numbers, port::canonical);
  }
};

/// The machine's sums, with the vector kernels of the engine. A row is one upper short per PE, then
/// the lower ones.
struct ExactSums {
  static constexpr std::size_t words = 2;

  static bool supports(const LoadedProgram& loaded, const PortField& field) noexcept {
    return loaded.exact && field.isa != Isa::Portable;
  }
  static void read(const FieldRow& row, const BlockState& block, std::uint64_t* to) noexcept {
    const auto lanes = pe_lanes(block, row.field.location, row.element);
    std::copy_n(lanes.shorts + row.pe, row.count, to);
    std::copy_n(lanes.shorts + lanes.lower + row.pe, row.count, to + row.count);
  }
  static void read_items(std::uint64_t n, const std::uint64_t* shorts, std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < n; ++i) {
      to[i] = shorts[2 * i];
      to[n + i] = shorts[2 * i + 1];
    }
  }
  static void add(const FieldRow& row, const std::uint64_t* left, const std::uint64_t* right,
                  std::uint64_t* to) noexcept {
    const StripKernels& kernels = strip_kernels(row.field.isa);
    const std::uint64_t n = row.count;
    kernels.fadd[1][1][1]({1, n, {left, left + n, 0}, {right, right + n, 0}, {to, to + n, 0}});
  }
  /// Adds all rows with one call if doubles can verify it and there are enough.
  static bool add_all(const FieldRow& row, std::vector<std::uint64_t>& rows) {
    constexpr std::size_t few = 128;
    const LongRows all{rows.data(), rows.size() / (words * row.count), row.count};
    return all.count * all.lanes >= few && add_rows_in_doubles(row.field.isa, all);
  }
  static void to_doubles(const FieldRow& row, const std::uint64_t* sums,
                         std::uint64_t* numbers) noexcept {
    port_rows(row.field.isa).long_to_double(sums, sums + row.count, row.count, numbers);
  }
};

/// True for fields that are sums of longs converted to doubles, in the numerics of `Sums`.
template <typename Sums>
bool are_sums(const LoadedProgram& loaded, const PortField& field) noexcept {
  return field.reduce == Reduce::Fadd && field.width == Width::Long &&
         field.conversion.host == HostType::F64 &&
         field.conversion.machine == MachineFormat::FloatLong && Sums::supports(loaded, field);
}

/// Adds up rows of `size` words into the first, as reduce_tree does.
template <typename Sums>
const std::uint64_t* add_rows(const FieldRow& row, std::vector<std::uint64_t>& rows,
                              std::size_t size) {
  std::uint64_t* const first = rows.data();
  if (rows.size() == size || Sums::add_all(row, rows)) return first;
  for (std::size_t n = rows.size() / size; n > 1; n = (n + 1) / 2) {
    for (std::size_t k = 0; k < n / 2; ++k) {
      std::uint64_t* const left = first + 2 * k * size;
      Sums::add(row, left, left + size, first + k * size);
    }
    if (n % 2 != 0) std::copy_n(first + (n - 1) * size, size, first + n / 2 * size);
  }
  return first;
}

/// Sums of rows over blocks and then chips, in the order of the tree.
template <typename Sums>
class RowSum {
 public:
  /// `read(chip, block, to)` reads a row; the sums are stored to `numbers` as doubles.
  template <typename Read>
  void sum(const FieldRow& row, std::size_t chips, std::size_t blocks, Read read,
           std::uint64_t* numbers) {
    const std::size_t size = Sums::words * row.count;
    chips_.resize(chips * size);
    blocks_.resize(blocks * size);
    for (std::size_t c = 0; c < chips; ++c) {
      for (std::size_t b = 0; b < blocks; ++b) read(c, b, blocks_.data() + b * size);
      std::copy_n(add_rows<Sums>(row, blocks_, size), size, chips_.data() + c * size);
    }
    Sums::to_doubles(row, add_rows<Sums>(row, chips_, size), numbers);
  }

 private:
  std::vector<std::uint64_t> blocks_, chips_;
};

/// Sums of slots first .. last - 1 of one field as doubles, by `store(slot, bits)`.
template <typename Sums, typename Store>
void sum_slots(const PortField& field, std::span<const ChipState* const> chips,
               ChipPartition partition, std::uint64_t first, std::uint64_t last,
               std::uint64_t elements, Store store) {
  thread_local RowSum<Sums> sums;
  thread_local std::vector<std::uint64_t> numbers;
  const bool over_blocks = partition == ChipPartition::SourcesOverBlocks;
  const std::uint64_t pes = chips[0]->geometry.pes_per_block;
  for (std::uint64_t e = 0; e < elements; ++e) {
    const auto pes_below = [&](std::uint64_t slot) {
      return (std::max(slot, e) - e + elements - 1) / elements;
    };
    const std::uint64_t end = pes_below(last);
    for (std::uint64_t pe = pes_below(first); pe < end;) {
      const std::uint64_t block = pe / pes;
      const FieldRow row{field, static_cast<unsigned>(e), pe % pes,
                         std::min(end, (block + 1) * pes) - pe};
      numbers.resize(row.count);
      sums.sum(
          row, chips.size(), over_blocks ? chips[0]->blocks.size() : 1,
          [&](std::size_t c, std::size_t b, std::uint64_t* to) {
            Sums::read(row, chips[c]->blocks[over_blocks ? b : block], to);
          },
          numbers.data());
      for (std::uint64_t i = 0; i < row.count; ++i) store((pe + i) * elements + e, numbers[i]);
      pe += row.count;
    }
  }
}

/// True if output items consist of sums of consecutive longs: an item is a row.
template <typename Sums>
bool are_rows(const LoadedProgram& loaded, std::uint64_t records) noexcept {
  if (records != 1 || loaded.program.output_shorts != 2 * loaded.outputs.size()) return false;
  for (std::size_t k = 0; k < loaded.outputs.size(); ++k) {
    const PortField& field = loaded.outputs[k];
    if (!are_sums<Sums>(loaded, field) || field.location.address != 2 * k) return false;
  }
  return true;
}

template <typename Sums>
void join_rows(const LoadedProgram& loaded,
               std::span<const std::vector<const std::uint64_t*>> chips, std::uint64_t count,
               std::uint64_t* to) {
  const FieldRow row{loaded.outputs[0], 0, 0, loaded.outputs.size()};
  RowSum<Sums> sums;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto read = [&](std::size_t c, std::size_t b, std::uint64_t* words) {
      Sums::read_items(row.count, chips[c][b] + i * 2 * row.count, words);
    };
    sums.sum(row, chips.size(), chips[0].size(), read, to + i * row.count);
  }
}

// --- words, one by one

u128 word_of(const PortField& field, Lanes<const std::uint64_t> lanes, std::size_t i) noexcept {
  const std::uint64_t* const at = lanes.shorts + i * lanes.stride;
  return field.width == Width::Short ? u128{*at} : join(Short{at[0]}, Short{at[lanes.lower]}).bits;
}

/// Leaves of a reduction tree; reused to avoid allocation.
struct Leaves {
  std::vector<Long> blocks, chips, keys, indices;
};

/// The words of all blocks that hold results of a slot.
void read_leaves(const PortField& field, std::span<const ChipState* const> chips,
                 ChipPartition partition, std::uint64_t slot, std::uint64_t elements,
                 std::vector<Long>& leaves) {
  const std::uint64_t pe = slot / elements;
  const auto element = static_cast<unsigned>(slot % elements);
  leaves.clear();
  for (const ChipState* chip : chips) {
    const std::uint64_t pes = chip->geometry.pes_per_block;
    const auto add = [&](const BlockState& block) {
      leaves.push_back(
          network_word(field, word_of(field, pe_lanes(block, field.location, element), pe % pes)));
    };
    if (partition == ChipPartition::TargetsOverBlocks)
      add(chip->blocks[pe / pes]);
    else
      std::ranges::for_each(chip->blocks, add);
  }
}

Long join_word(const LoadedProgram& loaded, const PortField& field,
               std::span<const ChipState* const> chips, ChipPartition partition, std::uint64_t slot,
               Leaves& leaves) {
  Flags ignored = no_flags;
  const std::uint64_t elements = loaded.program.elements;
  if (field.reduce == Reduce::Index) {
    const PortField& key = loaded.results[static_cast<std::size_t>(field.key)];
    read_leaves(key, chips, partition, slot, elements, leaves.keys);
    read_leaves(field, chips, partition, slot, elements, leaves.indices);
    return reduce_index(key.reduce, leaves.keys, leaves.indices);
  }
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
void join_fields(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
                 const TargetSlots& slots, std::span<const PortField> fields, std::uint64_t first,
                 std::uint64_t last, std::uint64_t* records) {
  const std::size_t words = loaded.layout.result_words;
  for (const PortField& field : fields) {
    if (!are_sums<Sums>(loaded, field)) continue;
    sum_slots<Sums>(field, chips, slots.partition, first, last, loaded.program.elements,
                    [&](std::uint64_t slot, std::uint64_t bits) {
                      put_host_bits(field, bits, records + (slot - slots.first) * words);
                    });
  }
}

bool joined_in_rows(const LoadedProgram& loaded, const PortField& field) noexcept {
  return are_sums<HostSums>(loaded, field) || are_sums<ExactSums>(loaded, field);
}

}  // namespace

void join_results(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
                  const TargetSlots& slots, std::span<const PortField> fields, std::uint64_t first,
                  std::uint64_t last, std::uint64_t* records) {
  const std::size_t words = loaded.layout.result_words;
  if (loaded.packs_results)
    std::fill_n(records + (first - slots.first) * words, (last - first) * words, 0);
  join_fields<HostSums>(loaded, chips, slots, fields, first, last, records);
  join_fields<ExactSums>(loaded, chips, slots, fields, first, last, records);
  const bool all = std::ranges::all_of(
      fields, [&](const PortField& field) { return joined_in_rows(loaded, field); });
  if (all) return;
  Leaves leaves;
  for (std::uint64_t slot = first; slot < last; ++slot) {
    std::uint64_t* const record = records + (slot - slots.first) * words;
    for (const PortField& field : fields) {
      if (joined_in_rows(loaded, field)) continue;
      const Long word = join_word(loaded, field, chips, slots.partition, slot, leaves);
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
      const u128 word = join_word(loaded, field, chips, slots.partition, slot, leaves).bits;
      *to++ = static_cast<std::uint64_t>(word);
      *to++ = static_cast<std::uint64_t>(word >> 64);
    }
  }
}

void join_outputs(const LoadedProgram& loaded,
                  std::span<const std::vector<const std::uint64_t*>> chips, std::uint64_t records,
                  std::uint64_t count, std::uint64_t* to) {
  if (are_rows<HostSums>(loaded, records)) return join_rows<HostSums>(loaded, chips, count, to);
  if (are_rows<ExactSums>(loaded, records)) return join_rows<ExactSums>(loaded, chips, count, to);
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
