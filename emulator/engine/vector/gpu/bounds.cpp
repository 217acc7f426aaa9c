#include "emulator/engine/vector/gpu/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace gdr::codegen {
namespace {

using jit::Op;

constexpr std::uint64_t exponent_bits = std::uint64_t{2047} << 52;
constexpr Bounds zero{10000, -10000};
/// The number of bits after a double's first one.
constexpr int fraction = 52;
constexpr Bounds read{least_read - fraction, size_of_read};
constexpr Bounds tested_bits{least_tiny - fraction, size_tested};
constexpr int unit_of_factor = least_factor - fraction, unit_of_tiny = least_tiny - fraction;

Bounds either(Bounds a, Bounds b) { return {std::min(a.unit, b.unit), std::max(a.size, b.size)}; }
Bounds product(Bounds a, Bounds b) {
  if (a == zero || b == zero) return zero;
  return {a.unit + b.unit, a.size + b.size};
}
Bounds sum(Bounds a, Bounds b) {
  if (a == zero) return b;
  if (b == zero) return a;
  return {std::min(a.unit, b.unit), std::max(a.size, b.size) + 1};
}

class Analysis {
 public:
  Analysis(const Trace& trace, std::vector<CarriedRow>& carried)
      : steps_(trace.steps), carried_(carried), carried_of_(steps_.size(), none) {
    for (std::size_t c = 0; c < carried_.size(); ++c) carried_of_[carried_[c].in] = c;
    in_.assign(carried_.size(), read);
    out_tests_.assign(carried_.size(), 0);
    find_fixed();
    find_numbers();
    find_operands();
    find_escapes(trace);
    find_read_by_threads(trace);
  }

  LoopTests run() {
    settle();
    LoopTests made;
    made.of_step = tests_;
    for (std::size_t c = 0; c < carried_.size(); ++c)
      made.of_step[carried_[c].out] |= out_tests_[c];
    for (const std::optional<Bounds>& b : at_)
      if (b && b->unit < smallest_unit) made.suffice = false;
    made.is_fixed = is_fixed_;
    made.is_normal.resize(steps_.size());
    for (StepId n = 0; n < steps_.size(); ++n) made.is_normal[n] = at_[n].has_value();
    return made;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  static bool is_arithmetic(const Step& s) {
    return is_sum_of_device(s) ||
           (s.kind == Step::Kind::Operation &&
            (s.op == Op::Add || s.op == Op::Sub || s.op == Op::Mul || s.op == Op::Fma));
  }
  bool is_constant(StepId n) const { return steps_[n].kind == Step::Kind::Constant; }

  void find_fixed() {
    is_fixed_.assign(steps_.size(), false);
    for (StepId n = 0; n < steps_.size(); ++n) {
      const Step& s = steps_[n];
      if (s.kind == Step::Kind::Constant) {
        is_fixed_[n] = true;
      } else if (s.level != Level::Pass) {
        is_fixed_[n] =
            carried_of_[n] == none && s.op != Op::Collect &&
            std::ranges::all_of(s.in, [&](StepId in) { return in == no_step || is_fixed_[in]; });
      }
    }
  }
  /// As a fixed one from the second pass on.
  bool becomes_fixed(StepId n) const {
    const std::size_t c = carried_of_[n];
    return is_fixed_[n] || (c != none && is_fixed_[carried_[c].out]);
  }

  /// Results of floating-point operations, also those that were selected or carried.
  void find_numbers() {
    is_number_.assign(steps_.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (StepId n = 0; n < steps_.size(); ++n) {
        if (is_number_[n]) continue;
        const Step& s = steps_[n];
        const bool chosen = s.kind == Step::Kind::Operation && s.op == Op::Select &&
                            (is_number_[s.in[1]] || is_number_[s.in[2]]);
        const std::size_t c = carried_of_[n];
        const StepId cut = same_but_for_low_bits(s);
        if (!is_arithmetic(s) && !chosen && (cut == no_step || !is_number_[cut]) &&
            (c == none || !is_number_[carried_[c].out]))
          continue;
        is_number_[n] = changed = true;
      }
    }
  }

  /// Values that floating-point operations use, perhaps after a selection or in a later pass.
  /// Others, such as the least distance so far, may be of any size.
  void find_operands() {
    is_operand_.assign(steps_.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      const auto mark = [&](StepId n) {
        changed = changed || !is_operand_[n];
        is_operand_[n] = true;
      };
      for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
        const Step& s = steps_[n];
        if (is_arithmetic(s)) {
          for (const StepId in : s.in)
            if (in != no_step) mark(in);
        } else if (is_operand_[n]) {
          for (const StepId in : passed_on(n)) mark(in);
        }
      }
    }
  }
  /// What a step passes on as a number.
  std::vector<StepId> passed_on(StepId n) const {
    const Step& s = steps_[n];
    if (const std::size_t c = carried_of_[n]; c != none) return {carried_[c].out};
    if (s.kind != Step::Kind::Operation) return {};
    if (s.op == Op::Select) return {s.in[1], s.in[2]};
    if (const StepId same = same_but_for_low_bits(s); same != no_step) return {same};
    return {};
  }

