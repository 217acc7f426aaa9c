#include "kernels/compiler/graph_text.hpp"

#include <fmt/core.h>

namespace gdr::kc {
namespace {

constexpr std::string_view fn_names[] = {"input", "constant", "add",     "sub",   "mul",   "div",
                                         "neg",   "abs",      "min",     "max",   "sqrt",  "rsqrt",
                                         "recip", "exp",      "convert", "less",  "equal", "and",
                                         "or",    "not",      "select",  "lookup"};
static_assert(std::size(fn_names) == static_cast<std::size_t>(Fn::Lookup) + 1);
constexpr std::string_view type_names[] = {"short", "long", "int", "bool"};
constexpr char kind_letters[] = {'i', 'j', 'f', 'p', 'o'};

std::string operand_text(const Graph& graph, const Node& n) {
  const auto variable = [&] { return graph.variable(n.variable).name; };
  if (n.fn == Fn::Input) return variable();
  if (n.fn == Fn::Constant)
    return n.type == Type::Int ? fmt::format("{}", n.integer) : fmt::format("{}", n.number);
  std::string out;
  for (const NodeId id : {n.a, n.b, n.c}) {
    if (id != no_node) out += fmt::format("{}%{}", out.empty() ? "" : " ", id);
  }
  if (n.fn == Fn::Lookup) out = variable() + " " + out;
  return out;
}

std::string contribution_text(const Graph& graph, const Contribution& c) {
  const auto name = [&](std::int32_t variable) { return graph.variable(variable).name; };
  const std::string_view reduction = c.reduction == Reduction::Min      ? "min="
                                     : c.reduction == Reduction::Max    ? "max="
                                     : c.reduction == Reduction::Append ? "append="
                                     : c.negated                        ? "-="
                                                                        : "+=";
  std::string out = fmt::format("{} {} %{}", name(c.result), reduction, c.value);
  if (c.payload != no_node) out += fmt::format(", {} = %{}", name(c.payload_result), c.payload);
  if (c.condition != no_node) out += fmt::format(" if %{}", c.condition);
  return out + "\n";
}

}  // namespace

std::string_view name_of(Fn fn) noexcept { return fn_names[static_cast<std::size_t>(fn)]; }
std::string_view name_of(Type type) noexcept { return type_names[static_cast<std::size_t>(type)]; }

std::string to_text(const Graph& graph) {
  std::string out = "kernel " + graph.name;
  if (graph.flops != 0) out += fmt::format(" flops {}", graph.flops);
  out += "\n";
  for (const GraphVariable& v : graph.variables) {
    out += fmt::format("{} {}", kind_letters[static_cast<std::size_t>(v.kind)], v.name);
    if (v.table_size != 0) out += fmt::format("[{}]", v.table_size);
    if (v.list_size != 0) out += fmt::format(" list[{}]", v.list_size);
    out += fmt::format(" {}{}\n", name_of(v.type), v.type_given ? "" : "?");
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    out +=
        fmt::format("%{} {} = {} {}\n", i, name_of(n.type), name_of(n.fn), operand_text(graph, n));
  }
  for (const Contribution& c : graph.contributions) out += contribution_text(graph, c);
  return out;
}

}  // namespace gdr::kc
