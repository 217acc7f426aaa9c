// The pair law as a graph: what one target and one source contribute to the results, in plain
// arithmetic. The front end makes it from text; everything behind works on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::kc {

/// What a value is. Short and Long are floating point (25 and 61 significant bits); Int is a signed
/// 36-bit integer; Bool is the outcome of a comparison.
enum class Type : std::uint8_t { Short, Long, Int, Bool };

/// Operations of the graph. The comment gives the operands (a, b, c) and the types.
enum class Fn : std::uint8_t {
  Input,       ///< the variable `variable` (Target, Source or Param): Long, Short or Int
  Constant,    ///< `number` (Short, Long), `integer` (Int)
  Add,         ///< a + b: numbers or integers
  Sub,         ///< a - b
  Mul,         ///< a * b: numbers only
  Div,         ///< a / b: numbers only
  Neg,         ///< -a
  Abs,         ///< |a|
  Min,         ///< the smaller
  Max,         ///< the larger
  Sqrt,        ///< square root of a number
  Rsqrt,       ///< its inverse
  Reciprocal,  ///< 1 / a
  Exp,         ///< e to the a
  Convert,     ///< a number in the node's type; an Int as a number
  Less,        ///< Bool: a < b, numbers or integers
  Equal,       ///< Bool: a == b, numbers or integers
  And,         ///< Bool of Bools
  Or,          ///< Bool of Bools
  Not,         ///< Bool of a Bool
  Select,      ///< a (Bool) ? b : c
  Lookup,      ///< element a (Int) of the table `variable`
};

using NodeId = std::int32_t;
constexpr NodeId no_node = -1;

struct Node {
  Fn fn = Fn::Constant;
  Type type = Type::Short;
  NodeId a = no_node, b = no_node, c = no_node;
  std::int32_t variable = -1;  ///< Input, Lookup: index into Graph::variables
  double number = 0;           ///< Constant of type Short or Long
  std::int64_t integer = 0;    ///< Constant of type Int
  SourceRange where;           ///< the text that it came from, for messages and comments
};

/// A declared variable. An array's elements are variables of their own (`x[0]` is named x_0).
struct GraphVariable {
  std::string name;
  VarKind kind = VarKind::Target;  ///< Target, Source, Result or Param
  Type type = Type::Long;          ///< Short, Long or Int
  bool type_given = false;         ///< declared, not the default: inference keeps its hands off
  std::uint32_t table_size = 0;    ///< Param: number of elements of a table, 0 for a scalar
  std::uint32_t list_size = 0;     ///< Result: capacity of a list, 0 for a single value
  SourceRange where;
};

/// How contributions are joined to a result.
enum class Join : std::uint8_t {
  Sum,
  Min,
  Max,
  Append,  ///< the value, an Int, goes to the end of a list
};

/// A contribution to a result: `result = result (join) value`, where `gate` holds. In the order of
/// the text; a result may have several, all with the same join.
struct Contribution {
  std::int32_t result = -1;  ///< index into Graph::variables
  Join join = Join::Sum;
  bool negated = false;              ///< Sum: subtracted
  NodeId value = no_node;            ///< the number (Min, Max: the key)
  NodeId payload = no_node;          ///< Min, Max with an index: the Int that goes with the key
  std::int32_t payload_result = -1;  ///< the result that receives the payload, else -1
  NodeId gate = no_node;             ///< Bool, or no_node: always
  SourceRange where;
};

/// The whole kernel. Nodes are in an order in which operands come first; equal nodes are one.
struct Graph {
  std::string name;
  double flops = 0;  ///< counted for one interaction, by convention; 0: count the operations
  std::vector<GraphVariable> variables;  ///< in the order of declaration
  std::vector<Node> nodes;
  std::vector<Contribution> contributions;
};

}  // namespace gdr::kc
