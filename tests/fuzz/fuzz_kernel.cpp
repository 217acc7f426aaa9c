// Kernels: any bytes give a graph or at least one error, messages are printable, and a graph is
// valid: operands precede their uses, types match, every index is in range.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/check.hpp"
#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/ir/evaluate.hpp"
#include "kernels/compiler/ir/graph.hpp"

namespace {

using namespace gdr::kc;

bool is_number(Type t) { return t == Type::Short || t == Type::Long; }

void check_node(const Graph& g, const Node& n, NodeId own) {
  for (const NodeId id : {n.a, n.b, n.c})
    fuzz::check(id >= no_node && id < own, "operands come before what uses them");
  const auto type = [&](NodeId id) {
    fuzz::check(id != no_node, "an operand is there");
    return g.nodes[static_cast<std::size_t>(id)].type;
  };
  switch (n.fn) {
    case Fn::Input:
    case Fn::Lookup: {
      fuzz::check(n.variable >= 0 && n.variable < static_cast<std::int32_t>(g.variables.size()),
                  "a variable is there");
      const GraphVariable& v = g.variables[static_cast<std::size_t>(n.variable)];
      fuzz::check(v.type == n.type && v.kind != gdr::VarKind::Result, "an input is read");
      fuzz::check((v.table_size != 0) == (n.fn == Fn::Lookup), "tables are looked up");
      if (n.fn == Fn::Lookup) fuzz::check(type(n.a) == Type::Int, "an index is an int");
      break;
    }
    case Fn::Constant:
      fuzz::check(n.type != Type::Bool, "conditions are no constants");
      break;
    case Fn::Add:
    case Fn::Sub:
      fuzz::check(n.type != Type::Bool, "conditions are not added");
      fuzz::check((type(n.a) == Type::Int) == (n.type == Type::Int), "ints make ints");
      fuzz::check((type(n.b) == Type::Int) == (n.type == Type::Int), "ints make ints");
      break;
    case Fn::Less:
    case Fn::Equal:
      fuzz::check(n.type == Type::Bool && type(n.a) != Type::Bool, "a comparison is a condition");
      fuzz::check((type(n.a) == Type::Int) == (type(n.b) == Type::Int), "like is compared");
      break;
    case Fn::And:
    case Fn::Or:
      fuzz::check(type(n.b) == Type::Bool, "conditions are joined");
      [[fallthrough]];
    case Fn::Not:
      fuzz::check(n.type == Type::Bool && type(n.a) == Type::Bool, "conditions are joined");
      break;
    case Fn::Select:
      fuzz::check(type(n.a) == Type::Bool && n.type != Type::Bool, "a condition chooses");
      fuzz::check((type(n.b) == Type::Int) == (n.type == Type::Int), "like is chosen from");
      fuzz::check((type(n.c) == Type::Int) == (n.type == Type::Int), "like is chosen from");
      break;
    case Fn::Convert:
      fuzz::check(is_number(n.type) && type(n.a) != Type::Bool, "numbers are converted to");
      break;
    case Fn::Mul:
    case Fn::Div:
    case Fn::Min:
    case Fn::Max:
      fuzz::check(is_number(type(n.b)), "numbers are calculated with");
      [[fallthrough]];
    default:
      fuzz::check(is_number(n.type) && is_number(type(n.a)), "numbers are calculated with");
  }
}

void check_contribution(const Graph& g, const Contribution& c) {
  const auto variable = [&](std::int32_t id) -> const GraphVariable& {
    fuzz::check(id >= 0 && id < static_cast<std::int32_t>(g.variables.size()), "a result is there");
    return g.variables[static_cast<std::size_t>(id)];
  };
  const auto node = [&](NodeId id) -> const Node& {
    fuzz::check(id >= 0 && id < static_cast<NodeId>(g.nodes.size()), "a node is there");
    return g.nodes[static_cast<std::size_t>(id)];
  };
  const GraphVariable& result = variable(c.result);
  fuzz::check(result.kind == gdr::VarKind::Result, "contributions go to results");
  fuzz::check((node(c.value).type == Type::Int) == (result.type == Type::Int), "types fit");
  fuzz::check(node(c.value).type != Type::Bool, "conditions are not added");
  if (c.condition != no_node)
    fuzz::check(node(c.condition).type == Type::Bool, "a gate is a condition");
  fuzz::check((c.payload == no_node) == (c.payload_result == -1), "an index goes somewhere");
  if (c.payload == no_node) return;
  fuzz::check(node(c.payload).type == Type::Int, "an index is an int");
  fuzz::check(variable(c.payload_result).type == Type::Int, "an index goes to an int");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const FrontResult result = read_kernel(text, "fuzz.gdk");
  fuzz::check(result.graph.has_value() == (result.diagnostics.error_count == 0),
              "a graph or an error, not both");
  for (const char c : result.diagnostics.render())
    fuzz::check(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'),
                "messages hold no control characters");
  if (!result.graph) return 0;
  const Graph& g = *result.graph;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    check_node(g, g.nodes[i], static_cast<NodeId>(i));
  for (const Contribution& c : g.contributions) check_contribution(g, c);
  fuzz::check(!to_text(g).empty(), "there is a text");
  InputValues<double> inputs(g.variables.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    inputs[i].assign(g.variables[i].table_size + 1, static_cast<double>(i) + 0.5);
  fuzz::check(evaluate<double>(g, inputs).size() == g.contributions.size(), "it can be evaluated");
  return 0;
}
