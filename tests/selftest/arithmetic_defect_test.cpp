// Typical defects of arithmetic in host doubles: each is detected within a few thousand programs,
// that is, seconds of `gdr selftest`.
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/isa/table.hpp"
#include "emulator/selftest/selftest.hpp"
#include "selftest/defects.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

constexpr u128 sign = u128{1} << 71;
constexpr Long infinity{u128{2047} << 60};

unsigned exponent_of(Long w) { return static_cast<unsigned>(w.bits >> 60) & 2047; }
bool negative(Long w) { return (w.bits & sign) != 0; }
bool is_sum(const Arithmetic& slot) { return slot.op == Op::Fadd || slot.op == Op::Fsub; }
bool is_product(const Arithmetic& slot) { return slot.op == Op::Fmul || slot.op == Op::Dmul; }
bool finite(Long w) { return exponent_of(w) != 2047; }
double value(Long w) {
  Flags flags = no_flags;
  return double_from_long(w, flags);
}

/// -0 + -0 is +0.
Long lost_sign_of_zero(const Arithmetic& slot, Long, Long, Long right) {
  return is_sum(slot) && right.bits == sign ? Long{0} : right;
}

/// x - x is a zero with the sign of x.
Long sign_of_cancellation(const Arithmetic& slot, Long a, Long b, Long right) {
  return is_sum(slot) && right.bits == 0 && !is_zero(a) && !is_zero(b) && negative(a) ? Long{sign}
                                                                                      : right;
}

/// The product is rounded first, and only then compared with 2^-1022.
Long underflow_after_rounding(const Arithmetic& slot, Long a, Long b, Long right) {
  if (!is_product(slot) || !is_zero(right) || is_zero(a) || is_zero(b)) return right;
  // Both operands times 2^600, so that the product does not underflow.
  const auto up = [](Long w) { return Long{w.bits + (u128{600} << 60)}; };
  if (exponent_of(a) + 600 > 2046 || exponent_of(b) + 600 > 2046) return right;
  Flags flags = no_flags;
  const Long scaled = info(slot.op).compute_float(up(a), up(b), slot.width, flags);
  return exponent_of(scaled) == 1201 ? Long{(right.bits & sign) | (u128{1} << 60)} : right;
}

/// Ties are rounded away from zero in short products.
Long ties_away(const Arithmetic& slot, Long a, Long b, Long right) {
  if (!is_product(slot) || slot.width != Width::Short || !finite(right) || is_zero(right)) {
    return right;
  }
  Flags flags = no_flags;
  const Long wide = info(slot.op).compute_float(a, b, Width::Long, flags);
  const u128 rest = wide.bits & Short::mask;
  const bool tie = rest == u128{1} << 35;
  return tie && right.bits < (wide.bits | Short::mask) - Short::mask + 1
             ? Long{right.bits + (u128{1} << 36)}
             : right;
}

/// Ties are rounded away from zero in long products of one pass, which have 75 bits.
Long ties_away_in_longs(const Arithmetic& slot, Long a, Long b, Long right) {
  if (slot.op != Op::Fmul || slot.width != Width::Long || !finite(right) || is_zero(right)) {
    return right;
  }
  const auto leading = [](Long w, unsigned bits) {
    return ((w.bits & ((u128{1} << 60) - 1)) | u128{1} << 60) >> (61 - bits);
  };
  u128 product = leading(a, 50) * leading(b, 25);
  const u128 rest = product >> 74 != 0 ? (product & 16383) >> 1 | (product & 1) : product & 8191;
  return rest == 4096 ? Long{right.bits | 1} : right;
}

/// Bits more than 64 places below the larger operand are dropped instead of made sticky.
Long lost_sticky(const Arithmetic& slot, Long a, Long b, Long right) {
  if (!is_sum(slot) || slot.width != Width::Long || !finite(right)) return right;
  const Long& big = exponent_of(a) > exponent_of(b) ? a : b;
  const Long& small = exponent_of(a) > exponent_of(b) ? b : a;
  if (is_zero(small) || exponent_of(big) - exponent_of(small) != 62) return right;
  return big.bits == a.bits ? a : right;
}

