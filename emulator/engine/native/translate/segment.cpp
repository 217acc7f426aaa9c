#include "emulator/engine/native/translate/segment.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gdr::native {
namespace {

/// Copies the values of an iteration into the graphs of segments.
class LoopCopy {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  /// Copies in one graph, by value and delay.
  using Copies = std::map<std::pair<Ref, std::uint32_t>, Ref>;

  explicit LoopCopy(const Kernel& kernel) : delayed(kernel.carried.size()), k_(kernel) {
    for (std::size_t c = 0; c < k_.carried.size(); ++c) carried_of_[k_.carried[c].slot] = c;
  }

  /// The carried location that a node is the input of, or none.
  std::size_t carried(const Node& node) const {
    if (node.op != NodeOp::Input) return none;
    const auto found = carried_of_.find(LeafKey::unpack(node.bits).place);
    return found == carried_of_.end() ? none : found->second;
  }
  /// By carried location: whether its next value depends on carried values.
  std::vector<bool> next_depends_on_carried() const {
    const std::vector<unsigned> depends =
        inherited(k_.graph, [this](Ref r) { return carried(k_.graph[r]) != none ? 1U : 0U; });
    std::vector<bool> next;
    for (const KernelCarried& c : k_.carried) next.push_back(depends[node_of(c.next)] != 0);
    return next;
  }

  /// Copies a value, with sources of `delay` iterations ago. With `through`, inputs of delayed
  /// locations are replaced by the values that the previous iteration computes for them.
  Ref copy(Graph& to, Ref r, bool through, std::uint32_t delay, Copies& copies) const {
    const std::pair<Ref, std::uint32_t> key{ref_to(node_of(r)), delay};
    if (const auto found = copies.find(key); found != copies.end()) return found->second ^ (r & 1);
    const Node& node = k_.graph[r];
    const std::size_t c = carried(node);
    Ref result = no_ref;
    if (through && c != none && delayed[c]) {
      result = copy(to, k_.carried[c].next, through, delay + 1, copies);
    } else if (node.op == NodeOp::Source) {
      LeafKey leaf = LeafKey::unpack(node.bits);
      leaf.delay = delay;
      result = to.leaf(NodeOp::Source, leaf);
    } else {
      const auto operand = [&](Ref x) {
        return x == no_ref ? x : copy(to, x, through, delay, copies);
      };
      const Ref a = operand(node.a);
      const Ref b = operand(node.b);
      result = to.rebuilt(node, a, b, operand(node.c));
    }
    copies.emplace(key, result);
    return result ^ (r & 1);
  }
  /// The store of a carried location's next value.
  Store store(std::size_t c, Ref value) const {
    return {Store::Area::Carried, static_cast<std::uint32_t>(c), k_.inputs[k_.carried[c].slot],
            value, false};
  }

  /// An append of an iteration.
  static Store append(Ref value) { return {Store::Area::Append, 0, WordType::Bits, value, false}; }

  std::vector<bool> delayed;  ///< carried locations that are computed one iteration late

 private:
  const Kernel& k_;
  std::map<std::uint32_t, std::size_t> carried_of_;  ///< carried location of each slot
};

/// A step of a sum in an iteration: + or - a term, optionally under a mask.
struct Step {
  NodeOp op = NodeOp::Add;
  std::uint8_t detail = 0;
  Ref term = no_ref, mask = no_ref;
  bool early = false;  ///< computed from this iteration's items; else from carried values
};

struct Sum {
  std::size_t carried = 0;
  Ref input = no_ref;
  std::vector<Step> steps;
};

class Retimer {
 public:
  explicit Retimer(const Kernel& kernel) : loop_(kernel), k_(kernel), g_(kernel.graph) {}

