// Lanes that hold infinities or NaN are computed again by the scalar arithmetic.
#pragma once

#include <cstdint>

namespace gdr {

/// Operation numbers of `repair_lane`, which is not compiled for a special instruction set.
enum class FloatOp : std::uint8_t { Add, Sub, Mul, Dmul, Cvt };

/// One lane by the scalar functions of numeric/. Words as (hi, lo) shorts; `lo` of a short is 0.
void repair_lane(FloatOp op, bool long_result, std::uint64_t a_hi, std::uint64_t a_lo,
                 std::uint64_t b_hi, std::uint64_t b_lo, std::uint64_t* out_hi,
                 std::uint64_t* out_lo) noexcept;

}  // namespace gdr
