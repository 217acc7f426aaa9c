// Texts of adjoint kernels, and the places of their variables.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/front_support.hpp"
#include "kernels/compiler/adjoint.hpp"

namespace gdr::test {

inline std::vector<std::string> adjoints_of(const std::string& text,
                                            const std::vector<std::string>& variables) {
  return kc::adjoint_texts(graph_of(text), variables);
}
inline std::string adjoint_of(const std::string& text, const std::vector<std::string>& variables) {
  const std::vector<std::string> all = adjoints_of(text, variables);
  REQUIRE(all.size() == 1);
  return all.front();
}

inline std::size_t variable_index(const kc::Graph& graph, const std::string& name) {
  const auto at = std::ranges::find(graph.variables, name, &kc::GraphVariable::name);
  REQUIRE(at != graph.variables.end());
  return static_cast<std::size_t>(at - graph.variables.begin());
}

}  // namespace gdr::test