  std::optional<LoopForm> run() {
    const std::vector<bool> depends = loop_.next_depends_on_carried();
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      loop_.delayed[c] = !depends[c];
      if (depends[c] && !add_sum(c)) return std::nullopt;
    }
    const std::vector<unsigned> origins = inherited(g_, [this](Ref r) -> unsigned {
      const std::size_t c = loop_.carried(g_[r]);
      if (c != LoopCopy::none) return loop_.delayed[c] ? delayed_value : running_sum;
      return g_[r].op == NodeOp::Source ? own_items : 0;
    });
    if (!k_.appends.empty()) {
      unsigned from = 0;
      for (const Ref append : k_.appends) from |= origins[node_of(append)];
      early_appends_ = (from & own_items) != 0;
      // The order of the entries is that of the items.
      if ((from & running_sum) != 0 || (early_appends_ && (from & delayed_value) != 0))
        return std::nullopt;
    }
    for (Sum& sum : sums_) {
      for (Step& step : sum.steps) {
        const unsigned of_mask = step.mask == no_ref ? 0 : origins[node_of(step.mask)];
        const unsigned from = origins[node_of(step.term)] | of_mask;
        step.early = (from & own_items) != 0;
        // A term of items of both groups could not be computed in one iteration.
        if ((from & running_sum) != 0 || (step.early && (from & delayed_value) != 0))
          return std::nullopt;
      }
    }
    LoopForm form;
    form.first = make(Part::First);
    form.loop = make(Part::Loop);
    form.last = make(Part::Last);
    for (std::size_t c = 0; c < k_.carried.size(); ++c) {
      if (!loop_.delayed[c]) continue;
      const Ref value = loop_.copy(form.last.graph, k_.carried[c].next, false, 1, copies_);
      form.last.stores.push_back(loop_.store(c, value));
    }
    return form;
  }

 private:
  /// Origins of a value.
  static constexpr unsigned running_sum = 1, delayed_value = 2, own_items = 4;
  enum class Part : std::uint8_t { First, Loop, Last };

  /// The last step of a value that is a sum, and the value before it. `reaches`, by node: whether
  /// it depends on the sum's input.
  std::optional<std::pair<Step, Ref>> last_step(Ref r, const std::vector<unsigned>& reaches) const {
    const Node& node = g_[r];
    if (node.op == NodeOp::Select) {
      for (const bool turned : {false, true}) {
        const Ref changed = turned ? node.c : node.b, kept = turned ? node.b : node.c;
        auto inner = last_step(changed, reaches);
        if (!inner || inner->second != kept || inner->first.mask != no_ref) continue;
        inner->first.mask = turned ? complement(node.a) : node.a;
        return inner;
      }
      return std::nullopt;
    }
    if (!is_sum(node.op)) return std::nullopt;
    const bool second = node.op == NodeOp::Add && reaches[node_of(node.b)] != 0;
    const Ref before = second ? node.b : node.a;
    return std::pair(Step{node.op, node.detail, second ? node.a : node.b, no_ref, false}, before);
  }

  bool add_sum(std::size_t c) {
    const auto is_input = [&](Ref r) { return loop_.carried(g_[r]) == c ? 1U : 0U; };
    const std::vector<unsigned> reaches = inherited(g_, is_input);
    Sum sum{c, no_ref, {}};
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      if (is_input(ref_to(n)) != 0) sum.input = ref_to(n);
    }
    if (sum.input == no_ref) return false;
    Ref r = k_.carried[c].next;
    while (r != sum.input) {
      const auto step = last_step(r, reaches);
      if (!step) return false;
      sum.steps.push_back(step->first);
      r = step->second;
    }
    std::ranges::reverse(sum.steps);
    sums_.push_back(std::move(sum));
    return true;
  }

  /// The loop adds early terms one iteration late, so that all terms are of the same group. The
  /// first iteration has no early terms to add, the last one no late ones.
  Segment make(Part part) {
    Segment s;
    copies_.clear();
    for (const Sum& sum : sums_) {
      Ref value = loop_.copy(s.graph, sum.input, false, 0, copies_);
      const auto add = [&](const Step& step, bool through, std::uint32_t delay) {
        const auto copy = [&](Ref r) { return loop_.copy(s.graph, r, through, delay, copies_); };
        const Ref next =
            s.graph.op(step.op, Kind::Number, value, copy(step.term), no_ref, step.detail);
        value = step.mask == no_ref ? next : s.graph.select(copy(step.mask), next, value);
      };
      for (const Step& step : sum.steps) {
        if (step.early && part != Part::First) add(step, false, 1);
      }
      for (const Step& step : sum.steps) {
        if (!step.early && part != Part::Last) add(step, part == Part::Loop, 0);
      }
      s.stores.push_back(loop_.store(sum.carried, value));
    }
    if (part == (early_appends_ ? Part::First : Part::Last)) return s;
    for (const Ref append : k_.appends) {
      const bool through = !early_appends_ && part == Part::Loop;
      s.stores.push_back(
          LoopCopy::append(loop_.copy(s.graph, append, through, early_appends_ ? 1 : 0, copies_)));
    }
    return s;
  }

  LoopCopy loop_;
  const Kernel& k_;
  const Graph& g_;
  std::vector<Sum> sums_;
  bool early_appends_ = false;  ///< appends of an early step (Step::early)
  LoopCopy::Copies copies_;
};

