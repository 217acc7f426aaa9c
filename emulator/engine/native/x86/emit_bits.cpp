// Instructions for integers, shifts and joined masks.
#include <algorithm>

#include "emulator/engine/native/x86/segment_emitter.hpp"

namespace gdr::native {

using Xbyak::CodeGenerator;
using Xbyak::Opmask;
using Xbyak::Xmm;

namespace {

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

/// The larger and the smaller of integers: signed, unsigned.
const TwoOperands integer_larger[2] = {[](CodeGenerator& c, const Xmm& to, const Xmm& a,
                                          const Xbyak::Operand& b) { c.vpmaxsq(to, a, b); },
                                       [](CodeGenerator& c, const Xmm& to, const Xmm& a,
                                          const Xbyak::Operand& b) { c.vpmaxuq(to, a, b); }};
const TwoOperands integer_smaller[2] = {[](CodeGenerator& c, const Xmm& to, const Xmm& a,
                                           const Xbyak::Operand& b) { c.vpminsq(to, a, b); },
                                        [](CodeGenerator& c, const Xmm& to, const Xmm& a,
                                           const Xbyak::Operand& b) { c.vpminuq(to, a, b); }};

}  // namespace

/// To the nearest short, ties to even: just under half is added, and one more for an odd last bit.
void SegmentEmitter::emit_round(const MachineOp& op, unsigned copy) {
  const Xmm from = in_vector(value_of(op.in[0], copy));
  const Xmm to = define(op, copy, no_ref, true);
  const auto bits = [&](std::uint64_t value) { return constant(Kind::Bits, value); };
  a_.vpsrlq(to, from, short_shift);
  a_.vandpd(to, to, bits(1));
  a_.vpaddq(to, to, from);
  a_.vpaddq(to, to, bits((std::uint64_t{1} << (short_shift - 1)) - 1));
  a_.vandpd(to, to, bits(short_mask));
}

void SegmentEmitter::emit_shift(const MachineOp& op, unsigned copy) {
  const Xmm from = in_vector(value_of(op.in[0], copy));
  const bool arithmetic = op.op == NodeOp::ShiftArith;
  const bool left = op.op == NodeOp::ShiftLeft;
  if (g_.is_constant(op.in[1])) {
    const std::uint64_t most = arithmetic ? 63 : 64;
    const auto count = static_cast<std::uint8_t>(std::min(g_[op.in[1]].bits >> short_shift, most));
    const Xmm to = define(op, copy);
    if (!arithmetic || c_.wide()) {
      if (arithmetic) {
        a_.vpsraq(to, from, count);
      } else if (left) {
        a_.vpsllq(to, from, count);
      } else {
        a_.vpsrlq(to, from, count);
      }
      return;
    }
    // The sign comes down as a zero; taking the place where it is, and away again, spreads it.
    a_.vpsrlq(to, from, count);
    a_.vxorpd(to, to, constant(Kind::Bits, top_bit >> count));
    a_.vpsubq(to, to, constant(Kind::Bits, top_bit >> count));
    return;
  }
  if (arithmetic && !c_.wide()) throw Unsupported("an arithmetic shift by a variable count (AVX2)");
  const Xmm count = in_vector(value_of(op.in[1], copy));
  a_.vpsrlq(scratch(), count, short_shift);
  const Xmm to = define(op, copy);
  if (arithmetic) {
    a_.vpsravq(to, from, scratch());
  } else if (left) {
    a_.vpsllvq(to, from, scratch());
  } else {
    a_.vpsrlvq(to, from, scratch());
  }
}

void SegmentEmitter::emit_integer_extreme(const MachineOp& op, unsigned copy) {
  const Xmm a = in_vector(value_of(op.in[0], copy));
  const Xmm b = in_vector(value_of(op.in[1], copy));
  const bool is_signed = op.op == NodeOp::SignedMax || op.op == NodeOp::SignedMin;
  const bool max = op.op == NodeOp::SignedMax || op.op == NodeOp::UnsignedMax;
  if (c_.wide()) {
    (max ? integer_larger : integer_smaller)[is_signed ? 0 : 1](a_, define(op, copy), a, b);
    return;
  }
  const Xmm to = define(op, copy, no_ref, true);
  if (is_signed) {
    a_.vpcmpgtq(scratch(), a, b);
  } else {
    a_.vxorpd(to, a, constant(Kind::Bits, top_bit));
    a_.vxorpd(scratch(), b, constant(Kind::Bits, top_bit));
    a_.vpcmpgtq(scratch(), to, scratch());
  }
  a_.vblendvpd(to, max ? b : a, max ? a : b, scratch());
}

void SegmentEmitter::emit_both(const MachineOp& op, unsigned copy) {
  const bool turned_a = effective(op.in[0]);
  const bool turned_b = effective(op.in[1]);
  const Value va = value_of(op.in[0], copy);
  const Value vb = value_of(op.in[1], copy);
  if (c_.wide()) {
    const Opmask a = in_mask(va);
    const Opmask b = in_mask(vb);
    const Opmask to = define_mask(op, copy);
    if (turned_a && turned_b) {
      a_.korw(to, a, b);
      a_.knotw(to, to);
    } else if (turned_a) {
      a_.kandnw(to, a, b);
    } else if (turned_b) {
      a_.kandnw(to, b, a);
    } else {
      a_.kandw(to, a, b);
    }
    return;
  }
  const Xmm a = in_vector(va);
  const Xmm b = in_vector(vb);
  const Xmm to = define(op, copy);
  if (turned_a && turned_b) {
    a_.vorpd(to, a, b);
    a_.vxorpd(to, to, constant(Kind::Mask, ~std::uint64_t{0}));
  } else if (turned_a) {
    a_.vandnpd(to, a, b);
  } else if (turned_b) {
    a_.vandnpd(to, b, a);
  } else {
    a_.vandpd(to, a, b);
  }
}

}  // namespace gdr::native
