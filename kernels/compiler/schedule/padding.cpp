// Whether a pad contributes nothing: a copy of an existing source, of which one field is zero.
//
// A value that does not depend on this field is the same as for the source. It may be infinite or
// NaN, but then products with it, and their sums, are not finite for the source either. So a
// contribution is nothing if it is a product with the zero, from which only products and sums lead
// to the result: a function, a limit or a condition could hide a value that is not finite from the
// source's result, but not from that of the pad.
#include <algorithm>

#include "kernels/compiler/schedule/exact_words.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// A value of a pad.
struct PadValue {
  enum class Kind : std::uint8_t {
    Exact,     ///< known bits
    Zero,      ///< a zero of either sign, if the source's contributions are finite
    Finite,    ///< finite, if the source's contributions are finite
    Anything,  ///< perhaps out of the domain of a function, or of the range of numbers
  } kind = Kind::Anything;
  Long word = {};       ///< Exact
  bool copied = false;  ///< whether it is that of the copied source
  unsigned degree = 0;  ///< number of values of the source that are multiplied
  static PadValue exact(Long word, bool copied) { return {Kind::Exact, word, copied}; }
  static PadValue copy() { return {Kind::Finite, {}, true, 1}; }
  static PadValue zero() { return {Kind::Zero}; }
  static PadValue finite(unsigned degree) { return {Kind::Finite, {}, false, degree}; }
  bool is_exact() const noexcept { return kind == Kind::Exact; }
  bool is_exact_zero() const noexcept { return is_exact() && is_zero(word); }
  bool is_any_zero() const noexcept { return kind == Kind::Zero || is_exact_zero(); }
  bool is_finite() const noexcept {
    return kind != Kind::Anything && (!is_exact() || is_finite_word(word));
  }
};

struct PadMask {
  int value = -1;       ///< 0, 1, or -1 for unknown
  bool copied = false;  ///< whether it is that of the copied source
};

/// Executes the operations of a loop for a pad.
class PadInterpreter {
 public:
  PadInterpreter(const MachineLoop& loop, std::int32_t zeroed) : loop_(loop) {
    for (const MachineValue& v : loop.values) {
      const bool known = v.origin == Origin::Invariant || v.origin == Origin::Field;
      const bool zero = v.origin == Origin::Field && v.variable == zeroed;
      values_.push_back(zero ? PadValue::exact({}, false) : known ? PadValue::copy() : PadValue{});
    }
    for (const MachineMask& m : loop.masks) masks_.push_back({m.off ? 1 : 0, true});
  }

  /// False if a result may change.
  bool run(const MachineOp& op) {
    PadMask when{1, true};
    if (op.predicate != none) {
      when = masks_[index(op.predicate)];
      if (when.value >= 0) when.value = (when.value == 1) == op.predicate_value ? 1 : 0;
    }
    const PadValue a = operand(op.in[0]), b = operand(op.in[1]);
    if (op.list != none) return when.value == 0;
    if (op.out != none && loop_.value(op.out).origin == Origin::Accumulator)
      return when.value == 0 || adds_nothing(op, b, when);
    const PadValue result = op.op == Op::Bget  ? load(op)
                            : op.table != none ? (a.copied ? PadValue::copy() : PadValue{})
                                               : compute(op, a, b);
    if (op.sets != none) {
      const bool known = result.is_exact() && op.flag != MaskFlag::Carry;
      set_mask(masks_[index(op.sets)],
               {known ? (known_flag(op, result.word) ? 1 : 0) : -1, result.copied}, when);
    }
    if (op.out != none) write(values_[index(op.out)], result, when);
    return true;
  }

 private:
  static bool adds_nothing(const MachineOp& op, const PadValue& term, const PadMask& when) {
    if (op.op != Op::Fadd && op.op != Op::Fsub) return false;
    return term.is_exact_zero() || (term.kind == PadValue::Kind::Zero && when.copied);
  }

  PadValue operand(const Ref& r) const {
    if (r.kind == Ref::Kind::None) return PadValue::exact({}, true);
    if (r.kind == Ref::Kind::Immediate) return PadValue::exact(known_word(r.width, r.bits), true);
    return values_[index(r.value)];
  }

