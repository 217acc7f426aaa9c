// Assembly text of a scheduled and placed kernel.
#pragma once

#include <string>

#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/place/layout.hpp"

namespace gdr::kc {

/// Where the variables of an item lie in the stream: short addresses, by graph variable.
struct ItemLayout {
  std::vector<int> address;  ///< of each graph variable, none for others than sources
  unsigned shorts = 0;       ///< size of an item, even
};
ItemLayout lay_out_item(const Graph& graph);

struct EmitOptions {
  std::string note;           ///< first lines of the text, as comments
  bool guard = false;         ///< hold guarded operations back in the first pass, by a mask
  std::vector<ValueId> pads;  ///< fields whose pad is zero; the other numbers are far away
};

/// The whole source text: declarations, .start, .body and .end.
std::string emit(const Graph& graph, const Problem& problem, const Schedule& schedule,
                 const Layout& layout, const ItemLayout& item, const EmitOptions& options);

}  // namespace gdr::kc
