// Symbolic vectors: each instruction appends itself to a trace.
#pragma once

#include "emulator/engine/lanes/doubles/batch.hpp"
#include "emulator/engine/lanes/doubles/flag_steps.hpp"
#include "emulator/engine/lanes/doubles/tested_steps.hpp"
#include "emulator/engine/vector/doubles/codegen/device_steps.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// Receives the instructions while `trace` runs; one per thread.
class Tracer {
 public:
  virtual StepId load(const double* lanes) = 0;
  virtual void store(const double* lanes, StepId value) = 0;
  virtual StepId broadcast(const std::uint64_t* word) = 0;
  virtual StepId step(const Step& s) = 0;
  virtual Level level(StepId n) const = 0;
  /// Whether a value is known to be finite or already tested; marks it as tested.
  virtual bool is_checked(StepId n) = 0;

  static Tracer& current() noexcept { return *open; }

 protected:
  ~Tracer() = default;
  static thread_local Tracer* open;
};

/// Symbolic values: vectors, and masks of AVX-512.
struct TracedVector {
  StepId id = no_step;
};
struct TracedMask {
  StepId id = no_step;
};

inline StepId emit(jit::Op op, int detail, jit::Rounding rounding, StepId a, StepId b = no_step,
                   StepId c = no_step) {
  Step s;
  s.kind = Step::Kind::Operation;
  s.op = op;
  s.detail = static_cast<std::uint8_t>(detail);
  s.rounding = rounding;
  s.in = {a, b, c};
  return Tracer::current().step(s);
}

/// An instruction: emits a step on its operands.
template <jit::Op Code, auto Detail = 0, class Result = TracedVector>
struct Emit {
  Result operator()(const auto&... x) const {
    return {emit(Code, static_cast<int>(Detail), jit::Rounding::Current, x.id...)};
  }
};
/// The same with static rounding.
template <jit::Op Code, auto Detail = 0>
struct EmitRounded {
  TracedVector operator()(jit::Rounding mode, const auto&... x) const {
    return {emit(Code, static_cast<int>(Detail), mode, x.id...)};
  }
};

/// Instructions that all instruction sets have.
struct TracedLanes {
  static constexpr std::size_t width = 32;
  static constexpr bool holds_lanes = false;
  using D = TracedVector;
  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;
  static void leave() {}

  static D load(const double* p) { return {Tracer::current().load(p)}; }
  static void store(double* p, const D& x) { Tracer::current().store(p, x.id); }
  static D broadcast(const std::uint64_t* word) { return {Tracer::current().broadcast(word)}; }
  static D set_bits(std::uint64_t x);
  static D set(double x);
  static bool is_checked(const D& a) { return Tracer::current().is_checked(a.id); }
  /// Emits a test that is evaluated when the code runs.
  template <std::uint64_t Failure>
  static unsigned any(const auto& lanes) {
    for (int bit = 0; bit < 2; ++bit) {
      if ((Failure >> bit & 1) != 0) emit(jit::Op::Collect, bit, jit::Rounding::Current, lanes.id);
    }
    return 0;
  }

  using Op = jit::Op;
  static constexpr Emit<Op::Add> add{};
  static constexpr Emit<Op::Sub> sub{};
  static constexpr Emit<Op::Mul> mul{};
  static constexpr Emit<Op::Fma> fma{};
  static constexpr Emit<Op::Fma, jit::negate_addend> fms{};
  static constexpr Emit<Op::Fma, jit::negate_product> fnma{};
  static constexpr Emit<Op::And> and_{};
  static constexpr Emit<Op::Or> or_{};
  static constexpr Emit<Op::Xor> xor_{};
  static constexpr Emit<Op::IntAdd> bits_add{};
  static constexpr Emit<Op::IntSub> bits_sub{};
  template <int N>
  static constexpr Emit<Op::ShiftLeft, N> shl{};
  template <int N>
  static constexpr Emit<Op::ShiftRight, N> shr{};
  static constexpr Emit<Op::ShiftLeftBy> shlv{};
  static constexpr Emit<Op::ShiftRightBy> shrv{};
  static constexpr Emit<Op::Select> select{};
};

/// The instructions of FlagSteps.
struct TracedAvx512 : TracedLanes {
  using M = TracedMask;
  static constexpr auto nearest = jit::Rounding::Nearest, down = jit::Rounding::Down,
                        up = jit::Rounding::Up, truncate = jit::Rounding::Truncate;

