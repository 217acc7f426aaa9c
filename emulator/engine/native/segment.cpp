#include "emulator/engine/native/segment.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gdr::native {
namespace {

class LoopMaker {
 public:
  explicit LoopMaker(const Kernel& kernel) : k_(kernel), g_(kernel.graph) {
    for (std::size_t c = 0; c < k_.carried.size(); ++c) carried_of_[k_.carried[c].slot] = c;
  }

  LoopForm run() {
    LoopForm form;
    form.loops = true;
    choose_put_off();
    form.put_off = put_off_;
    form.first = make([&](std::size_t c) { return !put_off_[c]; }, false, 0);
    form.loop = make([&](std::size_t c) { return !put_off_[c]; }, true, 0);
    form.last = make([&](std::size_t c) { return bool{put_off_[c]}; }, false, 1);
    return form;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  /// The carried location that a node is the input of.
  std::size_t carried(const Node& node) const {
    if (node.op != NodeOp::Input) return none;
    const auto found = carried_of_.find(LeafKey::unpack(node.bits).place);
    return found == carried_of_.end() ? none : found->second;
  }
  std::vector<bool> depends_on_carried() const;
  void choose_put_off();
  void mark(Ref r, std::vector<bool>& now) const;
  bool meets(Ref r, const std::vector<bool>& now, std::vector<bool>& seen) const;

  /// Next values of some carried locations. With `through`, values that were put off stand for
  /// their inputs; `delay` says for which pass sources are read.
  template <typename Wanted>
  Segment make(Wanted wanted, bool through, std::uint32_t delay) const {
    Segment segment;
    std::map<std::pair<Ref, std::uint32_t>, Ref> made;
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      if (!wanted(c)) continue;
      const Ref value = copy(segment.graph, k_.carried[c].next, through, delay, made);
      segment.stores.push_back({Store::Area::Carried, static_cast<std::uint32_t>(c),
                                k_.inputs[k_.carried[c].slot], value, false});
    }
    return segment;
  }
  Ref copy(Graph& to, Ref r, bool through, std::uint32_t delay,
           std::map<std::pair<Ref, std::uint32_t>, Ref>& made) const;

  const Kernel& k_;
  const Graph& g_;
  std::map<std::uint32_t, std::size_t> carried_of_;
  std::vector<bool> put_off_;
};

std::vector<bool> LoopMaker::depends_on_carried() const {
  std::vector<bool> depends(g_.size(), false);
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const Node& node = g_[ref_to(n)];
    depends[n] = carried(node) != none;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) depends[n] = depends[n] || depends[node_of(r)];
    }
  }
  return depends;
}

/// Nodes that the pass itself needs, at its own j-items.
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

/// All that is made of items alone, unless that would compute something twice.
void LoopMaker::choose_put_off() {
  const std::vector<bool> depends = depends_on_carried();
  for (const KernelCarried& c : k_.carried) put_off_.push_back(!depends[node_of(c.next)]);
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<bool> now(g_.size(), false);
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      if (!put_off_[c]) mark(k_.carried[c].next, now);
    }
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      std::vector<bool> seen(g_.size(), false);
      if (!put_off_[c] || !meets(k_.carried[c].next, now, seen)) continue;
      put_off_[c] = false;
      changed = true;
    }
  }
}

Ref LoopMaker::copy(Graph& to, Ref r, bool through, std::uint32_t delay,
                    std::map<std::pair<Ref, std::uint32_t>, Ref>& made) const {
  const std::pair<Ref, std::uint32_t> key{ref_to(node_of(r)), delay};
  if (const auto found = made.find(key); found != made.end()) return found->second ^ (r & 1);
  const Node& node = g_[r];
  const std::size_t c = carried(node);
  Ref result = no_ref;
  if (through && c != none && put_off_[c]) {
    result = copy(to, k_.carried[c].next, through, 1, made);
  } else if (node.op == NodeOp::Source) {
    LeafKey leaf = LeafKey::unpack(node.bits);
    leaf.delay = delay;
    result = to.leaf(NodeOp::Source, leaf);
  } else {
    const auto operand = [&](Ref x) { return x == no_ref ? x : copy(to, x, through, delay, made); };
    const Ref a = operand(node.a);
    const Ref b = operand(node.b);
    result = to.rebuilt(node, a, b, operand(node.c));
  }
  made.emplace(key, result);
  return result ^ (r & 1);
}

}  // namespace

std::vector<bool> needed_nodes(const Segment& segment) {
  std::vector<bool> needed(segment.graph.size(), false);
  for (const Store& store : segment.stores) needed[node_of(store.value)] = true;
  for (std::uint32_t n = static_cast<std::uint32_t>(segment.graph.size()); n-- > 0;) {
    if (!needed[n]) continue;
    const Node& node = segment.graph[ref_to(n)];
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) needed[node_of(r)] = true;
    }
  }
  return needed;
}

std::vector<unsigned> use_counts(const Segment& segment) {
  const std::vector<bool> needed = needed_nodes(segment);
  std::vector<unsigned> counts(segment.graph.size(), 0);
  for (const Store& store : segment.stores) ++counts[node_of(store.value)];
  for (std::uint32_t n = 0; n < segment.graph.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = segment.graph[ref_to(n)];
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) ++counts[node_of(r)];
    }
  }
  return counts;
}

Segment cleaned(const Segment& old) {
  return rewritten(old, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = old.graph[r];
    return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
  });
}

LoopForm make_loop_form(const Kernel& kernel, bool loops) {
  LoopForm form;
  if (loops) form = LoopMaker(kernel).run();
  form.once.graph = kernel.graph;
  for (std::uint32_t n = 0; n < kernel.outputs.size(); ++n) {
    form.once.stores.push_back({Store::Area::Output, n, kernel.outputs[n].take,
                                kernel.outputs[n].value, kernel.outputs[n].handed_on});
  }
  for (const Ref left : kernel.left) {
    form.once.stores.push_back({Store::Area::Left, 0, Take::Short, left, true});
  }
  form.once = cleaned(form.once);
  return form;
}

}  // namespace gdr::native
