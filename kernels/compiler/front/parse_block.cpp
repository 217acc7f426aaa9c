// Blocks in braces, and the statements that have them.
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {

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
