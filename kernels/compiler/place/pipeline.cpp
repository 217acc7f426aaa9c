#include "kernels/compiler/place/pipeline.hpp"

#include <algorithm>
#include <numeric>

#include "emulator/isa/table.hpp"
#include "emulator/numeric/float.hpp"

namespace gdr::kc {
namespace {

/// What is known of a word: its bits, or that it is a finite number, or nothing.
struct Known {
  enum class Kind : std::uint8_t { Exact, Finite, Anything } kind = Kind::Anything;
  Long word;                ///< Exact: of a short the widened float
  bool may_vanish = false;  ///< Finite: zero where a mask or a limit says so
  bool of_missing = false;  ///< Exact: a zero that stands for a missing item
  /// Exact: made of the bits of such a zero, as 1/0 is. Engines agree only that it is a number.
  bool wild = false;
  bool zero() const noexcept { return kind == Kind::Exact && is_zero(word); }
  static Known exact(Long w) { return {Kind::Exact, w}; }
  static Known missing() {
    Known k = exact({});
    k.of_missing = true;
    return k;
  }
  static Known finite(bool may_vanish = false) { return {Kind::Finite, {}, may_vanish}; }
  bool may_be_zero() const noexcept { return may_vanish || zero(); }
};

/// Runs operations on what is known.
class Interpreter {
 public:
  Interpreter(const MachineLoop& loop, bool trust_seeds) : loop_(loop), trust_seeds_(trust_seeds) {
    values.resize(loop.values.size());
    for (std::size_t v = 0; v < loop.values.size(); ++v)
      if (loop.values[v].origin == Origin::Resident) values[v] = Known::finite();
    masks.assign(loop.masks.size(), -1);
  }

  std::vector<Known> values;
  std::vector<int> masks;  ///< of each: 0, 1, or -1 for unknown

  /// False if a result would change.
  bool run(const MachineOp& op) {
    int allowed = 1;
    if (op.predicate != none) {
      const int m = masks[static_cast<std::size_t>(op.predicate)];
      allowed = m < 0 ? -1 : (m == 1) == op.predicate_value ? 1 : 0;
    }
    if (allowed == 0) return true;
    if (op.list != none) return false;
    const Known a = operand(op.in[0]), b = operand(op.in[1]);
    if (op.out != none &&
        loop_.values[static_cast<std::size_t>(op.out)].origin == Origin::Accumulator)
      return (op.op == Op::Fadd || op.op == Op::Fsub) && b.zero();
    const Known result = op.op == Op::Bget  ? load(op)
                         : op.table != none ? Known::finite()
                                            : compute(op, a, b);
    if (op.sets != none) {
      int& mask = masks[static_cast<std::size_t>(op.sets)];
      int now = -1;
      if (result.kind == Known::Kind::Exact && !result.wild)
        now = op.flag == MaskFlag::Zero ? flag_zero(op, result) : flag_negative(op, result);
      mask = allowed == 1 || mask == now ? now : -1;
    }
    if (op.out == none) return true;
    Known& out = values[static_cast<std::size_t>(op.out)];
    if (allowed == 1) {
      out = result;
    } else if (!(out.kind == Known::Kind::Exact && result.kind == Known::Kind::Exact &&
                 out.word == result.word)) {
      const bool finite = is_finite(out) && is_finite(result);
      out = out.zero() && result.zero() ? out
            : finite                    ? Known::finite(out.may_be_zero() || result.may_be_zero())
                                        : Known{};
    }
    return true;
  }

 private:
  static bool is_finite(const Known& k) {
    return k.kind == Known::Kind::Finite ||
           (k.kind == Known::Kind::Exact && ((k.word.bits >> 60) & 2047) != 2047);
  }
  static int flag_zero(const MachineOp& op, const Known& k) {
    return info(op.op).unit == Unit::Integer ? upper_half(k.word).bits == 0 : is_zero(k.word);
  }
  static int flag_negative(const MachineOp& op, const Known& k) {
    return info(op.op).unit == Unit::Integer ? (k.word.bits >> 71) != 0 : is_negative(k.word);
  }

  Known operand(const Ref& r) const {
    if (r.kind == Ref::Kind::None) return Known::exact({});
    if (r.kind == Ref::Kind::Immediate)
      return Known::exact(r.width == Width::Long
                              ? Long{r.bits}
                              : widen_float(Short{static_cast<std::uint64_t>(r.bits)}));
    return values[static_cast<std::size_t>(r.value)];
  }

