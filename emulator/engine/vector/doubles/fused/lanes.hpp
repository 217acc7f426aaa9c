// Vectors that are only names: each instruction writes itself down.
#pragma once

#include "emulator/engine/vector/doubles/batch.hpp"
#include "emulator/engine/vector/doubles/flag_steps.hpp"
#include "emulator/engine/vector/doubles/fused/recording.hpp"

namespace gdr::fused {

/// Where the instructions go while `record` runs; one in a thread.
class Notebook {
 public:
  virtual StepId load(const double* lanes) = 0;
  virtual void store(const double* lanes, StepId value) = 0;
  virtual StepId broadcast(const std::uint64_t* word) = 0;
  virtual StepId step(const Step& s) = 0;

  static Notebook& current() noexcept { return *open; }

 protected:
  ~Notebook() = default;
  static thread_local Notebook* open;
};

/// The instructions of FlagSteps.
struct RecordedLanes {
  static constexpr std::size_t width = 32;
  static constexpr bool holds_lanes = false;
  struct D {
    StepId id = no_step;
  };
  struct M {
    StepId id = no_step;
  };
  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;
  static void leave() {}

  static D load(const double* p) { return {Notebook::current().load(p)}; }
  static void store(double* p, const D& x) { Notebook::current().store(p, x.id); }
  static D broadcast(const std::uint64_t* word) { return {Notebook::current().broadcast(word)}; }
  static D set_bits(std::uint64_t x);
  static D set(double x);

  static constexpr int nearest = static_cast<int>(Rounding::Nearest);
  static constexpr int down = static_cast<int>(Rounding::Down);
  static constexpr int up = static_cast<int>(Rounding::Up);
  static constexpr int truncate = static_cast<int>(Rounding::Truncate);

  static StepId made(StepKind kind, int detail, StepId a, StepId b = no_step, StepId c = no_step) {
    Step s;
    s.kind = kind;
    s.detail = static_cast<std::uint8_t>(detail);
    s.in = {a, b, c};
    return Notebook::current().step(s);
  }
  template <StepKind Kind>
  static D one(const D& a) {
    return {made(Kind, 0, a.id)};
  }
  template <StepKind Kind>
  static D two(const D& a, const D& b) {
    return {made(Kind, 0, a.id, b.id)};
  }
  template <StepKind Kind>
  static D three(const D& a, const D& b, const D& c) {
    return {made(Kind, 0, a.id, b.id, c.id)};
  }
  template <StepKind Kind>
  static M compared(const D& a, const D& b) {
    return {made(Kind, 0, a.id, b.id)};
  }
  template <StepKind Kind>
  static M joined(const M& a, const M& b) {
    return {made(Kind, 0, a.id, b.id)};
  }

  static constexpr auto add = two<StepKind::Add>;
  static constexpr auto sub = two<StepKind::Sub>;
  static constexpr auto mul = two<StepKind::Mul>;
  static constexpr auto fma = three<StepKind::Fma>;
  static constexpr auto fms = three<StepKind::Fms>;
  static constexpr auto and_ = two<StepKind::And>;
  static constexpr auto or_ = two<StepKind::Or>;
  static constexpr auto xor_ = two<StepKind::Xor>;
  template <int Mode>
  static D add_rounded(const D& a, const D& b) {
    return {made(StepKind::Add, Mode, a.id, b.id)};
  }
  template <int Mode>
  static D sub_rounded(const D& a, const D& b) {
    return {made(StepKind::Sub, Mode, a.id, b.id)};
  }
  template <int Mode>
  static D mul_rounded(const D& a, const D& b) {
    return {made(StepKind::Mul, Mode, a.id, b.id)};
  }
  template <int Mode>
  static D fma_rounded(const D& a, const D& b, const D& c) {
    return {made(StepKind::Fma, Mode, a.id, b.id, c.id)};
  }
  template <int Mode>
  static D fms_rounded(const D& a, const D& b, const D& c) {
    return {made(StepKind::Fms, Mode, a.id, b.id, c.id)};
  }
  template <int Mode>
  static D fnma_rounded(const D& a, const D& b, const D& c) {
    return {made(StepKind::Fnma, Mode, a.id, b.id, c.id)};
  }
  template <int Table>
  static D logic_of(const D& a, const D& b, const D& c) {
    return {made(StepKind::Logic, Table, a.id, b.id, c.id)};
  }
  static constexpr auto larger = two<StepKind::Larger>;
  static D set_last(const M& m, const D& x) { return {made(StepKind::SetLast, 0, m.id, x.id)}; }
  static D select(const M& m, const D& yes, const D& no) {
    return {made(StepKind::Select, 0, m.id, yes.id, no.id)};
  }
  static D ones(const M& m) { return {made(StepKind::Ones, 0, m.id)}; }

  static constexpr auto differ = compared<StepKind::NotEqual>;
  static constexpr auto less = compared<StepKind::Less>;
  static constexpr auto equal = compared<StepKind::Equal>;
  static constexpr auto unordered = compared<StepKind::Unordered>;
  static constexpr auto bits_equal = compared<StepKind::BitsEqual>;
  static constexpr auto bits_less = compared<StepKind::BitsLess>;
  static constexpr auto bits_meet = compared<StepKind::BitsMeet>;
  static constexpr auto both = joined<StepKind::Both>;
  static constexpr auto either = joined<StepKind::Either>;
  static M not_(const M& m) { return {made(StepKind::Not, 0, m.id)}; }
  static M mask(const D& lanes) { return bits_meet(lanes, lanes); }
  /// The lanes are not known yet: what is found counts when the code runs.
  template <std::uint64_t Failure>
  static unsigned any(const M& m) {
    made(StepKind::Note, static_cast<int>(Failure), m.id);
    return 0;
  }

  static constexpr auto bits_add = two<StepKind::IntegerAdd>;
  static constexpr auto bits_sub = two<StepKind::IntegerSub>;
  template <int N>
  static D shl(const D& a) {
    return {made(StepKind::ShiftLeft, N, a.id)};
  }
  template <int N>
  static D shr(const D& a) {
    return {made(StepKind::ShiftRight, N, a.id)};
  }
  static constexpr auto shlv = two<StepKind::ShiftLeftBy>;
  static constexpr auto shrv = two<StepKind::ShiftRightBy>;
  static constexpr auto to_double = one<StepKind::ToDouble>;
  static constexpr auto to_integer = one<StepKind::ToInteger>;
};

}  // namespace gdr::fused
