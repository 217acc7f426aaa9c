// Conversion of machine words to host numbers and back, many at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "emulator/chip/state.hpp"
#include "emulator/engine/native/translate/memory_model.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Words of one location: upper and lower shorts (equal pointers for a short), `stride` places
/// apart.
struct WordsIn {
  const std::uint64_t* upper;
  const std::uint64_t* lower;
  std::size_t stride;
};
struct WordsOut {
  std::uint64_t* upper;
  std::uint64_t* lower;
};

template <typename Lane>
Lane load_lane(const std::byte* at) noexcept {
  Lane lane;
  std::memcpy(&lane, at, sizeof lane);
  return lane;
}

/// The integer in a lane: unshifted among floats, the upper 36 bits among doubles.
constexpr std::int64_t lane_integer(std::int32_t lane) noexcept { return lane; }
constexpr std::int64_t lane_integer(std::int64_t lane) noexcept { return lane >> short_shift; }

/// Converts n words to lanes, `step` bytes apart. False if an integer exceeds the 32 bits of a
/// float lane; the lanes are then undefined.
bool words_to_lanes(WordType type, Precision precision, WordsIn from, std::size_t n, std::byte* to,
                    std::size_t step) noexcept;

/// Conversions of adjacent words of a type to adjacent lanes and back.
struct RowConversion {
  /// False if an integer exceeds the 32 bits of a float lane.
  bool (*to_lanes)(const std::uint64_t* upper, const std::uint64_t* lower, std::size_t n,
                   std::byte* to) noexcept;
  /// Rounds to nearest even, gives canonical NaNs and flushes underflow to zero.
  void (*from_lanes)(const std::byte* from, std::size_t n, WordsOut to) noexcept;
};

/// The conversions with the target's instructions.
RowConversion row_conversion(Target target, WordType type) noexcept;

/// The rows of a cell in a block.
struct CellRow {
  LaneMemory BlockState::*memory = &BlockState::registers;
  std::uint32_t row = 0;

  friend bool operator==(const CellRow&, const CellRow&) = default;
  const std::uint64_t* in(const BlockState& block) const noexcept {
    return (block.*memory).data() + std::size_t{row} * block.pes;
  }
  std::uint64_t* in(BlockState& block) const noexcept {
    return (block.*memory).data() + std::size_t{row} * block.pes;
  }
};
CellRow cell_row(const CellMap& map, LeafKey key) noexcept;

/// A location of the PEs and the slot of a work item that its words go to or come from.
struct RowTransfer {
  LeafKey key;
  CellRow cell;                ///< unused for fixed inputs and parts of BM stores
  std::uint32_t instance = 0;  ///< instance of the kernel
  std::uint32_t offset = 0;    ///< offset in the work item, bytes
  /// Not in the PEs' state: a fixed input or part of a BM store.
  bool outside_state() const noexcept {
    return key.type == WordType::PeNumber || key.type == WordType::BlockNumber || key.delay != 0;
  }
};

/// Whether one of n adjacent doubles may be wrong because a number was infinite: it is NaN, or with
/// AVX2, whose roots come from the bits of numbers, NaN or infinite.
inline bool has_no_value(const std::byte* from, std::size_t n, Isa isa) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = load_lane<double>(from + i * sizeof(double));
    if (isa == Isa::Avx2 ? !std::isfinite(value) : std::isnan(value)) return true;
  }
  return false;
}

/// The work items of a kernel: `vectors` of them for each instance, for `live` PEs.
struct WorkItems {
  std::byte* first = nullptr;
  std::size_t bytes = 0;  ///< size of a work item
  std::size_t vectors = 0;
  std::uint32_t live = 0;

  std::byte* place(const RowTransfer& t) const noexcept {
    return first + t.instance * vectors * bytes + t.offset;
  }
};

}  // namespace gdr::native
