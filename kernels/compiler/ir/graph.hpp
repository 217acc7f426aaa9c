// The pair law as a dataflow graph: what a target and a source contribute to the results. The front
// end builds it from text; all later phases work on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::kc {

/// Type of a value. Short and Long are floating point (25 and 61 significant bits); Int is a signed
/// 36-bit integer; Bool is the result of a comparison.
enum class Type : std::uint8_t { Short, Long, Int, Bool };

/// Operations of the graph, with operands (a, b, c) and types.
enum class Fn : std::uint8_t {
  Input,       ///< variable `variable` (Target, Source or Param): Long, Short or Int
  Constant,    ///< `number` (Short, Long), `integer` (Int)
  Add,         ///< a + b: numbers or integers
  Sub,         ///< a - b
  Mul,         ///< a * b: numbers only
  Div,         ///< a / b: numbers only
  Neg,         ///< -a
  Abs,         ///< |a|
  Min,         ///< the smaller
  Max,         ///< the larger
  Sqrt,        ///< square root
  Rsqrt,       ///< inverse square root
  Reciprocal,  ///< 1 / a
  Exp,         ///< exponential
  Convert,     ///< a number in the node's type; an Int as a number
  Less,        ///< Bool: a < b, numbers or integers
  Equal,       ///< Bool: a == b, numbers or integers
  And,         ///< Bool of Bools
  Or,          ///< Bool of Bools
  Not,         ///< Bool of a Bool
  Select,      ///< a (Bool) ? b : c
  Lookup,      ///< element a (Int) of the table `variable`
  Quotient,    ///< Int: a / b, rounded towards zero; b is a Constant
  Integer,     ///< Int: the number a, rounded towards zero
  Round,       ///< the nearest integer, of two the even one
  Floor,       ///< the largest integer that is not above a
  Trunc,       ///< a without its fraction
  Log,         ///< natural logarithm
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan2,  ///< the angle of the point (b, a)
  Tanh,
  Pow,   ///< a to the power b
  Cbrt,  ///< cube root
  Erf,   ///< error function
  Erfc,  ///< 1 - erf
  Boys,  ///< the integral of t^(2 `integer`) exp(-a t^2) from 0 to 1
};
constexpr Fn last_fn = Fn::Boys;

using NodeId = std::int32_t;
constexpr NodeId no_node = -1;

/// A number of a node, variable, operation or value as an index of its table.
constexpr std::size_t index(std::int32_t id) noexcept { return static_cast<std::size_t>(id); }

struct Node {
  Fn fn = Fn::Constant;
  Type type = Type::Short;
  NodeId a = no_node, b = no_node, c = no_node;
  std::int32_t variable = -1;  ///< Input, Lookup: index into Graph::variables
  double number = 0;           ///< Constant of type Short or Long
  /// Constant of type Int; order of a Boys function; Convert: 1 if the text asks for this rounding
  /// by short(x).
  std::int64_t integer = 0;
  SourceRange where = {};  ///< source range, for messages and comments
};

/// How contributions are combined into a result.
enum class Reduction : std::uint8_t {
  Sum,
  Min,
  Max,
  Append,     ///< appends the value, an Int, to a list
  Product,    ///< product of the values
  And,        ///< whether conditions hold for all sources: 1 or 0
  Or,         ///< whether a condition holds for any source: 1 or 0
  LogSumExp,  ///< logarithm of the sum of the exponentials of the values
  Softmax,    ///< mean of the values, weighted with the exponentials of another result, a LogSumExp
  Smallest,   ///< the smallest values in ascending order, one for each of consecutive results
  Largest,    ///< the largest values in descending order
};

/// How a reduction is written and called.
struct ReductionInfo {
  std::string_view word;  ///< word of a kernel, before `=`
  std::string_view name;  ///< words of messages: what the result is of all sources
};
const ReductionInfo& reduction_info(Reduction reduction) noexcept;
/// The reduction that is written with this word, before `=`; Sum for others.
Reduction reduction_of(std::string_view word) noexcept;
/// The most results of Smallest and Largest.
constexpr std::uint32_t max_ranks = 64;

