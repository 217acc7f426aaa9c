// Tokens, messages and error recovery of the parser.
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

const Token& Parser::advance() {
  const Token& t = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return t;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
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

void Parser::fail(Code code, const SourceRange& where, std::string message, std::string label,
                  std::string help) {
  if (!failed_ && !at(TokenKind::Bad))
    messages_.error(code, where, std::move(message), std::move(label), std::move(help));
  failed_ = true;
}

bool Parser::expect(TokenKind kind, const char* text, const char* after) {
  if (accept(kind)) return true;
  const bool next_line = peek().first_on_line || at(TokenKind::End);
  fail(Code::SymbolExpected, next_line ? after_last_token() : peek().where,
       in_quotes(text) + " is expected here, " + after);
  return false;
}

/// The `;` of a statement. If only that is missing at a line end, nothing is skipped.
bool Parser::end_statement() {
  if (failed_) return false;
  if (accept(TokenKind::Semicolon)) return true;
  const bool only_that = peek().first_on_line || at(TokenKind::BraceClose) || at(TokenKind::End) ||
                         starts_declaration();
  fail(Code::SymbolExpected, only_that ? after_last_token() : peek().where,
       "`;` is expected here, after the statement");
  return only_that;
}

/// Skip an invalid statement: to its `;` or the end of its block, or to a `}`.
void Parser::skip_statement() {
  int open = 0;
  while (!at(TokenKind::End)) {
    if (open == 0 && (at(TokenKind::BraceClose) || (peek().first_on_line && starts_declaration())))
      return;
    const Token& t = advance();
    const TokenKind kind = t.kind;
    // An unterminated string contains the `;`.
    if (kind == TokenKind::Bad && t.text.starts_with('"') && open == 0) return;
    if (kind == TokenKind::BraceOpen) ++open;
    if (kind == TokenKind::BraceClose && --open == 0) return;
    if (kind == TokenKind::Semicolon && open == 0) return;
  }
}

/// Skip to the `{` after an invalid block header; false if there is none.
bool Parser::skip_to_block() {
  while (!at(TokenKind::End) && !at(TokenKind::BraceOpen)) {
    if (at(TokenKind::BraceClose) || at(TokenKind::Semicolon)) return false;
    advance();
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

bool Parser::require_outermost(const char* what) {
  if (nesting_ == 0) return true;
  messages_.error(Code::Misplaced, peek().where,
                  std::string(what) + " is only allowed at the outermost level");
  return false;
}

void Parser::parse_file() {
  sources_.open.push_back(file_);
  std::vector<std::int32_t> block;
  while (!at(TokenKind::End)) {
    if (at(TokenKind::BraceClose)) {
      messages_.error(Code::StatementExpected, advance().where, "there is no block to close here");
      continue;
    }
    // Includes append to the outermost block themselves.
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
    if (!require_outermost("a declaration")) return advance(), skip_statement();
    if (auto s = declaration()) return append(block, std::move(*s));
    return skip_statement();
  }
  if (compound(block)) return;
  auto s = simple();
  if (!s) return skip_statement();
  if (failed_ && s->kind == StatementKind::Local) replace_by_bad(s->items.back().value);
  // The assigned name is declared, with an unknown value.
  if (failed_) replace_by_bad(s->value);
  append(block, std::move(*s));
  if (!end_statement()) skip_statement();
}

/// Whether the next tokens can only follow the left side of an assignment.
bool Parser::assigns(std::size_t ahead) const {
  const TokenKind kind = peek(ahead).kind;
  return kind == TokenKind::Equals || kind == TokenKind::PlusEquals ||
         kind == TokenKind::MinusEquals || kind == TokenKind::BracketOpen ||
         ((at_word("min", ahead) || at_word("max", ahead) || at_word("append", ahead)) &&
          peek(ahead + 1).kind == TokenKind::Equals);
}

}  // namespace gdr::kc::front
