// Behaviour of a pipelined loop for nonexistent items: those before the first one, in the prologue.
#include <algorithm>
#include <numeric>
#include <set>

#include "kernels/compiler/schedule/exact_words.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Abstract value of a word: exact bits, a finite number, or unknown.
struct AbstractValue {
  enum class Kind : std::uint8_t { Exact, Finite, Anything } kind = Kind::Anything;
  Long word;                  ///< Exact: the word
  unsigned degree = 0;        ///< Finite: number of targets and parameters that are multiplied
  bool from_missing = false;  ///< Exact: zero of a missing item
  /// Exact: computed from the bits of such a zero, as in 1/0. Only its finiteness is portable.
  bool arbitrary = false;
  bool zero() const noexcept { return kind == Kind::Exact && is_zero(word); }
  static AbstractValue exact(Long w) { return {Kind::Exact, w, 0}; }
  static AbstractValue missing() {
    AbstractValue k = exact({});
    k.from_missing = true;
    return k;
  }
  static AbstractValue finite(unsigned degree = 1) { return {Kind::Finite, {}, degree}; }
};

/// Executes operations on abstract values.
class AbstractInterpreter {
 public:
  explicit AbstractInterpreter(const MachineLoop& loop) : loop_(loop) {
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
        now = known_flag(op, result.word) ? 1 : 0;
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
            : finite                    ? AbstractValue::finite(std::max(out.degree, result.degree))
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
           (k.kind == AbstractValue::Kind::Exact && is_finite_word(k.word));
  }

  AbstractValue operand(const Ref& r) const {
    if (r.kind == Ref::Kind::None) return AbstractValue::exact({});
    if (r.kind == Ref::Kind::Immediate) return AbstractValue::exact(known_word(r.width, r.bits));
    return values[index(r.value)];
  }

  AbstractValue load(const MachineOp& op) const {
    if (op.word == none) return values[index(op.out)];
    const ConstantWord& w = loop_.words[index(op.word)];
    return AbstractValue::exact(known_word(w.width, w.bits));
  }

  static AbstractValue compute(const MachineOp& op, const AbstractValue& a,
                               const AbstractValue& b) {
    if (op.op == Op::Upass && op.width == Width::Long) return a;
    const bool exact = a.kind == AbstractValue::Kind::Exact && b.kind == AbstractValue::Kind::Exact;
    if (is_integer_op(op)) {
      if (!exact || op.width != Width::Short) return {};  // the seed of a function, for example
      AbstractValue k = combined(known_result(op, a.word, b.word), a, b);
      k.arbitrary = !k.zero() && (k.arbitrary || a.from_missing || b.from_missing);
      return k;
    }
    if (exact) return combined(known_result(op, a.word, b.word), a, b);
    if (!is_finite(a) || !is_finite(b)) return {};
    const bool product = op.op == Op::Fmul || op.op == Op::Dmul;
    if (!product) return AbstractValue::finite(std::max(a.degree, b.degree));
    if (a.zero() || b.zero()) return AbstractValue::missing();
    const unsigned degree = a.degree + b.degree;
    const bool may_overflow = a.arbitrary || b.arbitrary || degree > max_known_degree;
    return may_overflow ? AbstractValue{} : AbstractValue::finite(degree);
  }

  /// Result of two exact words.
  static AbstractValue combined(Long result, const AbstractValue& a, const AbstractValue& b) {
    AbstractValue k = AbstractValue::exact(result);
    k.from_missing = k.zero() && (a.from_missing || b.from_missing);
    k.arbitrary = !k.zero() && (a.arbitrary || b.arbitrary);
    return k;
  }

  const MachineLoop& loop_;
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
      AbstractInterpreter machine(loop);
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
  AbstractInterpreter machine(loop);
  for (std::size_t v = 0; v < loop.values.size(); ++v)
    if (!loop.values[v].permanent()) machine.values[v] = AbstractValue::missing();
  for (std::size_t m = 0; m < loop.masks.size(); ++m) machine.masks[m] = loop.masks[m].off ? 1 : 0;
  return std::ranges::all_of(topological_order(loop),
                             [&](std::size_t i) { return machine.run(loop.ops[i]); });
}

}  // namespace gdr::kc