  /// Values whose infinities and NaN would not be noticed: operands of others than floating-point
  /// operations. Where a comparison that is true of them ends up in the set of failures, they are.
  void find_escapes(const Trace& trace) {
    std::vector<bool> collected(steps_.size(), true);
    for (const RowStore& store : trace.stores) collected[store.value] = false;
    for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
      const Step& s = steps_[n];
      if (s.op == Op::Collect) continue;
      for (const StepId in : s.in)
        if (in != no_step && !(s.op == Op::Or && collected[n])) collected[in] = false;
    }
    escapes_.assign(steps_.size(), false);
    for (StepId n = 0; n < steps_.size(); ++n) {
      const Step& s = steps_[n];
      if (s.kind != Step::Kind::Operation || is_arithmetic(s) || s.op == Op::Collect) continue;
      const auto predicate = static_cast<jit::Predicate>(s.detail);
      const bool noticed = s.op == Op::Compare && collected[n] &&
                           predicate != jit::Predicate::Equal && predicate != jit::Predicate::Less;
      if (noticed) continue;
      for (unsigned k = 0; k < (s.op == Op::Select ? 1 : 3); ++k)
        if (s.in[k] != no_step) escapes_[s.in[k]] = true;
    }
    // What no operation uses is not tested itself, but where it comes from.
    for (bool changed = true; changed;) {
      changed = false;
      for (StepId n = static_cast<StepId>(steps_.size()); n-- > 0;) {
        if (!escapes_[n] || is_operand_[n]) continue;
        for (const StepId in : passed_on(n)) {
          changed = changed || !escapes_[in];
          escapes_[in] = true;
        }
      }
    }
  }

  void find_read_by_threads(const Trace& trace) {
    is_read_by_threads_.assign(steps_.size(), false);
    const auto computed_once = [&](StepId n) {
      return steps_[n].level == Level::Pass && !is_constant(n);
    };
    for (const Step& s : steps_)
      for (const StepId in : s.in)
        if (in != no_step && s.level != Level::Pass && computed_once(in))
          is_read_by_threads_[in] = true;
    for (const RowStore& store : trace.stores)
      if (computed_once(store.value)) is_read_by_threads_[store.value] = true;
  }