/// A product slightly beyond the range is the largest number instead of infinity.
Long saturating_overflow(const Arithmetic& slot, Long a, Long b, Long right) {
  if (!is_product(slot) || finite(right) || !finite(a) || !finite(b)) return right;
  return exponent_of(a) + exponent_of(b) < 1023 + 2048
             ? Long{(right.bits & sign) | (infinity.bits - (u128{1} << 36))}
             : right;
}

/// The maximum of -0 and +0 is the first operand.
Long maximum_of_zeros(const Arithmetic& slot, Long a, Long b, Long right) {
  const bool pick = slot.op == Op::Fmax && is_zero(a) && is_zero(b) && negative(a) && !negative(b);
  return pick ? Long{sign} : right;
}

/// A NaN whose upper half has the bits of an infinity is treated as infinity.
Long hidden_nan(const Arithmetic& slot, Long a, Long, Long right) {
  const bool hidden = exponent_of(a) == 2047 && (a.bits >> 36 & 0xffffff) == 0 && is_nan(a);
  return slot.op == Op::Fcvt && hidden ? Long{(a.bits & sign) | infinity.bits} : right;
}

/// The fraction of a zero is not ignored in a product.
Long dirty_zero(const Arithmetic& slot, Long a, Long b, Long right) {
  const bool dirty = is_product(slot) && is_zero(a) && (a.bits & ~sign) != 0 && finite(b);
  return dirty ? Long{right.bits | (u128{1} << 60)} : right;
}

/// The sum of two longs is rounded to 53 bits before the rounding to short.
Long sum_in_double(const Arithmetic& slot, Long a, Long b, Long right) {
  if (!is_sum(slot) || slot.width != Width::Short || !finite(right) || is_zero(right)) return right;
  const double sum = slot.op == Op::Fadd ? value(a) + value(b) : value(a) - value(b);
  Flags flags = no_flags;
  const Long twice = short_from_double(sum, flags);
  // Flushing to zero is a different defect.
  return std::fpclassify(sum) == FP_NORMAL && finite(twice) ? twice : right;
}

/// The last eight fraction bits of a constant are dropped if their double is below 2^-1022.
Long lost_end_of_constant(const Arithmetic& slot, Long a, Long b, Long) {
  const auto cut = [](const Operand& x, Long w) {
    const auto last = static_cast<std::uint64_t>(w.bits) & 255;
    const bool below = exponent_of(w) + std::bit_width(last) <= 61;
    return x.space == Space::Immediate && below ? Long{w.bits - last} : w;
  };
  Flags flags = no_flags;
  return info(slot.op).compute_float(cut(slot.a, a), cut(slot.b, b), slot.width, flags);
}

struct Named {
  const char* name;
  WrongResult wrong;
};

const Named defects[] = {{"lost sign of zero", lost_sign_of_zero},
                         {"sign of a cancellation", sign_of_cancellation},
                         {"underflow after rounding", underflow_after_rounding},
                         {"ties away from zero", ties_away},
                         {"ties away from zero in longs", ties_away_in_longs},
                         {"lost sticky bit", lost_sticky},
                         {"saturating overflow", saturating_overflow},
                         {"maximum of zeros", maximum_of_zeros},
                         {"NaN that looks like an infinity", hidden_nan},
                         {"fraction of a zero", dirty_zero},
                         {"sum of longs in double", sum_in_double},
                         {"end of a small constant", lost_end_of_constant}};

}  // namespace

TEST_CASE("arithmetic defects in doubles are detected") {
  for (const Named& defect : defects) {
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<DefectiveEngine>(defect.wrong));
    selftest::Options options;
    options.category = "operations";
    options.cases = 2000;
    const selftest::Outcome outcome = selftest::run(engines, options);
    INFO(defect.name);
    REQUIRE(outcome.failure.has_value());
    INFO(selftest::failure_text(*outcome.failure));
    CHECK(outcome.failure->first.alone);
    CHECK(outcome.failure->shrunk.program.section(Section::Body).size() == 1);
  }
}

}  // namespace gdr::test