  /// Whether steps on a are executed less often than steps on b.
  static bool less_frequent(const D& a, const D& b) {
    return Tracer::current().level(a.id) < Tracer::current().level(b.id);
  }

  static constexpr EmitRounded<Op::Add> add_round{};
  static constexpr EmitRounded<Op::Sub> sub_round{};
  static constexpr EmitRounded<Op::Mul> mul_round{};
  static constexpr EmitRounded<Op::Fma> fma_round{};
  static constexpr EmitRounded<Op::Fma, jit::negate_addend> fms_round{};
  static constexpr EmitRounded<Op::Fma, jit::negate_product> fnma_round{};
  template <int Table>
  static constexpr Emit<Op::Ternary, Table> logic_of{};
  static constexpr Emit<Op::LargerMagnitude> larger{};
  static D set_last(const M& m, const D& x) { return or_(x, set_bits(1), m); }
  static constexpr Emit<Op::MaskToLanes> ones{};

  static constexpr Emit<Op::Compare, jit::Predicate::NotEqual, M> differ{};
  static constexpr Emit<Op::Compare, jit::Predicate::Less, M> less{};
  static constexpr Emit<Op::Compare, jit::Predicate::Equal, M> equal{};
  static constexpr Emit<Op::Compare, jit::Predicate::Unordered, M> unordered{};
  static constexpr Emit<Op::CompareSigned, jit::IntPredicate::Equal, M> bits_equal{};
  static constexpr Emit<Op::CompareSigned, jit::IntPredicate::Less, M> bits_less{};
  static constexpr Emit<Op::NotFinite, 0, M> beyond{};
  static constexpr Emit<Op::MaskAnd, 0, M> both{};
  static constexpr Emit<Op::MaskOr, 0, M> either{};
  static constexpr Emit<Op::MaskNot, 0, M> not_{};
  static M mask(const D& lanes) { return Emit<Op::TestBits, 0, M>{}(lanes, lanes); }
  static constexpr Emit<Op::IntToDouble> to_double{};
  static constexpr Emit<Op::DoubleToInt> to_integer{};
};

/// The instructions of TestedSteps, for AVX2 and NEON. Masks are lanes of ones and zeros.
struct TracedTests : TracedLanes {
  using M = D;
  static D and_not(const D& a, const D& b) { return Emit<Op::AndNot>{}(b, a); }
  static constexpr Emit<Op::Compare, jit::Predicate::NotEqual> differ{};
  static constexpr Emit<Op::Compare, jit::Predicate::Less> less{};
  static constexpr Emit<Op::Compare, jit::Predicate::Equal> equal{};
  static constexpr Emit<Op::Compare, jit::Predicate::Unordered> unordered{};
  static constexpr Emit<Op::CompareSigned, jit::IntPredicate::Equal> bits_equal{};
  static D bits_less(const D& a, const D& b) {
    return Emit<Op::CompareSigned, jit::IntPredicate::Greater>{}(b, a);
  }
  static M beyond(const D& a) {
    return Emit<Op::Compare, jit::Predicate::NotLess>{}(and_(a, set_bits(~sign)),
                                                        set_bits(exponent));
  }
  static D mask(const D& lanes) { return lanes; }
  static D ones(const D& m) { return m; }
  static D not_(const D& m) { return xor_(m, set_bits(~std::uint64_t{0})); }
  static constexpr auto both = and_;
  static constexpr auto either = or_;
  static D to_double(const D& a) { return sub(or_(a, set(0x1p52)), set(0x1p52)); }
  static D to_integer(const D& a) { return xor_(add(a, set(0x1p52)), set(0x1p52)); }
  static bool any_bit_set(const D& x) { return any<inexact>(x) != 0; }
};

/// The instructions of DeviceSteps.
struct TracedDevice : TracedTests {
  static D rounded_sum(const D& a, const D& b) { return whole(Step::Kind::RoundedSum, a, b); }
  static D long_head(const D& h, const D& l, const D& b) {
    return whole(Step::Kind::LongHead, h, l, b);
  }
  static D long_tail(const D& h, const D& l, const D& b) {
    return whole(Step::Kind::LongTail, h, l, b);
  }

 private:
  static D whole(Step::Kind kind, const D& a, const D& b, const D& c = {}) {
    Step s;
    s.kind = kind;
    s.in = {a.id, b.id, c.id};
    return {Tracer::current().step(s)};
  }
};

}  // namespace gdr::codegen
