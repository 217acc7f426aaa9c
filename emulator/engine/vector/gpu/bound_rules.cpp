#include "emulator/engine/vector/gpu/bound_rules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdr::codegen {
namespace {

using jit::Op;

constexpr Bounds tested_bits{min_tiny - fraction, size_tested};

Bounds product(Bounds a, Bounds b) {
  if (a == zero_bounds || b == zero_bounds) return zero_bounds;
  return {a.unit + b.unit, a.size + b.size};
}
Bounds sum(Bounds a, Bounds b) {
  if (a == zero_bounds) return b;
  if (b == zero_bounds) return a;
  return {std::min(a.unit, b.unit), std::max(a.size, b.size) + 1};
}
Bounds of_constant(std::uint64_t bits) {
  const auto x = std::bit_cast<double>(bits);
  if (x == 0) return zero_bounds;
  if (!std::isnormal(x)) return {smallest_unit - 1, largest_size + 1};
  const std::uint64_t one = std::uint64_t{1} << fraction;
  const std::uint64_t significand = (bits & (one - 1)) | one;
  const int exponent = std::ilogb(x);
  return {exponent - fraction + std::countr_zero(significand), exponent + 1};
}

}  // namespace

void BoundRules::compute(const std::vector<RowAssumption>& rows,
                         const std::vector<CarriedRow>& carried) {
  rows_ = &rows;
  at_.assign(facts_.count(), std::nullopt);
  if (!frozen_) tests_.assign(facts_.count(), 0);
  for (StepId n = 0; n < facts_.count(); ++n)
    if (StepFacts::is_arithmetic(facts_.step(n)) || (facts_.is_number(n) && facts_.is_operand(n)))
      bounds(n);
  // What this asks for may be another carried row.
  for (bool asked = true; asked;) {
    asked = false;
    for (std::size_t c = 0; c < carried.size(); ++c) {
      const CarriedRow& row = carried[c];
      if (!at_[row.in] || at_[row.out]) continue;
      bounds(row.out);
      asked = true;
    }
  }
}

Bounds BoundRules::tested(Bounds b, std::uint8_t tests) {
  if ((tests & test_tiny) != 0) b.unit = std::max(b.unit, unit_of_tiny);
  if ((tests & test_factor) != 0) b.unit = std::max(b.unit, unit_of_factor);
  if ((tests & test_size) != 0) b.size = std::min(b.size, size_tested);
  return b;
}

/// Bounds of a step's value as a number, which is tested if necessary.
Bounds BoundRules::bounds(StepId n) {
  if (!at_[n]) {
    Bounds b = computed(n);
    // What many threads read was computed once for all of them, where a test costs nothing.
    if (facts_.is_read_by_threads(n) && either(b, read_bounds) != read_bounds) {
      tests_[n] |= test_read;
      b = read_bounds;
    }
    if (frozen_) b = tested(b, tests_[n]);
    if (b.size > largest_size && facts_.escapes(n)) {
      tests_[n] |= test_size;
      b.size = size_tested;
    }
    at_[n] = b;
  }
  return *at_[n];
}

Bounds BoundRules::computed(StepId n) {
  const Step& s = facts_.step(n);
  if (s.kind == Step::Kind::Constant) return of_constant(s.bits);
  if (const std::size_t c = facts_.carried_of(n); c != StepFacts::none) {
    tests_[n] |= test_read;
    return (*rows_)[c].in;
  }
  if (s.kind == Step::Kind::Row || s.kind == Step::Kind::Broadcast) {
    tests_[n] |= test_read;
    return read_bounds;
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
      if (facts_.is_number_or_constant(s.in[1]) && facts_.is_number_or_constant(s.in[2]))
        return either(bounds(s.in[1]), bounds(s.in[2]));
      for (const auto& [x, other] : {std::pair{s.in[1], s.in[2]}, std::pair{s.in[2], s.in[1]}})
        if (facts_.is_number_or_constant(x) && facts_.becomes_fixed(other) && !facts_.is_fixed(n)) {
          tests_[n] |= test_selected;
          return either(bounds(x), tested_bits);
        }
      break;
    default:
      if (facts_.has_sign_only(n)) return zero_bounds;
      if (const StepId changed = facts_.same_but_for_low_bits(s);
          changed != no_step && (facts_.is_number_or_constant(changed) || !facts_.selects(s))) {
        Bounds b = bounds(changed);
        // Cut by a unit in the last place, or with its last bit set; neither where it is exact.
        if (b != zero_bounds) ++b.size;
        return b;
      }
  }
  // Arbitrary bits. Of a selection only what was selected is tested: the other value is often
  // stale.
  tests_[n] |= test_bits;
  return tested_bits;
}

