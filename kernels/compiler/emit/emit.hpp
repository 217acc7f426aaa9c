// Assembly text of a scheduled and allocated kernel.
#pragma once

#include <string>

#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/regalloc/allocation.hpp"

namespace gdr::kc {

/// Layout of an item in the source stream: short addresses by graph variable.
struct ItemLayout {
  std::vector<int> address;  ///< short address of each source variable, `none` for others
  unsigned shorts = 0;       ///< size of an item, even
};
ItemLayout lay_out_item(const Graph& graph);

struct EmitOptions {
  std::string note;                 ///< leading comment lines
  bool prologue_predicate = false;  ///< predicate the prologue by a mask
  std::vector<ValueId> pads;        ///< fields padded with zero; other numbers are padded far away
};

/// The complete source text: declarations, .start, .body and .end.
std::string emit(const Graph& graph, const Problem& problem, const Schedule& schedule,
                 const Allocation& allocation, const ItemLayout& item, const EmitOptions& options);

}  // namespace gdr::kc
