// Other names: aliases, symbols and constants.
#include "emulator/assembler/front/parser.hpp"

namespace gdr::assembly {
namespace {

/// `NAME = LOCATION`, without `=` where `equals` is false.
void parse_location_name(Assembly& a, Cursor& c, bool equals) {
  Span word;
  c.skip_spaces();
  if (!parse_new_name(a, c, word, equals ? "the alias" : "the symbol")) return;
  c.skip_spaces();
  if (equals && !c.accept('=')) {
    a.report.error(Code::NameExpected, c.rest_of_word(), "`=` is expected here", {},
                   "write `alias NAME = LOCATION`");
    return;
  }
  c.skip_spaces();
  Location location;
  const char* begin = c.p;
  if (c.peek() != '$' && !starts_name(c.peek())) {
    a.report.error(Code::BadLocation, c.rest_of_word(), "a location is expected here");
    return;
  }
  if (!parse_location(a, c, location)) return;
  if (!location.operand.used()) {
    a.report.error(Code::BadLocation, {begin, c.p}, "`$null` is not a location");
    return;
  }
  expect_end(a, c);
  Name& name = add_name(a, word, NameKind::Location);
  name.location = location;
  if (location.item != 0) {
    a.symbol_fixups.push_back(
        {static_cast<std::uint32_t>(a.program.symbols.size()), location.item});
  }
  a.program.symbols.push_back({name.name, location.operand});
}

}  // namespace

Name& add_name(Assembly& a, Span word, NameKind kind) {
  Name& name = a.names.add(word.text());
  name.kind = kind;
  name.declared = a.report.span_of(word);
  return name;
}

void parse_alias(Assembly& a, Cursor& c, Span) { parse_location_name(a, c, true); }

void parse_symbol(Assembly& a, Cursor& c, Span) { parse_location_name(a, c, false); }

void parse_const(Assembly& a, Cursor& c, Span) {
  Span word;
  c.skip_spaces();
  if (!parse_new_name(a, c, word, "the constant")) return;
  c.skip_spaces();
  if (!c.accept('=')) {
    a.report.error(Code::NameExpected, c.rest_of_word(), "`=` is expected here", {},
                   "write `const NAME = EXPRESSION`");
    return;
  }
  Value value;
  const bool good = parse_expression(a, c, value);
  if (good) expect_end(a, c);
  add_name(a, word, NameKind::Constant).value = value;
}

}  // namespace gdr::assembly
