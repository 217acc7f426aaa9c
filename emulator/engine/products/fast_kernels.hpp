// Kernels for fast sums of products, in the host's doubles: what they work on.
//
// Plain data, like kernels.hpp: the kernels are compiled once for each instruction set of the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/engine.hpp"

namespace gdr {

/// Outputs side by side: a panel.
constexpr std::size_t fast_lanes = 8;

/// Factors of a slab, at most. What stands in the PEs of a slab should fit the second cache, a few
/// items of it the first.
constexpr std::size_t slab_depth = 256;

/// Columns that the kernels take side by side divide this.
constexpr std::size_t fast_columns = 24;

/// Doubles of scratch, for columns that do not lie evenly; there they lie so many doubles apart,
/// which is no power of two: they would share few lines of the cache.
constexpr std::size_t fast_apart = slab_depth + 8;
constexpr std::size_t fast_scratch = fast_columns * fast_apart;

/// Some items (columns of a matrix) times one slab of what stands in the PEs.
struct FastTask {
  const double* numbers = nullptr;  ///< [panel][factor][lane]
  std::size_t panels = 0, depth = 0;
  std::size_t panel_step = 0;            ///< doubles from a panel to the next one
  const double* const* items = nullptr;  ///< [column]: `depth` factors
  std::size_t columns = 0;
  std::size_t items_known = 0;  ///< columns of `items`; those behind the task's come next
  /// [column][panel][lane]: the sums of the slabs before (null: there is none), and with this one.
  const double* before = nullptr;
  double* sums = nullptr;
  std::size_t before_step = 0, sums_step = 0;  ///< doubles from a column to the next one
  bool ends = false;                           ///< no slab follows: NaNs lose their sign
  double* scratch = nullptr;                   ///< fast_scratch doubles
};

/// Factors of eight outputs, to be brought side by side.
struct FastRows {
  const std::uint64_t* rows[fast_lanes];  ///< bits of doubles
  std::size_t count = 0;                  ///< of each
  double* to = nullptr;                   ///< [factor][lane]
};

struct FastKernels {
  /// Returns how many factors there are up to the last one that is more than +0 in any lane, or
  /// somewhat more; 0 where all are +0.
  std::size_t (*take)(const FastRows& rows);
  /// In the machine's floating-point mode (MachineFloatMode).
  void (*run)(const FastTask& task);
};

const FastKernels& fast_products_avx2() noexcept;
const FastKernels& fast_products_avx512() noexcept;
/// Those of an instruction set; null where there are none.
const FastKernels* fast_products_of(Isa isa) noexcept;

}  // namespace gdr