  Known load(const MachineOp& op) const {
    if (op.word == none) return values[static_cast<std::size_t>(op.out)];
    const ConstantWord& w = loop_.words[static_cast<std::size_t>(op.word)];
    return Known::exact(w.width == Width::Long
                            ? Long{w.bits}
                            : widen_float(Short{static_cast<std::uint64_t>(w.bits)}));
  }

  /// Words are kept as widened floats, so a short integer stands in the upper half.
  Known compute(const MachineOp& op, const Known& a, const Known& b) const {
    const OpInfo& row = info(op.op);
    if (op.op == Op::Upass && op.width == Width::Long) return a;
    const bool exact = a.kind == Known::Kind::Exact && b.kind == Known::Kind::Exact;
    if (row.unit == Unit::Integer) {
      if (exact && op.width == Width::Short) {
        const auto word = [](const Known& k) { return IntWord{upper_half(k.word).bits}; };
        const IntResult r = row.compute_int(word(a), word(b), Width::Short);
        Known k =
            combined(widen_float(Short{static_cast<std::uint64_t>(r.value) & Short::mask}), a, b);
        k.wild = !k.zero() && (k.wild || a.of_missing || b.of_missing);
        return k;
      }
      // A function's seed, of a number other than zero if it is to be trusted.
      const bool trusted = trust_seeds_ && !a.may_vanish && !b.may_vanish;
      return trusted && is_finite(a) && is_finite(b) ? Known::finite() : Known{};
    }
    if (exact) {
      Flags flags = no_flags;
      return combined(row.compute_float(a.word, b.word, op.width, flags), a, b);
    }
    const bool product = op.op == Op::Fmul || op.op == Op::Dmul;
    if (!is_finite(a) || !is_finite(b)) return {};
    if (product && (a.zero() || b.zero())) return Known::missing();
    // Whatever the other one is, the product may overflow.
    if (product && (a.wild || b.wild)) return {};
    const bool limit = op.op == Op::Fmax || op.op == Op::Fmin;
    if (product || limit) return Known::finite(a.may_be_zero() || b.may_be_zero());
    return Known::finite(a.may_be_zero() && b.may_be_zero());
  }

  /// What an operation makes of two words that are known.
  static Known combined(Long result, const Known& a, const Known& b) {
    Known k = Known::exact(result);
    k.of_missing = k.zero() && (a.of_missing || b.of_missing);
    k.wild = !k.zero() && (a.wild || b.wild);
    return k;
  }

  const MachineLoop& loop_;
  bool trust_seeds_;
};

std::vector<std::size_t> by_time(const MachineLoop& loop, const Schedule& s) {
  std::vector<std::size_t> order(loop.ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return s.time[a] < s.time[b]; });
  return order;
}

}  // namespace

int passes_needed(const MachineLoop& loop, const Schedule& s, const RingTimes& ring) {
  int most = 0;
  const int copies = ring.ring / ring.interval;
  for (std::size_t i = 0; i < loop.ops.size(); ++i)
    if (s.active[i]) most = std::max(most, ring.pass(s.time[i], copies - 1));
  return most + 1;
}

bool starts_clean(const MachineLoop& loop, const Schedule& s, const RingTimes& ring,
                  unsigned copies) {
  const std::vector<std::size_t> order = by_time(loop, s);
  const int passes = passes_needed(loop, s, ring);
  for (int copy = 0; copy < static_cast<int>(copies); ++copy) {
    for (int level = 1; level < passes; ++level) {
      Interpreter machine(loop, false);
      for (std::size_t v = 0; v < loop.values.size(); ++v)
        if (loop.values[v].origin != Origin::Resident) machine.values[v] = Known::missing();
      for (std::size_t m = 0; m < loop.masks.size(); ++m)
        machine.masks[m] = loop.masks[m].off ? 1 : 0;
      for (const std::size_t i : order) {
        if (!s.active[i] || ring.pass(s.time[i], copy) < level) continue;
        if (!machine.run(loop.ops[i])) return false;
      }
    }
  }
  return true;
}

std::vector<ValueId> neutral_fields(const MachineLoop& loop) {
  std::vector<ValueId> found;
  for (std::size_t f = 0; f < loop.values.size(); ++f) {
    if (loop.values[f].origin != Origin::Field || loop.values[f].integer) continue;
    Interpreter machine(loop, true);
    for (std::size_t v = 0; v < loop.values.size(); ++v)
      if (loop.values[v].origin == Origin::Field)
        machine.values[v] = v == f ? Known::missing() : Known::finite();
    bool clean = true;
    for (const std::size_t i : in_order(loop)) clean = clean && machine.run(loop.ops[i]);
    if (clean) found.push_back(static_cast<ValueId>(f));
  }
  return found;
}

}  // namespace gdr::kc
