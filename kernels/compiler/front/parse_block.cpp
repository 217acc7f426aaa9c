// Blocks in braces, and statements that contain them.
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {

std::optional<Statement> Parser::if_statement() {
  Statement s = make(StatementKind::If);
  advance();
  if (expect(TokenKind::ParenOpen, "(", "before the condition")) {
    s.value = expression();
    expect(TokenKind::ParenClose, ")", "after the condition");
  }
  if (failed_) {
    replace_by_bad(s.value);
    if (!skip_to_block()) return std::nullopt;
  }
  s.body = block();
  if (s.body == none) return std::nullopt;
  if (!at_word("else")) return s;
  advance();
  if (!at_word("if")) {
    s.other = block();
    return s.other == none ? std::nullopt : std::optional(std::move(s));
  }
  // `else if` is an if statement as the only one of the else block.
  if (nesting_ >= max_nesting) {
    messages_.error(Code::NestedTooDeeply, peek().where, "conditions are nested too deeply");
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
  advance();
  s.lvalue = {peek().text, peek().where, {}};
  advance();
  advance();
  s.value = expression();
  expect(TokenKind::Dots, "..", "between the first and the last value");
  s.last = expression();
  if (at_word("step")) {
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
  if (failed_ || !expect(TokenKind::BraceOpen, "{", "before the statements of the block"))
    return none;
  if (nesting_ >= max_nesting) {
    messages_.error(Code::NestedTooDeeply, open, "blocks are nested too deeply", {},
                    "the limit is " + std::to_string(max_nesting));
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
