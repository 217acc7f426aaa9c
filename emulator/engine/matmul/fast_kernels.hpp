// Kernels for fast matrix products in doubles: their interface.
//
// Plain data, like kernels.hpp: the kernels are compiled once for each instruction set of the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/engine.hpp"

namespace gdr {

/// Outputs of a panel.
constexpr std::size_t fast_lanes = 8;

/// Maximum number of factors of a slab, so that its panels fit the second-level cache and some
/// items the first.
constexpr std::size_t slab_depth = 256;

/// A multiple of the number of columns of every kernel.
constexpr std::size_t fast_columns = 24;

/// Scratch for columns that are not equidistant; their distance is not a power of two, to avoid
/// cache-set conflicts.
constexpr std::size_t fast_apart = slab_depth + 8;
constexpr std::size_t fast_scratch = fast_columns * fast_apart;

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
  bool ends = false;                           ///< last slab: NaNs become canonical
  double* scratch = nullptr;                   ///< fast_scratch doubles
};

/// Factors of eight outputs, to be interleaved.
struct FastRows {
  const std::uint64_t* rows[fast_lanes];  ///< bits of doubles
  std::size_t count = 0;                  ///< factors of each row
  double* to = nullptr;                   ///< [factor][lane]
};

struct FastMatmulKernels {
  /// Packs rows. Returns an upper bound of the factors up to the last one that is not +0 in every
  /// lane; 0 if all are +0.
  std::size_t (*take)(const FastRows& rows);
  /// In the machine's floating-point mode (MachineFloatMode).
  void (*run)(const FastTask& task);
};

const FastMatmulKernels& fast_matmul_avx2() noexcept;
const FastMatmulKernels& fast_matmul_avx512() noexcept;
/// Kernels of an instruction set; null if there are none.
const FastMatmulKernels* fast_matmul_of(Isa isa) noexcept;

}  // namespace gdr
