// Symbolic vectors: each instruction appends itself to a trace.
#pragma once

#include "emulator/engine/vector/doubles/batch.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/doubles/flag_steps.hpp"
#include "emulator/engine/vector/doubles/tested_steps.hpp"

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

/// Instructions that both instruction sets have.
struct TracedLanes {
  static constexpr std::size_t width = 32;
  static constexpr bool holds_lanes = false;
  struct D {
    StepId id = no_step;
  };
  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;
  static void leave() {}

  static D load(const double* p) { return {Tracer::current().load(p)}; }
  static void store(double* p, const D& x) { Tracer::current().store(p, x.id); }
  static D broadcast(const std::uint64_t* word) { return {Tracer::current().broadcast(word)}; }
  static D set_bits(std::uint64_t x);
  static D set(double x);

  using Op = jit::Op;
  static StepId made(Step s) {
    s.kind = Step::Kind::Operation;
    return Tracer::current().step(s);
  }
  static StepId made(Op op, int detail, StepId a, StepId b = no_step, StepId c = no_step) {
    Step s;
    s.op = op;
    s.detail = static_cast<std::uint8_t>(detail);
    s.in = {a, b, c};
    return made(s);
  }
  template <Op Code, auto Detail = 0>
  static D one(const D& a) {
    return {made(Code, static_cast<int>(Detail), a.id)};
  }
  template <Op Code, auto Detail = 0>
  static D two(const D& a, const D& b) {
    return {made(Code, static_cast<int>(Detail), a.id, b.id)};
  }
  template <Op Code, auto Detail = 0>
  static D three(const D& a, const D& b, const D& c) {
    return {made(Code, static_cast<int>(Detail), a.id, b.id, c.id)};
  }
  /// Emits a test that is evaluated when the code runs.
  static void collect(std::uint64_t failure, StepId lanes) {
    for (int bit = 0; bit < 2; ++bit) {
      if ((failure >> bit & 1) != 0) made(Op::Collect, bit, lanes);
    }
  }

  static bool is_checked(const D& a) { return Tracer::current().is_checked(a.id); }

  static constexpr auto add = two<Op::Add>;
  static constexpr auto sub = two<Op::Sub>;
  static constexpr auto mul = two<Op::Mul>;
  static constexpr auto fma = three<Op::Fma>;
  static constexpr auto fms = three<Op::Fma, jit::negate_addend>;
  static constexpr auto fnma = three<Op::Fma, jit::negate_product>;
  static constexpr auto and_ = two<Op::And>;
  static constexpr auto or_ = two<Op::Or>;
  static constexpr auto xor_ = two<Op::Xor>;
  static constexpr auto bits_add = two<Op::IntAdd>;
  static constexpr auto bits_sub = two<Op::IntSub>;
  template <int N>
  static D shl(const D& a) {
    return {made(Op::ShiftLeft, N, a.id)};
  }
  template <int N>
  static D shr(const D& a) {
    return {made(Op::ShiftRight, N, a.id)};
  }
  static constexpr auto shlv = two<Op::ShiftLeftBy>;
  static constexpr auto shrv = two<Op::ShiftRightBy>;
};

/// The instructions of FlagSteps.
struct TracedAvx512 : TracedLanes {
  struct M {
    StepId id = no_step;
  };
  static constexpr auto nearest = jit::Rounding::Nearest, down = jit::Rounding::Down,
                        up = jit::Rounding::Up, truncate = jit::Rounding::Truncate;

  /// Whether steps on a are executed less often than steps on b.
  static bool less_frequent(const D& a, const D& b) {
    return Tracer::current().level(a.id) < Tracer::current().level(b.id);
  }

  template <Op Code, auto Detail = 0>
  static D rounded(jit::Rounding mode, const D& a, const D& b, const D& c = {}) {
    Step s;
    s.op = Code;
    s.detail = static_cast<std::uint8_t>(Detail);
    s.rounding = mode;
    s.in = {a.id, b.id, c.id};
    return {made(s)};
  }
  template <Op Code, auto Predicate = 0>
  static M compared(const D& a, const D& b) {
    return {made(Code, static_cast<int>(Predicate), a.id, b.id)};
  }
  template <Op Code>
  static M joined(const M& a, const M& b) {
    return {made(Code, 0, a.id, b.id)};
  }

