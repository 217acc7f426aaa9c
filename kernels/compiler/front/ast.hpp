// Tokens, and the abstract syntax tree: statements and expressions as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/program.hpp"
#include "kernels/compiler/front/messages.hpp"
#include "kernels/compiler/front/shape.hpp"
#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc::front {

enum class TokenKind : std::uint8_t {
  End,
  Bad,  ///< expression that is not part of the language, already reported
  Word,
  Number,
  String,
  Symbol,  ///< operator or punctuation, identified by its text
};

/// A literal: an integer if it is written as one and fits, else a float.
struct Literal {
  bool integral = false;
  std::int64_t integer = 0;
  double number = 0;  ///< value; also set for integers
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool first_on_line = false;
  SourceRange where;
  std::string_view text;  ///< source text; of a string without quotes
  Literal literal;        ///< value of a Number
};

/// The tokens of a source text, terminated by an End. Invalid text is reported and becomes a Bad
/// token.
std::vector<Token> tokens_of(std::string_view text, std::uint32_t file, Messages& messages);

using ExprId = std::int32_t;
using BlockId = std::int32_t;
constexpr std::int32_t none = -1;

enum class ExprKind : std::uint8_t {
  Bad,        ///< error, already reported
  Literal,    ///< `literal`
  Name,       ///< `name`, with one operand per index
  Call,       ///< `name`, with one operand per argument
  Component,  ///< component `name` of the operand
  Unary,      ///< `op` and one operand
  Chain,      ///< operands of one precedence level, left-associative
  Power,      ///< base and exponent
  Choice,     ///< condition ? yes : no
};

struct ExprOperand {
  ExprId expr = none;
  std::string_view op = {};  ///< Chain: operator before this operand
};

/// Chains are flat, so that a long sum is not a deep tree.
struct Expr {
  ExprKind kind = ExprKind::Bad;
  std::string_view op = {};
  SourceRange where = {};
  std::string_view name = {};
  Literal literal = {};
  std::vector<ExprOperand> operands = {};
};

/// A name with optional indices and component: the operand of a declaration or assignment.
struct LValue {
  std::string_view name;
  SourceRange where;
  std::vector<ExprId> indices = {};  ///< indices; in a declaration the sizes
  std::string_view component = {};   ///< component of a vector or tensor; not in declarations
};

/// The type words of a declaration: those of the numbers, and the shape.
struct DeclaredType {
  std::optional<Type> type;
  Shape shape = Shape::Scalar;
};

enum class StatementKind : std::uint8_t {
  Declare,    ///< CONST, VARI, VARJ, VARF: `variable_kind`, types, `table`, `list`, `items`,
              ///< `quantity`
  Local,      ///< long, short, int, bool, vec2, vec3, sym3, complex: `type`, `shape`, `items`
  Assign,     ///< `lvalue` `op` `value`; after some reductions `payloads`
  If,         ///< `value`, `body`, optional `other`
  For,        ///< `lvalue` = `value` .. `last` step `step`, `body`
  Skip,       ///< skip if `value`
  Return,     ///< `value`
  Kernel,     ///< `lvalue` with the name
  Flops,      ///< `value`
  Precision,  ///< `type`
};

struct DeclaredItem {
  LValue lvalue;
  ExprId value = none;
};

struct Statement {
  StatementKind kind = StatementKind::Assign;
  SourceRange where;
  LValue lvalue;
  std::string_view op;  ///< = += -= *=, or the word of a reduction
  ExprId value = none, last = none, step = none;
  std::vector<DeclaredItem> payloads = {};  ///< the index of an extremum, or weighted means
  BlockId body = none, other = none;
  VarKind variable_kind = VarKind::Target;
  std::optional<Type> type;
  Shape shape = Shape::Scalar;
  bool table = false, list = false;
  std::string_view quantity = {};  ///< name behind `as`, else empty
  bool squared = false;            ///< `^2` behind the quantity
  std::vector<DeclaredItem> items;
};

/// Numbers of statements.
using Block = std::vector<std::int32_t>;

struct Parameter {
  std::string_view name;
  SourceRange where;
  std::optional<DeclaredType> declared;
};

struct Function {
  std::string_view name;
  SourceRange where;
  std::vector<Parameter> parameters;
  BlockId body = none;
};

/// A whole kernel with its includes. Names are views into the source texts.
struct Program {
  std::vector<Expr> exprs;
  std::vector<Statement> statements;
  std::vector<Block> blocks;
  std::vector<Function> functions;
  BlockId top = none;

  Expr& expr(ExprId id) { return exprs[index(id)]; }
  const Expr& expr(ExprId id) const { return exprs[index(id)]; }
  const Statement& statement(std::int32_t id) const { return statements[index(id)]; }
  const Block& block(BlockId id) const { return blocks[index(id)]; }
};

}  // namespace gdr::kc::front