Bounds BoundRules::of_product(StepId a, StepId b) {
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
void BoundRules::test_unit(StepId n, int wanted) {
  if (at_[n]->unit >= unit_of_factor || facts_.is_constant(n)) return;
  const bool tiny = wanted <= unit_of_tiny && at_[n]->unit < unit_of_tiny;
  tests_[n] |= tiny ? test_tiny : test_factor;
  at_[n]->unit = tiny ? unit_of_tiny : unit_of_factor;
}
void BoundRules::limit_size(StepId n) {
  if (at_[n]->size <= size_tested || facts_.is_constant(n)) return;
  tests_[n] |= test_size;
  at_[n]->size = size_tested;
}

/// A sum, and its product with 2^28 (RoundedSum). Infinite or NaN, if that is infinite.
Bounds BoundRules::of_rounded_sum(const Step& s) {
  const StepId a = s.in[0], b = s.in[1];
  Bounds x = sum(bounds(a), bounds(b));
  for (int k = 0; k < 2 && x.size + 28 > largest_product_ && !frozen_; ++k) {
    limit_size(at_[a]->size > at_[b]->size ? a : b);
    x = sum(*at_[a], *at_[b]);
  }
  if (x == zero_bounds) return x;
  return {x.unit, x.size + 28 > largest_size ? largest_size + 28 : x.size + 1};
}
/// Rounding leaves multiples of the units. What is added to a tail is a multiple of 2^-9 times
/// the leading place of the sum (accumulator.hpp).
Bounds BoundRules::of_long_sum(const Step& s) {
  const StepId h = s.in[0], l = s.in[1], term = s.in[2];
  bounds(l);
  if (std::min(bounds(h).unit, bounds(term).unit) < smallest_unit + 9 && !frozen_)
    test_unit(at_[h]->unit < at_[term]->unit ? h : term, smallest_unit + 9);
  Bounds x = sum(sum(*at_[h], *at_[term]), *at_[l]);
  if (x != zero_bounds && x.unit < smallest_unit + 9) x.unit = smallest_unit - 1;  // refused
  return x;
}

Bounds BoundRules::of_fma(const Step& s) {
  if (const auto b = of_rounding(s)) return *b;
  const Bounds p = of_product(s.in[0], s.in[1]);
  return sum(p, bounds(s.in[2]));
}

/// Roundings are pairs of fused operations with the same factor: x c + (z - x d), where c - d is
/// small or 0 (TestedSteps::round_short, round_with, round_tail).
std::optional<Bounds> BoundRules::of_rounding(const Step& outer) {
  const StepId third = outer.in[2];
  const Step& inner = facts_.step(third);
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
  const int size = std::max({left == 0 ? zero_bounds.size : factor.size, z.size, error}) + 2;
  // Without a product left, z is rounded where the product's last place is, or not at all.
  if (left == 0) return Bounds{z.unit, size};
  return Bounds{std::min(of_product(outer.in[0], outer.in[1]).unit, whole.unit), size};
}
std::optional<std::pair<StepId, double>> BoundRules::factor_and_constant(const Step& s) const {
  for (unsigned k = 0; k < 2; ++k)
    if (facts_.is_constant(s.in[k]))
      return std::pair{s.in[1 - k], std::bit_cast<double>(facts_.step(s.in[k]).bits)};
  return std::nullopt;
}

}  // namespace gdr::codegen
