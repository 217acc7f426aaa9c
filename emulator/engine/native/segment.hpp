// Straight-line segments of a kernel, and the form of its loop.
//
// A loop over n passes is: `first` (pass 0, if there is more than one), `loop` (passes 1 to n - 2),
// `last` (delayed values), `once` (the last pass, with all outputs). Values that depend on j-items
// only, and that a pass carries without using them, are computed one pass late, in the pass that
// uses them: this undoes software pipelining.
#pragma once

#include <vector>

#include "emulator/engine/native/kernel.hpp"

namespace gdr::native {

/// Destination of a value at the end of a segment.
struct Store {
  /// Left: none; marks a value that another kernel stores (Kernel::left), until it is rounded.
  enum class Area : std::uint8_t { Output, Carried, Left };
  Area area = Area::Output;
  std::uint32_t slot = 0;  ///< output number, or number in Kernel::carried
  Take take = Take::Long;
  Ref value = no_ref;
  bool read_by_section = false;  ///< an output that some section reads
};

struct Segment {
  Graph graph;
  std::vector<Store> stores;
};

struct LoopForm {
  Segment once;
  bool loops = false;  ///< the other segments are valid
  Segment first, loop, last;
};

/// Splits a kernel into segments; `loops` is false for sections other than the body.
LoopForm make_loop_form(const Kernel& kernel, bool loops);

Segment cleaned(const Segment& old);

/// By node: whether a store depends on it.
std::vector<bool> needed_nodes(const Segment& segment);
/// By node: how often it is used, stores included.
std::vector<unsigned> use_counts(const Segment& segment);

/// Rebuilds a segment without dead nodes: `change(graph, old, copy)` creates the replacement of an
/// old reference; `copy` maps references that were replaced before.
template <typename Change>
Segment rewritten(const Segment& old, Change change) {
  const std::vector<bool> needed = needed_nodes(old);
  Segment made;
  std::vector<Ref> to(old.graph.size(), no_ref);
  const auto copy = [&](Ref r) { return r == no_ref ? r : to[node_of(r)] ^ (r & 1); };
  for (std::uint32_t n = 0; n < old.graph.size(); ++n) {
    if (needed[n]) to[n] = change(made.graph, ref_to(n), copy);
  }
  for (Store store : old.stores) {
    store.value = copy(store.value);
    made.stores.push_back(store);
  }
  return made;
}

}  // namespace gdr::native
