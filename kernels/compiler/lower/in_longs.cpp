// The variant of a kernel in which every number is a long.
#include "kernels/compiler/lower/lower.hpp"

namespace gdr::kc {

void use_longs(Graph& graph) {
  graph.in_longs = true;
  for (GraphVariable& v : graph.variables)
    if (v.type == Type::Short) v.type = Type::Long;
  for (Node& n : graph.nodes) {
    const bool wanted_rounding = n.fn == Fn::Convert && n.integer != 0;
    if (n.type == Type::Short && !wanted_rounding) n.type = Type::Long;
  }
}

}  // namespace gdr::kc
