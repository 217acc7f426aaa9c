// Unpacking of words to MPFR numbers, MPFR's arithmetic, and packing of the results.
#include "support/float_oracle.hpp"

#include <stdexcept>

namespace oracle {
namespace {

/// The longest exact sum spans from 2^1024 down to the last bit of the smallest long, 2^-1082.
constexpr mpfr_prec_t enough = 2200;

enum class Kind { Zero, Finite, Infinity, Nan };

long bias(Format format) { return (1L << (format.exponent_bits - 1)) - 1; }
long field(Word w) {
  return static_cast<long>(w.bits >> w.format.fraction_bits) & ((1L << w.format.exponent_bits) - 1);
}
std::uint64_t fraction(Word w) {
  return static_cast<std::uint64_t>(w.bits & ((Bits{1} << w.format.fraction_bits) - 1));
}
bool negative(Word w) { return (w.bits >> (w.format.width() - 1) & 1) != 0; }

Kind kind(Word w) {
  if (field(w) == 0) return Kind::Zero;
  if (field(w) != 2 * bias(w.format) + 1) return Kind::Finite;
  return fraction(w) == 0 ? Kind::Infinity : Kind::Nan;
}

Bits signed_bits(bool is_negative, Bits rest, Format format) {
  return (Bits{is_negative} << (format.width() - 1)) | rest;
}
Result infinity(bool is_negative, Format out, std::string flags = "-") {
  const Bits all_ones = (Bits{1} << out.exponent_bits) - 1;
  return {signed_bits(is_negative, all_ones << out.fraction_bits, out), std::move(flags)};
}
Result zero(bool is_negative, Format out, std::string flags = "-") {
  return {signed_bits(is_negative, 0, out), std::move(flags)};
}
Result nan(Format out, std::string flags = "-") {
  return {infinity(false, out).bits | (Bits{1} << (out.fraction_bits - 1)), std::move(flags)};
}

void require_exact(int ternary) {
  if (ternary != 0) throw std::logic_error("the oracle's precision is too small");
}

}  // namespace

std::string_view name_of(Op op) {
  switch (op) {
    case Op::Fadd:
      return "fadd";
    case Op::Fsub:
      return "fsub";
    case Op::Fmul:
      return "fmul";
    case Op::Dmul:
      return "dmul";
    case Op::Fmax:
      return "fmax";
    case Op::Fmin:
      return "fmin";
    case Op::Cvt:
      break;
  }
  return "cvt";
}

Oracle::Oracle() { mpfr_inits2(enough, a_, b_, exact_, limit_, static_cast<mpfr_ptr>(nullptr)); }

Oracle::~Oracle() { mpfr_clears(a_, b_, exact_, limit_, static_cast<mpfr_ptr>(nullptr)); }

/// The value of a finite word or of a zero.
void Oracle::load(mpfr_t value, Word w) {
  if (kind(w) == Kind::Zero) {
    mpfr_set_zero(value, negative(w) ? -1 : 1);
    return;
  }
  const std::uint64_t one = std::uint64_t{1} << w.format.fraction_bits;
  const long scale = field(w) - bias(w.format) - w.format.fraction_bits;
  require_exact(mpfr_set_ui_2exp(value, one + fraction(w), scale, MPFR_RNDN));
  if (negative(w)) mpfr_neg(value, value, MPFR_RNDN);
}

/// Rounds exact_, which is finite, to a format. `is_negative` is the sign of a zero.
Result Oracle::round(bool is_negative, Format out) {
  if (mpfr_zero_p(exact_) != 0) return zero(is_negative, out);
  is_negative = mpfr_signbit(exact_) != 0;
  mpfr_set_ui_2exp(limit_, 1, 1 - bias(out), MPFR_RNDN);
  if (mpfr_cmpabs(exact_, limit_) < 0) return zero(is_negative, out, "u");
  mpfr_prec_round(exact_, out.fraction_bits + 1, MPFR_RNDN);
  mpfr_set_ui_2exp(limit_, 1, bias(out) + 1, MPFR_RNDN);
  const bool overflow = mpfr_cmpabs(exact_, limit_) >= 0;
  Result result = infinity(is_negative, out, "o");
  if (!overflow) {
    // MPFR's exponent e means a significand in [1/2, 1): the value is in [2^(e-1), 2^e).
    const long exponent = static_cast<long>(mpfr_get_exp(exact_)) - 1;
    mpfr_mul_2si(exact_, exact_, out.fraction_bits - exponent, MPFR_RNDN);
    mpfr_abs(exact_, exact_, MPFR_RNDN);
    const Bits integer = mpfr_get_ui(exact_, MPFR_RNDZ);
    const Bits rest = integer - (Bits{1} << out.fraction_bits);
    const Bits biased = static_cast<Bits>(exponent + bias(out));
    result = {signed_bits(is_negative, (biased << out.fraction_bits) | rest, out), "-"};
  }
  mpfr_set_prec(exact_, enough);
  return result;
}

Result Oracle::sum(Word a, Word b, bool subtract, Format out) {
  const bool b_negative = negative(b) != subtract;
  if (kind(a) == Kind::Infinity && kind(b) == Kind::Infinity) {
    return negative(a) == b_negative ? infinity(b_negative, out) : nan(out, "i");
  }
  if (kind(a) == Kind::Infinity) return infinity(negative(a), out);
  if (kind(b) == Kind::Infinity) return infinity(b_negative, out);
  load(a_, a);
  load(b_, b);
  require_exact((subtract ? mpfr_sub : mpfr_add)(exact_, a_, b_, MPFR_RNDN));
  // Only two zeros of one sign give a negative zero; x - x is +0.
  const bool zeros = kind(a) == Kind::Zero && kind(b) == Kind::Zero;
  return round(zeros && negative(a) && b_negative, out);
}

Result Oracle::product(Word a, int a_bits, Word b, int b_bits, Format out) {
  const bool is_negative = negative(a) != negative(b);
  if (kind(a) == Kind::Infinity || kind(b) == Kind::Infinity) {
    const bool has_zero = kind(a) == Kind::Zero || kind(b) == Kind::Zero;
    return has_zero ? nan(out, "i") : infinity(is_negative, out);
  }
  load(a_, a);
  load(b_, b);
  mpfr_prec_round(a_, a_bits, MPFR_RNDZ);  // truncated to the leading bits
  mpfr_prec_round(b_, b_bits, MPFR_RNDZ);
  require_exact(mpfr_mul(exact_, a_, b_, MPFR_RNDN));
  mpfr_set_prec(a_, enough);
  mpfr_set_prec(b_, enough);
  return round(is_negative, out);
}

Result Oracle::choose(Word a, Word b, bool larger, Format out) {
  const auto value = [&](mpfr_t target, Word w) {
    if (kind(w) == Kind::Infinity) {
      mpfr_set_inf(target, negative(w) ? -1 : 1);
    } else {
      load(target, w);
    }
  };
  value(a_, a);
  value(b_, b);
  int order = mpfr_cmp(a_, b_);
  if (order == 0) order = static_cast<int>(negative(b)) - static_cast<int>(negative(a));
  const bool take_a = larger ? order >= 0 : order <= 0;
  const Word chosen = take_a ? a : b;
  return evaluate(Op::Cvt, chosen, chosen, out);
}

Result Oracle::evaluate(Op op, Word a, Word b, Format out) {
  if (kind(a) == Kind::Nan || (op != Op::Cvt && kind(b) == Kind::Nan)) return nan(out);
  switch (op) {
    case Op::Fadd:
      return sum(a, b, false, out);
    case Op::Fsub:
      return sum(a, b, true, out);
    case Op::Fmul:
      return product(a, 50, b, 25, out);
    case Op::Dmul:
      return product(a, 50, b, 50, out);
    case Op::Fmax:
      return choose(a, b, true, out);
    case Op::Fmin:
      return choose(a, b, false, out);
    case Op::Cvt:
      break;
  }
  if (kind(a) == Kind::Infinity) return infinity(negative(a), out);
  load(a_, a);
  mpfr_set(exact_, a_, MPFR_RNDN);
  return round(negative(a), out);
}

std::string hex(Bits bits, Format format) {
  std::string text;
  for (int shift = (format.width() + 3) / 4 * 4 - 4; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[static_cast<unsigned>(bits >> shift) & 15U];
  }
  return text;
}

std::string describe(Op op, Word a, Word b, Format out) {
  std::string text{name_of(op)};
  text += out == long_format ? ".l " : out == short_format ? ".s " : ".d ";
  text += hex(a.bits, a.format);
  return op == Op::Cvt ? text : text + " " + hex(b.bits, b.format);
}

}  // namespace oracle
