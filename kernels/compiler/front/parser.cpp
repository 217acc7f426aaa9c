// Statements, and how the parser finds its way again after an error.
#include "kernels/compiler/front/parser.hpp"

#include "emulator/assembler/front/report.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

Parser::Parser(Program& program, Sources& sources, Messages& messages, std::uint32_t file)
    : program_(program),
      sources_(sources),
      messages_(messages),
      file_(file),
      tokens_(tokens_of(sources.texts[file].text, file, messages)) {}

const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool Parser::at_word(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == TokenKind::Word && peek(ahead).text == text;
}

const Token& Parser::take() {
  const Token& t = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return t;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

SourceRange Parser::behind_last() const {
  if (at_ == 0) return peek().where;
  SourceRange where = tokens_[at_ - 1].where;
  where.column = where.column_end;
  ++where.column_end;
  return where;
}

void Parser::fail(Code code, const SourceRange& where, std::string message, std::string label,
                  std::string help) {
  if (!failed_ && !at(TokenKind::Bad))
    messages_.error(code, where, std::move(message), std::move(label), std::move(help));
  failed_ = true;
}

bool Parser::expect(TokenKind kind, const char* text, const char* after) {
  if (accept(kind)) return true;
  const bool next_line = peek().first_on_line || at(TokenKind::End);
  fail(Code::SymbolExpected, next_line ? behind_last() : peek().where,
       in_quotes(text) + " is expected here, " + after);
  return false;
}

/// The `;` of a statement. Where only that is missing at the end of a line, nothing is skipped.
bool Parser::end_statement() {
  if (failed_) return false;
  if (accept(TokenKind::Semicolon)) return true;
  const bool only_that = peek().first_on_line || at(TokenKind::BraceClose) || at(TokenKind::End);
  fail(Code::SymbolExpected, only_that ? behind_last() : peek().where,
       "`;` is expected here, behind the statement");
  return only_that;
}

/// To the end of a statement that cannot be understood: behind its `;` or block, before a `}`.
void Parser::skip_statement() {
  int open = 0;
  while (!at(TokenKind::End)) {
    if (open == 0 && (at(TokenKind::BraceClose) || (peek().first_on_line && starts_declaration())))
      return;
    const Token& t = take();
    const TokenKind kind = t.kind;
    // A string that is not closed has swallowed the `;`.
    if (kind == TokenKind::Bad && t.text.starts_with('"') && open == 0) return;
    if (kind == TokenKind::BraceOpen) ++open;
    if (kind == TokenKind::BraceClose && --open == 0) return;
    if (kind == TokenKind::Semicolon && open == 0) return;
  }
}

/// To the `{` behind the head of a block that cannot be understood; false if there is none.
bool Parser::find_block() {
  while (!at(TokenKind::End) && !at(TokenKind::BraceOpen)) {
    if (at(TokenKind::BraceClose) || at(TokenKind::Semicolon)) return false;
    take();
  }
  failed_ = false;
  return at(TokenKind::BraceOpen);
}

Statement Parser::make(StatementKind kind) const {
  Statement s;
  s.kind = kind;
  s.where = peek().where;
  return s;
}

void Parser::append(std::vector<std::int32_t>& block, Statement statement) {
  block.push_back(static_cast<std::int32_t>(program_.statements.size()));
  program_.statements.push_back(std::move(statement));
}

bool Parser::only_outermost(const char* what) {
  if (nesting_ == 0) return true;
  messages_.error(Code::Misplaced, peek().where,
                  std::string(what) + " stands outside of all braces");
  return false;
}

void Parser::parse_file() {
  sources_.open.push_back(file_);
  std::vector<std::int32_t> block;
  while (!at(TokenKind::End)) {
    if (at(TokenKind::BraceClose)) {
      messages_.error(Code::StatementExpected, take().where, "there is no block to close here");
      continue;
    }
    // Includes append to the outermost block themselves, in their place.
    statement(block);
    auto& top = program_.blocks[static_cast<std::size_t>(program_.top)].statements;
    top.insert(top.end(), block.begin(), block.end());
    block.clear();
  }
  sources_.open.pop_back();
}

void Parser::statement(std::vector<std::int32_t>& block) {
  failed_ = false;
  depth_ = 0;
  if (accept(TokenKind::Semicolon)) return;
  if (starts_declaration()) {
    if (!only_outermost("a declaration")) return take(), skip_statement();
    if (auto s = declaration()) return append(block, std::move(*s));
    return skip_statement();
  }
  if (compound(block)) return;
  auto s = simple();
  if (!s) return skip_statement();
  if (failed_ && s->kind == StatementKind::Local) make_bad(s->items.back().value);
  // What is assigned is known, even if nobody knows what.
  if (failed_) make_bad(s->value);
  append(block, std::move(*s));
  if (!end_statement()) skip_statement();
}

/// True if what follows can only stand behind the name of what is assigned.
bool Parser::assigns(std::size_t ahead) const {
  const TokenKind kind = peek(ahead).kind;
  return kind == TokenKind::Equals || kind == TokenKind::PlusEquals ||
         kind == TokenKind::MinusEquals || kind == TokenKind::BracketOpen ||
         ((at_word("min", ahead) || at_word("max", ahead)) &&
          peek(ahead + 1).kind == TokenKind::Equals);
}

/// Statements that end with a block, and those that only the outermost level has.
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
  const TokenKind next = peek(1).kind;
  if (at_word("skip") && at_word("if", 1)) {
    Statement s = make(StatementKind::Skip);
    if (in_function_) {
      fail(Code::Misplaced, s.where, "a function only gives a value: it skips nothing");
      return std::nullopt;
    }
    take();
    take();
    s.value = expression();
    return s;
  }
  if (assigns(1)) return assignment();
  if (at_word("return")) {
    Statement s = make(StatementKind::Return);
    if (!in_function_ || nesting_ != 1) {
      fail(Code::Misplaced, s.where,
           in_function_ ? "a function returns with its last statement, outside of braces"
                        : "only a function returns a value");
      return std::nullopt;
    }
    take();
    s.value = expression();
    return s;
  }
  if (next == TokenKind::Word && (peek(2).kind != TokenKind::Equals || peek(2).first_on_line)) {
    Statement s = make(StatementKind::Kernel);
    const bool known = at_word("kernel") || at_word("precision");
    if (known && !only_outermost("a setting")) return std::nullopt;
    if (at_word("kernel")) {
      take();
      s.place = {peek().text, peek().where, {}};
      take();
      return s;
    }
    if (at_word("precision") && (at_word("long", 1) || at_word("short", 1))) {
      s.kind = StatementKind::Precision;
      take();
      s.type = take().text == "long" ? Type::Long : Type::Short;
      return s;
    }
  }
  if (at_word("flops")) {
    if (!only_outermost("a setting")) return std::nullopt;
    Statement s = make(StatementKind::Flops);
    take();
    s.value = expression();
    return s;
  }
  return assignment();
}

