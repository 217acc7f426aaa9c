// What the parser makes of a text: statements and expressions as plain data, without meaning.
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
  Bad,      ///< reported already
  Literal,  ///< `literal`
  Name,     ///< `name`, with an operand for each index
  Call,     ///< `name`, with an operand for each argument
  Unary,    ///< `op` and one operand
  Chain,    ///< operands of one level of precedence, joined from the left by their operators
  Power,    ///< base and exponent
  Choice,   ///< condition ? one : other
};

struct ExprOperand {
  ExprId expr = none;
  TokenKind op = TokenKind::End;  ///< Chain: what joins it to what stands left of it
};

/// Chains are flat, so that no text makes a deep tree out of a long sum.
struct Expr {
  ExprKind kind = ExprKind::Bad;
  TokenKind op = TokenKind::End;
  SourceRange where;
  std::string_view name;
  Literal literal;
  std::vector<ExprOperand> operands;
};

/// A name, perhaps with indices: what is declared or assigned to.
struct Place {
  std::string_view name;
  SourceRange where;
  std::vector<ExprId> indices;  ///< in a declaration the sizes
};

enum class StatementKind : std::uint8_t {
  Declare,    ///< CONST, VARI, VARJ, VARF: `variable_kind`, `type`, `table`, `list`, `items`
  Local,      ///< long, short, int, bool: `type`, `items`
  Assign,     ///< `place` `op` `value`
  Reduce,     ///< `place` min= `value`, perhaps with `payload_place` and `payload`; append=
  If,         ///< `value`, `body`, perhaps `other`
  For,        ///< `place` = `value` .. `last` step `step`, `body`
  Skip,       ///< skip if `value`
  Return,     ///< `value`
  Kernel,     ///< `place` is the name
  Flops,      ///< `value`
  Precision,  ///< `type`
};

struct DeclaredItem {
  Place place;
  ExprId value = none;
};

struct Statement {
  StatementKind kind = StatementKind::Assign;
  SourceRange where;
  Place place;
  TokenKind op = TokenKind::Equals;
  ExprId value = none, last = none, step = none, payload = none;
  Place payload_place;
  Join join = Join::Min;
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

/// A whole kernel with its includes. Names are views of the source texts.
struct Program {
  std::vector<Expr> exprs;
  std::vector<Statement> statements;
  std::vector<Block> blocks;
  std::vector<Function> functions;
  BlockId top = none;
};

}  // namespace gdr::kc::front
