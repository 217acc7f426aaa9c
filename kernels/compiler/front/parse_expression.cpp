// Expressions, by increasing precedence: ?:, ||, &&, == !=, < <= > >=, + -, * /, signs and !, ^.
#include <array>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {
namespace {

constexpr std::array<std::array<TokenKind, 4>, 6> levels{{
    {TokenKind::OrOr},
    {TokenKind::AndAnd},
    {TokenKind::EqualEqual, TokenKind::NotEqual},
    {TokenKind::Less, TokenKind::LessEqual, TokenKind::Greater, TokenKind::GreaterEqual},
    {TokenKind::Plus, TokenKind::Minus},
    {TokenKind::Star, TokenKind::Slash},
}};

bool belongs_to(TokenKind kind, std::size_t level) noexcept {
  if (kind == TokenKind::End) return false;
  for (const TokenKind k : levels[level]) {
    if (k == kind) return true;
  }
  return false;
}

/// Increments a depth during its lifetime.
struct Deeper {
  int& depth;
  explicit Deeper(int& d) : depth(d) { ++depth; }
  ~Deeper() { --depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

}  // namespace

ExprId Parser::add(Expr expr) {
  program_.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(program_.exprs.size() - 1);
}

ExprId Parser::bad(const SourceRange& where) {
  Expr e;
  e.where = where;
  return add(std::move(e));
}

/// Replace an invalid expression, keeping its source range.
void Parser::replace_by_bad(ExprId& id) {
  id = bad(id == none ? after_last_token() : program_.exprs[static_cast<std::size_t>(id)].where);
}

/// Reports an error and returns false if expressions are nested too deeply.
bool Parser::enter() {
  if (depth_ < max_expression_depth) return true;
  fail(Code::NestedTooDeeply, peek().where,
       "the expression is nested more than " + std::to_string(max_expression_depth) + " deep", {},
       "assign parts of it to temporaries");
  return false;
}

ExprId Parser::expression() {
  if (!enter()) return bad(peek().where);
  const Deeper deeper(depth_);
  const ExprId condition = level(0);
  if (!accept(TokenKind::Question)) return condition;
  const ExprId yes = expression();
  if (!expect(TokenKind::Colon, ":", "between the two values of `? :`")) return bad(peek().where);
  const ExprId no = expression();
  Expr e;
  e.kind = ExprKind::Choice;
  e.where = joined(program_.exprs[static_cast<std::size_t>(condition)].where,
                   program_.exprs[static_cast<std::size_t>(no)].where);
  e.operands = {{condition, {}}, {yes, {}}, {no, {}}};
  return add(std::move(e));
}

ExprId Parser::level(int precedence) {
  const auto row = static_cast<std::size_t>(precedence);
  if (row == levels.size()) return unary();
  const ExprId first = level(precedence + 1);
  if (!belongs_to(peek().kind, row)) return first;
  Expr chain;
  chain.kind = ExprKind::Chain;
  chain.where = program_.exprs[static_cast<std::size_t>(first)].where;
  chain.operands.push_back({first, TokenKind::End});
  while (belongs_to(peek().kind, row)) {
    const TokenKind op = advance().kind;
    const ExprId next = level(precedence + 1);
    chain.operands.push_back({next, op});
    chain.where = joined(chain.where, program_.exprs[static_cast<std::size_t>(next)].where);
  }
  return add(std::move(chain));
}

ExprId Parser::unary() {
  const Token& sign = peek();
  if (sign.kind != TokenKind::Minus && sign.kind != TokenKind::Plus && sign.kind != TokenKind::Not)
    return power();
  if (!enter()) return bad(sign.where);
  const Deeper deeper(depth_);
  Expr e;
  e.kind = ExprKind::Unary;
  e.op = sign.kind;
  e.where = sign.where;
  advance();
  const ExprId operand = unary();
  e.operands = {{operand, {}}};
  e.where = joined(e.where, program_.exprs[static_cast<std::size_t>(operand)].where);
  return add(std::move(e));
}

/// The exponent may have a sign; `^` is right-associative.
ExprId Parser::power() {
  const ExprId base = primary();
  if (!at(TokenKind::Caret)) return base;
  if (!enter()) return bad(peek().where);
  const Deeper deeper(depth_);
  advance();
  const ExprId exponent = unary();
  Expr e;
  e.kind = ExprKind::Power;
  e.operands = {{base, {}}, {exponent, {}}};
  e.where = joined(program_.exprs[static_cast<std::size_t>(base)].where,
                   program_.exprs[static_cast<std::size_t>(exponent)].where);
  return add(std::move(e));
}

ExprId Parser::primary() {
  const Token& t = peek();
  if (t.kind == TokenKind::Number) {
    advance();
    Expr e;
    e.kind = ExprKind::Literal;
    e.where = t.where;
    e.literal = t.literal;
    return add(std::move(e));
  }
  if (t.kind == TokenKind::ParenOpen) {
    advance();
    const ExprId inner = expression();
    expect(TokenKind::ParenClose, ")", "to close the parenthesis");
    // A pair of parentheses only extends the source range.
    Expr& e = program_.exprs[static_cast<std::size_t>(inner)];
    e.where = joined(t.where, joined(e.where, tokens_[at_ > 0 ? at_ - 1 : 0].where));
    return inner;
  }
  if (t.kind == TokenKind::Word) return name_or_call();
  if (t.kind == TokenKind::Bad) {
    advance();
    return bad(t.where);
  }
  const bool stops = t.kind == TokenKind::Semicolon || t.kind == TokenKind::End ||
                     t.kind == TokenKind::BraceClose || t.first_on_line;
  const SourceRange where = stops ? after_last_token() : t.where;
  fail(Code::ExpressionExpected, where,
       "a number, a name, a function or a parenthesis is expected here");
  return bad(where);
}

ExprId Parser::name_or_call() {
  const Token& word = advance();
  Expr e;
  e.kind = ExprKind::Name;
  e.where = word.where;
  e.name = word.text;
  if (at(TokenKind::ParenOpen)) {
    e.kind = ExprKind::Call;
    advance();
    if (!operands_in(TokenKind::ParenClose, ")", e.operands)) e.kind = ExprKind::Bad;
    e.where = joined(e.where, tokens_[at_ - 1].where);
    return add(std::move(e));
  }
  while (accept(TokenKind::BracketOpen)) {
    e.operands.push_back({expression(), {}});
    if (!expect(TokenKind::BracketClose, "]", "after the index")) {
      e.kind = ExprKind::Bad;
      break;
    }
    e.where = joined(e.where, tokens_[at_ - 1].where);
  }
  return add(std::move(e));
}

/// Expressions separated by commas, up to and including `close`.
bool Parser::operands_in(TokenKind close, const char* text, std::vector<ExprOperand>& operands) {
  if (accept(close)) return true;
  do {
    operands.push_back({expression(), {}});
  } while (accept(TokenKind::Comma));
  return expect(close, text, "after the arguments");
}

}  // namespace gdr::kc::front
