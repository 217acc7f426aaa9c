// Short ways to read a kernel in a test and to look at what came out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/ir/evaluate.hpp"
#include "kernels/compiler/ir/graph.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// The graph of a text that must be right.
inline kc::Graph graph_of(std::string_view text) {
  kc::FrontResult result = kc::read_kernel(text, "test.gdk");
  INFO(text << "\n" << result.diagnostics.render());
  REQUIRE(result.graph.has_value());
  return *std::move(result.graph);
}

/// The lines of the graph's text behind its variables: nodes and contributions.
inline std::string nodes_of(std::string_view text) {
  const std::string all = kc::to_text(graph_of(text));
  std::string out;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at) + 1;
    const bool declaration =
        at == 0 || (all[at] != '%' && all.compare(at + 1, 1, " ") == 0 && all.find('=', at) > end);
    if (!declaration) out += all.substr(at, end - at);
    at = end;
  }
  return out;
}

/// The first contribution of a kernel whose inputs are given by name.
struct Given {
  std::string_view name;
  std::vector<long double> values;
};
inline std::vector<kc::PairTerm<long double>> terms_of(const kc::Graph& graph,
                                                       const std::vector<Given>& given) {
  kc::InputValues<long double> inputs(graph.variables.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const Given& g : given) {
      if (graph.variables[i].name == g.name) inputs[i] = g.values;
    }
    if (inputs[i].empty()) inputs[i] = {0};
  }
  return kc::evaluate<long double>(graph, inputs);
}

/// What the expression gives with inputs a, b, c (numbers) and n, m (ints).
struct Abc {
  long double a = 0, b = 0, c = 0, n = 0, m = 0;
};
inline long double value_of(const std::string& expression, const Abc& at = {}) {
  const kc::Graph g =
      graph_of("VARI a, b; VARJ c; VARI int n; VARJ int m; VARF f;\nf += " + expression + ";\n");
  return terms_of(g, {{"a", {at.a}}, {"b", {at.b}}, {"c", {at.c}}, {"n", {at.n}}, {"m", {at.m}}})
      .at(0)
      .value;
}

/// The codes of all diagnostics of a text, in order.
inline std::vector<unsigned> codes_of(std::string_view text) {
  std::vector<unsigned> codes;
  for (const Diagnostic& d : kc::read_kernel(text, "test.gdk").diagnostics.list)
    codes.push_back(d.code);
  return codes;
}

}  // namespace gdr::test
