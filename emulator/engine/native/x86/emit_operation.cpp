// Instructions of the vector unit for each operation.
#include <array>

#include "emulator/engine/native/x86/segment_emitter.hpp"

namespace gdr::native {

using Xbyak::CodeGenerator;
using Xbyak::Opmask;
using Xbyak::Xmm;

namespace {

// An instruction as a function of its operands.
#define GDR_ONE(name) \
  [](CodeGenerator& c, const Xmm& to, const Xbyak::Operand& a) { c.name(to, a); }
#define GDR_TWO(name) \
  [](CodeGenerator& c, const Xmm& to, const Xmm& a, const Xbyak::Operand& b) { c.name(to, a, b); }

/// Instructions for doubles and floats.
struct Binary {
  NodeOp op;
  TwoOperands of_double, of_float;
  bool commutes = false;
};
const std::array binary{Binary{NodeOp::Add, GDR_TWO(vaddpd), GDR_TWO(vaddps), true},
                        Binary{NodeOp::Sub, GDR_TWO(vsubpd), GDR_TWO(vsubps)},
                        Binary{NodeOp::Mul, GDR_TWO(vmulpd), GDR_TWO(vmulps), true},
                        Binary{NodeOp::Divide, GDR_TWO(vdivpd), GDR_TWO(vdivps)},
                        Binary{NodeOp::And, GDR_TWO(vandpd), GDR_TWO(vandps), true},
                        Binary{NodeOp::Or, GDR_TWO(vorpd), GDR_TWO(vorps), true},
                        Binary{NodeOp::Xor, GDR_TWO(vxorpd), GDR_TWO(vxorps), true},
                        Binary{NodeOp::IntAdd, GDR_TWO(vpaddq), GDR_TWO(vpaddd), true},
                        Binary{NodeOp::IntSub, GDR_TWO(vpsubq), GDR_TWO(vpsubd)}};
/// `narrow` is the estimate for floats that AVX2 has.
struct Unary {
  NodeOp op;
  OneOperand of_double, of_float, narrow;
};
const std::array unary{
    Unary{NodeOp::Sqrt, GDR_ONE(vsqrtpd), GDR_ONE(vsqrtps), GDR_ONE(vsqrtps)},
    Unary{NodeOp::RsqrtEstimate, GDR_ONE(vrsqrt14pd), GDR_ONE(vrsqrt14ps), GDR_ONE(vrsqrtps)},
    Unary{NodeOp::RecipEstimate, GDR_ONE(vrcp14pd), GDR_ONE(vrcp14ps), GDR_ONE(vrcpps)}};

template <typename Row, std::size_t N>
const Row* find(const std::array<Row, N>& table, NodeOp op) {
  for (const Row& row : table) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

/// Fused multiply-adds by which operand the result replaces, sign (FmaSign), and precision.
enum FmaForm : unsigned { form_132, form_213, form_231 };
const TwoOperands fma_instructions[3][4][2] = {{{GDR_TWO(vfmadd132pd), GDR_TWO(vfmadd132ps)},
                                                {GDR_TWO(vfnmadd132pd), GDR_TWO(vfnmadd132ps)},
                                                {GDR_TWO(vfmsub132pd), GDR_TWO(vfmsub132ps)},
                                                {GDR_TWO(vfnmsub132pd), GDR_TWO(vfnmsub132ps)}},
                                               {{GDR_TWO(vfmadd213pd), GDR_TWO(vfmadd213ps)},
                                                {GDR_TWO(vfnmadd213pd), GDR_TWO(vfnmadd213ps)},
                                                {GDR_TWO(vfmsub213pd), GDR_TWO(vfmsub213ps)},
                                                {GDR_TWO(vfnmsub213pd), GDR_TWO(vfnmsub213ps)}},
                                               {{GDR_TWO(vfmadd231pd), GDR_TWO(vfmadd231ps)},
                                                {GDR_TWO(vfnmadd231pd), GDR_TWO(vfnmadd231ps)},
                                                {GDR_TWO(vfmsub231pd), GDR_TWO(vfmsub231ps)},
                                                {GDR_TWO(vfnmsub231pd), GDR_TWO(vfnmsub231ps)}}};

/// Single instructions for doubles (or 64 bits) and floats (or 32).
struct Choice {
  TwoOperands of_double, of_float;
};
const Choice masked_blend{GDR_TWO(vblendmpd), GDR_TWO(vblendmps)};
const Choice larger_number{GDR_TWO(vmaxpd), GDR_TWO(vmaxps)};
const Choice smaller_number{GDR_TWO(vminpd), GDR_TWO(vminps)};
const Choice integer_above{GDR_TWO(vpcmpgtq), GDR_TWO(vpcmpgtd)};
const Choice integer_equal{GDR_TWO(vpcmpeqq), GDR_TWO(vpcmpeqd)};
#undef GDR_ONE
#undef GDR_TWO

/// Predicates of vcmppd; the quiet ones, and complements that hold for NaN.
enum FloatPredicate : std::uint8_t {
  equal = 0x00,
  unordered = 0x03,
  not_equal = 0x04,
  less = 0x11,
  not_less = 0x15
};
/// Predicates of vpcmpq.
enum IntPredicate : std::uint8_t {
  int_equal = 0,
  int_less = 1,
  int_not_equal = 4,
  int_not_less = 5
};

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

}  // namespace

void SegmentEmitter::emit_operation(const MachineOp& op, unsigned copy) {
  for (const Ref r : {op.in[0], op.in[1], op.in[2], op.mask, op.otherwise}) {
    if (r == no_ref) continue;
    const Value v = value_of(r, copy);
    if (const int at = file(v).where(v); at != RegisterFile::none) file(v).pin(at, true);
  }
  use_operands(op, copy);
  switch (op.op) {
    case NodeOp::Fma:
      return emit_fma(op, copy);
    case NodeOp::Select:
      return emit_select(op, copy);
    case NodeOp::Max:
    case NodeOp::Min:
      return emit_extreme(op, copy);
    case NodeOp::Round:
      return emit_round(op, copy);
    case NodeOp::ShiftLeft:
    case NodeOp::ShiftRight:
    case NodeOp::ShiftArith:
      return emit_shift(op, copy);
    case NodeOp::SignedMax:
    case NodeOp::SignedMin:
    case NodeOp::UnsignedMax:
    case NodeOp::UnsignedMin:
      return emit_integer_extreme(op, copy);
    case NodeOp::Negative:
    case NodeOp::IsZero:
    case NodeOp::BitsNegative:
    case NodeOp::BitsEqual:
    case NodeOp::BitsAtLeast:
      return emit_compare(op, copy);
    case NodeOp::Both:
      return emit_both(op, copy);
    default:
      return emit_vector(op, copy);
  }
}

/// A register for the result: that of `reuse` if it dies here, else that of any operand that does
/// (but for `keep_operands`), else another.
Xmm SegmentEmitter::define(const MachineOp& op, unsigned copy, Ref reuse, bool keep_operands) {
  const Value result = value_of(ref_to(op.node), copy);
  const auto take = [&](Ref r) {
    if (r == no_ref || g_[r].kind == Kind::Mask) return false;
    const Value v = value_of(r, copy);
    const int at = vectors_.where(v);
    if (at == RegisterFile::none || !is_dead(v)) return false;
    vectors_.drop(v);
    vectors_.put(result, at);
    return true;
  };
  const int home = home_[result];
  const bool at_home = home != RegisterFile::none && vectors_.is_free(home);
  bool taken = take(reuse);
  if (!taken && !keep_operands && !at_home) {
    for (const Ref r : op.in) {
      taken = taken || take(r);
    }
  }
  const int r = taken ? vectors_.where(result) : allocate(result, home);
  vectors_.pin(r, true);
  return vector(r);
}

Opmask SegmentEmitter::define_mask(const MachineOp& op, unsigned copy) {
  return mask_register(allocate(value_of(ref_to(op.node), copy), RegisterFile::none));
}

/// A mask register that is set where the mask holds.
Opmask SegmentEmitter::mask_for(Ref r, unsigned copy) {
  const Opmask mask = in_mask(value_of(r, copy));
  if (!effective(r)) return mask;
  a_.knotw(scratch_mask(), mask);
  return scratch_mask();
}

void SegmentEmitter::emit_vector(const MachineOp& op, unsigned copy) {
  if (const Unary* one = find(unary, op.op)) {
    const VectorPlace from = in_place(value_of(op.in[0], copy));
    const OneOperand instruction =
        !c_.wide() && c_.floats() ? one->narrow : pick(one->of_double, one->of_float);
    instruction(a_, define(op, copy), from);
    return;
  }
  const Binary* two = find(binary, op.op);
  Value first = value_of(op.in[0], copy);
  Value second = value_of(op.in[1], copy);
  if (two->commutes && vectors_.where(first) == RegisterFile::none) std::swap(first, second);
  const Xmm a = in_vector(first);
  const VectorPlace b = in_place(second);
  const TwoOperands instruction = pick(two->of_double, two->of_float);
  if (op.mask == no_ref) {
    instruction(a_, define(op, copy), a, b);
    return;
  }
  if (op.otherwise == no_ref) {
    const Opmask mask = mask_for(op.mask, copy);
    instruction(a_, define(op, copy) | mask | a_.T_z, a, b);
    return;
  }
  // Lanes that do not count keep what the register holds.
  const VectorPlace kept = in_place(value_of(op.otherwise, copy));
  const Xmm to = define(op, copy, op.otherwise, true);
  if (!kept.is(to)) move(to, kept);
  instruction(a_, to | mask_for(op.mask, copy), a, b);
}

/// Any vector operand into a register.
void SegmentEmitter::move(const Xmm& to, const VectorPlace& from) {
  if (from.is_broadcast()) {
    broadcast(to, a_.ptr[from.address().getRegExp()]);
  } else {
    a_.vmovapd(to, from);
  }
}

void SegmentEmitter::emit_fma(const MachineOp& op, unsigned copy) {
  std::array<Value, 3> v{};
  for (std::size_t k = 0; k < 3; ++k) v[k] = value_of(op.in[k], copy);
  const auto in_register = [&](Value x) { return vectors_.where(x) != RegisterFile::none; };
  const auto dies = [&](Value x) { return in_register(x) && is_dead(x); };
  const auto emit = [&](FmaForm form, const Xmm& to, const Xmm& a, const VectorPlace& b) {
    Xmm masked = to;
    if (op.mask != no_ref) masked = to | mask_for(op.mask, copy);
    if (op.mask != no_ref && op.otherwise == no_ref) masked = masked | a_.T_z;
    fma_instructions[form][op.detail & 3][c_.floats() ? 1 : 0](a_, masked, a, b);
  };
  Ref first = op.in[0];
  Ref second = op.in[1];
  const bool merges = op.otherwise != no_ref;
  if (dies(v[2]) || merges) {
    if (!in_register(v[0])) std::swap(v[0], v[1]);
    const Xmm a = in_vector(v[0]);
    const VectorPlace b = in_place(v[1]);
    const VectorPlace c = in_place(v[2]);
    const Xmm to = define(op, copy, op.in[2], true);
    if (!c.is(to)) move(to, c);
    return emit(form_231, to, a, b);
  }
  if (!dies(v[0])) {
    std::swap(v[0], v[1]);
    std::swap(first, second);
  }
  if (dies(v[0])) {
    if (in_register(v[1]) || !in_register(v[2])) {
      const Xmm b = in_vector(v[1]);
      const VectorPlace c = in_place(v[2]);
      return emit(form_213, define(op, copy, first, true), b, c);
    }
    const VectorPlace b = in_place(v[1]);
    const Xmm c = in_vector(v[2]);
    return emit(form_132, define(op, copy, first, true), c, b);
  }
  // Nothing dies: the result begins as a copy, of what has to be loaded anyway if possible.
  if (in_register(v[2]) && !in_register(v[0])) std::swap(v[0], v[1]);
  if (in_register(v[2]) && !in_register(v[1])) {
    const Xmm a = in_vector(v[0]);
    const VectorPlace b = in_place(v[1]);
    const VectorPlace c = in_place(v[2]);
    const Xmm to = define(op, copy, no_ref, true);
    move(to, b);
    return emit(form_213, to, a, c);
  }
  if (!in_register(v[0])) std::swap(v[0], v[1]);
  const Xmm a = in_vector(v[0]);
  const VectorPlace b = in_place(v[1]);
  const VectorPlace c = in_place(v[2]);
  const Xmm to = define(op, copy, no_ref, true);
  move(to, c);
  emit(form_231, to, a, b);
}

void SegmentEmitter::emit_select(const MachineOp& op, unsigned copy) {
  Ref yes = op.in[1];
  Ref no = op.in[2];
  if (effective(op.in[0])) std::swap(yes, no);
  if (c_.wide()) {
    const Opmask mask = in_mask(value_of(op.in[0], copy));
    const Xmm n = in_vector(value_of(no, copy));
    const VectorPlace y = in_place(value_of(yes, copy));
    const Xmm to = define(op, copy);
    pick(masked_blend.of_double, masked_blend.of_float)(a_, to | mask, n, y);
    return;
  }
  const Xmm mask = in_vector(value_of(op.in[0], copy));
  const auto is_zero = [&](Ref r) { return g_.is_constant(r) && g_[r].bits == 0; };
  if (is_zero(no) || is_zero(yes)) {
    const VectorPlace other = in_place(value_of(is_zero(no) ? yes : no, copy));
    const Xmm to = define(op, copy);
    if (is_zero(no)) {
      a_.vandpd(to, mask, other);
    } else {
      a_.vandnpd(to, mask, other);
    }
    return;
  }
  const Xmm n = in_vector(value_of(no, copy));
  const VectorPlace y = in_place(value_of(yes, copy));
  blend(define(op, copy), n, y, mask);
}

/// The host gives the second operand where one is NaN; a NaN in the first must come through, too.
void SegmentEmitter::emit_extreme(const MachineOp& op, unsigned copy) {
  const Xmm a = in_vector(value_of(op.in[0], copy));
  const VectorPlace b = in_place(value_of(op.in[1], copy));
  const bool constant_first = g_.is_constant(op.in[0]);
  const Xmm to = define(op, copy, no_ref, !constant_first);
  const Choice& choice = op.op == NodeOp::Max ? larger_number : smaller_number;
  pick(choice.of_double, choice.of_float)(a_, to, a, b);
  if (constant_first) return;
  if (c_.wide()) {
    compare_numbers(scratch_mask(), a, a, unordered);
    if (c_.floats()) {
      a_.vmovaps(to | scratch_mask(), a);
    } else {
      a_.vmovapd(to | scratch_mask(), a);
    }
    return;
  }
  compare_numbers(scratch(), a, a, unordered);
  blend(to, to, a, scratch());
}

void SegmentEmitter::emit_compare(const MachineOp& op, unsigned copy) {
  if (c_.wide()) {
    emit_compare_wide(op, copy);
  } else {
    emit_compare_narrow(op, copy);
  }
}

void SegmentEmitter::emit_compare_wide(const MachineOp& op, unsigned copy) {
  const Xmm a = in_vector(value_of(op.in[0], copy));
  const bool of_numbers = op.op == NodeOp::Negative || op.op == NodeOp::IsZero;
  const VectorPlace b = op.in[1] == no_ref
                            ? VectorPlace(constant(of_numbers ? Kind::Number : Kind::Bits, 0))
                            : in_place(value_of(op.in[1], copy));
  const Opmask mask = op.mask == no_ref ? Opmask(0) : mask_for(op.mask, copy);
  const Opmask to = define_mask(op, copy) | mask;
  switch (op.op) {
    case NodeOp::Negative:
      return compare_numbers(to, a, b, op.inverted ? not_less : less);
    case NodeOp::IsZero:
      return compare_numbers(to, a, b, op.inverted ? not_equal : equal);
    case NodeOp::BitsNegative:
      return compare_integers(to, a, b, op.inverted ? int_not_less : int_less, true);
    case NodeOp::BitsEqual:
      return compare_integers(to, a, b, op.inverted ? int_not_equal : int_equal, true);
    default:
      return compare_integers(to, a, b, op.inverted ? int_less : int_not_less, false);
  }
}

template <typename To>
void SegmentEmitter::compare_numbers(const To& to, const Xmm& a, const Xbyak::Operand& b,
                                     std::uint8_t predicate) {
  if (c_.floats()) {
    a_.vcmpps(to, a, b, predicate);
  } else {
    a_.vcmppd(to, a, b, predicate);
  }
}

void SegmentEmitter::compare_integers(const Opmask& to, const Xmm& a, const Xbyak::Operand& b,
                                      std::uint8_t predicate, bool with_sign) {
  if (c_.floats() && with_sign) {
    a_.vpcmpd(to, a, b, predicate);
  } else if (c_.floats()) {
    a_.vpcmpud(to, a, b, predicate);
  } else if (with_sign) {
    a_.vpcmpq(to, a, b, predicate);
  } else {
    a_.vpcmpuq(to, a, b, predicate);
  }
}

void SegmentEmitter::blend(const Xmm& to, const Xmm& no, const Xbyak::Operand& yes,
                           const Xmm& mask) {
  if (c_.floats()) {
    a_.vblendvps(to, no, yes, mask);
  } else {
    a_.vblendvpd(to, no, yes, mask);
  }
}

void SegmentEmitter::emit_compare_narrow(const MachineOp& op, unsigned copy) {
  const Xmm a = in_vector(value_of(op.in[0], copy));
  const auto complement_of = [&](const Xmm& to, bool wanted) {
    if (wanted) a_.vxorpd(to, to, constant(Kind::Mask, ~std::uint64_t{0}));
  };
  switch (op.op) {
    case NodeOp::Negative:
    case NodeOp::IsZero: {
      const std::uint8_t negative = op.inverted ? not_less : less;
      const std::uint8_t zero = op.inverted ? not_equal : equal;
      return compare_numbers(define(op, copy), a, constant(Kind::Number, 0),
                             op.op == NodeOp::Negative ? negative : zero);
    }
    case NodeOp::BitsNegative: {
      a_.vpxor(scratch(), scratch(), scratch());
      const Xmm to = define(op, copy);
      pick(integer_above.of_double, integer_above.of_float)(a_, to, scratch(), a);
      return complement_of(to, op.inverted);
    }
    case NodeOp::BitsEqual: {
      const VectorPlace b = in_place(value_of(op.in[1], copy));
      const Xmm to = define(op, copy);
      pick(integer_equal.of_double, integer_equal.of_float)(a_, to, a, b);
      return complement_of(to, op.inverted);
    }
    default:
      break;
  }
  // a >= b where b is not above a, once the top bits are turned.
  const Xmm b = in_vector(value_of(op.in[1], copy));
  const Xmm to = define(op, copy, no_ref, true);
  a_.vxorpd(to, b, constant(Kind::Bits, top_bit));
  a_.vxorpd(scratch(), a, constant(Kind::Bits, top_bit));
  pick(integer_above.of_double, integer_above.of_float)(a_, to, to, scratch());
  complement_of(to, !op.inverted);
}

}  // namespace gdr::native
