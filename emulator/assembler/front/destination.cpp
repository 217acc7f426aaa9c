#include "emulator/assembler/front/destination.hpp"

#include "emulator/assembler/front/location.hpp"

namespace gdr::assembly {
namespace {

struct Parts {
  bool place = false;  ///< a location outside T, or $null
  Operand operand;
  bool t = false;
  Operand t_operand;
  Span t_span;
  Span place_span;
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

/// `mN.flag` at the cursor; nothing is taken if it is not one.
bool looks_like_mask(Cursor c) noexcept {
  if (!c.take('m') || !is_digit(*c.p)) return false;
  while (is_digit(*c.p)) ++c.p;
  if (!c.take('.')) return false;
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
    return bad_mask(a, flag_span, "there is no flag " + in_quotes(flag_span.text()),
                    "flags are neg, zero and carry");
  }
  if (mask >= mask_registers) {
    return bad_mask(a, span, "there is no mask " + std::to_string(mask),
                    "masks are m0 to m" + std::to_string(mask_registers - 1));
  }
  if (op.unit == Unit::Multiplier)
    return bad_mask(a, span, "the multiplier sets no masks", "use an operation of the adder");
  if (flag == MaskFlag::Carry && op.unit != Unit::Integer) {
    return bad_mask(a, span, "carry is a flag of the integer unit", "use neg or zero");
  }
  if (slot.mask.flag != MaskFlag::None) return bad(a, span, "an operation sets one mask");
  slot.mask = {flag, static_cast<std::uint8_t>(mask)};
  return true;
}

bool parse_place(Assembly& a, Cursor& c, Parts& parts) {
  const char* begin = c.p;
  if (is_digit(c.peek()) || c.peek() == '-' || c.peek() == '(') {
    a.report.error(Code::WrongOperand, c.rest_of_word(), "a number cannot be a destination", {},
                   "the destination comes first");
    return false;
  }
  if (!begins_name(c.peek()) && c.peek() != '$')
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
      if (parts.place)
        return bad(a, span, "an operation writes one location",
                   "T and a mask can stand beside it: dx:$t:m0.neg");
      parts.place = true;
      parts.operand = x;
      parts.place_span = span;
      return true;
    case Space::PeNumber:
    case Space::BlockNumber:
      return bad(a, span, in_quotes(span.text()) + " is fixed and cannot be written");
    default:
      a.report.error(
          Code::WrongOperand, span,
          in_quotes(span.text()) + " lies in the broadcast memory, which arithmetic cannot write",
          {}, "write it with `bput`");
      return false;
  }
}

TTarget t_target(const Operand& t) noexcept {
  if (t.width == Width::Long) return TTarget::Whole;
  return t.address == 0 ? TTarget::Upper : TTarget::Lower;
}

bool join(Assembly& a, const Parts& parts, Arithmetic& slot) {
  slot.width = Width::Long;
  if (!parts.place) {
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
    const bool good = looks_like_mask(c) ? parse_mask(a, c, op, slot) : parse_place(a, c, parts);
    if (!good) return false;
  } while (c.take(':'));
  if (!join(a, parts, slot)) return false;
  if (parts.place && parts.operand.used())
    text.add(parts.place_span, slot_number, true, parts.operand);
  if (parts.t) text.add(parts.t_span, slot_number, true, parts.t_operand);
  return true;
}

}  // namespace gdr::assembly
