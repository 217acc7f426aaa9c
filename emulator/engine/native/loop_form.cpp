#include <algorithm>

#include "emulator/engine/native/retiming.hpp"

namespace gdr::native {
namespace {

/// Delays carried values that depend on items only.
class LoopMaker {
 public:
  explicit LoopMaker(const Kernel& kernel) : loop_(kernel), k_(kernel), g_(kernel.graph) {}

  LoopForm run() {
    choose_delayed();
    const bool sums_only = std::ranges::none_of(k_.carried, [&](const KernelCarried& c) {
      const std::size_t at = static_cast<std::size_t>(&c - k_.carried.data());
      return !loop_.delayed[at] && !depends_[node_of(c.next)];
    });
    if (!sums_only) {
      if (auto retimed = retimed_loop(k_)) return std::move(*retimed);
    }
    LoopForm form;
    form.loops = true;
    form.first = make([&](std::size_t c) { return !loop_.delayed[c]; }, false, 0);
    form.loop = make([&](std::size_t c) { return !loop_.delayed[c]; }, true, 0);
    form.last = make([&](std::size_t c) { return bool{loop_.delayed[c]}; }, false, 1);
    return form;
  }

 private:
  void choose_delayed();
  void mark(Ref r, std::vector<bool>& now) const;
  bool meets(Ref r, const std::vector<bool>& now, std::vector<bool>& seen) const;

  /// Next values of some carried locations. With `through`, values that were put off stand for
  /// their inputs; `delay` says for which pass sources are read.
  template <typename Wanted>
  Segment make(Wanted wanted, bool through, std::uint32_t delay) const {
    Segment segment;
    LoopCopy::Made made;
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      if (!wanted(c)) continue;
      const Ref value = loop_.copy(segment.graph, k_.carried[c].next, through, delay, made);
      segment.stores.push_back(carried_store(k_, c, value));
    }
    return segment;
  }

  LoopCopy loop_;
  const Kernel& k_;
  const Graph& g_;
  std::vector<bool> depends_;  ///< by node: on what is carried
};

/// Nodes that a pass needs for its own j-items.
void LoopMaker::mark(Ref r, std::vector<bool>& now) const {
  if (now[node_of(r)]) return;
  now[node_of(r)] = true;
  const Node& node = g_[r];
  for (const Ref operand : {node.a, node.b, node.c}) {
    if (operand != no_ref) mark(operand, now);
  }
}

bool LoopMaker::meets(Ref r, const std::vector<bool>& now, std::vector<bool>& seen) const {
  const Node& node = g_[r];
  if (is_leaf(node.op) || seen[node_of(r)]) return false;
  seen[node_of(r)] = true;
  if (now[node_of(r)]) return true;
  for (const Ref operand : {node.a, node.b, node.c}) {
    if (operand != no_ref && meets(operand, now, seen)) return true;
  }
  return false;
}

/// Chooses carried values that depend on items only, unless a delay would duplicate work.
void LoopMaker::choose_delayed() {
  depends_ = loop_.depends_on_carried();
  std::vector<bool>& delayed = loop_.delayed;
  for (std::size_t c = 0; c < delayed.size(); ++c)
    delayed[c] = !depends_[node_of(k_.carried[c].next)];
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<bool> now(g_.size(), false);
    for (std::size_t c = 0; c < delayed.size(); ++c) {
      if (!delayed[c]) mark(k_.carried[c].next, now);
    }
    for (std::size_t c = 0; c < delayed.size(); ++c) {
      std::vector<bool> seen(g_.size(), false);
      if (!delayed[c] || !meets(k_.carried[c].next, now, seen)) continue;
      delayed[c] = false;
      changed = true;
    }
  }
}

}  // namespace

LoopForm make_loop_form(const Kernel& kernel, bool loops) {
  LoopForm form;
  if (loops) form = LoopMaker(kernel).run();
  form.once.graph = kernel.graph;
  for (std::uint32_t n = 0; n < kernel.outputs.size(); ++n) {
    form.once.stores.push_back({Store::Area::Output, n, kernel.outputs[n].take,
                                kernel.outputs[n].value, kernel.outputs[n].read_by_section});
  }
  for (const Ref left : kernel.left) {
    form.once.stores.push_back({Store::Area::Left, 0, Take::Short, left, true});
  }
  form.once = cleaned(form.once);
  return form;
}

}  // namespace gdr::native
