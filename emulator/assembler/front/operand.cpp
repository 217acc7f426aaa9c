// Operands of arithmetic. Destinations: a location, T and a mask flag, separated by colons.
// Sources: locations, fixed inputs and immediates.
#include <algorithm>
#include <optional>

#include "emulator/assembler/front/parser.hpp"
#include "emulator/numeric/integer.hpp"

namespace gdr::assembly {
namespace {

/// A part of a destination outside the masks.
struct Part {
  Operand operand;
  Span span;
};
struct Parts {
  std::optional<Part> location;  ///< outside T, or $null
  std::optional<Part> t;
};

MaskFlag find_flag(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(mask_flag_names, text);
  return found == mask_flag_names.end() ? MaskFlag::None
                                        : static_cast<MaskFlag>(found - mask_flag_names.begin());
}

bool bad(Assembly& a, Span span, std::string message, std::string help = {}) {
  return a.report.error(Code::BadDestination, span, std::move(message), {}, std::move(help));
}

bool bad_mask(Assembly& a, Span span, std::string message, std::string help) {
  return a.report.error(Code::BadMask, span, std::move(message), {}, std::move(help));
}

/// Whether `mN.flag` is at the cursor.
bool looks_like_mask(Cursor c) noexcept {
  if (!c.accept('m') || !is_digit(*c.p)) return false;
  while (is_digit(*c.p)) ++c.p;
  if (!c.accept('.')) return false;
  const std::string_view flag = c.word().text();
  return flag != "v" && flag != "s" && flag != "hi" && flag != "lo";
}

bool parse_mask(Assembly& a, Cursor& c, const OpInfo& op, Arithmetic& slot) {
  const char* begin = c.p++;
  const unsigned mask = parse_mask_number(c);
  ++c.p;
  const Span flag_span = c.word();
  const Span span{begin, c.p};
  const MaskFlag flag = find_flag(flag_span.text());
  if (flag == MaskFlag::None) {
    return bad_mask(a, flag_span, "unknown flag " + in_quotes(flag_span.text()),
                    "flags are neg, zero and carry");
  }
  if (!check_mask(a, span, mask)) return false;
  if (op.unit == Unit::Multiplier)
    return bad_mask(a, span, "the multiplier sets no masks", "use an operation of the adder");
  if (flag == MaskFlag::Carry && op.unit != Unit::Integer) {
    return bad_mask(a, span, "carry is a flag of the integer unit", "use neg or zero");
  }
  if (slot.mask.flag != MaskFlag::None) return bad(a, span, "an operation sets one mask only");
  slot.mask = {flag, static_cast<std::uint8_t>(mask)};
  return true;
}

bool parse_location_part(Assembly& a, Cursor& c, Parts& parts) {
  const char* begin = c.p;
  if (is_digit(c.peek()) || c.peek() == '-' || c.peek() == '(') {
    return a.report.error(Code::WrongOperand, c.rest_of_word(), "a number cannot be a destination",
                          {}, "the destination comes first");
  }
  if (!starts_name(c.peek()) && c.peek() != '$')
    return bad(a, c.rest_of_word(), "a destination is expected here");
  Location location;
  if (!parse_location(a, c, location)) return false;
  const Operand& x = location.operand;
  const Span span{begin, c.p};
  if (in_broadcast_memory(x.space)) {
    return a.report.error(
        Code::WrongOperand, span,
        in_quotes(span.text()) + " is in the broadcast memory, which arithmetic cannot write", {},
        "write it with `bput`");
  }
  if (x.space == Space::PeNumber || x.space == Space::BlockNumber) {
    return bad(a, span, in_quotes(span.text()) + " is a fixed input and cannot be written");
  }
  if (x.space == Space::T) {
    if (parts.t) return bad(a, span, "T is written twice");
    parts.t = {x, span};
    return true;
  }
  if (parts.location) {
    return bad(a, span, "an operation writes one location only",
               "T and a mask can be added: dx:$t:m0.neg");
  }
  parts.location = {x, span};
  return true;
}

bool combine(Assembly& a, const Parts& parts, Arithmetic& slot) {
  // An operation that writes masks only is long.
  const auto& first = parts.location ? parts.location : parts.t;
  slot.width = first ? first->operand.width : Width::Long;
  if (first && first->operand.used()) slot.dst = first->operand;
  if (!parts.location || !parts.t) return true;
  const Operand& t = parts.t->operand;
  const bool wide = slot.width == Width::Long;
  if (t.width != slot.width) {
    return a.report.error(Code::WidthMismatch, parts.t->span,
                          "T must have the width of the other destination",
                          wide ? "the location is long" : "the location is short",
                          wide ? "write $t" : "write $th or $tl");
  }
  slot.t = wide ? TTarget::Whole : t.address == 0 ? TTarget::Upper : TTarget::Lower;
  return true;
}

/// An immediate: width and bits (a short in the low 36).
struct Immediate {
  Width width = Width::Short;
  u128 bits = 0;
};

bool hex_immediate(Assembly& a, const SourceOperand& x, Immediate& out) {
  const unsigned digits = x.value.hex_digits;
  const auto bits = static_cast<u128>(x.value.integer);
  if (digits == 9 || digits == 18) {
    out = {digits == 9 ? Width::Short : Width::Long, bits};
    return true;
  }
  return a.report.error(Code::HexDigits, x.span,
                        "a hexadecimal floating-point number has 9 or 18 digits",
                        std::to_string(digits) + " digits; a short has 9, a long 18",
                        "write all 9 or 18 digits, or a decimal number");
}

bool rounded_immediate(Assembly& a, const SourceOperand& x, Width width, Immediate& out) {
  const Rounded rounded = round_binary(x.value.as_binary(), width);
  if (rounded.error != RoundError::None) {
    const bool large = rounded.error == RoundError::TooLarge;
    return a.report.error(Code::ImmediateRange, x.span,
                          large ? "the number is too large: it would be infinite"
                                : "the number is too small: it would be zero",
                          large ? "at or above 2^1024" : "below 2^-1022",
                          large ? "for infinity use hexadecimal: 0x7ff000000" : "write 0");
  }
  out = {width, rounded.bits};
  return true;
}

bool float_immediate(Assembly& a, const SourceOperand& x, Immediate& out) {
  if (x.value.hex_digits != 0) return hex_immediate(a, x, out);
  const Rounded as_short = round_binary(x.value.as_binary(), Width::Short);
  const bool exact = as_short.error == RoundError::None && as_short.exact;
  const bool is_short = x.value.suffix == 0 ? exact : x.value.suffix == 's';
  return rounded_immediate(a, x, is_short ? Width::Short : Width::Long, out);
}

bool integer_immediate(Assembly& a, const SourceOperand& x, Width width, Immediate& out) {
  const unsigned digits = x.value.hex_digits;
  if (digits == 9 || digits == 18) return hex_immediate(a, x, out);
  if (x.value.suffix != 0) {
    return rounded_immediate(a, x, x.value.suffix == 's' ? Width::Short : Width::Long, out);
  }
  if (x.value.real) return rounded_immediate(a, x, width, out);
  const i128 value = x.value.integer;
  const i128 limit = i128{1} << bit_count(width);
  if (value >= limit || value < -(limit / 2)) {
    return a.report.error(Code::ImmediateRange, x.span,
                          "the integer exceeds the width of the result",
                          std::to_string(bit_count(width)) + " bits",
                          width == Width::Short ? "a long destination has 72 bits" : "");
  }
  out = {width, static_cast<u128>(value) & bit_mask(width)};
  return true;
}

bool set_location(Assembly& a, const SourceOperand& x, Operand& out) {
  out = x.location.operand;
  if (out.space == Space::None) {
    return a.report.error(Code::WrongOperand, x.span,
                          in_quotes(x.span.text()) + " can only be a destination");
  }
  if (!in_broadcast_memory(out.space)) return true;
  return a.report.error(
      Code::WrongOperand, x.span,
      in_quotes(x.span.text()) + " is in the broadcast memory, which arithmetic cannot read", {},
      "transfer it first: `bget $lr0 " + std::string(x.span.text()) + "`");
}

}  // namespace

unsigned parse_mask_number(Cursor& c) noexcept {
  unsigned number = 0;
  for (; is_digit(*c.p); ++c.p) {
    number = std::min(number * 10 + static_cast<unsigned>(*c.p - '0'), 1000U);
  }
  return number;
}

bool check_mask(Assembly& a, Span span, unsigned number) {
  return number < mask_registers ||
         a.report.error(Code::BadMask, span, "mask " + std::to_string(number) + " does not exist",
                        {}, "masks are m0 to m" + std::to_string(mask_registers - 1));
}

bool parse_destination(Assembly& a, Cursor& c, const OpInfo& op, Arithmetic& slot,
                       unsigned slot_number, InstructionText& text) {
  Parts parts;
  do {
    const bool good =
        looks_like_mask(c) ? parse_mask(a, c, op, slot) : parse_location_part(a, c, parts);
    if (!good) return false;
  } while (c.accept(':'));
  if (!combine(a, parts, slot)) return false;
  for (const auto& part : {parts.location, parts.t}) {
    if (part && part->operand.used()) text.add(part->span, slot_number, true, part->operand);
  }
  return true;
}

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
    good = a.report.error(Code::UnexpectedCharacter, rest,
                          in_quotes(rest.text()) + " cannot begin an operand");
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
    const bool good = op.unit == Unit::Integer ? integer_immediate(a, x, slot.width, immediate)
                                               : float_immediate(a, x, immediate);
    if (!good) return false;
    targets[i]->space = Space::Immediate;
    targets[i]->width = immediate.width;
    if (have) {
      // One field serves both if the short equals the lower part of the long.
      const u128 common = first.width == immediate.width && first.width == Width::Long
                              ? Long::mask
                              : u128{Short::mask};
      if (((first.bits ^ immediate.bits) & common) != 0) {
        return a.report.error(Code::TwoImmediates, x.span,
                              "an operation holds one immediate, and this is a second one", {},
                              "store one of them in a register first");
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
