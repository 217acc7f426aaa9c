// Operations on known words, for the analyses of prologue and padding.
#pragma once

#include "emulator/isa/table.hpp"
#include "emulator/numeric/float.hpp"
#include "kernels/compiler/ir/machine_ir.hpp"

namespace gdr::kc {

/// A word as the analyses keep it: a short as widened float, so that a short integer is in the
/// upper half.
inline Long known_word(Width width, u128 bits) noexcept {
  return width == Width::Long ? Long{bits} : widen_float(Short{static_cast<std::uint64_t>(bits)});
}

inline bool is_finite_word(Long word) noexcept { return ((word.bits >> 60) & 2047) != 2047; }

inline bool is_integer_op(const MachineOp& op) noexcept {
  return info(op.op).unit == Unit::Integer;
}

/// Degree of a product that is taken as finite: numbers up to 2^127, the range of floats, do not
/// overflow.
constexpr unsigned max_known_degree = 8;

/// The result of an operation on floats, or of one on short integers.
inline Long known_result(const MachineOp& op, Long a, Long b) {
  const OpInfo& row = info(op.op);
  if (is_integer_op(op)) {
    const IntResult r =
        row.compute_int(IntWord{upper_half(a).bits}, IntWord{upper_half(b).bits}, Width::Short);
    return widen_float(Short{static_cast<std::uint64_t>(r.value) & Short::mask});
  }
  Flags flags = no_flags;
  return row.compute_float(a, b, op.width, flags);
}

/// The flag of a result that sets a mask, other than a carry.
inline bool known_flag(const MachineOp& op, Long word) noexcept {
  const bool integer = is_integer_op(op);
  if (op.flag == MaskFlag::Zero) return integer ? upper_half(word).bits == 0 : is_zero(word);
  return integer ? (word.bits >> 71) != 0 : is_negative(word);
}

}  // namespace gdr::kc
