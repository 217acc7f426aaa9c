// Behaviour of a pipelined loop for nonexistent items: in the prologue, and in an incomplete last
// group.
#include <algorithm>
#include <numeric>
#include <set>

#include "emulator/isa/table.hpp"
#include "emulator/numeric/float.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Abstract value of a word: exact bits, a finite number, or unknown.
struct AbstractValue {
  enum class Kind : std::uint8_t { Exact, Finite, Anything } kind = Kind::Anything;
  Long word;                   ///< Exact: the word (a short as widened float)
  bool may_be_zeroed = false;  ///< Finite: may be zero because of a mask or a limit
  bool has_zeroed_term =
      false;                  ///< Finite: a sum with such a number, which a difference may cancel
  bool from_missing = false;  ///< Exact: zero of a missing item
  /// Exact: computed from the bits of such a zero, as in 1/0. Only its finiteness is portable.
  bool arbitrary = false;
  bool zero() const noexcept { return kind == Kind::Exact && is_zero(word); }
  static AbstractValue exact(Long w) { return {Kind::Exact, w}; }
  static AbstractValue missing() {
    AbstractValue k = exact({});
    k.from_missing = true;
    return k;
  }
  static AbstractValue finite(bool may_be_zeroed = false) {
    return {Kind::Finite, {}, may_be_zeroed};
  }
  bool may_be_zero() const noexcept { return may_be_zeroed || zero(); }
};

/// Executes operations on abstract values.
class AbstractInterpreter {
 public:
  AbstractInterpreter(const MachineLoop& loop, bool trust_seeds)
      : loop_(loop), trust_seeds_(trust_seeds) {
    values.resize(loop.values.size());
    for (std::size_t v = 0; v < loop.values.size(); ++v)
      if (loop.values[v].origin == Origin::Invariant) values[v] = AbstractValue::finite();
    masks.assign(loop.masks.size(), -1);
  }

  std::vector<AbstractValue> values;
  std::vector<int> masks;  ///< 0, 1, or -1 for unknown

  /// False if a result would change.
  bool run(const MachineOp& op) {
    int allowed = 1;
    if (op.predicate != none) {
      const int m = masks[index(op.predicate)];
      allowed = m < 0 ? -1 : (m == 1) == op.predicate_value ? 1 : 0;
    }
    if (allowed == 0) return true;
    if (op.list != none) return false;
    const AbstractValue a = operand(op.in[0]), b = operand(op.in[1]);
    if (op.out != none && loop_.value(op.out).origin == Origin::Accumulator)
      return (op.op == Op::Fadd || op.op == Op::Fsub) && b.zero();
    const AbstractValue result = op.op == Op::Bget  ? load(op)
                                 : op.table != none ? AbstractValue::finite()
                                                    : compute(op, a, b);
    if (op.sets != none) {
      int& mask = masks[index(op.sets)];
      int now = -1;
      if (result.kind == AbstractValue::Kind::Exact && !result.arbitrary &&
          op.flag != MaskFlag::Carry)
        now = flag(op, result.word);
      mask = allowed == 1 || mask == now ? now : -1;
    }
    if (op.out == none) return true;
    AbstractValue& out = values[index(op.out)];
    if (allowed == 1) {
      out = result;
    } else if (!(out.kind == AbstractValue::Kind::Exact &&
                 result.kind == AbstractValue::Kind::Exact && out.word == result.word)) {
      const bool finite = is_finite(out) && is_finite(result);
      out = out.zero() && result.zero() ? out
            : finite ? AbstractValue::finite(out.may_be_zero() || result.may_be_zero())
                     : AbstractValue{};
    }
    return true;
  }

  /// An operation that does not execute: its result is whatever the register holds.
  void skip(const MachineOp& op) {
    if (op.out != none) values[index(op.out)] = {};
  }

 private:
  static bool is_finite(const AbstractValue& k) {
    return k.kind == AbstractValue::Kind::Finite ||
           (k.kind == AbstractValue::Kind::Exact && ((k.word.bits >> 60) & 2047) != 2047);
  }
  /// The flag of an exact result that sets a mask.
  static int flag(const MachineOp& op, const Long& word) {
    const bool integer = info(op.op).unit == Unit::Integer;
    if (op.flag == MaskFlag::Zero) return integer ? upper_half(word).bits == 0 : is_zero(word);
    return integer ? (word.bits >> 71) != 0 : is_negative(word);
  }

  AbstractValue operand(const Ref& r) const {
    if (r.kind == Ref::Kind::None) return AbstractValue::exact({});
    if (r.kind == Ref::Kind::Immediate) return constant(r.width, r.bits);
    return values[index(r.value)];
  }

  AbstractValue load(const MachineOp& op) const {
    if (op.word == none) return values[index(op.out)];
    const ConstantWord& w = loop_.words[index(op.word)];
    return constant(w.width, w.bits);
  }

  static AbstractValue constant(Width width, u128 bits) {
    return AbstractValue::exact(
        width == Width::Long ? Long{bits} : widen_float(Short{static_cast<std::uint64_t>(bits)}));
  }

