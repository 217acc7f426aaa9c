// Kernels for the machine's sums of products: what they work on.
//
// Plain data without inline functions: the kernels are compiled once for each instruction set of
// the host, and nothing that they share with the rest of the program may be compiled twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/engine.hpp"

namespace gdr {

/// PEs side by side: a panel is one row of SummedProducts in eight PEs.
constexpr std::size_t panel_lanes = 8;

/// The largest exponent as the format has it: of infinities and NaN. Where it is the least one,
/// there are no numbers but zeros.
constexpr int last_exponent = 2047;

/// Exponents, as the format has them, of numbers that are not zero. Where all are zero both are
/// those of 1.
struct ExponentRange {
  std::int32_t least = 1023, most = 1023;
};

/// What stands in the PEs of some chips: the words that are multiplied, as doubles.
struct ProductFactors {
  const double* numbers = nullptr;        ///< [panel][chip][block][factor][PE]
  const ExponentRange* ranges = nullptr;  ///< [panel][chip][block]
  const std::int16_t* least = nullptr;    ///< [panel][chip][block][factor]: exponents
  std::size_t panels = 0, chips = 0, blocks = 0, depth = 0;
  /// [panel]: all factors are +0. Panels of which that is so have the same sums: those of the first
  /// one count for all, and the others may stay as they are.
  const char* zeros = nullptr;
  std::size_t first_of_zeros = 0;
};

/// Some items (columns of a matrix) times all that stands in the PEs.
struct ProductTask {
  ProductFactors factors;
  /// [column][chip]: bits of the doubles of an item, `depth` for each block.
  const std::uint64_t* const* records = nullptr;
  std::size_t columns = 0;
  double* sums = nullptr;     ///< [column][panel][PE]: over blocks, then over chips
  double* scratch = nullptr;  ///< as many as `scratch` of the kernels says
};

/// A long word of some panels' PEs, shorts in lanes, to be made doubles of: as many bits as the
/// multiplier sees. A zero is one of its sign.
struct LongRow {
  const std::uint64_t *upper = nullptr, *lower = nullptr;
  std::size_t panels = 0;
  double* to = nullptr;
  std::size_t step = 0;             ///< doubles from a panel's to the next one's
  ExponentRange* ranges = nullptr;  ///< to be widened: {last_exponent, 0} is none yet
  std::size_t range_step = 0;
  std::int16_t* least = nullptr;  ///< the least exponent of the panel's PEs
  std::size_t least_step = 0;
};

/// The machine's sums, bit for bit.
struct ProductKernels {
  Isa isa;
  void (*take)(const LongRow& row);
  /// Doubles of scratch that a task needs.
  std::size_t (*scratch)(const ProductTask& task);
  /// In the machine's floating-point mode (MachineFloatMode). Returns how many sums over a block,
  /// in eight PEs and some columns, had to be taken on integers.
  std::uint64_t (*run)(const ProductTask& task);
};

const ProductKernels& exact_products_avx2() noexcept;
const ProductKernels& exact_products_avx512() noexcept;
/// Those of an instruction set; null where there are none.
const ProductKernels* exact_products_of(Isa isa) noexcept;

/// A sum over one block in eight PEs with the integers of the machine's arithmetic: any numbers.
/// `numbers` are [factor][PE], item k stands at `item + k * step`.
struct CarefulBlock {
  Isa isa;
  const double* numbers;
  const double* item;
  std::size_t step, depth;
};
/// As pairs of doubles that add up to the sums; false if these are too large or small for pairs to
/// be added, or not finite.
bool careful_sum(const CarefulBlock& block, double* high, double* low);
/// Whole sums of a panel and a column: over all blocks and chips. `items` are [chip][block], each
/// as in CarefulBlock.
struct CarefulColumn {
  Isa isa;
  ProductFactors factors;
  std::size_t panel;
  const double* items;
  std::size_t step;
};
void careful_column(const CarefulColumn& column, double* sums);
/// Gives sums over a block, as pairs, that are zero their sign: minus where all products have it.
void sign_zeros(const CarefulBlock& block, double* high, double* low);

}  // namespace gdr
