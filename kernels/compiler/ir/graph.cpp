#include "kernels/compiler/ir/graph.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "kernels/compiler/ir/function.hpp"

namespace gdr::kc {
namespace {

struct OperatorInfo {
  Fn fn;
  std::string_view name;
  bool flop = false;  ///< counted by count_flops
};
/// Operations that are not functions of numbers.
constexpr OperatorInfo operator_infos[] = {
    {Fn::Input, "input"},       {Fn::Constant, "constant"}, {Fn::Add, "add", true},
    {Fn::Sub, "sub", true},     {Fn::Mul, "mul", true},     {Fn::Div, "div", true},
    {Fn::Neg, "neg"},           {Fn::Convert, "convert"},   {Fn::Less, "less"},
    {Fn::Equal, "equal"},       {Fn::And, "and"},           {Fn::Or, "or"},
    {Fn::Not, "not"},           {Fn::Select, "select"},     {Fn::Lookup, "lookup"},
    {Fn::Quotient, "quotient"}, {Fn::Integer, "integer"},
};
const OperatorInfo* operator_of(Fn fn) noexcept {
  const auto* const found = std::ranges::find(operator_infos, fn, &OperatorInfo::fn);
  return found == std::end(operator_infos) ? nullptr : found;
}

/// Whether count_flops counts it: functions but for the absolute value, which is a sign.
bool is_flop(Fn fn) noexcept {
  const OperatorInfo* const op = operator_of(fn);
  return op != nullptr ? op->flop : fn != Fn::Abs;
}

constexpr std::string_view type_names[] = {"short", "long", "int", "bool"};
constexpr char kind_letters[] = {'i', 'j', 'f', 'p', 'o'};

std::string_view name_of(Type type) { return type_names[static_cast<std::size_t>(type)]; }
bool is_number(Type type) { return type == Type::Short || type == Type::Long; }

std::string operand_text(const Graph& graph, const Node& n) {
  if (n.fn == Fn::Input) return graph.variable(n.variable).name;
  if (n.fn == Fn::Constant)
    return n.type == Type::Int ? fmt::format("{}", n.integer) : fmt::format("{}", n.number);
  std::string out;
  for (const NodeId id : {n.a, n.b, n.c})
    if (id != no_node) out += fmt::format("{}%{}", out.empty() ? "" : " ", id);
  if (n.fn == Fn::Boys) return fmt::format("{} {}", n.integer, out);
  return n.fn == Fn::Lookup ? graph.variable(n.variable).name + " " + out : out;
}

std::string contribution_text(const Graph& graph, const Contribution& c) {
  const std::string_view word = c.negated ? "-" : reduction_info(c.reduction).word;
  std::string out = fmt::format("{} {}= %{}", graph.variable(c.result).name, word, c.value);
  if (c.payload != no_node)
    out += fmt::format(", {} = %{}", graph.variable(c.payload_result).name, c.payload);
  if (c.condition != no_node) out += fmt::format(" if %{}", c.condition);
  return out + "\n";
}

/// By Reduction.
constexpr ReductionInfo reduction_infos[] = {
    {"+", "a sum"},
    {"min", "the smallest value"},
    {"max", "the largest value"},
    {"append", "a list of values"},
    {"*", "the product"},
    {"and", "a condition"},
    {"or", "a condition"},
    {"logsumexp", "the logarithm of a sum of exponentials"},
    {"softmax", "a weighted mean"},
    {"smallest", "one of the smallest values"},
    {"largest", "one of the largest values"},
};
static_assert(std::size(reduction_infos) == static_cast<std::size_t>(Reduction::Largest) + 1);

}  // namespace

const ReductionInfo& reduction_info(Reduction reduction) noexcept {
  return reduction_infos[static_cast<std::size_t>(reduction)];
}

Reduction reduction_of(std::string_view word) noexcept {
  const auto* const found = std::ranges::find(reduction_infos, word, &ReductionInfo::word);
  const auto number = found - std::begin(reduction_infos);
  return found == std::end(reduction_infos) ? Reduction::Sum : static_cast<Reduction>(number);
}

std::string_view name_of(Fn fn) noexcept {
  const OperatorInfo* const op = operator_of(fn);
  return op != nullptr ? op->name : function_of(fn)->name;
}

std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  const auto need = [&](NodeId id) {
    if (id != no_node) needed[index(id)] = true;
  };
  for (const Contribution& c : graph.contributions)
    for (const NodeId id : {c.value, c.payload, c.condition}) need(id);
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const NodeId id : {graph.nodes[i].a, graph.nodes[i].b, graph.nodes[i].c}) need(id);
  return needed;
}

std::vector<bool> nonnegative_nodes(const Graph& graph) {
  std::vector<bool> known(graph.nodes.size(), false);
  const auto is = [&](NodeId id) { return id != no_node && known[index(id)]; };
  // Operands precede their users.
  for (std::size_t k = 0; k < known.size(); ++k) {
    const Node& node = graph.nodes[k];
    switch (node.fn) {
      case Fn::Constant:
        known[k] = node.type == Type::Int ? node.integer >= 0
                                          : node.number >= 0 && !std::signbit(node.number);
        break;
      case Fn::Abs:
        known[k] = true;
        break;
      case Fn::Mul:
        known[k] = node.a == node.b || (is(node.a) && is(node.b));
        break;
      case Fn::Add:
      case Fn::Min:
      case Fn::Max:
        known[k] = is(node.a) && is(node.b);
        break;
      case Fn::Select:
        known[k] = is(node.b) && is(node.c);
        break;
      case Fn::Sqrt:
      case Fn::Convert:
        known[k] = is(node.a);
        break;
      default:
        break;
    }
  }
  return known;
}

double count_flops(const Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph);
  std::vector<bool> varies(graph.nodes.size(), false);
  double flops = 0;
  for (const Contribution& c : graph.contributions)
    if (c.reduction != Reduction::Append && is_number(graph.node(c.value).type)) ++flops;
  // Operands precede their users: variation propagates forward.
  for (std::size_t k = 0; k < varies.size(); ++k) {
    const Node& node = graph.nodes[k];
    if (node.fn == Fn::Input) varies[k] = graph.variable(node.variable).kind != VarKind::Param;
    for (const NodeId operand : {node.a, node.b, node.c})
      if (operand != no_node && varies[index(operand)]) varies[k] = true;
    if (needed[k] && varies[k] && is_number(node.type) && is_flop(node.fn)) ++flops;
  }
  return flops;
}

std::string to_text(const Graph& graph) {
  std::string out = "kernel " + graph.name;
  if (graph.flops != 0) out += fmt::format(" flops {}", graph.flops);
  out += "\n";
  for (const GraphVariable& v : graph.variables) {
    out += fmt::format("{} {}", kind_letters[static_cast<std::size_t>(v.kind)], v.name);
    if (v.table_size != 0) out += fmt::format("[{}]", v.table_size);
    if (v.list_size != 0) out += fmt::format(" list[{}]", v.list_size);
    out += fmt::format(" {}{}", name_of(v.type), v.type_given ? "" : "?");
    if (v.default_value) out += fmt::format(" = {}", *v.default_value);
    if (!v.quantity.empty()) out += fmt::format(" as {}{}", v.quantity, v.squared ? "^2" : "");
    out += "\n";
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    out += fmt::format("%{} {} = {} {}\n", i, name_of(n.type), kc::name_of(n.fn),
                       operand_text(graph, n));
  }
  for (const Contribution& c : graph.contributions) out += contribution_text(graph, c);
  return out;
}

}  // namespace gdr::kc
