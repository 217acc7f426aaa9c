// Straight pieces of a kernel's code, and how a loop is made of them.
//
// A loop over n passes is: `first` (pass 0, if there is more than one), `loop` (passes 1 to n - 2),
// `last` (what the loop had put off), `once` (the last pass, with all outputs). Values that a pass
// hands on without any use of its own, made of the j-items alone, are computed one pass late, by
// the pass that uses them: so a program that was pipelined by hand runs as if it were not.
#pragma once

#include <vector>

#include "emulator/engine/native/kernel.hpp"

namespace gdr::native {

/// Where a value goes when a segment is done.
struct Store {
  /// Left: nowhere; it is marked as what another kernel stores (Kernel::left), until it is rounded.
  enum class Area : std::uint8_t { Output, Carried, Left };
  Area area = Area::Output;
  std::uint32_t slot = 0;  ///< output number, or number in Kernel::carried
  Take take = Take::Long;
  Ref value = no_ref;
  bool handed_on = false;  ///< an output that some section reads
};

struct Segment {
  Graph graph;
  std::vector<Store> stores;
};

struct LoopForm {
  Segment once;
  bool loops = false;  ///< the others are there
  Segment first, loop, last;
};

/// Cuts a kernel into segments; `loops` is false for sections that are not the loop body.
LoopForm make_loop_form(const Kernel& kernel, bool loops);

Segment cleaned(const Segment& old);

/// By node: is it needed by a store?
std::vector<bool> needed_nodes(const Segment& segment);
/// By node: how often it is used, stores included.
std::vector<unsigned> use_counts(const Segment& segment);

/// Builds a segment anew, without what it does not need: `change(graph, old, copy)` makes what
/// stands for the old reference; `copy` gives what stands for a reference made before.
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
