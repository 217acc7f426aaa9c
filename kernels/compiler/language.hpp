// A graph as a text of the kernel language, which compiles to the same graph.
#pragma once

#include <string>
#include <string_view>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

/// The text, behind a comment of whole lines (`// ...`). Values that are used several times are
/// temporaries, with the names of the graph where it has any, and so are long expressions; the
/// order of operations is kept, and every value has the type that it has in the graph.
std::string to_language(const Graph& graph, std::string_view comment);

}  // namespace gdr::kc