  PadValue load(const MachineOp& op) const {
    if (op.word == none) return values_[index(op.out)];
    const ConstantWord& w = loop_.words[index(op.word)];
    return PadValue::exact(known_word(w.width, w.bits), true);
  }

  static PadValue compute(const MachineOp& op, const PadValue& a, const PadValue& b) {
    const bool copied = a.copied && b.copied, exact = a.is_exact() && b.is_exact();
    if (op.op == Op::Upass && (op.width == Width::Long || !a.is_exact())) return a;
    if (exact && (!is_integer_op(op) || op.width == Width::Short))
      return exact_result(op, a, b, copied);
    if (copied) return PadValue::copy();
    // The bits of a value that differs from the source's: the seed of a function, for example.
    if (is_integer_op(op) || !a.is_finite() || !b.is_finite()) return {};
    const unsigned most = std::max(a.degree, b.degree);
    if (op.op == Op::Fmul || op.op == Op::Dmul)
      return a.is_any_zero() || b.is_any_zero()        ? PadValue::zero()
             : a.degree + b.degree <= max_known_degree ? PadValue::finite(a.degree + b.degree)
                                                       : PadValue{};
    if (op.op == Op::Fmax || op.op == Op::Fmin) {
      const bool limits_copy = (a.is_exact() && b.copied) || (b.is_exact() && a.copied);
      return limits_copy ? PadValue::finite(most) : PadValue{};
    }
    return a.is_any_zero() && b.is_any_zero() ? PadValue::zero() : PadValue::finite(most);
  }

  static PadValue exact_result(const MachineOp& op, const PadValue& a, const PadValue& b,
                               bool copied) {
    const PadValue result = PadValue::exact(known_result(op, a.word, b.word), copied);
    // Engines differ in what follows from the bits of a zero, as in 1/0.
    const auto is_bits_of_zero = [](const PadValue& x) { return x.is_exact_zero() && !x.copied; };
    const bool seed = is_integer_op(op) && (is_bits_of_zero(a) || is_bits_of_zero(b));
    return seed && !result.is_exact_zero() ? PadValue{} : result;
  }

  static void set_mask(PadMask& mask, const PadMask& result, const PadMask& when) {
    const bool agree = mask.value == result.value;
    const int value = when.value == 1 ? result.value : when.value == 0 || agree ? mask.value : -1;
    const bool other_copied = when.value == 1 || mask.copied;
    mask = {value, when.copied && result.copied && other_copied};
  }

  static void write(PadValue& out, const PadValue& result, const PadMask& when) {
    if (!when.copied) {
      // The source may have the other value, so neither tells anything about a value of the source.
      const bool equal = out.is_exact() && result.is_exact() && out.word == result.word;
      const PadValue& kept = when.value == 1 ? result : out;
      out = kept.is_exact() && (when.value >= 0 || equal) ? PadValue::exact(kept.word, false)
                                                          : PadValue{};
    } else if (when.value == 1) {
      out = result;
    } else if (when.value == -1) {
      out = either(out, result);
    }
  }

  /// One of two values, the same one as for the source.
  static PadValue either(const PadValue& a, const PadValue& b) {
    const bool copied = a.copied && b.copied;
    if (a.is_exact() && b.is_exact() && a.word == b.word) return PadValue::exact(a.word, copied);
    if (copied) return PadValue::copy();
    if (!a.is_finite() || !b.is_finite()) return {};
    return a.is_any_zero() && b.is_any_zero() ? PadValue::zero()
                                              : PadValue::finite(std::max(a.degree, b.degree));
  }

  const MachineLoop& loop_;
  std::vector<PadValue> values_;
  std::vector<PadMask> masks_;
};

}  // namespace

ValueId neutral_field(const MachineLoop& loop) {
  const std::vector<std::size_t> order = topological_order(loop);
  for (std::size_t f = 0; f < loop.values.size(); ++f) {
    const MachineValue& field = loop.values[f];
    if (field.origin != Origin::Field || field.integer) continue;
    PadInterpreter machine(loop, field.variable);
    if (std::ranges::all_of(order, [&](std::size_t i) { return machine.run(loop.ops[i]); }))
      return static_cast<ValueId>(f);
  }
  return none;
}

}  // namespace gdr::kc
