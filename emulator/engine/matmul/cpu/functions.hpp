// Functions for matrix products, exact and fast: their interface.
//
// Plain data: the functions are compiled once for each instruction set of the host, and nothing
// that they share with the rest of the program may be compiled twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/host/isa.hpp"

namespace gdr {

/// The leading 53 bits: exponent zero gives a zero of the same sign; a NaN stays a NaN, also if its
/// fraction bits are below those of a double. Always inline: it is compiled for several instruction
/// sets.
[[gnu::always_inline]] constexpr std::uint64_t long_factor(std::uint64_t upper,
                                                           std::uint64_t lower) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, quiet = std::uint64_t{1} << 51;
  const std::uint64_t bits = (upper << 28) | (lower >> 8), e = bits >> 52 & 2047;
  const std::uint64_t odd = bits | ((lower & 255) != 0 ? quiet : 0);
  return e == 0 ? bits & sign : e == 2047 ? odd : bits;
}

// --- exact

/// PEs of a panel: one row of MatmulPattern in eight PEs.
constexpr std::size_t panel_lanes = 8;
/// Items that a micro-kernel multiplies at once (nr of exact.hpp).
constexpr std::size_t exact_nr = 4;

/// The largest biased exponent, of infinities and NaN. As the least exponent of an interval it
/// means that all numbers are zero.
constexpr int last_exponent = 2047;

/// Biased exponents of the nonzero numbers. If all are zero, both are the exponent of 1.
struct ExponentInterval {
  std::int32_t least = 1023, most = 1023;
};

/// Factors of the PEs of some chips, as doubles.
struct MatmulFactors {
  const double* numbers = nullptr;              ///< [panel][chip][block][factor][PE]
  const ExponentInterval* intervals = nullptr;  ///< [panel][chip][block]
  const std::int16_t* least = nullptr;          ///< [panel][chip][block][factor]: exponents
  std::size_t panels = 0, chips = 0, blocks = 0, depth = 0;
  /// [panel]: all factors are +0. Such panels have equal sums: only the first one is computed.
  const char* zeros = nullptr;
  std::size_t first_of_zeros = 0;
};

/// Items (columns of a matrix) times all factors of the PEs.
struct MatmulTask {
  MatmulFactors factors;
  /// [column][chip]: bits of the doubles of an item, `depth` for each block.
  const std::uint64_t* const* records = nullptr;
  std::size_t columns = 0;
  double* sums = nullptr;     ///< [column][panel][PE]: over blocks, then over chips
  double* scratch = nullptr;  ///< MatmulFunctions::scratch doubles
};

/// A long word of the PEs of some panels, to be converted to doubles truncated to the multiplier's
/// 50 bits. Zeros keep their sign.
struct LongRow {
  const std::uint64_t *upper = nullptr, *lower = nullptr;
  std::size_t panels = 0;
  double* to = nullptr;
  std::size_t step = 0;                   ///< distance of panels in doubles
  ExponentInterval* intervals = nullptr;  ///< intervals to extend; initially {last_exponent, 0}
  std::size_t interval_step = 0;
  std::int16_t* least = nullptr;  ///< the least exponent of the panel's PEs
  std::size_t min_step = 0;
};

/// The machine's sums, bit for bit.
struct MatmulFunctions {
  /// Packs factors.
  void (*gather)(const LongRow& row);
  /// Doubles of scratch that a task needs.
  std::size_t (*scratch)(const MatmulTask& task);
  /// Loops ic to ir for the items of a task, in the machine's floating-point mode
  /// (MachineFloatMode). Returns the number of block sums
  /// (eight PEs, some columns) that used the integer fallback.
  std::uint64_t (*run)(const MatmulTask& task);
};

const MatmulFunctions& exact_matmul_avx2() noexcept;
const MatmulFunctions& exact_matmul_avx512() noexcept;
const MatmulFunctions& exact_matmul_neon() noexcept;
/// Null if there are none for the instruction set.
const MatmulFunctions* exact_matmul_of(Isa isa) noexcept;

/// A sum over one block in eight PEs on integers, for any numbers. `numbers` are [factor][PE], item
/// k is at `item + k * step`.
struct FallbackBlock {
  Isa isa;
  const double* numbers;
  const double* item;
  std::size_t step, depth;
};
/// The sums as pairs of doubles; false if they are outside of the range of pairs or not finite.
bool fallback_sum(const FallbackBlock& block, double* high, double* low);
/// Complete sums of a panel and a column over all blocks and chips. `items` are [chip][block], each
/// as in FallbackBlock.
struct FallbackColumn {
  Isa isa;
  MatmulFactors factors;
  std::size_t panel;
  const double* items;
  std::size_t step;
};
void fallback_column(const FallbackColumn& column, double* sums);
/// Sets the sign of sums that are zero: minus if all products are negative.
void sign_zeros(const FallbackBlock& block, double* high, double* low);

// --- fast

/// Outputs of a panel.
constexpr std::size_t fast_lanes = 8;

/// kc of fast products, the number of factors of a slab: nr items take at most half of the
/// first-level cache, and a slab of 256 outputs half of the second-level cache.
constexpr std::size_t fast_kc = 256;

/// A multiple of nr of every micro-kernel.
constexpr std::size_t fast_columns = 24;

/// Scratch for columns that are not equidistant; their distance is not a power of two, to avoid
/// cache-set conflicts.
constexpr std::size_t scratch_pitch = fast_kc + 8;
constexpr std::size_t fast_scratch = fast_columns * scratch_pitch;

/// Items (columns of a matrix) times one slab of the PEs' factors.
struct FastTask {
  const double* numbers = nullptr;  ///< [panel][factor][lane]
  std::size_t panels = 0, depth = 0;
  std::size_t panel_step = 0;            ///< doubles from a panel to the next one
  const double* const* items = nullptr;  ///< [column]: `depth` factors
  std::size_t columns = 0;
  std::size_t items_known = 0;  ///< columns in `items`; those beyond the task's are prefetched
  /// [column][panel][lane]: sums of the previous slabs (null: none), and including this one.
  const double* before = nullptr;
  double* sums = nullptr;
  std::size_t before_step = 0, sums_step = 0;  ///< doubles from a column to the next one
  bool ends = false;          ///< whether it is the last slab: NaNs become canonical
  double* scratch = nullptr;  ///< fast_scratch doubles
};

/// Factors of eight outputs, to be interleaved.
struct PackTask {
  const std::uint64_t* rows[fast_lanes];  ///< bits of doubles
  std::size_t count = 0;                  ///< factors of each row
  double* to = nullptr;                   ///< [factor][lane]
};

struct FastMatmulFunctions {
  /// Packs rows. Returns an upper bound of the factors up to the last one that is not +0 in every
  /// lane; 0 if all are +0.
  std::size_t (*pack)(const PackTask& rows);
  /// Loops jr and ir around the micro-kernel, in the machine's floating-point mode
  /// (MachineFloatMode).
  void (*macro_kernel)(const FastTask& task);
};

const FastMatmulFunctions& fast_matmul_portable() noexcept;
const FastMatmulFunctions& fast_matmul_avx2() noexcept;
const FastMatmulFunctions& fast_matmul_avx512() noexcept;
const FastMatmulFunctions& fast_matmul_neon() noexcept;
const FastMatmulFunctions& fast_matmul_of(Isa isa) noexcept;

}  // namespace gdr