std::optional<Place> Parser::place() {
  if (!at(TokenKind::Word)) {
    fail(Code::NameExpected, peek().first_on_line ? behind_last() : peek().where,
         "a name is expected here");
    return std::nullopt;
  }
  const Token& word = take();
  Place p{word.text, word.where, {}};
  while (accept(TokenKind::BracketOpen)) {
    p.indices.push_back(expression());
    if (!expect(TokenKind::BracketClose, "]", "behind the index")) return std::nullopt;
    p.where = joined(p.where, tokens_[at_ - 1].where);
  }
  return p;
}

std::optional<Statement> Parser::assignment() {
  Statement s = make(StatementKind::Assign);
  auto target = place();
  if (!target) return std::nullopt;
  s.place = std::move(*target);
  const bool minimum = at_word("min");
  if ((minimum || at_word("max")) && peek(1).kind == TokenKind::Equals) {
    s.kind = StatementKind::Reduce;
    s.join = minimum ? Join::Min : Join::Max;
    take();
    take();
    if (!reduction_value(s)) return std::nullopt;
    return s;
  }
  s.op = peek().kind;
  if (s.op != TokenKind::Equals && s.op != TokenKind::PlusEquals &&
      s.op != TokenKind::MinusEquals) {
    no_statement(s.place.name, s.where);
    return std::nullopt;
  }
  take();
  s.value = expression();
  return s;
}

