#include "emulator/assembler/front/statement.hpp"

#include "emulator/assembler/front/declare.hpp"
#include "emulator/assembler/front/directive.hpp"
#include "emulator/assembler/front/expression.hpp"
#include "emulator/assembler/front/instruction.hpp"
#include "emulator/assembler/front/keywords.hpp"
#include "emulator/assembler/front/macros.hpp"

namespace gdr::assembly {
namespace {

Span first_word(Cursor& c) noexcept {
  const char* begin = c.p;
  if (*c.p == '.' && c.p < c.end) ++c.p;
  while (is_word(*c.p)) ++c.p;
  return {begin, c.p};
}

void unknown_statement(Assembly& a, Cursor& c, Span word) {
  if (word.begin == word.end) {
    const Span rest = c.rest_of_word();
    a.report.error(Code::UnexpectedCharacter, rest,
                   in_quotes(rest.text()) + " cannot begin a line");
    return;
  }
  Suggestion suggestion(word.text());
  for (const Keyword& k : keywords()) suggestion.consider(k.text);
  if (a.report.below_limit()) {
    for (const Name& n : a.names.all()) {
      if (n.kind == NameKind::Template) suggestion.consider(n.name);
    }
  }
  if (*word.begin == '.') {
    a.report.error(Code::UnknownDirective, word, "unknown directive " + in_quotes(word.text()), {},
                   suggestion.help());
    return;
  }
  std::string help = suggestion.help();
  if (const Name* name = a.names.find(word.text()); name != nullptr && help.empty()) {
    help = name->kind == NameKind::Template ? "a template is used as `" + name->name + "(...)`"
                                            : "the mnemonic precedes the destination";
  }
  a.report.error(Code::UnknownInstruction, word,
                 "unknown instruction or declaration " + in_quotes(word.text()), {},
                 std::move(help));
  if (a.section >= 0) a.clocks[static_cast<std::size_t>(a.section)].gap();
}

void parse_keyword_directive(Assembly& a, Cursor& c, const Keyword& keyword, Span word,
                             LineReader& reader) {
  switch (keyword.directive) {
    case Directive::Alias:
      parse_alias(a, c, true);
      return;
    case Directive::Symbol:
      parse_alias(a, c, false);
      return;
    case Directive::Const:
      parse_const(a, c);
      return;
    case Directive::Include:
      parse_include(a, c, word);
      return;
    case Directive::Repeat:
      parse_repeat(a, c, word, reader);
      return;
    case Directive::Template:
      parse_template(a, c, word, reader);
      return;
    case Directive::EndRepeat:
    case Directive::EndTemplate:
      a.report.error(Code::EndWithoutBlock, word, in_quotes(word.text()) + " has no open block", {},
                     keyword.directive == Directive::EndRepeat ? "there is no open `.repeat`"
                                                               : "there is no open `.template`");
      return;
    default:
      parse_directive(a, c, keyword.directive, word);
  }
}

void parse_plain(Assembly& a, const Line& line, LineReader& reader) {
  Cursor c(line);
  c.skip();
  if (c.done()) return;
  if (c.peek() == '[') {
    parse_instruction(a, c);
    return;
  }
  const Cursor start = c;
  const Span word = first_word(c);
  const Keyword* keyword = find_keyword(word.text());
  if (keyword == nullptr) {
    const Name* name = a.names.find(word.text());
    c.skip_spaces();
    if (name != nullptr && name->kind == NameKind::Template && !c.done() && c.peek() == '(') {
      expand_template(a, c, word, *name);
      return;
    }
    unknown_statement(a, c, word);
    return;
  }
  switch (keyword->kind) {
    case KeywordKind::Operation:
    case KeywordKind::Nop: {
      Cursor again = start;
      parse_instruction(a, again);
      return;
    }
    case KeywordKind::Declaration:
      parse_declaration(a, c, *keyword);
      return;
    case KeywordKind::Directive:
      parse_keyword_directive(a, c, *keyword, word, reader);
      return;
  }
}

}  // namespace

void parse_statement(Assembly& a, const Line& line, LineReader& reader) {
  const bool braces = (a.report.frame != nullptr || line.begin != nullptr) &&
                      line.text().find('{') != std::string_view::npos;
  if (!braces) {
    parse_plain(a, line, reader);
    return;
  }
  std::string text;
  std::vector<Segment> map;
  if (!expand_braces(a, line, text, map)) {
    if (a.section >= 0) a.clocks[static_cast<std::size_t>(a.section)].gap();
    return;
  }
  if (map.empty()) return;  // braces in a comment only
  a.expanded_characters += text.size();
  Line expanded = line;
  expanded.begin = text.data();
  expanded.end = text.data() + text.size();
  expanded.map = map;
  a.report.line = &expanded;
  parse_plain(a, expanded, reader);
  a.report.line = &line;
}

void expect_end(Assembly& a, Cursor& c) {
  c.skip_spaces();
  if (c.done()) return;
  const Span rest = c.rest_of_word();
  a.report.error(Code::TrailingText, rest, in_quotes(rest.text()) + " is not expected here");
}

bool check_new_name(Assembly& a, Span word, bool quoted) {
  if (!quoted && is_reserved(word.text())) {
    a.report.error(Code::NameReserved, word,
                   in_quotes(word.text()) + " is a reserved word and cannot be a name", {},
                   "choose another name, or always write it in quotes");
    return false;
  }
  const Name* old = a.names.find(word.text());
  if (old == nullptr) return true;
  Diagnostic& d = a.report.error(Code::NameTaken, word,
                                 "the name " + in_quotes(word.text()) + " is already declared");
  a.report.note(d, old->declared, "first declared here");
  return false;
}

bool parse_new_name(Assembly& a, Cursor& c, Span& word, const char* what) {
  const bool quoted = c.peek() == '"';
  word = c.name();
  if (word.begin != word.end && !is_digit(*word.begin)) return check_new_name(a, word, quoted);
  c.p = word.begin;
  a.report.error(Code::NameExpected, c.rest_of_word(), std::string(what) + " needs a name here", {},
                 "names are letters, digits and `_`, not starting with a digit");
  return false;
}

}  // namespace gdr::assembly
