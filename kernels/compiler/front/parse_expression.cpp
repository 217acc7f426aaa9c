// Expressions, by increasing precedence: ?:, ||, &&, == !=, < <= > >=, + -, * /, signs and !, ^.
#include <algorithm>
#include <array>

#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc::front {
namespace {

constexpr int max_expression_depth = 200;

constexpr std::array<std::array<std::string_view, 4>, 6> levels{{
    {"||"},
    {"&&"},
    {"==", "!="},
    {"<", "<=", ">", ">="},
    {"+", "-"},
    {"*", "/", "%"},
}};

bool belongs_to(const Token& t, std::size_t level) noexcept {
  return t.kind == TokenKind::Symbol && std::ranges::count(levels[level], t.text) > 0;
}

}  // namespace

ExprId Parser::add(Expr expr) {
  program_.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(program_.exprs.size() - 1);
}

/// Replace an invalid expression, keeping its source range.
void Parser::replace_by_bad(ExprId& id) {
  id = bad(id == none ? after_last_token() : program_.expr(id).where);
}

SourceRange Parser::joined_range(ExprId first, ExprId last) const {
  return joined(program_.expr(first).where, program_.expr(last).where);
}

/// Parse by `rule`, one level deeper; reports an error if expressions are nested too deeply.
ExprId Parser::nested(ExprId (Parser::*rule)()) {
  if (depth_ >= max_expression_depth) {
    fail(Code::NestedTooDeeply, peek().where,
         "the expression is nested more than " + std::to_string(max_expression_depth) + " deep",
         "assign parts of it to temporaries");
    return bad(peek().where);
  }
  ++depth_;
  const ExprId made = (this->*rule)();
  --depth_;
  return made;
}

ExprId Parser::choice() {
  const ExprId condition = level(0);
  if (!accept("?")) return condition;
  const ExprId yes = expression();
  if (!expect(":", "between the two values of `? :`")) return bad(peek().where);
  const ExprId no = expression();
  return add({.kind = ExprKind::Choice,
              .where = joined_range(condition, no),
              .operands = {{condition}, {yes}, {no}}});
}

ExprId Parser::level(std::size_t precedence) {
  if (precedence == levels.size()) return unary();
  const ExprId first = level(precedence + 1);
  if (!belongs_to(peek(), precedence)) return first;
  Expr chain{.kind = ExprKind::Chain, .where = program_.expr(first).where, .operands = {{first}}};
  while (belongs_to(peek(), precedence)) {
    const std::string_view op = advance().text;
    const ExprId next = level(precedence + 1);
    chain.operands.push_back({next, op});
    chain.where = joined(chain.where, program_.expr(next).where);
  }
  return add(std::move(chain));
}

ExprId Parser::unary() {
  return at("-") || at("+") || at("!") ? nested(&Parser::signed_operand) : power();
}

ExprId Parser::signed_operand() {
  const Token& sign = advance();
  const ExprId operand = unary();
  return add({.kind = ExprKind::Unary,
              .op = sign.text,
              .where = joined(sign.where, program_.expr(operand).where),
              .operands = {{operand}}});
}

/// The exponent may have a sign; `^` is right-associative.
ExprId Parser::power() {
  const ExprId base = postfix();
  if (!accept("^")) return base;
  const ExprId exponent = nested(&Parser::unary);
  return add({.kind = ExprKind::Power,
              .where = joined_range(base, exponent),
              .operands = {{base}, {exponent}}});
}

/// Components: `x.y`, `cross(a, b).z`.
ExprId Parser::postfix() {
  ExprId whole = primary();
  while (at(".") && at(TokenKind::Word, 1)) {
    advance();
    const Token& word = advance();
    whole = add({.kind = ExprKind::Component,
                 .where = joined(program_.expr(whole).where, word.where),
                 .name = word.text,
                 .operands = {{whole}}});
  }
  return whole;
}

ExprId Parser::primary() {
  const Token& t = peek();
  if (t.kind == TokenKind::Word) return name_or_call();
  if (t.kind == TokenKind::Number) {
    advance();
    return add({.kind = ExprKind::Literal, .where = t.where, .literal = t.literal});
  }
  if (accept("(")) {
    const ExprId inner = expression();
    expect(")", "to close the parenthesis");
    // A pair of parentheses only extends the source range.
    Expr& e = program_.expr(inner);
    e.where = joined(t.where, joined(e.where, tokens_[at_ - 1].where));
    return inner;
  }
  if (t.kind == TokenKind::Bad) return bad(advance().where);
  const bool stops = at(";") || at("}") || at(TokenKind::End) || t.first_on_line;
  const SourceRange where = stops ? after_last_token() : t.where;
  fail(Code::ExpressionExpected, where,
       "a number, a name, a function or a parenthesis is expected here");
  return bad(where);
}

ExprId Parser::name_or_call() {
  const Token& word = advance();
  Expr e{.kind = ExprKind::Name, .where = word.where, .name = word.text};
  if (accept("(")) {
    e.kind = ExprKind::Call;
    if (!accept(")")) {
      do {
        e.operands.push_back({expression()});
      } while (accept(","));
      if (!expect(")", "after the arguments")) e.kind = ExprKind::Bad;
    }
    e.where = joined(e.where, tokens_[at_ - 1].where);
    return add(std::move(e));
  }
  while (accept("[")) {
    e.operands.push_back({expression()});
    if (!expect("]", "after the index")) {
      e.kind = ExprKind::Bad;
      break;
    }
    e.where = joined(e.where, tokens_[at_ - 1].where);
  }
  return add(std::move(e));
}

}  // namespace gdr::kc::front
