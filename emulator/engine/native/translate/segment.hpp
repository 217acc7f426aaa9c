// Straight-line segments of a kernel, and the form of its loop.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/native/translate/kernel.hpp"

namespace gdr::native {

/// Destination of a value at the end of a segment.
struct Store {
  /// Total: of a blocked sum. Left: none; marks a value that another kernel stores (Kernel::left),
  /// until it is rounded. Append: to a list, where the value is an Append node; a constant is an
  /// append that never happens. Test: a mask; code for it jumps out if it is set in any lane.
  enum class Area : std::uint8_t { Output, Carried, Total, Left, Append, Test };
  Area area = Area::Output;
  std::uint32_t slot = 0;  ///< output number, number in Kernel::carried, or number of the total
  WordType type = WordType::Long;
  Ref value = no_ref;
  bool read_by_section = false;  ///< whether some section reads the output
  bool may_vanish = false;     ///< whether functions that are zero below an end decide it (floats)
  bool may_be_masked = false;  ///< whether masks may leave nothing of the value

  bool has_place() const noexcept { return area < Area::Left; }
};

struct Segment {
  Graph graph;
  std::vector<Store> stores;
  bool has_roots = false;  ///< whether lowered code has reciprocals or roots (Target::infinities)
  /// Lowered, in floats: an overflow may decide a comparison of functions.
  bool detects_overflows = false;
};

/// A loop over n iterations is: `first` (iteration 0, if there is more than one), `loop`
/// (iterations 1 to n - 2), `last` (delayed values), `once` (the last iteration, with all outputs).
/// Values that depend on j-items only, and that an iteration carries without using them, are
/// computed one iteration late, in the iteration that uses them: this undoes software pipelining.
struct LoopForm {
  Segment once;
  Segment first, loop, last;  ///< segments of loops only
};

/// Splits a kernel into segments; `loops` is false for sections other than the body.
LoopForm make_loop_form(const Kernel& kernel, bool loops);

/// Retiming (Leiserson and Saxe, Algorithmica 6, 1991) by one iteration of a software-pipelined
/// loop whose only recurrences are sums. Such a loop carries products, differences and so on from
/// iteration to iteration, and an iteration adds terms of its own items and of the previous ones.
/// If all carried values except sums depend on items only, the terms of an item can be added in any
/// iteration: the loop adds all terms of a group one iteration late, computed from that group, and
/// carries only sums; it appends to lists one iteration late, too. Nothing, if the kernel is not of
/// that form; else the segments without `once`.
std::optional<LoopForm> retimed_loop(const Kernel& kernel);

/// A segment without dead nodes.
Segment cleaned(const Segment& old);
/// By node: whether a store depends on it.
std::vector<bool> needed_nodes(const Segment& segment);
/// By node: how often it is used, stores included.
std::vector<unsigned> use_counts(const Segment& segment);

/// Copies a segment with changes (copy_graph), without the nodes that are dead before.
template <typename Change>
Segment copied(const Segment& old, Change change) {
  Segment made{{}, old.stores, false, false};
  const NodeMap copy = copy_graph(old.graph, made.graph, needed_nodes(old), change);
  for (Store& store : made.stores) store.value = copy(store.value);
  return made;
}

/// Rewrites a segment (copy_graph), without dead nodes.
template <typename Change>
Segment rewritten(const Segment& old, Change change) {
  return cleaned(copied(old, change));
}

/// Rewrites a kernel.
template <typename Change>
Kernel rewritten(const Kernel& old, Change change) {
  Kernel made = old;
  made.graph = Graph();
  const NodeMap copy =
      copy_graph(old.graph, made.graph, std::vector<bool>(old.graph.size(), true), change);
  for (KernelOutput& output : made.outputs) output.value = copy(output.value);
  for (KernelCarried& carried : made.carried) carried.next = copy(carried.next);
  for (Ref& append : made.appends) append = copy(append);
  for (Ref& left : made.left) left = copy(left);
  return made;
}

}  // namespace gdr::native