/// Delays carried values that depend on items only, unless that would duplicate work. `depends`, by
/// carried location: whether its next value depends on carried values.
std::vector<bool> choose_delayed(const Kernel& kernel, const std::vector<bool>& depends) {
  const Graph& g = kernel.graph;
  std::vector<bool> delayed = depends;
  delayed.flip();
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<bool> now(g.size(), false);  // nodes that an iteration needs for its own items
    for (std::size_t c = 0; c < delayed.size(); ++c) {
      if (!delayed[c]) now[node_of(kernel.carried[c].next)] = true;
    }
    for (const Ref append : kernel.appends) now[node_of(append)] = true;
    now = with_operands(g, std::move(now));
    const std::vector<unsigned> meets =
        inherited(g, [&](Ref r) { return now[node_of(r)] && !is_leaf(g[r].op) ? 1U : 0U; });
    for (std::size_t c = 0; c < delayed.size(); ++c) {
      if (!delayed[c] || meets[node_of(kernel.carried[c].next)] == 0) continue;
      delayed[c] = false;
      changed = true;
    }
  }
  return delayed;
}

LoopForm make_loop(const Kernel& kernel) {
  LoopCopy loop(kernel);
  const std::vector<bool> depends = loop.next_depends_on_carried();
  loop.delayed = choose_delayed(kernel, depends);
  for (std::size_t c = 0; c < depends.size(); ++c) {
    if (loop.delayed[c] || depends[c]) continue;
    if (auto retimed = retimed_loop(kernel)) return std::move(*retimed);
    break;
  }
  /// Next values of the carried locations that are (not) delayed.
  const auto make = [&](bool delayed, bool through, std::uint32_t delay) {
    Segment segment;
    LoopCopy::Copies copies;
    for (std::size_t c = 0; c < kernel.carried.size(); ++c) {
      if (loop.delayed[c] != delayed) continue;
      const Ref value = loop.copy(segment.graph, kernel.carried[c].next, through, delay, copies);
      segment.stores.push_back(loop.store(c, value));
    }
    for (const Ref append : kernel.appends)
      if (!delayed)
        segment.stores.push_back(
            LoopCopy::append(loop.copy(segment.graph, append, through, delay, copies)));
    return segment;
  };
  return {{}, make(false, false, 0), make(false, true, 0), make(true, false, 1)};
}

}  // namespace

std::optional<LoopForm> retimed_loop(const Kernel& kernel) { return Retimer(kernel).run(); }

LoopForm make_loop_form(const Kernel& kernel, bool loops) {
  LoopForm form;
  if (loops) form = make_loop(kernel);
  form.once.graph = kernel.graph;
  for (std::uint32_t n = 0; n < kernel.outputs.size(); ++n) {
    form.once.stores.push_back({Store::Area::Output, n, kernel.outputs[n].type,
                                kernel.outputs[n].value, kernel.outputs[n].read_by_section});
  }
  for (const Ref append : kernel.appends) form.once.stores.push_back(LoopCopy::append(append));
  for (const Ref left : kernel.left) {
    form.once.stores.push_back({Store::Area::Left, 0, WordType::Short, left, true});
  }
  form.once = cleaned(form.once);
  return form;
}

std::vector<bool> needed_nodes(const Segment& segment) {
  std::vector<bool> stored(segment.graph.size(), false);
  for (const Store& store : segment.stores) stored[node_of(store.value)] = true;
  return with_operands(segment.graph, std::move(stored));
}

std::vector<unsigned> use_counts(const Segment& segment) {
  const std::vector<bool> needed = needed_nodes(segment);
  std::vector<unsigned> counts(segment.graph.size(), 0);
  for (const Store& store : segment.stores) ++counts[node_of(store.value)];
  for (std::uint32_t n = 0; n < segment.graph.size(); ++n) {
    if (!needed[n]) continue;
    for (const Ref r : segment.graph[ref_to(n)].operands()) ++counts[node_of(r)];
  }
  return counts;
}

Segment cleaned(const Segment& old) {
  return copied(old, [](Graph&, Ref, const NodeMap&) { return no_ref; });
}

}  // namespace gdr::native