  /// One pass with the present assumptions about carried rows. False if they do not hold.
  bool holds() {
    at_.assign(steps_.size(), std::nullopt);
    if (!frozen_) tests_.assign(steps_.size(), 0);
    for (StepId n = 0; n < steps_.size(); ++n)
      if (is_arithmetic(steps_[n]) || (is_number_[n] && is_operand_[n])) bounds(n);
    // What this asks for may be another carried row.
    bool all = true;
    for (bool asked = true; asked;) {
      asked = false;
      for (std::size_t c = 0; c < carried_.size(); ++c) {
        const CarriedRow& row = carried_[c];
        if (!at_[row.in] || at_[row.out]) continue;
        bounds(row.out);
        asked = true;
      }
    }
    for (std::size_t c = 0; c < carried_.size(); ++c)
      if (at_[carried_[c].in] && either(in_[c], out(c)) != in_[c]) all = false;
    return all;
  }

  /// The value of a carried row after the pass, with its tests.
  Bounds out(std::size_t c) const { return tested(*at_[carried_[c].out], out_tests_[c]); }
  static Bounds tested(Bounds b, std::uint8_t tests) {
    if ((tests & test_tiny) != 0) b.unit = std::max(b.unit, unit_of_tiny);
    if ((tests & test_factor) != 0) b.unit = std::max(b.unit, unit_of_factor);
    if ((tests & test_size) != 0) b.size = std::min(b.size, size_tested);
    return b;
  }