  /// Words are kept as widened floats, so a short integer is in the upper half.
  AbstractValue compute(const MachineOp& op, const AbstractValue& a, const AbstractValue& b) const {
    const OpInfo& row = info(op.op);
    if (op.op == Op::Upass && op.width == Width::Long) return a;
    const bool exact = a.kind == AbstractValue::Kind::Exact && b.kind == AbstractValue::Kind::Exact;
    if (row.unit == Unit::Integer) {
      if (exact && op.width == Width::Short) {
        const auto word = [](const AbstractValue& k) { return IntWord{upper_half(k.word).bits}; };
        const IntResult r = row.compute_int(word(a), word(b), Width::Short);
        AbstractValue k =
            combined(widen_float(Short{static_cast<std::uint64_t>(r.value) & Short::mask}), a, b);
        k.arbitrary = !k.zero() && (k.arbitrary || a.from_missing || b.from_missing);
        return k;
      }
      // The seed of a function, of a nonzero number if it can be trusted.
      const bool trusted = trust_seeds_ && !a.may_be_zeroed && !b.may_be_zeroed;
      return trusted && is_finite(a) && is_finite(b) ? AbstractValue::finite() : AbstractValue{};
    }
    if (exact) {
      Flags flags = no_flags;
      return combined(row.compute_float(a.word, b.word, op.width, flags), a, b);
    }
    const bool product = op.op == Op::Fmul || op.op == Op::Dmul;
    if (!is_finite(a) || !is_finite(b)) return {};
    if (product && (a.zero() || b.zero())) return AbstractValue::missing();
    // The product may overflow.
    if (product && (a.arbitrary || b.arbitrary)) return {};
    const bool limit = op.op == Op::Fmax || op.op == Op::Fmin;
    if (product || limit) return AbstractValue::finite(a.may_be_zero() || b.may_be_zero());
    const bool with_zeroed =
        a.has_zeroed_term || b.has_zeroed_term || a.may_be_zeroed || b.may_be_zeroed;
    AbstractValue sum =
        AbstractValue::finite((a.may_be_zero() && b.may_be_zero()) ||
                              (op.op == Op::Fsub && (a.has_zeroed_term || b.has_zeroed_term)));
    sum.has_zeroed_term = with_zeroed;
    return sum;
  }

  /// Result of two exact words.
  static AbstractValue combined(Long result, const AbstractValue& a, const AbstractValue& b) {
    AbstractValue k = AbstractValue::exact(result);
    k.from_missing = k.zero() && (a.from_missing || b.from_missing);
    k.arbitrary = !k.zero() && (a.arbitrary || b.arbitrary);
    return k;
  }

  const MachineLoop& loop_;
  bool trust_seeds_;
};

}  // namespace

int stage_count(const MachineLoop& loop, const Schedule& s, const BodyTimes& times) {
  int most = 0;
  const int unroll = times.body_length / times.ii;
  for (std::size_t i = 0; i < loop.ops.size(); ++i)
    if (s.active[i]) most = std::max(most, times.stage(s.time[i], unroll - 1));
  return most + 1;
}

bool prologue_is_neutral(const MachineLoop& loop, const Schedule& s, const BodyTimes& times,
                         unsigned unroll, const std::vector<bool>& predicated) {
  std::vector<std::size_t> order(loop.ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return s.time[i]; });
  // The prologue predicate suppresses whole instructions.
  std::set<int> suppressed;
  for (std::size_t i = 0; i < predicated.size(); ++i)
    if (predicated[i] && s.active[i]) suppressed.insert(s.time[i]);
  const int stages = stage_count(loop, s, times);
  for (int copy = 0; copy < static_cast<int>(unroll); ++copy) {
    for (int stage = 1; stage < stages; ++stage) {
      AbstractInterpreter machine(loop, false);
      for (std::size_t v = 0; v < loop.values.size(); ++v)
        if (!loop.values[v].permanent()) machine.values[v] = AbstractValue::missing();
      for (std::size_t m = 0; m < loop.masks.size(); ++m)
        machine.masks[m] = loop.masks[m].off ? 1 : 0;
      for (const std::size_t i : order) {
        if (!s.active[i] || times.stage(s.time[i], copy) < stage) continue;
        if (suppressed.contains(s.time[i]))
          machine.skip(loop.ops[i]);
        else if (!machine.run(loop.ops[i]))
          return false;
      }
    }
  }
  return true;
}

bool is_missing_item_neutral(const MachineLoop& loop) {
  AbstractInterpreter machine(loop, false);
  for (std::size_t v = 0; v < loop.values.size(); ++v)
    if (!loop.values[v].permanent()) machine.values[v] = AbstractValue::missing();
  for (std::size_t m = 0; m < loop.masks.size(); ++m) machine.masks[m] = loop.masks[m].off ? 1 : 0;
  return std::ranges::all_of(topological_order(loop),
                             [&](std::size_t i) { return machine.run(loop.ops[i]); });
}

std::vector<ValueId> neutral_fields(const MachineLoop& loop) {
  std::vector<ValueId> found;
  const std::vector<std::size_t> order = topological_order(loop);
  for (std::size_t f = 0; f < loop.values.size(); ++f) {
    if (loop.values[f].origin != Origin::Field || loop.values[f].integer) continue;
    AbstractInterpreter machine(loop, true);
    for (std::size_t v = 0; v < loop.values.size(); ++v)
      if (loop.values[v].origin == Origin::Field)
        machine.values[v] = v == f ? AbstractValue::missing() : AbstractValue::finite();
    const bool clean =
        std::ranges::all_of(order, [&](std::size_t i) { return machine.run(loop.ops[i]); });
    if (clean) found.push_back(static_cast<ValueId>(f));
  }
  return found;
}

}  // namespace gdr::kc
