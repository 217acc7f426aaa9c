#include "emulator/engine/jit/x86/emit.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/jit/x86/operands.hpp"

namespace gdr::jit {
namespace {

using Xbyak::CodeGenerator;
using Xbyak::Operand;
using Xbyak::Xmm;

using TwoOperands = void (*)(CodeGenerator&, const Xmm& to, const Operand& a);
using ThreeOperands = void (*)(CodeGenerator&, const Xmm& to, const Xmm& a, const Operand& b);

#define GDR_ONE(name) [](CodeGenerator& c, const Xmm& to, const Operand& a) { c.name(to, a); }
#define GDR_TWO(name) \
  [](CodeGenerator& c, const Xmm& to, const Xmm& a, const Operand& b) { c.name(to, a, b); }

/// Instructions for doubles (or 64 bits) and floats (or 32).
struct Binary {
  ThreeOperands of_doubles, of_floats;
};
/// AVX2 has other estimates, for floats only.
struct Unary {
  TwoOperands of_doubles, of_floats, of_floats_avx2;
};

constexpr std::pair<Op, Unary> unary[] = {
    {Op::Sqrt, {GDR_ONE(vsqrtpd), GDR_ONE(vsqrtps), GDR_ONE(vsqrtps)}},
    {Op::RsqrtEstimate, {GDR_ONE(vrsqrt14pd), GDR_ONE(vrsqrt14ps), GDR_ONE(vrsqrtps)}},
    {Op::RecipEstimate, {GDR_ONE(vrcp14pd), GDR_ONE(vrcp14ps), GDR_ONE(vrcpps)}},
    {Op::IntToDouble, {GDR_ONE(vcvtqq2pd), nullptr, nullptr}},
    {Op::DoubleToInt, {GDR_ONE(vcvttpd2qq), nullptr, nullptr}},
    {Op::IntToFloat, {nullptr, GDR_ONE(vcvtdq2ps), GDR_ONE(vcvtdq2ps)}},
    {Op::FloatToInt, {nullptr, GDR_ONE(vcvttps2dq), GDR_ONE(vcvttps2dq)}}};

constexpr std::pair<Op, Binary> binary[] = {{Op::Add, {GDR_TWO(vaddpd), GDR_TWO(vaddps)}},
                                            {Op::Sub, {GDR_TWO(vsubpd), GDR_TWO(vsubps)}},
                                            {Op::Mul, {GDR_TWO(vmulpd), GDR_TWO(vmulps)}},
                                            {Op::Divide, {GDR_TWO(vdivpd), GDR_TWO(vdivps)}},
                                            {Op::Max, {GDR_TWO(vmaxpd), GDR_TWO(vmaxps)}},
                                            {Op::Min, {GDR_TWO(vminpd), GDR_TWO(vminps)}},
                                            {Op::Scale, {GDR_TWO(vscalefpd), GDR_TWO(vscalefps)}},
                                            {Op::And, {GDR_TWO(vandpd), GDR_TWO(vandps)}},
                                            {Op::AndNot, {GDR_TWO(vandnpd), GDR_TWO(vandnps)}},
                                            {Op::Or, {GDR_TWO(vorpd), GDR_TWO(vorps)}},
                                            {Op::Xor, {GDR_TWO(vxorpd), GDR_TWO(vxorps)}},
                                            {Op::IntAdd, {GDR_TWO(vpaddq), GDR_TWO(vpaddd)}},
                                            {Op::IntSub, {GDR_TWO(vpsubq), GDR_TWO(vpsubd)}},
                                            {Op::ShiftLeftBy, {GDR_TWO(vpsllvq), nullptr}},
                                            {Op::ShiftRightBy, {GDR_TWO(vpsrlvq), nullptr}},
                                            {Op::ShiftArithBy, {GDR_TWO(vpsravq), nullptr}},
                                            {Op::SignedMax, {GDR_TWO(vpmaxsq), GDR_TWO(vpmaxsd)}},
                                            {Op::SignedMin, {GDR_TWO(vpminsq), GDR_TWO(vpminsd)}},
                                            {Op::UnsignedMax, {GDR_TWO(vpmaxuq), nullptr}},
                                            {Op::UnsignedMin, {GDR_TWO(vpminuq), nullptr}}};

/// By form (FmaForm), sign (FmaSign) and type.
constexpr Binary multiply_adds[3][4] = {{{GDR_TWO(vfmadd132pd), GDR_TWO(vfmadd132ps)},
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
#undef GDR_ONE
#undef GDR_TWO

/// The entry of an operation in a table that has one.
template <typename Table>
const auto& entry(const Table& table, Op op) {
  return std::ranges::find(table, op, [](const auto& row) { return row.first; })->second;
}

class Emitter : Operands {
 public:
  explicit Emitter(const EmitContext& context)
      : Operands(context.generator, context.target, context.bases),
        c_(context),
        a_(context.generator) {}

  void instruction(const Instruction& i) {
    switch (i.op) {
      case Op::Load:
        return load(i);
      case Op::Store:
        return store(i);
      case Op::Fma:
        return multiply_add(i);
      case Op::Select:
        return select(i);
      case Op::Compare:
      case Op::CompareSigned:
      case Op::CompareUnsigned:
      case Op::TestBits:
        return compare(i);
      case Op::MaskToLanes:
      case Op::LanesToMask:
      case Op::MaskAnd:
      case Op::MaskAndNot:
      case Op::MaskOr:
      case Op::MaskNot:
      case Op::NotFinite:
      case Op::Collect:
        return masks(i);
      case Op::Append:
        return c_.appends->test(i);
      case Op::Leave:
        test_any_lane(a_, c_.target, static_cast<int>(i.a.number));
        return a_.jnz(*c_.leave, Xbyak::CodeGenerator::T_NEAR);
      case Op::Truncate:
        return truncate(i);
      case Op::Gather:
        return gather(i);
      case Op::ShiftLeft:
      case Op::ShiftRight:
      case Op::ShiftArith:
        return shift(i);
      case Op::Ternary:
        // The type matters for a broadcast.
        if (c_.target.floats)
          return a_.vpternlogd(vector(i.to), vector(i.b), operand(i.c), i.detail);
        return a_.vpternlogq(vector(i.to), vector(i.b), operand(i.c), i.detail);
      case Op::LargerMagnitude:
        return a_.vrangepd(zmm(i.to), zmm(i.a), operand(i.b), 7);
      default:
        return plain(i);
    }
  }

 private:
  ThreeOperands of_type(const Binary& b) const {
    return c_.target.floats ? b.of_floats : b.of_doubles;
  }
  TwoOperands of_type(const Unary& u) const {
    if (!c_.target.floats) return u.of_doubles;
    return c_.target.mask_registers ? u.of_floats : u.of_floats_avx2;
  }

  void load(const Instruction& i) {
    if (i.to.kind == Location::Kind::Mask) {
      if (i.a.kind == Location::Kind::Mask) return a_.kmovw(mask(i.to), mask(i.a));
      return a_.kmovw(mask(i.to), address(i.a.place));
    }
    if (i.a.kind != Location::Kind::Memory || !i.a.place.broadcast) {
      return a_.vmovapd(vector(i.to), operand(i.a));
    }
    // Xbyak derives the vector length from the type of the register.
    const Xbyak::Address from = address({i.a.place.base, false, i.a.place.offset});
    const Xbyak::Ymm to =
        c_.target.mask_registers ? Xbyak::Ymm(zmm(i.to)) : Xbyak::Ymm(i.to.number);
    return c_.target.floats ? a_.vbroadcastss(to, from) : a_.vbroadcastsd(to, from);
  }

  void store(const Instruction& i) {
    if (i.a.kind == Location::Kind::Mask) {
      a_.kmovw(address(i.to.place), mask(i.a));
    } else {
      a_.vmovapd(address(i.to.place), vector(i.a));
    }
  }

  void plain(const Instruction& i) {
    if (i.b.kind == Location::Kind::None) {
      of_type(entry(unary, i.op))(a_, vector(i.to), operand(i.a));
    } else if (i.rounding != Rounding::Current) {
      of_type(entry(binary, i.op))(a_, vector(i.to), vector(i.a), rounded(vector(i.b), i.rounding));
    } else {
      of_type(entry(binary, i.op))(a_, under_mask(i), vector(i.a), operand(i.b));
    }
  }

  void multiply_add(const Instruction& i) {
    if (i.rounding != Rounding::Current) return multiply_add_rounded(i);
    of_type(multiply_adds[static_cast<int>(i.form)][i.detail & 3])(a_, under_mask(i), vector(i.a),
                                                                   operand(i.b));
  }

  /// Encoded by hand: Xbyak lacks the forms with static rounding.
  void multiply_add_rounded(const Instruction& i) {
    const unsigned to = i.to.number, x = i.a.number, y = i.b.number;
    const auto bit = [](unsigned number, unsigned n) { return ~number >> n & 1U; };
    const unsigned mode = static_cast<unsigned>(i.rounding) - 1;  // hardware encoding
    constexpr std::uint8_t by_form[] = {0x98, 0xa8, 0xb8};
    constexpr std::uint8_t by_sign[] = {0, 4, 2, 6};
    const auto byte = [this](unsigned b) { a_.db(static_cast<int>(b)); };
    byte(0x62);
    byte(bit(to, 3) << 7 | bit(y, 4) << 6 | bit(y, 3) << 5 | bit(to, 4) << 4 | 2);
    byte(0x85U | (~x & 15U) << 3);
    byte(mode << 5 | 0x10U | bit(x, 4) << 3);
    byte(static_cast<unsigned>(by_form[static_cast<int>(i.form)] + by_sign[i.detail & 3]));
    byte(0xc0U | (to & 7) << 3 | (y & 7));
  }

  void select(const Instruction& i) {
    const Xmm to = vector(i.to), no = vector(i.c);
    const AnyOperand yes = operand(i.b);
    if (c_.target.mask_registers) {
      const Xmm masked = to | mask(i.a);
      return c_.target.floats ? a_.vblendmps(masked, no, yes) : a_.vblendmpd(masked, no, yes);
    }
    const Xmm lanes = vector(i.a);
    return c_.target.floats ? a_.vblendvps(to, no, yes, lanes) : a_.vblendvpd(to, no, yes, lanes);
  }

  void compare(const Instruction& i) {
    const Xmm a = vector(i.a);
    const AnyOperand b = operand(i.b);
    if (!c_.target.mask_registers) return compare_to_vector(i, a, b);
    Xbyak::Opmask to = mask(i.to);
    if (i.mask >= 0) to = to | Xbyak::Opmask(i.mask);
    const bool floats = c_.target.floats;
    switch (i.op) {
      case Op::Compare:
        return floats ? a_.vcmpps(to, a, b, i.detail) : a_.vcmppd(to, a, b, i.detail);
      case Op::CompareSigned:
        return floats ? a_.vpcmpd(to, a, b, i.detail) : a_.vpcmpq(to, a, b, i.detail);
      case Op::CompareUnsigned:
        return floats ? a_.vpcmpud(to, a, b, i.detail) : a_.vpcmpuq(to, a, b, i.detail);
      default:
        return a_.vptestmq(to, a, b);
    }
  }

  void compare_to_vector(const Instruction& i, const Xmm& a, const Operand& b) {
    const Xmm to = vector(i.to);
    const bool floats = c_.target.floats;
    if (i.op == Op::Compare) {
      return floats ? a_.vcmpps(to, a, b, i.detail) : a_.vcmppd(to, a, b, i.detail);
    }
    if (static_cast<IntPredicate>(i.detail) == IntPredicate::Equal) {
      return floats ? a_.vpcmpeqd(to, a, b) : a_.vpcmpeqq(to, a, b);
    }
    return floats ? a_.vpcmpgtd(to, a, b) : a_.vpcmpgtq(to, a, b);
  }

  void masks(const Instruction& i) {
    switch (i.op) {
      case Op::MaskToLanes:
        return c_.target.floats ? a_.vpmovm2d(vector(i.to), mask(i.a))
                                : a_.vpmovm2q(vector(i.to), mask(i.a));
      case Op::LanesToMask:
        return c_.target.floats ? a_.vpmovd2m(mask(i.to), vector(i.a))
                                : a_.vpmovq2m(mask(i.to), vector(i.a));
      case Op::MaskAnd:
        return a_.kandw(mask(i.to), mask(i.a), mask(i.b));
      case Op::MaskAndNot:
        return a_.kandnw(mask(i.to), mask(i.a), mask(i.b));
      case Op::MaskOr:
        return a_.korw(mask(i.to), mask(i.a), mask(i.b));
      case Op::MaskNot:
        return a_.knotw(mask(i.to), mask(i.a));
      case Op::NotFinite:  // quiet NaN, both infinities, signalling NaN
        return a_.vfpclasspd(mask(i.to), vector(i.a), 0x99);
      default: {
        const int number = c_.collected[i.detail];
        if (!c_.target.mask_registers) {
          const Xbyak::Ymm set(number);
          return a_.vorpd(set, set, vector(i.a));
        }
        const Xbyak::Opmask set(number);
        return a_.korw(set, set, mask(i.a));
      }
    }
  }

  /// Without a flag for the lost digits.
  void truncate(const Instruction& i) {
    constexpr std::uint8_t codes[] = {0x0b, 0x08, 0x09};
    const std::uint8_t towards = codes[i.detail];
    const AnyOperand from = operand(i.a);
    const Xmm to = vector(i.to);
    const bool floats = c_.target.floats;
    if (c_.target.mask_registers)
      return floats ? a_.vrndscaleps(to, from, towards) : a_.vrndscalepd(to, from, towards);
    return floats ? a_.vroundps(to, from, towards) : a_.vroundpd(to, from, towards);
  }

  /// The instruction clears its mask, and keeps lanes that the mask excludes: the result begins as
  /// zero, so that it does not wait for the register's previous value.
  void gather(const Instruction& i) {
    const Xmm to = vector(i.to);
    const auto offset = static_cast<std::size_t>(std::int64_t{i.b.place.offset});
    const Xbyak::RegExp base = Xbyak::RegExp(c_.bases[i.b.place.base]) + offset;
    a_.vxorps(Xbyak::Xmm(i.to.number), Xbyak::Xmm(i.to.number), Xbyak::Xmm(i.to.number));
    const bool floats = c_.target.floats;
    const int lane = static_cast<int>(c_.target.lane_bytes());
    if (c_.target.mask_registers) {
      const Xbyak::Opmask all(c_.gather_mask);
      a_.kxnorw(all, all, all);
      const auto from = a_.ptr[base + Xbyak::Zmm(i.a.number) * lane];
      return floats ? a_.vgatherdps(to | all, from) : a_.vgatherqpd(to | all, from);
    }
    const Xbyak::Ymm all(c_.gather_mask);
    a_.vpcmpeqd(all, all, all);
    const auto from = a_.ptr[base + Xbyak::Ymm(i.a.number) * lane];
    return floats ? a_.vgatherdps(to, from, all) : a_.vgatherqpd(to, from, all);
  }

  void shift(const Instruction& i) {
    const AnyOperand from = operand(i.a);
    if (i.op == Op::ShiftLeft && c_.target.floats) return a_.vpslld(vector(i.to), from, i.detail);
    if (i.op == Op::ShiftLeft) return a_.vpsllq(vector(i.to), from, i.detail);
    if (i.op == Op::ShiftRight) return a_.vpsrlq(vector(i.to), from, i.detail);
    a_.vpsraq(vector(i.to), from, i.detail);
  }

  const EmitContext& c_;
  CodeGenerator& a_;
};

}  // namespace

void emit(const EmitContext& context, std::span<const Instruction> code) {
  Emitter emitter(context);
  for (const Instruction& i : code) emitter.instruction(i);
}

void embed(CodeGenerator& generator, Xbyak::Label& label, std::span<const std::uint8_t> bytes) {
  generator.align(64);
  generator.L(label);
  generator.db(bytes.data(), bytes.size());
}

}  // namespace gdr::jit
