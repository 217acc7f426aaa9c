// Locations: registers, memories, T, fixed inputs, declared names, and their suffixes.
#include <fmt/core.h>

#include <algorithm>

#include "emulator/assembler/front/parser.hpp"
#include "emulator/assembler/instruction_text.hpp"

namespace gdr {
namespace assembly {
namespace {

/// A word after `$`; longs of addressed memories have the prefix `l`.
struct Prefix {
  std::string_view text;
  Space space;
  Width width;
  std::uint16_t address = 0;  ///< address in spaces that are not followed by one
};
constexpr Prefix prefixes[] = {
    {"r", Space::Register, Width::Short},
    {"lr", Space::Register, Width::Long},
    {"m", Space::Local, Width::Short},
    {"lm", Space::Local, Width::Long},
    {"b", Space::Bm, Width::Short},
    {"lb", Space::Bm, Width::Long},
    {"s", Space::BmSource, Width::Short},
    {"ls", Space::BmSource, Width::Long},
    {"o", Space::BmOutput, Width::Short},
    {"lo", Space::BmOutput, Width::Long},
    {"th", Space::T, Width::Short, 0},
    {"tl", Space::T, Width::Short, 1},
    {"t", Space::T, Width::Long},
    {"pe", Space::PeNumber, Width::Long},
    {"bb", Space::BlockNumber, Width::Long},
    {"null", Space::None, Width::Short},
    {"lnull", Space::None, Width::Long},
};

bool bad_location(Assembly& a, const char* begin, Cursor& c, const char* why) {
  while (is_word(*c.p)) ++c.p;
  const Span span{begin, c.p};
  return a.report.error(
      Code::BadLocation, span, in_quotes(span.text()) + " is not a location", why,
      "locations are like $r5 $lr6v $lm8 $lm[$t] $t $lb10; see docs/reference/assembler.md");
}

const Prefix* find_prefix(std::string_view text) noexcept {
  for (const Prefix& prefix : prefixes) {
    if (prefix.text == text) return &prefix;
  }
  return nullptr;
}

/// `[$t]` or `[$t:FIRST..LAST]`; the cursor is at the bracket.
bool parse_t_indirect(Assembly& a, Cursor& c, const char* begin, Operand& x) {
  ++c.p;
  if (!(c.accept('$') && c.accept('t'))) return bad_location(a, begin, c, "`[$t]` is expected");
  x.space = Space::LocalByT;
  if (c.accept(']')) return true;
  if (!c.accept(':')) return bad_location(a, begin, c, "`]` or a range like `:16..31` is expected");
  const std::int64_t units = a.options.geometry.local_words * (x.width == Width::Long ? 1LL : 2LL);
  const std::int64_t last_unit = a.unchecked ? max_field : std::min(max_field, units - 1);
  const auto first = parse_integer(a, c, 0, last_unit, "the T range's first address",
                                   Code::BadTRange, parse_primary);
  if (!first) return false;
  if (!(c.accept('.') && c.accept('.'))) return bad_location(a, begin, c, "a range is FIRST..LAST");
  const auto last = parse_integer(a, c, 0, last_unit, "the T range's last address", Code::BadTRange,
                                  parse_primary);
  if (!last) return false;
  if (!c.accept(']')) return bad_location(a, begin, c, "`]` is expected");
  if (*last < *first || *last == 0) {
    return a.report.error(
        Code::BadTRange, {begin, c.p}, "the declared range of T is empty",
        *last == 0 ? "a range of address 0 alone" : "the last address is below the first",
        *last == 0 ? "write `$lm0` or `$m0`" : "");
  }
  x.range_first = static_cast<std::uint16_t>(*first);
  x.range_last = static_cast<std::uint16_t>(*last);
  return true;
}

bool parse_register(Assembly& a, Cursor& c, Location& location) {
  const char* begin = c.p++;
  const char* letters = c.p;
  while (is_word(*c.p) && !is_digit(*c.p)) ++c.p;
  const Prefix* prefix = find_prefix({letters, static_cast<std::size_t>(c.p - letters)});
  if (prefix == nullptr) return bad_location(a, begin, c, "no such register or memory");
  Operand& x = location.operand;
  x.space = prefix->space;
  x.width = prefix->width;
  x.address = prefix->address;
  if (!has_address(x.space)) {
    if (is_word(*c.p)) return bad_location(a, begin, c, "it has no address");
    return true;
  }
  if (*c.p == '[' && x.space == Space::Local) return parse_t_indirect(a, c, begin, x);
  if (!is_digit(*c.p)) return bad_location(a, begin, c, "an address is missing");
  std::int64_t address = 0;
  for (; is_digit(*c.p); ++c.p) address = std::min(address * 10 + (*c.p - '0'), max_field + 1);
  if (address > max_field) return bad_location(a, begin, c, "the address is too large");
  x.address = static_cast<std::uint16_t>(address);
  if (*c.p == 'v') {
    ++c.p;
    x.vector = true;
  }
  if (is_word(*c.p)) return bad_location(a, begin, c, "letters after the address");
  if (x.width == Width::Long && address % 2 != 0) {
    return a.report.error(Code::OddLong, {begin, c.p}, "a long needs an even address",
                          "address " + std::to_string(address) + " is odd",
                          "addresses count shorts: write " + std::to_string(address - 1) + " or " +
                              std::to_string(address + 1));
  }
  return true;
}

bool unknown_name(Assembly& a, Span word) {
  Suggestion suggestion(word.text());
  suggest_names(a, suggestion, {NameKind::Location, NameKind::Constant});
  std::string help = suggestion.help();
  if (help.empty() &&
      find_prefix(word.text().substr(0, word.text().find_first_of("0123456789"))) != nullptr) {
    help = "registers and memories are prefixed with `$`";
  }
  return a.report.error(Code::UnknownName, word, in_quotes(word.text()) + " is not declared", {},
                        std::move(help));
}

bool bad_suffix(Assembly& a, const char* begin, const Cursor& c, std::string message,
                std::string help = {}) {
  return a.report.error(Code::BadSuffix, {begin, c.p}, std::move(message), {}, std::move(help));
}

bool select_half(Assembly& a, Cursor& c, const char* begin, Operand& x, bool low) {
  if (x.width != Width::Long) return bad_suffix(a, begin, c, "a short has no halves");
  if (x.space != Space::T && !has_address(x.space))
    return bad_suffix(a, begin, c, "this has no halves");
  if (x.vector) {
    return bad_suffix(a, begin, c, "a vector has no halves", "select an element: `NAME[0].hi`");
  }
  x.width = Width::Short;
  x.address = static_cast<std::uint16_t>(x.address + (low ? 1 : 0));
  return true;
}

bool parse_dot_suffix(Assembly& a, Cursor& c, const char* begin, Location& location) {
  ++c.p;
  const Span word = c.word();
  const std::string_view text = word.text();
  Operand& x = location.operand;
  if (text == "hi" || text == "lo") return select_half(a, c, begin, x, text == "lo");
  if (text == "v" || text == "s") {
    if (!has_address(x.space)) return bad_suffix(a, begin, c, "this is neither vector nor scalar");
    x.vector = text == "v";
    return true;
  }
  return bad_suffix(a, begin, c, "unknown suffix " + in_quotes({word.begin - 1, text.size() + 1}),
                    "suffixes are .v .s .hi .lo [K] @K");
}

bool parse_element(Assembly& a, Cursor& c, const char* begin, Location& location) {
  ++c.p;
  const std::int64_t last = location.elements != 0 ? location.elements - 1 : max_field;
  const auto k = parse_integer(a, c, 0, last, "the element", Code::BadSuffix);
  if (!k) return false;
  c.skip_spaces();
  if (!c.accept(']')) return bad_suffix(a, begin, c, "the bracket is not closed");
  Operand& x = location.operand;
  const std::int64_t address = x.address + *k * shorts_in(x.width);
  if (!has_address(x.space) || address > max_field)
    return bad_suffix(a, begin, c, "this has no elements");
  x.address = static_cast<std::uint16_t>(address);
  x.vector = false;
  return true;
}

bool parse_item(Assembly& a, Cursor& c, const char* begin, Location& location) {
  ++c.p;
  const Space space = location.operand.space;
  if (!in_broadcast_memory(space) || space == Space::Bm) {
    return bad_suffix(a, begin, c, "only jvars and ovars have items", "use [K] for an element");
  }
  const std::int64_t last = static_cast<std::int64_t>(a.program.group) - 1;
  const auto k =
      parse_integer(a, c, 0, last, "the item of the group", Code::BadSuffix, parse_primary);
  if (!k) return false;
  location.item = static_cast<std::uint16_t>(*k);
  return true;
}

}  // namespace

bool parse_suffixes(Assembly& a, Cursor& c, const char* begin, Location& location) {
  while (true) {
    bool good = true;
    if (*c.p == '.' && c.p < c.end)
      good = parse_dot_suffix(a, c, begin, location);
    else if (*c.p == '[')
      good = parse_element(a, c, begin, location);
    else if (*c.p == '@')
      good = parse_item(a, c, begin, location);
    else
      return true;
    if (!good) return false;
  }
}

bool parse_location(Assembly& a, Cursor& c, Location& location) {
  const char* begin = c.p;
  if (c.peek() == '$') {
    location = {};
    if (!parse_register(a, c, location)) return false;
    return parse_suffixes(a, c, begin, location);
  }
  const Span word = c.name();
  if (word.begin == word.end) {
    return a.report.error(Code::BadLocation, c.rest_of_word(), "a name is expected here", {},
                          "quoted names consist of letters, digits and `_`");
  }
  const Name* name = a.names.find(word.text());
  if (name == nullptr) return unknown_name(a, word);
  if (name->kind != NameKind::Location) {
    a.report.error(Code::WrongOperand, word, in_quotes(word.text()) + " is not a location");
    return a.report.note(name->declared, "declared here");
  }
  location = name->location;
  return parse_suffixes(a, c, begin, location);
}

std::string describe(const Operand& x) {
  const std::string width = x.width == Width::Long ? "a long " : "a short ";
  if (x.space == Space::Register) return width + "register";
  if (x.space == Space::Local || x.space == Space::LocalByT) {
    return width + "location of the local memory";
  }
  if (in_broadcast_memory(x.space)) return width + "word of the broadcast memory";
  if (x.space == Space::T) return x.width == Width::Long ? "T" : "half of T";
  if (x.space == Space::PeNumber) return "the PE's number";
  if (x.space == Space::BlockNumber) return "the block's number";
  return x.space == Space::Immediate ? "a number" : "nothing";
}

}  // namespace assembly

std::string location_text(const Operand& o) {
  if (o.space == Space::LocalByT) {
    const std::string memory = o.width == Width::Long ? "$lm[$t" : "$m[$t";
    return o.range_last == 0 ? memory + "]"
                             : fmt::format("{}:{}..{}]", memory, o.range_first, o.range_last);
  }
  const bool addressed = has_address(o.space);
  const auto* const prefix =
      std::ranges::find_if(assembly::prefixes, [&](const assembly::Prefix& p) {
        return p.space == o.space && p.width == o.width && (addressed || p.address == o.address);
      });
  if (prefix == std::end(assembly::prefixes)) return "?";
  if (!addressed) return fmt::format("${}", prefix->text);
  return fmt::format("${}{}{}", prefix->text, o.address, o.vector ? "v" : "");
}

}  // namespace gdr
