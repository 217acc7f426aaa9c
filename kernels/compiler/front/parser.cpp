#include "kernels/compiler/front/parser.hpp"

#include <algorithm>

#include "emulator/assembler/front/report.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

constexpr std::string_view assignments[] = {"=", "+=", "-=", "*="};
/// Before a `=`.
constexpr std::string_view reductions[] = {"min", "max",       "append",   "and",
                                           "or",  "logsumexp", "smallest", "largest"};
/// Those of them that may name a result for what accompanies the value.
constexpr std::string_view with_payload[] = {"min", "max", "logsumexp", "smallest", "largest"};

}  // namespace

Parser::Parser(Program& program, Sources& sources, Messages& messages, std::uint32_t file)
    : program_(program),
      sources_(sources),
      messages_(messages),
      file_(file),
      tokens_(tokens_of(sources.texts[file].text, file, messages)) {}

const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool Parser::at_any(std::span<const std::string_view> texts, std::size_t ahead) const {
  return std::ranges::any_of(texts, [&](std::string_view text) { return at(text, ahead); });
}

bool Parser::at(std::string_view text, std::size_t ahead) const {
  const Token& t = peek(ahead);
  return (t.kind == TokenKind::Word || t.kind == TokenKind::Symbol) && t.text == text;
}

const Token& Parser::advance() {
  const Token& t = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return t;
}

bool Parser::accept(std::string_view text) {
  if (!at(text)) return false;
  advance();
  return true;
}

SourceRange Parser::after_last_token() const {
  if (at_ == 0) return peek().where;
  SourceRange where = tokens_[at_ - 1].where;
  where.column = where.column_end;
  ++where.column_end;
  return where;
}

void Parser::fail(Code code, const SourceRange& where, std::string message, std::string help) {
  if (!failed_ && !at(TokenKind::Bad)) error(code, where, std::move(message)).help(std::move(help));
  failed_ = true;
}

bool Parser::expect(std::string_view text, const char* after) {
  if (accept(text)) return true;
  const bool next_line = peek().first_on_line || at(TokenKind::End);
  fail(Code::SymbolExpected, next_line ? after_last_token() : peek().where,
       in_quotes(text) + " is expected here, " + after);
  return false;
}

/// The `;` of a statement. If only that is missing at a line end, nothing is skipped.
bool Parser::end_statement() {
  if (failed_) return false;
  if (accept(";")) return true;
  const bool only_that =
      peek().first_on_line || at("}") || at(TokenKind::End) || starts_declaration();
  fail(Code::SymbolExpected, only_that ? after_last_token() : peek().where,
       "`;` is expected here, after the statement");
  return only_that;
}

/// Skip an invalid statement: to its `;` or the end of its block, or to a `}`.
void Parser::skip_statement() {
  int open = 0;
  while (!at(TokenKind::End)) {
    if (open == 0 && (at("}") || (peek().first_on_line && starts_declaration()))) return;
    // An unterminated string contains the `;`.
    const bool ends = at(";") || (at(TokenKind::Bad) && peek().text.starts_with('"'));
    if (at("{")) ++open;
    if (at("}")) --open;
    if (open == 0 && (ends || at("}"))) return static_cast<void>(advance());
    advance();
  }
}

/// Skip to the `{` after an invalid block header; false if there is none.
bool Parser::skip_to_block() {
  while (!at(TokenKind::End) && !at("{")) {
    if (at("}") || at(";")) return false;
    advance();
  }
  failed_ = false;
  return at("{");
}

Statement Parser::make(StatementKind kind) const {
  Statement s;
  s.kind = kind;
  s.where = peek().where;
  return s;
}

void Parser::append(Block& block, Statement statement) {
  block.push_back(static_cast<std::int32_t>(program_.statements.size()));
  program_.statements.push_back(std::move(statement));
}

