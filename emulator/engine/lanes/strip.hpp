// Operands of strip kernels: rows of lanes, one lane for each PE of a block.
//
// Plain data without inline functions: the kernels are compiled once for each instruction set of
// the host, and nothing that they share with the rest of the program may be compiled twice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr {

enum class Isa : std::uint8_t;

/// An operand: the rows of element 0 (a short has only `hi`) and the lanes from an element to the
/// next (0 for a scalar operand).
struct InputRows {
  const std::uint64_t* hi = nullptr;
  const std::uint64_t* lo = nullptr;
  std::size_t step = 0;
};

struct OutputRows {
  std::uint64_t* hi = nullptr;
  std::uint64_t* lo = nullptr;
  std::size_t step = 0;
};

/// One operation over all elements and PEs of a block.
struct Strip {
  unsigned elements = 0;
  std::size_t pes = 0;
  InputRows a, b;
  OutputRows out;
};
using StripKernel = void (*)(const Strip& strip);

/// Condition of a row of mask lanes.
enum class RowTest : std::uint8_t {
  FloatNegative,
  FloatZero,
  ShortNegative,
  ShortZero,
  LongNegative,
  LongZero
};
/// to[i] = test(hi[i], lo[i]) ? all ones : 0, for one element.
using MaskKernel = void (*)(RowTest test, const std::uint64_t* hi, const std::uint64_t* lo,
                            std::uint64_t* to, std::size_t pes);
/// Consecutive rows to be copied where a mask allows it: to = (mask != 0) == value ? from : to.
struct Blend {
  unsigned rows = 0;
  std::size_t pes = 0;
  const std::uint64_t* mask = nullptr;  ///< one row
  bool value = true;
  const std::uint64_t* from = nullptr;
  std::uint64_t* to = nullptr;
};
using BlendKernel = void (*)(const Blend& blend);

/// Words of the broadcast memory to all PEs: row r of element k is filled with words[k * step + r].
struct Fill {
  unsigned elements = 0;
  unsigned rows = 0;
  std::size_t pes = 0;
  const std::uint64_t* words = nullptr;
  std::size_t word_step = 0;
  std::uint64_t* to = nullptr;
  std::size_t to_step = 0;
};
using FillKernel = void (*)(const Fill& fill);

/// The kernels of one instruction set. Indices [a][b][out]: 0 short, 1 long. A null entry means
/// that the operation goes lane by lane through the scalar arithmetic.
struct StripKernels {
  StripKernel fadd[2][2][2], fsub[2][2][2], fmul[2][2][2], dmul[2][2][2], fcvt[2][2];
  /// Integer operations by position in the table after Iadd: [op][out], operands of the same width.
  StripKernel integer[15][2];
  MaskKernel mask;
  BlendKernel blend;
  FillKernel fill;
};

const StripKernels& strip_kernels(Isa isa) noexcept;
const StripKernels& avx2_kernels() noexcept;
const StripKernels& avx512_kernels() noexcept;
const StripKernels& neon_kernels() noexcept;

/// Floating-point operations that have kernels.
enum class FloatOp : std::uint8_t { Add, Sub, Mul, Dmul, Cvt };

/// Computes one lane with the scalar functions of numeric/: an inexact one, or one with an infinity
/// or NaN. Words are (hi, lo) shorts; `lo` of a short is 0.
void repair_lane(FloatOp op, bool long_result, std::uint64_t a_hi, std::uint64_t a_lo,
                 std::uint64_t b_hi, std::uint64_t b_lo, std::uint64_t* out_hi,
                 std::uint64_t* out_lo) noexcept;

}  // namespace gdr
