// Kernels for exact matrix products: their interface.
//
// Plain data without inline functions: the kernels are compiled once for each instruction set of
// the host, and nothing that they share with the rest of the program may be compiled twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/engine.hpp"

namespace gdr {

/// PEs of a panel: one row of MatmulPattern in eight PEs.
constexpr std::size_t panel_lanes = 8;

/// The largest biased exponent, of infinities and NaN. As the least exponent of a range it means
/// that all numbers are zero.
constexpr int last_exponent = 2047;

/// Biased exponents of the nonzero numbers. If all are zero, both are the exponent of 1.
struct ExponentRange {
  std::int32_t least = 1023, most = 1023;
};

/// Factors of the PEs of some chips, as doubles.
struct MatmulFactors {
  const double* numbers = nullptr;        ///< [panel][chip][block][factor][PE]
  const ExponentRange* ranges = nullptr;  ///< [panel][chip][block]
  const std::int16_t* least = nullptr;    ///< [panel][chip][block][factor]: exponents
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
  double* scratch = nullptr;  ///< MatmulKernels::scratch doubles
};

/// A long word of the PEs of some panels, to be converted to doubles truncated to the multiplier's
/// 50 bits. Zeros keep their sign.
struct LongRow {
  const std::uint64_t *upper = nullptr, *lower = nullptr;
  std::size_t panels = 0;
  double* to = nullptr;
  std::size_t step = 0;             ///< distance of panels in doubles
  ExponentRange* ranges = nullptr;  ///< extended; initially {last_exponent, 0}
  std::size_t range_step = 0;
  std::int16_t* least = nullptr;  ///< the least exponent of the panel's PEs
  std::size_t least_step = 0;
};

/// The machine's sums, bit for bit.
struct MatmulKernels {
  Isa isa;
  void (*take)(const LongRow& row);
  /// Doubles of scratch that a task needs.
  std::size_t (*scratch)(const MatmulTask& task);
  /// In the machine's floating-point mode (MachineFloatMode). Returns the number of block sums
  /// (eight PEs, some columns) that used the integer fallback.
  std::uint64_t (*run)(const MatmulTask& task);
};

const MatmulKernels& exact_matmul_avx2() noexcept;
const MatmulKernels& exact_matmul_avx512() noexcept;
/// Kernels of an instruction set; null if there are none.
const MatmulKernels* exact_matmul_of(Isa isa) noexcept;

/// A sum over one block in eight PEs on integers, for any numbers. `numbers` are [factor][PE], item
/// k stands at `item + k * step`.
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

}  // namespace gdr