  static D add_round(jit::Rounding m, const D& a, const D& b) { return rounded<Op::Add>(m, a, b); }
  static D sub_round(jit::Rounding m, const D& a, const D& b) { return rounded<Op::Sub>(m, a, b); }
  static D mul_round(jit::Rounding m, const D& a, const D& b) { return rounded<Op::Mul>(m, a, b); }
  static constexpr auto fma_round = rounded<Op::Fma>;
  static constexpr auto fms_round = rounded<Op::Fma, jit::negate_addend>;
  static constexpr auto fnma_round = rounded<Op::Fma, jit::negate_product>;

  template <int Table>
  static D logic_of(const D& a, const D& b, const D& c) {
    return {made(Op::Ternary, Table, a.id, b.id, c.id)};
  }
  static constexpr auto larger = two<Op::LargerMagnitude>;
  static D set_last(const M& m, const D& x) {
    return {made(Op::Or, 0, x.id, set_bits(1).id, m.id)};
  }
  static D select(const M& m, const D& yes, const D& no) {
    return {made(Op::Select, 0, m.id, yes.id, no.id)};
  }
  static D ones(const M& m) { return {made(Op::MaskToLanes, 0, m.id)}; }

  static constexpr auto differ = compared<Op::Compare, jit::Predicate::NotEqual>;
  static constexpr auto less = compared<Op::Compare, jit::Predicate::Less>;
  static constexpr auto equal = compared<Op::Compare, jit::Predicate::Equal>;
  static constexpr auto unordered = compared<Op::Compare, jit::Predicate::Unordered>;
  static constexpr auto bits_equal = compared<Op::CompareSigned, jit::IntPredicate::Equal>;
  static constexpr auto bits_less = compared<Op::CompareSigned, jit::IntPredicate::Less>;
  static constexpr auto bits_meet = compared<Op::TestBits>;
  static M beyond(const D& a) { return {made(Op::NotFinite, 0, a.id)}; }
  static constexpr auto both = joined<Op::MaskAnd>;
  static constexpr auto either = joined<Op::MaskOr>;
  static M not_(const M& m) { return {made(Op::MaskNot, 0, m.id)}; }
  static M mask(const D& lanes) { return bits_meet(lanes, lanes); }
  template <std::uint64_t Failure>
  static unsigned any(const M& m) {
    collect(Failure, m.id);
    return 0;
  }
  static constexpr auto to_double = one<Op::IntToDouble>;
  static constexpr auto to_integer = one<Op::DoubleToInt>;
};

/// The instructions of TestedSteps. Masks are lanes of ones and zeros.
struct TracedAvx2 : TracedLanes {
  using M = D;
  static D and_not(const D& a, const D& b) { return {made(Op::AndNot, 0, b.id, a.id)}; }
  static constexpr auto differ = two<Op::Compare, jit::Predicate::NotEqual>;
  static constexpr auto less = two<Op::Compare, jit::Predicate::Less>;
  static constexpr auto equal = two<Op::Compare, jit::Predicate::Equal>;
  static constexpr auto unordered = two<Op::Compare, jit::Predicate::Unordered>;
  static constexpr auto bits_equal = two<Op::CompareSigned, jit::IntPredicate::Equal>;
  static D bits_less(const D& a, const D& b) {
    return two<Op::CompareSigned, jit::IntPredicate::Greater>(b, a);
  }
  static M beyond(const D& a) {
    return two<Op::Compare, jit::Predicate::NotLess>(and_(a, set_bits(~sign)), set_bits(exponent));
  }
  static D mask(const D& lanes) { return lanes; }
  static D ones(const D& m) { return m; }
  static D not_(const D& m) { return xor_(m, set_bits(~std::uint64_t{0})); }
  static constexpr auto both = and_;
  static constexpr auto either = or_;
  static constexpr auto select = three<Op::Select>;
  template <std::uint64_t Failure>
  static unsigned any(const D& m) {
    collect(Failure, m.id);
    return 0;
  }
  static D to_double(const D& a) { return sub(or_(a, set(0x1p52)), set(0x1p52)); }
  static D to_integer(const D& a) { return xor_(add(a, set(0x1p52)), set(0x1p52)); }
  static bool any_bit_set(const D& x) {
    collect(inexact, x.id);
    return false;
  }
};

}  // namespace gdr::codegen
