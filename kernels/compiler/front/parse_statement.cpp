// Simple statements: assignments, settings, skip and return.
#include <algorithm>
#include <iterator>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

/// Statements with a block, and those of the outermost level.
bool Parser::compound(std::vector<std::int32_t>& block) {
  const TokenKind next = peek(1).kind;
  if (at_word("if") && !assigns(1)) {
    if (auto s = if_statement())
      append(block, std::move(*s));
    else
      skip_statement();
    return true;
  }
  if (next != TokenKind::Word && next != TokenKind::String) return false;
  if (at_word("for") && peek(2).kind == TokenKind::Equals) {
    if (auto s = for_statement())
      append(block, std::move(*s));
    else
      skip_statement();
    return true;
  }
  if (at_word("function") && peek(2).kind == TokenKind::ParenOpen) {
    function();
    return true;
  }
  if (at_word("include") && next == TokenKind::String) {
    include();
    return true;
  }
  return false;
}

std::optional<Statement> Parser::simple() {
  if (!at(TokenKind::Word)) {
    fail(Code::StatementExpected, peek().where,
         in_quotes(peek().text) + " cannot begin a statement");
    return std::nullopt;
  }
  if (starts_local()) return local();
  if (at_word("skip") && at_word("if", 1)) return skip();
  if (assigns(1)) return assignment();
  if (at_word("return")) return return_statement();
  const bool setting_with_word = at_word("kernel") || at_word("precision");
  if (at_word("flops") || (setting_with_word && peek(1).kind == TokenKind::Word)) return setting();
  return assignment();
}

std::optional<Statement> Parser::skip() {
  Statement s = make(StatementKind::Skip);
  if (in_function_) {
    fail(Code::Misplaced, s.where, "`skip if` is not allowed in a function");
    return std::nullopt;
  }
  advance();
  advance();
  s.value = expression();
  return s;
}

std::optional<Statement> Parser::return_statement() {
  Statement s = make(StatementKind::Return);
  if (!in_function_ || nesting_ != 1) {
    fail(Code::Misplaced, s.where,
         in_function_ ? "`return` must be the last statement of a function, outside of inner blocks"
                      : "`return` is only allowed in a function");
    return std::nullopt;
  }
  advance();
  s.value = expression();
  return s;
}

std::optional<Statement> Parser::setting() {
  if (!require_outermost("a setting")) return std::nullopt;
  Statement s = make(StatementKind::Flops);
  if (at_word("flops")) {
    advance();
    s.value = expression();
    return s;
  }
  const bool kernel = at_word("kernel");
  advance();
  const Token& word = advance();
  s.kind = kernel ? StatementKind::Kernel : StatementKind::Precision;
  s.lvalue = {word.text, word.where, {}};
  if (kernel) return s;
  if (word.text != "long" && word.text != "short") {
    fail(Code::StatementExpected, word.where, "the precision must be long or short");
    return std::nullopt;
  }
  s.type = word.text == "long" ? Type::Long : Type::Short;
  return s;
}

std::optional<LValue> Parser::lvalue() {
  if (!at(TokenKind::Word) || starts_declaration()) {
    fail(Code::NameExpected, peek().first_on_line ? after_last_token() : peek().where,
         "a name is expected here");
    return std::nullopt;
  }
  const Token& word = advance();
  LValue p{word.text, word.where, {}};
  while (accept(TokenKind::BracketOpen)) {
    p.indices.push_back(expression());
    if (!expect(TokenKind::BracketClose, "]", "after the index")) return std::nullopt;
    p.where = joined(p.where, tokens_[at_ - 1].where);
  }
  return p;
}

std::optional<Statement> Parser::assignment() {
  Statement s = make(StatementKind::Assign);
  auto target = lvalue();
  if (!target) return std::nullopt;
  s.lvalue = std::move(*target);
  const bool minimum = at_word("min");
  if ((minimum || at_word("max")) && peek(1).kind == TokenKind::Equals) {
    s.kind = StatementKind::Reduce;
    s.reduction = minimum ? Reduction::Min : Reduction::Max;
    advance();
    advance();
    if (!reduction_value(s)) return std::nullopt;
    return s;
  }
  if (at_word("append") && peek(1).kind == TokenKind::Equals) {
    s.kind = StatementKind::Reduce;
    s.reduction = Reduction::Append;
    advance();
    advance();
    s.value = expression();
    return s;
  }
  s.op = peek().kind;
  if (s.op != TokenKind::Equals && s.op != TokenKind::PlusEquals &&
      s.op != TokenKind::MinusEquals) {
    report_invalid_statement(s.lvalue.name, s.where);
    return std::nullopt;
  }
  advance();
  s.value = expression();
  return s;
}

void Parser::report_invalid_statement(std::string_view word, const SourceRange& where) {
  struct Usage {
    std::string_view word;
    const char* text;
  };
  static constexpr Usage usages[] = {
      {"CONST", "`CONST a, b;`"},
      {"VARI", "`VARI x, y;`"},
      {"VARJ", "`VARJ x, y;`"},
      {"VARF", "`VARF x, y;`"},
      {"if", "`if (condition) { statements }`"},
      {"for", "`for k = 0 .. 2 { statements }`"},
      {"skip", "`skip if (condition);`"},
      {"function", "`function name(a, b) { statements return expression; }`"},
      {"include", "`include \"file\";`"},
      {"kernel", "`kernel name;`"},
      {"flops", "`flops 38;`"},
      {"precision", "`precision long;`"},
      {"long", "`long name = expression;`"},
      {"short", "`short name = expression;`"},
      {"int", "`int name = expression;`"},
      {"bool", "`bool name = condition;`"},
      {"else", "`if (condition) { statements } else { statements }`"},
  };
  // No keyword is followed by an operator: the statement is an expression that starts with a name.
  static constexpr TokenKind operators[] = {TokenKind::Plus,  TokenKind::Minus,
                                            TokenKind::Star,  TokenKind::Slash,
                                            TokenKind::Caret, TokenKind::Semicolon};
  const bool is_name = std::ranges::find(operators, peek().kind) != std::end(operators);
  assembly::Suggestion suggestion(word);
  std::string help;
  for (const Usage& u : usages) {
    if (!is_name) suggestion.consider(u.word);
    if (u.word == word) help = std::string("usage: ") + u.text;
  }
  if (help.empty()) help = suggestion.help();
  if (help.empty() && at(TokenKind::ParenOpen))
    help = "the value of a function must be assigned to something";
  if (help.empty()) {
    help = "an assignment is `name = expression;`, a contribution is `result += expression;`";
  }
  fail(Code::StatementExpected, where, in_quotes(word) + " is not a statement", {}, help);
}

/// The operand of min= or max=: the key, optionally followed by `: name = index`.
bool Parser::reduction_value(Statement& s) {
  s.value = expression();
  if (!accept(TokenKind::Colon)) return true;
  auto target = lvalue();
  if (!target) return false;
  s.payload_lvalue = std::move(*target);
  if (!expect(TokenKind::Equals, "=", "between the result and its index")) return false;
  s.payload = expression();
  return true;
}

}  // namespace gdr::kc::front
