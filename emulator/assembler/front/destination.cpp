#include "emulator/assembler/front/destination.hpp"

#include "emulator/assembler/front/location.hpp"

namespace gdr::assembly {
namespace {

struct Parts {
  bool has_location = false;  ///< a location outside T, or $null
  Operand operand;
  bool t = false;
  Operand t_operand;
  Span t_span;
  Span location_span;
};

MaskFlag find_flag(std::string_view text) noexcept {
  if (text == "neg") return MaskFlag::Negative;
  if (text == "zero") return MaskFlag::Zero;
  if (text == "carry") return MaskFlag::Carry;
  return MaskFlag::None;
}

bool bad(Assembly& a, Span span, std::string message, std::string help = {}) {
  a.report.error(Code::BadDestination, span, std::move(message), {}, std::move(help));
  return false;
}

bool bad_mask(Assembly& a, Span span, std::string message, std::string help) {
  a.report.error(Code::BadMask, span, std::move(message), {}, std::move(help));
  return false;
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
  unsigned mask = 0;
  for (; is_digit(*c.p); ++c.p)
    mask = std::min(mask * 10 + static_cast<unsigned>(*c.p - '0'), 1000U);
  ++c.p;
  const Span flag_span = c.word();
  const Span span{begin, c.p};
  const MaskFlag flag = find_flag(flag_span.text());
  if (flag == MaskFlag::None) {
    return bad_mask(a, flag_span, "unknown flag " + in_quotes(flag_span.text()),
                    "flags are neg, zero and carry");
  }
  if (mask >= mask_registers) {
    return bad_mask(a, span, "mask " + std::to_string(mask) + " does not exist",
                    "masks are m0 to m" + std::to_string(mask_registers - 1));
  }
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
    a.report.error(Code::WrongOperand, c.rest_of_word(), "a number cannot be a destination", {},
                   "the destination comes first");
    return false;
  }
  if (!starts_name(c.peek()) && c.peek() != '$')
    return bad(a, c.rest_of_word(), "a destination is expected here");
  Location location;
  if (!parse_location(a, c, location)) return false;
  const Operand& x = location.operand;
  const Span span{begin, c.p};
  switch (x.space) {
    case Space::T:
      if (parts.t) return bad(a, span, "T is written twice");
      parts.t = true;
      parts.t_operand = x;
      parts.t_span = span;
      return true;
    case Space::None:
    case Space::Register:
    case Space::Local:
    case Space::LocalByT:
      if (parts.has_location)
        return bad(a, span, "an operation writes one location only",
                   "T and a mask can be added: dx:$t:m0.neg");
      parts.has_location = true;
      parts.operand = x;
      parts.location_span = span;
      return true;
    case Space::PeNumber:
    case Space::BlockNumber:
      return bad(a, span, in_quotes(span.text()) + " is a fixed input and cannot be written");
    default:
      a.report.error(
          Code::WrongOperand, span,
          in_quotes(span.text()) + " is in the broadcast memory, which arithmetic cannot write", {},
          "write it with `bput`");
      return false;
  }
}

TTarget t_target(const Operand& t) noexcept {
  if (t.width == Width::Long) return TTarget::Whole;
  return t.address == 0 ? TTarget::Upper : TTarget::Lower;
}

bool combine(Assembly& a, const Parts& parts, Arithmetic& slot) {
  slot.width = Width::Long;
  if (!parts.has_location) {
    if (parts.t) {
      slot.dst = parts.t_operand;
      slot.width = parts.t_operand.width;
    }
    return true;
  }
  slot.width = parts.operand.width;
  if (parts.operand.used()) slot.dst = parts.operand;
  if (!parts.t) return true;
  if (parts.t_operand.width != slot.width) {
    a.report.error(Code::WidthMismatch, parts.t_span,
                   "T must have the width of the other destination",
                   slot.width == Width::Long ? "the location is long" : "the location is short",
                   slot.width == Width::Long ? "write $t" : "write $th or $tl");
    return false;
  }
  slot.t = t_target(parts.t_operand);
  return true;
}

}  // namespace

bool parse_destination(Assembly& a, Cursor& c, const OpInfo& op, Arithmetic& slot,
                       unsigned slot_number, InstructionText& text) {
  Parts parts;
  do {
    const bool good =
        looks_like_mask(c) ? parse_mask(a, c, op, slot) : parse_location_part(a, c, parts);
    if (!good) return false;
  } while (c.accept(':'));
  if (!combine(a, parts, slot)) return false;
  if (parts.has_location && parts.operand.used())
    text.add(parts.location_span, slot_number, true, parts.operand);
  if (parts.t) text.add(parts.t_span, slot_number, true, parts.t_operand);
  return true;
}

}  // namespace gdr::assembly
