// Abstract syntax tree: statements and expressions as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/program.hpp"
#include "kernels/compiler/front/token.hpp"
#include "kernels/compiler/graph.hpp"

namespace gdr::kc::front {

using ExprId = std::int32_t;
using BlockId = std::int32_t;
constexpr std::int32_t none = -1;

enum class ExprKind : std::uint8_t {
  Bad,      ///< error, already reported
  Literal,  ///< `literal`
  Name,     ///< `name`, with one operand per index
  Call,     ///< `name`, with one operand per argument
  Unary,    ///< `op` and one operand
  Chain,    ///< operands of one precedence level, left-associative
  Power,    ///< base and exponent
  Choice,   ///< condition ? yes : no
};

struct ExprOperand {
  ExprId expr = none;
  TokenKind op = TokenKind::End;  ///< Chain: operator before this operand
};

/// Chains are flat, so that a long sum is not a deep tree.
struct Expr {
  ExprKind kind = ExprKind::Bad;
  TokenKind op = TokenKind::End;
  SourceRange where;
  std::string_view name;
  Literal literal;
  std::vector<ExprOperand> operands;
};

/// A name with optional indices: the operand of a declaration or assignment.
struct LValue {
  std::string_view name;
  SourceRange where;
  std::vector<ExprId> indices;  ///< in a declaration the sizes
};

enum class StatementKind : std::uint8_t {
  Declare,    ///< CONST, VARI, VARJ, VARF: `variable_kind`, `type`, `table`, `list`, `items`
  Local,      ///< long, short, int, bool: `type`, `items`
  Assign,     ///< `lvalue` `op` `value`
  Reduce,     ///< `lvalue` min= `value` with optional `payload_lvalue` and `payload`; append=
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
  TokenKind op = TokenKind::Equals;
  ExprId value = none, last = none, step = none, payload = none;
  LValue payload_lvalue;
  Reduction reduction = Reduction::Min;
  BlockId body = none, other = none;
  VarKind variable_kind = VarKind::Target;
  std::optional<Type> type;
  bool table = false, list = false;
  std::vector<DeclaredItem> items;
};

struct Block {
  std::vector<std::int32_t> statements;
};

struct Parameter {
  std::string_view name;
  SourceRange where;
  std::optional<Type> type;
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
};

}  // namespace gdr::kc::front
