#include "emulator/assembler/front/operand.hpp"

#include "emulator/assembler/front/expression.hpp"
#include "emulator/assembler/front/location.hpp"
#include "emulator/numeric/integer.hpp"

namespace gdr::assembly {
namespace {

/// An immediate: width and bits (a short in the low 36).
struct Immediate {
  Width width = Width::Short;
  u128 bits = 0;
};

bool hex_immediate(Assembly& a, const OpInfo& op, const SourceOperand& x, Immediate& out) {
  const unsigned digits = x.value.hex_digits;
  const auto bits = static_cast<u128>(x.value.integer);
  if (digits == 9 || digits == 18) {
    out = {digits == 9 ? Width::Short : Width::Long, bits};
    return true;
  }
  a.report.error(Code::HexDigits, x.span, "a hexadecimal floating-point number has 9 or 18 digits",
                 std::to_string(digits) + " digits; a short has 9, a long 18",
                 op.unit == Unit::Integer ? "" : "write all 9 or 18 digits, or a decimal number");
  return false;
}

bool rounded_immediate(Assembly& a, const SourceOperand& x, Width width, Immediate& out) {
  const Rounded rounded = round_binary(x.value.as_binary(), width);
  if (rounded.error != RoundError::None) {
    const bool large = rounded.error == RoundError::TooLarge;
    a.report.error(Code::ImmediateRange, x.span,
                   large ? "the number is too large: it would be infinite"
                         : "the number is too small: it would be zero",
                   large ? "at or above 2^1024" : "below 2^-1022",
                   large ? "for infinity use hexadecimal: 0x7ff000000" : "write 0");
    return false;
  }
  out = {width, rounded.bits};
  return true;
}

bool float_immediate(Assembly& a, const OpInfo& op, const SourceOperand& x, Immediate& out) {
  if (x.value.hex_digits != 0) return hex_immediate(a, op, x, out);
  if (x.value.suffix == 's') return rounded_immediate(a, x, Width::Short, out);
  if (x.value.suffix == 'l') return rounded_immediate(a, x, Width::Long, out);
  const Rounded as_short = round_binary(x.value.as_binary(), Width::Short);
  if (as_short.error == RoundError::None && as_short.exact) {
    out = {Width::Short, as_short.bits};
    return true;
  }
  return rounded_immediate(a, x, Width::Long, out);
}

bool integer_immediate(Assembly& a, const OpInfo& op, const SourceOperand& x, Width width,
                       Immediate& out) {
  const unsigned digits = x.value.hex_digits;
  if (digits == 9 || digits == 18) return hex_immediate(a, op, x, out);
  if (x.value.suffix != 0) {
    return rounded_immediate(a, x, x.value.suffix == 's' ? Width::Short : Width::Long, out);
  }
  if (x.value.real) return rounded_immediate(a, x, width, out);
  const i128 value = x.value.integer;
  const i128 limit = i128{1} << bit_count(width);
  if (value >= limit || value < -(limit / 2)) {
    a.report.error(Code::ImmediateRange, x.span, "the integer exceeds the width of the result",
                   std::to_string(bit_count(width)) + " bits",
                   width == Width::Short ? "a long destination has 72 bits" : "");
    return false;
  }
  out = {width, static_cast<u128>(value) & bit_mask(width)};
  return true;
}

bool set_location(Assembly& a, const SourceOperand& x, Operand& out) {
  const Operand& from = x.location.operand;
  switch (from.space) {
    case Space::Register:
    case Space::Local:
    case Space::LocalByT:
    case Space::T:
    case Space::PeNumber:
    case Space::BlockNumber:
      out = from;
      return true;
    case Space::None:
      a.report.error(Code::WrongOperand, x.span,
                     in_quotes(x.span.text()) + " can only be a destination");
      return false;
    default:
      a.report.error(
          Code::WrongOperand, x.span,
          in_quotes(x.span.text()) + " is in the broadcast memory, which arithmetic cannot read",
          {}, "transfer it first: `bget $lr0 " + std::string(x.span.text()) + "`");
      return false;
  }
}

}  // namespace

bool parse_operand(Assembly& a, Cursor& c, SourceOperand& x) {
  x.span.begin = c.p;
  x.number = false;
  const char first = c.peek();
  bool good = true;
  if (first == '$') {
    good = parse_location(a, c, x.location);
  } else if (is_digit(first)) {
    x.number = true;
    good = parse_number(a, c, x.value);
  } else if (first == '(' || first == '-' || first == '+' || (first == '.' && is_digit(c.p[1]))) {
    x.number = true;
    good = parse_primary(a, c, x.value);
  } else if (starts_name(first)) {
    Cursor ahead = c;
    const Name* name = a.names.find(ahead.name().text());
    if (name != nullptr && name->kind == NameKind::Constant) {
      c = ahead;
      x.number = true;
      x.value = name->value;
    } else if (name != nullptr && name->kind == NameKind::Location) {
      c = ahead;
      x.location = name->location;
      good = parse_suffixes(a, c, x.span.begin, x.location);
    } else {
      good = parse_location(a, c, x.location);
    }
  } else {
    const Span rest = c.rest_of_word();
    a.report.error(Code::UnexpectedCharacter, rest,
                   in_quotes(rest.text()) + " cannot begin an operand");
    good = false;
  }
  x.span.end = c.p;
  return good;
}

bool set_operands(Assembly& a, const OpInfo& op, std::array<SourceOperand, 2>& operands,
                  Arithmetic& slot) {
  Operand* const targets[2] = {&slot.a, &slot.b};
  bool have = false;
  Immediate first;
  for (unsigned i = 0; i < op.operands; ++i) {
    const SourceOperand& x = operands[i];
    if (!x.number) {
      if (!set_location(a, x, *targets[i])) return false;
      continue;
    }
    Immediate immediate;
    const bool good = op.unit == Unit::Integer ? integer_immediate(a, op, x, slot.width, immediate)
                                               : float_immediate(a, op, x, immediate);
    if (!good) return false;
    targets[i]->space = Space::Immediate;
    targets[i]->width = immediate.width;
    if (have) {
      // One field serves both if the short equals the lower part of the long.
      const u128 common = first.width == immediate.width && first.width == Width::Long
                              ? Long::mask
                              : u128{Short::mask};
      if (((first.bits ^ immediate.bits) & common) != 0) {
        a.report.error(Code::TwoImmediates, x.span,
                       "an operation holds one immediate, and this is a second one", {},
                       "store one of them in a register first");
        return false;
      }
      if (immediate.width == Width::Short) immediate.bits = first.bits;
    }
    first = immediate;
    have = true;
    slot.immediate.bits = immediate.bits;
  }
  return true;
}

}  // namespace gdr::assembly