void Parser::no_statement(std::string_view word, const SourceRange& where) {
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
  assembly::Suggestion suggestion(word);
  std::string help;
  for (const Usage& u : usages) {
    suggestion.consider(u.word);
    if (u.word == word) help = std::string("it is used like this: ") + u.text;
  }
  if (help.empty()) help = suggestion.help();
  if (help.empty() && at(TokenKind::ParenOpen))
    help = "the value of a function must be assigned to something";
  if (help.empty()) help = "an assignment reads `name = expression;`";
  fail(Code::StatementExpected, where, in_quotes(word) + " begins no statement", {}, help);
}

/// What stands behind min= or max=: the key, and perhaps `: name = index`.
bool Parser::reduction_value(Statement& s) {
  s.value = expression();
  if (!accept(TokenKind::Colon)) return true;
  auto target = place();
  if (!target) return false;
  s.payload_place = std::move(*target);
  if (!expect(TokenKind::Equals, "=", "between the result and the index that it receives"))
    return false;
  s.payload = expression();
  return true;
}

std::optional<Statement> Parser::if_statement() {
  Statement s = make(StatementKind::If);
  take();
  if (expect(TokenKind::ParenOpen, "(", "before the condition")) {
    s.value = expression();
    expect(TokenKind::ParenClose, ")", "behind the condition");
  }
  if (failed_) {
    make_bad(s.value);
    if (!find_block()) return std::nullopt;
  }
  s.body = block();
  if (s.body == none) return std::nullopt;
  if (!at_word("else")) return s;
  take();
  if (!at_word("if")) {
    s.other = block();
    return s.other == none ? std::nullopt : std::optional(std::move(s));
  }
  // `else if` is an if alone in the block behind else.
  if (nesting_ >= deepest_nesting) {
    messages_.error(Code::NestedTooDeeply, peek().where, "conditions stand too deep in each other");
    return std::nullopt;
  }
  ++nesting_;
  std::optional<Statement> inner = if_statement();
  --nesting_;
  if (!inner) return std::nullopt;
  Block chained;
  append(chained.statements, std::move(*inner));
  s.other = static_cast<BlockId>(program_.blocks.size());
  program_.blocks.push_back(std::move(chained));
  return s;
}

std::optional<Statement> Parser::for_statement() {
  Statement s = make(StatementKind::For);
  take();
  s.place = {peek().text, peek().where, {}};
  take();
  take();
  s.value = expression();
  expect(TokenKind::Dots, "..", "between the first and the last value");
  s.last = expression();
  if (at_word("step")) {
    take();
    s.step = expression();
  }
  if (failed_) {
    make_bad(s.value);
    if (!find_block()) return std::nullopt;
  }
  s.body = block();
  return s.body == none ? std::nullopt : std::optional(std::move(s));
}

/// `{ statements }`; none after an error that leaves the block unread.
BlockId Parser::block() {
  const SourceRange open = peek().where;
  if (failed_ || !expect(TokenKind::BraceOpen, "{", "before the statements of the block"))
    return none;
  if (nesting_ >= deepest_nesting) {
    messages_.error(Code::NestedTooDeeply, open, "blocks stand too deep in each other", {},
                    "at most " + std::to_string(deepest_nesting) + " are possible");
    --at_;  // so that the whole block is skipped
    return none;
  }
  ++nesting_;
  Block b;
  while (!at(TokenKind::BraceClose) && !at(TokenKind::End)) statement(b.statements);
  --nesting_;
  if (!accept(TokenKind::BraceClose))
    messages_.error(Code::BlockNotClosed, open, "the block is not closed", {}, "close it with `}`");
  failed_ = false;
  program_.blocks.push_back(std::move(b));
  return static_cast<BlockId>(program_.blocks.size() - 1);
}

}  // namespace gdr::kc::front
