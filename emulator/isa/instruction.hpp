// One decoded instruction: at most one operation for each of the three issue slots.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "emulator/isa/operand.hpp"

namespace gdr {

/// Every operation of the machine, in the order of the instruction table. Values are opcodes.
enum class Op : std::uint8_t {
  None = 0,
  // multiplier
  Fmul,
  Dmul,
  // adder
  Fadd,
  Fsub,
  Fmax,
  Fmin,
  Fcvt,
  // integer unit, which shares the adder's slot
  Iadd,
  Isub,
  Iand,
  Ior,
  Ixor,
  Inot,
  Ishl,
  Ishr,
  Iasr,
  Imax,
  Imin,
  Umax,
  Umin,
  Ipass,
  Upass,
  // broadcast memory transfers
  Bget,
  Bput,
};

/// Which flag of an adder or integer result a mask is set from.
enum class MaskFlag : std::uint8_t { None = 0, Negative = 1, Zero = 2, Carry = 3 };

/// Names by MaskFlag.
constexpr std::array<std::string_view, 4> mask_flag_names{"", "neg", "zero", "carry"};

/// `mask.flag` as a destination: mask register `mask`, element by element.
struct MaskTarget {
  MaskFlag flag = MaskFlag::None;
  std::uint8_t mask = 0;
  friend constexpr bool operator==(MaskTarget, MaskTarget) = default;
};

/// The second destination that an operation may have beside a location: T, whole or one half. Its
/// width is that of the operation.
enum class TTarget : std::uint8_t { None = 0, Whole = 1, Upper = 2, Lower = 3 };

/// An operation of the multiplier, or of the adder and integer unit.
struct Arithmetic {
  Op op = Op::None;
  Width width = Width::Long;  ///< width of the result, also if only a mask is written
  Operand dst;                ///< Register, Local, LocalByT, T or None
  TTarget t = TTarget::None;  ///< never set together with a dst in T
  MaskTarget mask;            ///< adder slot only
  Operand a, b;               ///< b unused by operations of one operand
  Long immediate;             ///< value of Immediate operands (short: low 36 bits)

  friend bool operator==(const Arithmetic&, const Arithmetic&) = default;
  bool used() const noexcept { return op != Op::None; }
};

/// A transfer between the broadcast memory and the PEs.
struct Transfer {
  Op op = Op::None;             ///< Bget (BM to all PEs of the block) or Bput (one PE to BM)
  Operand pe;                   ///< the PE's side: Register, Local, LocalByT or T
  Operand bm;                   ///< the memory's side: Bm, BmSource or BmOutput, same width
  std::uint16_t pe_number = 0;  ///< Bput: which PE of the block

  friend bool operator==(const Transfer&, const Transfer&) = default;
  bool used() const noexcept { return op != Op::None; }
};

/// Instruction predicate: write only where the mask's bit equals `value`.
struct Predicate {
  bool used = false;
  bool value = true;
  std::uint8_t mask = 0;
  friend constexpr bool operator==(Predicate, Predicate) = default;
};

/// Operations that issue together. An instruction with no operation at all idles for `vlen` clocks.
struct Instruction {
  std::uint8_t vlen = 4;  ///< elements, 1 to 4
  Predicate predicate;
  Arithmetic mul;  ///< multiplier slot
  Arithmetic alu;  ///< adder and integer slot
  Transfer move;   ///< broadcast memory slot

  friend bool operator==(const Instruction&, const Instruction&) = default;

  bool idle() const noexcept { return !mul.used() && !alu.used() && !move.used(); }
  /// Clocks between the issues of two elements: 2 with a dmul, else 1.
  unsigned stride() const noexcept { return mul.op == Op::Dmul ? 2 : 1; }
  unsigned clocks() const noexcept { return vlen * stride(); }
};

}  // namespace gdr