  /// Finds assumptions that hold. Factors are tested where a product could be larger than
  /// 2^largest_product: rather few of them, if sums stay finite nevertheless.
  void settle() {
    for (const int largest : {1000, 800, 650}) {
      largest_product_ = largest;
      if (settles()) return;
    }
    // Whatever changes is tested in every pass.
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (!at_[carried_[c].in] || !is_number_[carried_[c].out]) continue;
      out_tests_[c] = test_factor | test_size;
      in_[c] = {std::min(read.unit, unit_of_factor), size_tested};
    }
    holds();
  }

  bool settles() {
    constexpr int rounds = 8;
    in_.assign(carried_.size(), read);
    out_tests_.assign(carried_.size(), 0);
    for (int round = 0; round < rounds; ++round) {
      if (holds()) return true;
      for (std::size_t c = 0; c < carried_.size(); ++c)
        if (at_[carried_[c].in]) in_[c] = either(in_[c], out(c));
    }
    // What still changes is a sum, or its unit is tested.
    if (holds()) return true;
    std::vector<std::size_t> sums;
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (!at_[carried_[c].in]) continue;
      const Bounds b = out(c);
      if (b.unit < in_[c].unit) {
        out_tests_[c] |= test_factor;
        in_[c].unit = std::min(read.unit, unit_of_factor);
      }
      if (b.size > in_[c].size) sums.push_back(c);
    }
    const auto growth_from = [&](int size) {
      for (const std::size_t c : sums) in_[c].size = size;
      holds();
      int most = 0;
      for (const std::size_t c : sums) most = std::max(most, out(c).size - size);
      return most;
    };
    const int growth = growth_from(size_of_sum);
    const int top = size_of_sum + growth * static_cast<int>(passes_between_tests);
    if (top > largest_size) return false;
    for (const std::size_t c : sums) in_[c].size = top;
    if (!holds_but_for(sums)) return false;
    // With these tests, sums grow by at most `growth` in a pass, wherever they are.
    frozen_ = true;
    int grown = 0;
    for (int size = size_of_sum; size < top; ++size) grown = std::max(grown, growth_from(size));
    frozen_ = false;
    if (grown > growth) return false;
    for (const std::size_t c : sums) carried_[c].sum = true;
    return true;
  }
  /// As holds, for carried rows that are not sums, whose size at the end of a pass is the same or
  /// tested.
  bool holds_but_for(const std::vector<std::size_t>& sums) {
    holds();
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (!at_[carried_[c].in]) continue;
      Bounds b = out(c);
      if (std::ranges::count(sums, c) != 0) b.size = in_[c].size;
      if (either(in_[c], b) != in_[c]) return false;
    }
    return true;
  }

  /// Bounds of a step's value as a number, which is tested if necessary.
  Bounds bounds(StepId n) {
    if (!at_[n]) {
      Bounds b = computed(n);
      // What many threads read was computed once for all of them, where a test costs nothing.
      if (is_read_by_threads_[n] && either(b, read) != read) {
        tests_[n] |= test_read;
        b = read;
      }
      if (frozen_) b = tested(b, tests_[n]);
      if (b.size > largest_size && escapes_[n]) {
        tests_[n] |= test_size;
        b.size = size_tested;
      }
      at_[n] = b;
    }
    return *at_[n];
  }

  Bounds computed(StepId n) {
    const Step& s = steps_[n];
    if (s.kind == Step::Kind::Constant) return of_constant(s.bits);
    if (const std::size_t c = carried_of_[n]; c != none) {
      tests_[n] |= test_read;
      return in_[c];
    }
    if (s.kind == Step::Kind::Row || s.kind == Step::Kind::Broadcast) {
      tests_[n] |= test_read;
      return read;
    }
    if (s.kind == Step::Kind::RoundedSum) return of_rounded_sum(s);
    if (is_sum_of_device(s)) return of_long_sum(s);
    switch (s.op) {
      case Op::Add:
      case Op::Sub:
        return sum(bounds(s.in[0]), bounds(s.in[1]));
      case Op::Mul:
        return of_product(s.in[0], s.in[1]);
      case Op::Fma:
        return of_fma(s);
      case Op::Select:
        if (is_number_or_constant(s.in[1]) && is_number_or_constant(s.in[2]))
          return either(bounds(s.in[1]), bounds(s.in[2]));
        for (const auto& [x, other] : {std::pair{s.in[1], s.in[2]}, std::pair{s.in[2], s.in[1]}})
          if (is_number_or_constant(x) && becomes_fixed(other) && !is_fixed_[n]) {
            tests_[n] |= test_selected;
            return either(bounds(x), tested_bits);
          }
        break;
      default:
        if (has_sign_only(n)) return zero;
        if (const StepId changed = same_but_for_low_bits(s);
            changed != no_step && (is_number_or_constant(changed) || !selects(s))) {
          Bounds b = bounds(changed);
          // Cut by a unit in the last place, or with its last bit set; neither where it is exact.
          if (b != zero) ++b.size;
          return b;
        }
    }
    // Arbitrary bits. Of a selection only what was selected is tested: the other value is often
    // stale.
    tests_[n] |= test_bits;
    return tested_bits;
  }
  bool is_number_or_constant(StepId n) const { return is_number_[n] || is_constant(n); }
  bool selects(const Step& s) const {
    return (s.op == Op::And || s.op == Op::AndNot) && (is_flag(s.in[0]) || is_flag(s.in[1]));
  }

  static Bounds of_constant(std::uint64_t bits) {
    const auto x = std::bit_cast<double>(bits);
    if (x == 0) return zero;
    if (!std::isnormal(x)) return {smallest_unit - 1, largest_size + 1};
    const std::uint64_t one = std::uint64_t{1} << fraction;
    const std::uint64_t significand = (bits & (one - 1)) | one;
    const int exponent = std::ilogb(x);
    return {exponent - fraction + std::countr_zero(significand), exponent + 1};
  }

  /// The operand that an operation on bits leaves a number of nearly the same size with the same
  /// unit, or a zero.
  StepId same_but_for_low_bits(const Step& s) const {
    const StepId a = s.in[0], b = s.in[1];
    switch (s.op) {
      case Op::And:
        if (keeps_number(b)) return a;
        if (keeps_number(a)) return b;
        return no_step;
      case Op::AndNot:  // ~a & b
        if (is_flag(a) || (is_constant(a) && keeps_exponent(~steps_[a].bits))) return b;
        return no_step;
      case Op::Or:
        if (has_sign_only(b) || is_last_bit(b)) return a;
        if (has_sign_only(a) || is_last_bit(a)) return b;
        return no_step;
      case Op::Xor:
        if (has_sign_only(b)) return a;
        if (has_sign_only(a)) return b;
        return no_step;
      case Op::IntSub:
        return is_last_bit(b) ? a : no_step;
      default:
        return no_step;
    }
  }
  bool keeps_number(StepId n) const {
    return is_flag(n) || (is_constant(n) && keeps_exponent(steps_[n].bits));
  }
  static bool keeps_exponent(std::uint64_t mask) { return (mask & exponent_bits) == exponent_bits; }
  /// All ones or zeros.
  bool is_flag(StepId n) const {
    const Step& s = steps_[n];
    if (s.kind != Step::Kind::Operation) return false;
    if (s.op == Op::Compare || s.op == Op::CompareSigned) return true;
    const bool logic = s.op == Op::And || s.op == Op::Or || s.op == Op::AndNot || s.op == Op::Xor;
    const auto flag_or_ones = [&](StepId k) {
      return is_flag(k) || (is_constant(k) && (steps_[k].bits == 0 || ~steps_[k].bits == 0));
    };
    return logic && flag_or_ones(s.in[0]) && flag_or_ones(s.in[1]);
  }
  bool has_sign_only(StepId n) const {
    const Step& s = steps_[n];
    if (s.kind == Step::Kind::Constant) return (s.bits & ~sign_bit) == 0;
    if (s.kind != Step::Kind::Operation) return false;
    if (s.op == Op::And) return has_sign_only(s.in[0]) || has_sign_only(s.in[1]);
    if (s.op == Op::AndNot) return has_sign_only(s.in[1]);
    if (s.op == Op::Or || s.op == Op::Xor) return has_sign_only(s.in[0]) && has_sign_only(s.in[1]);
    return s.op == Op::Select && has_sign_only(s.in[1]) && has_sign_only(s.in[2]);
  }
  /// 0 or 1 as an integer: a mask shifted (TestedSteps::truncated, to_odd).
  bool is_last_bit(StepId n) const {
    const Step& s = steps_[n];
    return s.kind == Step::Kind::Operation && s.op == Op::ShiftRight && s.detail == 63;
  }

  Bounds of_product(StepId a, StepId b) {
    Bounds p = product(bounds(a), bounds(b));
    if (frozen_) return p;
    for (int k = 0; k < 2 && p.unit < smallest_unit; ++k) {
      const bool first = at_[a]->unit < at_[b]->unit;
      test_unit(first ? a : b, smallest_unit - at_[first ? b : a]->unit);
      p = product(*at_[a], *at_[b]);
    }
    for (int k = 0; k < 2 && p.size > largest_product_; ++k) {
      limit_size(at_[a]->size > at_[b]->size ? a : b);
      p = product(*at_[a], *at_[b]);
    }
    return p;
  }
  /// Tests that a number's unit is at least 2^wanted, if a test can ensure it.
  void test_unit(StepId n, int wanted) {
    if (at_[n]->unit >= unit_of_factor || is_constant(n)) return;
    const bool tiny = wanted <= unit_of_tiny && at_[n]->unit < unit_of_tiny;
    tests_[n] |= tiny ? test_tiny : test_factor;
    at_[n]->unit = tiny ? unit_of_tiny : unit_of_factor;
  }
  void limit_size(StepId n) {
    if (at_[n]->size <= size_tested || is_constant(n)) return;
    tests_[n] |= test_size;
    at_[n]->size = size_tested;
  }

  /// A sum, and its product with 2^28 (RoundedSum). Infinite or NaN, if that is infinite.
  Bounds of_rounded_sum(const Step& s) {
    const StepId a = s.in[0], b = s.in[1];
    Bounds x = sum(bounds(a), bounds(b));
    for (int k = 0; k < 2 && x.size + 28 > largest_product_ && !frozen_; ++k) {
      limit_size(at_[a]->size > at_[b]->size ? a : b);
      x = sum(*at_[a], *at_[b]);
    }
    if (x == zero) return x;
    return {x.unit, x.size + 28 > largest_size ? largest_size + 28 : x.size + 1};
  }
  /// Rounding leaves multiples of the units. What is added to a tail is a multiple of 2^-9 times
  /// the leading place of the sum (accumulator.hpp).
  Bounds of_long_sum(const Step& s) {
    const StepId h = s.in[0], l = s.in[1], term = s.in[2];
    bounds(l);
    if (std::min(bounds(h).unit, bounds(term).unit) < smallest_unit + 9 && !frozen_)
      test_unit(at_[h]->unit < at_[term]->unit ? h : term, smallest_unit + 9);
    Bounds x = sum(sum(*at_[h], *at_[term]), *at_[l]);
    if (x != zero && x.unit < smallest_unit + 9) x.unit = smallest_unit - 1;  // refused
    return x;
  }

  Bounds of_fma(const Step& s) {
    if (const auto b = of_rounding(s)) return *b;
    const Bounds p = of_product(s.in[0], s.in[1]);
    return sum(p, bounds(s.in[2]));
  }

  /// Roundings are pairs of fused operations with the same factor: x c + (z - x d), where c - d is
  /// small or 0 (TestedSteps::round_short, round_with, round_tail).
  std::optional<Bounds> of_rounding(const Step& outer) {
    const StepId third = outer.in[2];
    const Step& inner = steps_[third];
    if (inner.kind != Step::Kind::Operation || inner.op != Op::Fma) return std::nullopt;
    const auto x = factor_and_constant(outer), y = factor_and_constant(inner);
    if (!x || !y || x->first != y->first) return std::nullopt;
    const auto negated = [](const Step& s, unsigned bit) { return (s.detail & bit) != 0 ? -1 : 1; };
    const double c = x->second * negated(outer, jit::negate_product);
    const double d =
        y->second * negated(inner, jit::negate_product) * negated(outer, jit::negate_addend);
    const double left = std::abs(c + d);
    if (left > 1) return std::nullopt;
    const Bounds factor = bounds(x->first);
    const Bounds whole = bounds(third);
    const Bounds z = bounds(inner.in[2]);
    if (whole.size > largest_size) return std::nullopt;  // the plain rule gives the same
    // The error of the inner rounding is less than 2^-52 of its result.
    const int error = whole.size - fraction;
    const int size = std::max({left == 0 ? zero.size : factor.size, z.size, error}) + 2;
    // Without a product left, z is rounded where the product's last place is, or not at all.
    if (left == 0) return Bounds{z.unit, size};
    return Bounds{std::min(of_product(outer.in[0], outer.in[1]).unit, whole.unit), size};
  }
  std::optional<std::pair<StepId, double>> factor_and_constant(const Step& s) const {
    for (unsigned k = 0; k < 2; ++k)
      if (is_constant(s.in[k]))
        return std::pair{s.in[1 - k], std::bit_cast<double>(steps_[s.in[k]].bits)};
    return std::nullopt;
  }

  const std::vector<Step>& steps_;
  std::vector<CarriedRow>& carried_;
  std::vector<std::size_t> carried_of_;  ///< by step that reads a carried row: its number
  std::vector<Bounds> in_;               ///< of carried rows at the beginning of a pass
  std::vector<std::uint8_t> out_tests_;  ///< of carried rows at the end of a pass
  std::vector<bool> is_fixed_, is_number_, is_operand_, escapes_, is_read_by_threads_;
  std::vector<std::optional<Bounds>> at_;
  std::vector<std::uint8_t> tests_;
  int largest_product_ = largest_size;
  bool frozen_ = false;  ///< no tests are added
};

}  // namespace

LoopTests loop_tests(const Trace& trace, std::vector<CarriedRow>& carried) {
  return Analysis(trace, carried).run();
}

}  // namespace gdr::codegen
