// Vectorised sums of the reduction network, in the order of the tree: results (one lane per PE) and
// output items.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/blockwise/transfers.hpp"
#include "emulator/engine/vector/doubles/add_rows.hpp"
#include "emulator/engine/vector/strip.hpp"
#include "emulator/port/port.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {

/// One element of a field in PEs `pe` .. `pe + count - 1` of some block.
struct Row {
  const PortField& field;
  unsigned element;
  std::uint64_t pe, count;
};

/// Sums of fast numerics, in doubles. A row is one double per PE.
struct HostSums {
  static constexpr std::size_t words = 1;

  static bool serve(const LoadedProgram& loaded, const PortField&) noexcept {
    return !loaded.exact;
  }
  /// The upper 64 bits of a long are a double; the rest, from an exact section, is truncated.
  static void read(const Row& row, const BlockState& block, std::uint64_t* to) noexcept {
    const auto lanes = pe_lanes(block, row.field.location, row.element);
    const std::uint64_t* const upper = lanes.shorts + row.pe;
    const std::uint64_t* const lower = upper + lanes.lower;
    for (std::uint64_t i = 0; i < row.count; ++i) to[i] = (upper[i] << 28) | (lower[i] >> 8);
  }
  /// Reads consecutive longs.
  static void take(std::uint64_t n, const std::uint64_t* shorts, std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < n; ++i) to[i] = (shorts[2 * i] << 28) | (shorts[2 * i + 1] >> 8);
  }
  static void add(const Row& row, const std::uint64_t* left, const std::uint64_t* right,
                  std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < row.count; ++i)
      to[i] = std::bit_cast<std::uint64_t>(std::bit_cast<double>(left[i]) +
                                           std::bit_cast<double>(right[i]));
  }
  static bool add_all(const Row&, std::vector<std::uint64_t>&) noexcept { return false; }
  /// Host NaNs may have a sign; the machine's canonical NaN has none.
  static void give(const Row& row, const std::uint64_t* sums, std::uint64_t* numbers) noexcept {
    std::transform(sums, sums + row.count, numbers, port::canonical);
  }
};

/// The machine's sums, with the vector kernels of the engine. A row is one upper short per PE, then
/// the lower ones.
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
  static void take(std::uint64_t n, const std::uint64_t* shorts, std::uint64_t* to) noexcept {
    for (std::uint64_t i = 0; i < n; ++i) {
      to[i] = shorts[2 * i];
      to[n + i] = shorts[2 * i + 1];
    }
  }
  static void add(const Row& row, const std::uint64_t* left, const std::uint64_t* right,
                  std::uint64_t* to) noexcept {
    const StripKernels& kernels = row.field.isa == Isa::Avx512 ? avx512_kernels() : avx2_kernels();
    const std::uint64_t n = row.count;
    kernels.fadd[1][1][1]({1, n, {left, left + n, 0}, {right, right + n, 0}, {to, to + n, 0}});
  }
  /// Adds all rows with one call if doubles can verify it and there are enough.
  static bool add_all(const Row& row, std::vector<std::uint64_t>& rows) {
    constexpr std::size_t few = 128;
    const LongRows all{rows.data(), rows.size() / (words * row.count), row.count};
    return all.count * all.lanes >= few && add_rows_in_doubles(row.field.isa, all);
  }
  static void give(const Row& row, const std::uint64_t* sums, std::uint64_t* numbers) noexcept {
    port_rows(row.field.isa).long_to_double(sums, sums + row.count, row.count, numbers);
  }
};

/// True for fields that are sums of longs converted to doubles, in the numerics of `Sums`.
template <typename Sums>
bool are_sums(const LoadedProgram& loaded, const PortField& field) noexcept {
  return field.reduce == Reduce::Fadd && field.width == Width::Long &&
         field.conversion.host == HostType::F64 &&
         field.conversion.machine == MachineFormat::FloatLong && Sums::serve(loaded, field);
}

template <typename Sums>
std::size_t row_words(const Row& row) noexcept {
  return Sums::words * row.count;
}