bool Parser::require_outermost(const char* what) {
  if (nesting_ == 0) return true;
  error(Code::Misplaced, peek().where,
        std::string(what) + " is only allowed at the outermost level");
  return false;
}

void Parser::parse_file() {
  sources_.open.push_back(file_);
  Block block;
  while (!at(TokenKind::End)) {
    if (at("}")) {
      error(Code::StatementExpected, advance().where, "there is no block to close here");
      continue;
    }
    // Includes append to the outermost block themselves.
    statement(block);
    Block& top = program_.blocks[index(program_.top)];
    top.insert(top.end(), block.begin(), block.end());
    block.clear();
  }
  sources_.open.pop_back();
}

void Parser::statement(Block& block) {
  failed_ = false;
  depth_ = 0;
  if (accept(";")) return;
  if (at("include") && at(TokenKind::String, 1)) return include();
  const bool before_word = at(TokenKind::Word, 1);
  if (at("function") && before_word && at("(", 2)) return function();
  const bool is_if = at("if") && !assigns(1), is_for = at("for") && before_word && at("=", 2);
  const bool is_declaration = starts_declaration();
  if (is_declaration && !require_outermost("a declaration")) return advance(), skip_statement();
  const bool complete = is_if || is_for || is_declaration;  // needs no `;`, or reads it
  std::optional<Statement> s = is_if            ? if_statement()
                               : is_for         ? for_statement()
                               : is_declaration ? declaration()
                                                : simple();
  if (!s) return skip_statement();
  if (!complete && failed_) {
    // The assigned name is declared, with an unknown value.
    if (s->kind == StatementKind::Local) replace_by_bad(s->items.back().value);
    replace_by_bad(s->value);
  }
  append(block, std::move(*s));
  if (!complete && !end_statement()) skip_statement();
}

/// Whether the next tokens can only follow the left side of an assignment.
bool Parser::assigns(std::size_t ahead) const {
  return at_any(assignments, ahead) || at("[", ahead) || at(".", ahead) ||
         (at_any(reductions, ahead) && at("=", ahead + 1));
}

std::optional<Statement> Parser::simple() {
  if (!at(TokenKind::Word)) {
    fail(Code::StatementExpected, peek().where,
         in_quotes(peek().text) + " cannot begin a statement");
    return std::nullopt;
  }
  if (starts_local()) return local();
  if (at("skip") && at("if", 1)) return skip();
  if (assigns(1)) return assignment();
  if (at("return")) return return_statement();
  const bool setting_with_word = at("kernel") || at("precision");
  if (at("flops") || (setting_with_word && at(TokenKind::Word, 1))) return setting();
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
  if (at("flops")) {
    advance();
    s.value = expression();
    return s;
  }
  const bool kernel = at("kernel");
  advance();
  const Token& word = advance();
  s.kind = kernel ? StatementKind::Kernel : StatementKind::Precision;
  s.lvalue = {word.text, word.where};
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
  LValue p{word.text, word.where};
  while (accept("[")) {
    p.indices.push_back(expression());
    if (!expect("]", "after the index")) return std::nullopt;
    p.where = joined(p.where, tokens_[at_ - 1].where);
  }
  if (at(".") && at(TokenKind::Word, 1)) {
    advance();
    p.component = advance().text;
    p.where = joined(p.where, tokens_[at_ - 1].where);
  }
  return p;
}