/// A declared variable. Elements of an array are separate variables (`x[0]` is named x_0).
struct GraphVariable {
  std::string name;
  VarKind kind = VarKind::Target;  ///< Target, Source, Result or Param
  Type type = Type::Long;          ///< Short, Long or Int
  bool type_given = false;         ///< explicitly declared, so not subject to type inference
  std::uint32_t table_size = 0;    ///< Param: number of elements of a table, 0 for a scalar
  std::uint32_t list_size = 0;     ///< Result: capacity of a list, 0 for a single value
  /// Result: that of its contributions, also where none of them can ever count.
  Reduction reduction = Reduction::Sum;
  /// Min, Max, Smallest, Largest: the result that receives the index, else -1.
  std::int32_t index_result = -1;
  /// Smallest, Largest: of the first of the results their number, else 0.
  std::uint32_t ranks = 0;
  std::int32_t weighted_by = -1;  ///< Softmax: the result with the logarithm of all weights
  std::string quantity = {};      ///< declared with `as`, see gdr::Variable
  bool squared = false;           ///< whether the value is the square of the quantity
  std::optional<std::int64_t> default_value = {};  ///< value of items without one; ints only
  SourceRange where;
};

/// A contribution: `result = result (reduction) value` where `condition` holds, in the order of the
/// text. All contributions to a result have the same reduction. Those to Softmax results follow the
/// contribution to the LogSumExp that has their weight.
struct Contribution {
  std::int32_t result = -1;  ///< index into Graph::variables
  Reduction reduction = Reduction::Sum;
  bool negated = false;              ///< Sum: subtract
  NodeId value = no_node;            ///< operand of the reduction (of an extremum: the key)
  NodeId payload = no_node;          ///< extremum with an index: the Int that accompanies the key
  std::int32_t payload_result = -1;  ///< result that receives the payload, else -1
  NodeId condition = no_node;        ///< Bool, or no_node: always
  SourceRange where = {};
};

/// The whole kernel. Operands precede their users; equal nodes are shared.
struct Graph {
  std::string name;
  bool in_longs = false;  ///< whether use_longs was called
  double flops = 0;       ///< operations of an interaction; 0: count those of the graph
  std::vector<GraphVariable> variables;  ///< variables in order of declaration
  std::vector<Node> nodes;
  std::vector<Contribution> contributions;
  /// Arrays, vectors, tensors, tables and lists, as the host sees them; `first` is a variable of
  /// the graph, where a table or list is one.
  std::vector<VariableArray> arrays;
  /// Variables of a cut-off that all conditions contain (add_cutoff).
  std::optional<Cutoff> cutoff = {};
  /// Names of values in the text: of the temporary that each was first assigned to. A component of
  /// a vector has that of the vector, and its own behind it.
  std::map<NodeId, std::string> names = {};

  const Node& node(NodeId id) const { return nodes[index(id)]; }
  GraphVariable& variable(std::int32_t id) { return variables[index(id)]; }
  const GraphVariable& variable(std::int32_t id) const { return variables[index(id)]; }
};

/// The name of an operation: of functions that of the language.
std::string_view name_of(Fn fn) noexcept;

/// For each node, whether a contribution needs it.
std::vector<bool> needed_nodes(const Graph& graph);

/// For each node, whether its form shows that it is neither a negative number nor -0.
std::vector<bool> nonnegative_nodes(const Graph& graph);

/// The default number of floating-point operations of an interaction: one for each sum, difference,
/// product, quotient, minimum, maximum and function (a root, an inverse, a logarithm, a rounding,
/// each Boys function) that depends on the target or the source and is needed by a result, and one
/// for each number contributed to a result. Signs, comparisons, selections and integer operations
/// are free.
double count_flops(const Graph& graph);

/// The graph as text, for tests and debugging: one line for the kernel, each variable, each node
/// and each contribution.
///     kernel gravity flops 38
///     i xi long?                      i, j, p, f: the kind; a `?` where the type is the default
///     p sigma[16] short
///     %2 short = sub %0 %1            type, function, operands
///     ax += %9 if %4
///     rmin min= %7, nn = %3
std::string to_text(const Graph& graph);

}  // namespace gdr::kc