/// Adds up rows into the first, as reduce_tree does.
template <typename Sums>
const std::uint64_t* add_rows(const Row& row, std::vector<std::uint64_t>& rows) {
  std::uint64_t* const first = rows.data();
  if (Sums::add_all(row, rows)) return first;
  const std::size_t size = row_words<Sums>(row);
  for (std::size_t n = rows.size() / size; n > 1; n = (n + 1) / 2) {
    for (std::size_t k = 0; k < n / 2; ++k) {
      std::uint64_t* const left = first + 2 * k * size;
      Sums::add(row, left, left + size, first + k * size);
    }
    if (n % 2 != 0) std::copy_n(first + (n - 1) * size, size, first + n / 2 * size);
  }
  return first;
}

/// Sums over blocks and chips, in the order of the tree, one lane per PE.
template <typename Sums>
class RowSum {
 public:
  struct SlotRange {
    std::uint64_t first, last;
  };

  static bool serves(const LoadedProgram& loaded, const PortField& field) noexcept {
    return are_sums<Sums>(loaded, field);
  }

  /// Sums of slots first .. last - 1 of one field as doubles, by `store(slot, bits)`.
  template <typename Store>
  void sum(const PortField& field, std::span<const ChipState* const> chips, ChipPartition partition,
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
        const std::uint64_t* const sums = partition == ChipPartition::SourcesOverBlocks
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
  static std::size_t size(const Row& row) noexcept { return row_words<Sums>(row); }

  const std::uint64_t* over_blocks(const Row& row, std::span<const ChipState* const> chips) {
    chips_.resize(chips.size() * size(row));
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const auto& blocks = chips[c]->blocks;
      blocks_.resize(blocks.size() * size(row));
      for (std::size_t b = 0; b < blocks.size(); ++b)
        Sums::read(row, blocks[b], blocks_.data() + b * size(row));
      add_rows<Sums>(row, blocks_);
      std::copy_n(blocks_.data(), size(row), chips_.data() + c * size(row));
    }
    return add_rows<Sums>(row, chips_);
  }
  const std::uint64_t* over_chips(const Row& row, std::span<const ChipState* const> chips,
                                  std::uint64_t block) {
    chips_.resize(chips.size() * size(row));
    for (std::size_t c = 0; c < chips.size(); ++c)
      Sums::read(row, chips[c]->blocks[block], chips_.data() + c * size(row));
    return add_rows<Sums>(row, chips_);
  }
  std::vector<std::uint64_t> blocks_, chips_, numbers_;
};

/// Output items that consist of sums of consecutive longs: an item is a row.
template <typename Sums>
class ItemSums {
 public:
  static bool serves(const LoadedProgram& loaded, std::uint64_t records) noexcept {
    if (records != 1 || loaded.program.output_shorts != 2 * loaded.outputs.size()) return false;
    for (std::size_t k = 0; k < loaded.outputs.size(); ++k) {
      const PortField& field = loaded.outputs[k];
      if (!are_sums<Sums>(loaded, field) || field.location.address != 2 * k) return false;
    }
    return true;
  }

  void join(const LoadedProgram& loaded, std::span<const std::vector<const std::uint64_t*>> chips,
            std::uint64_t count, std::uint64_t* to) {
    const Row row{loaded.outputs[0], 0, 0, loaded.outputs.size()};
    const std::size_t size = row_words<Sums>(row);
    chips_.resize(chips.size() * size);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < chips.size(); ++c) {
        blocks_.resize(chips[c].size() * size);
        for (std::size_t b = 0; b < chips[c].size(); ++b)
          Sums::take(row.count, chips[c][b] + i * 2 * row.count, blocks_.data() + b * size);
        std::copy_n(add_rows<Sums>(row, blocks_), size, chips_.data() + c * size);
      }
      Sums::give(row, add_rows<Sums>(row, chips_), to + i * row.count);
    }
  }

 private:
  std::vector<std::uint64_t> blocks_, chips_;
};

}  // namespace gdr