std::optional<Statement> Parser::assignment() {
  Statement s = make(StatementKind::Assign);
  auto target = lvalue();
  if (!target) return std::nullopt;
  s.lvalue = std::move(*target);
  s.op = peek().text;
  if (at_any(reductions) && at("=", 1)) {
    advance();
  } else if (!at_any(assignments)) {
    report_invalid_statement(s.lvalue.name, s.where);
    return std::nullopt;
  }
  advance();
  s.value = expression();
  if (std::ranges::count(with_payload, s.op) == 0 || !accept(":")) return s;
  // The index of an extremum, or the values of weighted means.
  const bool means = s.op == "logsumexp";
  do {
    target = lvalue();
    if (!target) return std::nullopt;
    if (!expect("=",
                means ? "between the result and its value" : "between the result and its index"))
      return std::nullopt;
    s.payloads.push_back({std::move(*target), expression()});
  } while (means && accept(","));
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
      {"vec2", "`vec2 name = expression;`"},
      {"vec3", "`vec3 name = expression;`"},
      {"sym3", "`sym3 name = expression;`"},
      {"complex", "`complex name = expression;`"},
      {"else", "`if (condition) { statements } else { statements }`"},
  };
  // No keyword is followed by an operator: the statement is an expression that starts with a name.
  const bool is_name = at("+") || at("-") || at("*") || at("/") || at("^") || at(";");
  assembly::Suggestion suggestion(word);
  std::string help;
  for (const Usage& u : usages) {
    if (!is_name) suggestion.consider(u.word);
    if (u.word == word) help = std::string("usage: ") + u.text;
  }
  if (help.empty()) help = suggestion.help();
  if (help.empty() && at("(")) help = "the value of a function must be assigned to something";
  if (help.empty()) {
    help = "an assignment is `name = expression;`, a contribution is `result += expression;`";
  }
  fail(Code::StatementExpected, where, in_quotes(word) + " is not a statement", help);
}

std::optional<Statement> Parser::if_statement() {
  Statement s = make(StatementKind::If);
  advance();
  if (expect("(", "before the condition")) {
    s.value = expression();
    expect(")", "after the condition");
  }
  if (failed_) {
    replace_by_bad(s.value);
    if (!skip_to_block()) return std::nullopt;
  }
  s.body = block();
  if (s.body == none) return std::nullopt;
  if (!at("else")) return s;
  advance();
  if (!at("if")) {
    s.other = block();
    return s.other == none ? std::nullopt : std::optional(std::move(s));
  }
  // `else if` is an if statement as the only one of the else block.
  if (nesting_ >= max_nesting) {
    error(Code::NestedTooDeeply, peek().where, "conditions are nested too deeply");
    return std::nullopt;
  }
  ++nesting_;
  std::optional<Statement> inner = if_statement();
  --nesting_;
  if (!inner) return std::nullopt;
  Block chained;
  append(chained, std::move(*inner));
  s.other = add(std::move(chained));
  return s;
}

std::optional<Statement> Parser::for_statement() {
  Statement s = make(StatementKind::For);
  advance();
  s.lvalue = {peek().text, peek().where};
  advance();
  advance();
  s.value = expression();
  expect("..", "between the first and the last value");
  s.last = expression();
  if (at("step")) {
    advance();
    s.step = expression();
  }
  if (failed_) {
    replace_by_bad(s.value);
    if (!skip_to_block()) return std::nullopt;
  }
  s.body = block();
  return s.body == none ? std::nullopt : std::optional(std::move(s));
}

/// `{ statements }`; none after an error that leaves the block unread.
BlockId Parser::block() {
  const SourceRange open = peek().where;
  if (failed_ || !expect("{", "before the statements of the block")) return none;
  if (nesting_ >= max_nesting) {
    error(Code::NestedTooDeeply, open, "blocks are nested too deeply")
        .help("the limit is " + std::to_string(max_nesting));
    --at_;  // so that the whole block is skipped
    return none;
  }
  ++nesting_;
  Block b;
  while (!at("}") && !at(TokenKind::End)) statement(b);
  --nesting_;
  if (!accept("}"))
    error(Code::BlockNotClosed, open, "the block is not closed").help("close it with `}`");
  failed_ = false;
  return add(std::move(b));
}

BlockId Parser::add(Block block) {
  program_.blocks.push_back(std::move(block));
  return static_cast<BlockId>(program_.blocks.size() - 1);
}

}  // namespace gdr::kc::front
