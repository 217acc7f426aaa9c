#include "emulator/engine/native/translate/known_inputs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gdr::native {
namespace {

/// Whether functions may be divided: the loop uses the bits of numbers, or masks of Start.
bool may_have_parts(const Kernel& kernel) {
  return std::ranges::any_of(kernel.graph.nodes(), [](const Node& node) {
    const bool input = node.op == NodeOp::Input && node.kind != Kind::Number;
    return node.op == NodeOp::AsBits || node.op == NodeOp::Round || input;
  });
}

/// The values that Start leaves in the inputs of one instance of a kernel.
class ValuesOfStart {
 public:
  ValuesOfStart(const Kernel& kernel, const KernelInstance& instance, SectionModel& start,
                const SectionModel& loop)
      : k_(kernel), keys_(instance.inputs), start_(start), loop_(loop) {}

  KnownInputs run() {
    find_values();
    known_.values.assign(k_.inputs.size(), no_ref);
    NodeMap copy(start_.graph.size());
    for (std::uint32_t slot = 0; slot < k_.inputs.size(); ++slot) {
      const Ref value = values_[slot];
      if (value == no_ref || !is_usable(value)) continue;
      copy_nodes(value, copy);
      known_.values[slot] = copy(value);
    }
    return std::move(known_);
  }
  /// Inputs that the kernel lacks.
  std::vector<LeafKey> more;

 private:
  static constexpr std::size_t max_nodes = 500;

  bool is_carried(std::uint32_t slot) const {
    return std::ranges::find(k_.carried, slot, &KernelCarried::slot) != k_.carried.end();
  }
  void find_values() {
    for (std::uint32_t slot = 0; slot < k_.inputs.size(); ++slot) {
      values_.push_back(no_ref);
      const LeafKey key = keys_[slot];
      if (is_carried(slot) || key.delay != 0) continue;
      try {
        const Ref value = start_.final_value(key);
        const Node& node = start_.graph[value];
        if (node.op != NodeOp::Input || node.bits != key.packed()) values_.back() = value;
      } catch (const Unsupported&) {
        continue;  // the loop reads it otherwise than Start writes it
      }
    }
    std::vector<bool> used(start_.graph.size(), false);
    for (const Ref value : values_)
      if (value != no_ref) used[node_of(value)] = true;
    used_ = with_operands(start_.graph, std::move(used));
  }

  /// Whether it depends on nothing but words that Start and the loop leave alone.
  bool is_usable(Ref value) {
    std::vector<bool> marked(start_.graph.size(), false);
    marked[node_of(value)] = true;
    marked = with_operands(start_.graph, std::move(marked));
    if (std::ranges::count(marked, true) > static_cast<std::ptrdiff_t>(max_nodes)) return false;
    for (std::uint32_t n = 0; n < marked.size(); ++n) {
      const Node node = start_.graph[ref_to(n)];
      if (!marked[n] || node.op == NodeOp::Constant || node.op == NodeOp::Uniform) continue;
      if (node.op == NodeOp::Source || node.op == NodeOp::Lookup || node.op == NodeOp::Append)
        return false;
      if (node.op == NodeOp::Input && !stays(LeafKey::unpack(node.bits))) return false;
    }
    return true;
  }
  bool stays(LeafKey key) const {
    if (!is_number(key.type) && key.type != WordType::Bits) return false;
    const auto is_held = [&](std::uint32_t cell) {
      return start_.cells.holds_input(start_.state[cell], cell) &&
             !std::ranges::binary_search(loop_.written, cell);
    };
    return is_held(key.place) && (!is_long(key.type) || is_held(key.place + 1));
  }

  /// Copies a value, in an order that is the same for all instances: words and constants that they
  /// share come first.
  void copy_nodes(Ref value, NodeMap& copy) {
    if (copy(ref_to(node_of(value))) != no_ref) return;
    const Node node = start_.graph[value];
    const auto is_shared = [&](Ref r) {
      return start_.graph.is_constant(r) || start_.graph[r].op == NodeOp::Uniform;
    };
    for (const bool shared : {true, false})
      for (const Ref r : node.operands())
        if (is_shared(r) == shared) copy_nodes(r, copy);
    const bool word = node.op == NodeOp::Input || node.op == NodeOp::Uniform;
    copy.set(node_of(value),
             word ? leaf(node.op, LeafKey::unpack(node.bits))
                  : known_.graph.rebuilt(node, copy(node.a), copy(node.b), copy(node.c)));
  }

  /// A word of the PE or the broadcast memory. The bits of what is read as a short, too, are those
  /// of this number.
  Ref leaf(NodeOp op, LeafKey key) {
    if (key.type == WordType::Bits && is_number_elsewhere(op, key.place))
      return known_.graph.as_bits(leaf(op, {WordType::Short, key.place, key.delay}));
    if (op == NodeOp::Uniform) return known_.graph.leaf(op, key);
    return known_.graph.leaf(op, {key.type, slot_of(key), 0});
  }
  bool is_number_elsewhere(NodeOp op, std::uint32_t place) const {
    const LeafKey wanted{WordType::Short, place, 0};
    for (std::uint32_t n = 0; n < used_.size(); ++n) {
      const Node& node = start_.graph[ref_to(n)];
      if (used_[n] && node.op == op && node.bits == wanted.packed()) return true;
    }
    return op == NodeOp::Input && std::ranges::find(keys_, wanted) != keys_.end();
  }
  std::uint32_t slot_of(LeafKey key) {
    const auto known_slot = std::ranges::find(keys_, key);
    if (known_slot != keys_.end()) return static_cast<std::uint32_t>(known_slot - keys_.begin());
    const auto added = std::ranges::find(more, key);
    const auto number = static_cast<std::size_t>(added - more.begin());
    if (added == more.end()) more.push_back(key);
    return static_cast<std::uint32_t>(keys_.size() + number);
  }

  const Kernel& k_;
  const std::vector<LeafKey>& keys_;
  SectionModel& start_;
  const SectionModel& loop_;
  KnownInputs known_;
  std::vector<Ref> values_;  ///< value of each slot, in the graph of Start
  std::vector<bool> used_;   ///< nodes of Start that are used
};

/// The constant that Start stores to a word of the broadcast memory; or none.
Ref stored_constant(SectionModel& start, LeafKey key) {
  for (const BmStore& store : start.bm_stores) {
    const bool is_word =
        store.address == key.place && (store.width == Width::Long) == is_long(key.type);
    if (!is_word || store.enabled != start.graph.always()) continue;
    Ref value = no_ref;
    if (key.type == WordType::Long) value = start.cells.long_number(store.upper, store.lower);
    if (key.type == WordType::Short) value = start.cells.short_number(store.lower);
    if (key.type == WordType::Bits) value = start.cells.bits(store.lower);
    if (value != no_ref && start.graph.is_constant(value)) return value;
  }
  return no_ref;
}

Kernel with_stored_constants(const Kernel& kernel, SectionModel& start) {
  if (start.bm_stores.empty()) return kernel;
  return rewritten(kernel, [&](Graph& g, Ref r, const NodeMap&) {
    const Node& node = kernel.graph[r];
    if (node.op != NodeOp::Uniform) return no_ref;
    const Ref value = stored_constant(start, LeafKey::unpack(node.bits));
    return value == no_ref ? no_ref : g.add(start.graph[value]);
  });
}

}  // namespace

void add_known_inputs(Kernel& kernel, SectionModel& start, const SectionModel& loop) {
  kernel = with_stored_constants(kernel, start);
  if (!may_have_parts(kernel)) return;
  std::vector<std::vector<LeafKey>> more;
  for (const KernelInstance& instance : kernel.instances) {
    ValuesOfStart values(kernel, instance, start, loop);
    KnownInputs known = values.run();
    const auto alike = [&] {
      return known.values == kernel.known.values &&
             known.graph.nodes() == kernel.known.graph.nodes() &&
             std::ranges::equal(values.more, more.front(), {}, &LeafKey::type, &LeafKey::type);
    };
    if (!more.empty() && !alike()) {
      kernel.known = {};
      return;
    }
    kernel.known = std::move(known);
    more.push_back(std::move(values.more));
  }
  for (const LeafKey key : more.front()) kernel.inputs.push_back(key.type);
  for (std::size_t i = 0; i < more.size(); ++i) {
    std::vector<LeafKey>& inputs = kernel.instances[i].inputs;
    inputs.insert(inputs.end(), more[i].begin(), more[i].end());
  }
}

SegmentOfKnown with_known_inputs(const Segment& segment, const KnownInputs& known) {
  const std::vector<Ref>& values = known.values;
  const std::vector<bool> all(known.graph.size(), true);
  std::optional<NodeMap> made;  // from the graph of known inputs
  struct Value {
    Ref value, input;
  };
  std::vector<Value> list;
  SegmentOfKnown result;
  result.segment = copied(segment, [&](Graph& g, Ref r, const NodeMap&) {
    const Node& node = segment.graph[r];
    if (node.op != NodeOp::Input) return no_ref;
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.place >= values.size() || values[key.place] == no_ref) return no_ref;
    if (!made)
      made =
          copy_graph(known.graph, g, all, [](const Graph&, Ref, const NodeMap&) { return no_ref; });
    const Ref value = (*made)(values[key.place]);
    list.push_back({value, result.inputs.leaf(NodeOp::Input, key)});
    return value;
  });
  const Graph& g = result.segment.graph;
  result.input.assign(g.size(), no_ref);
  for (const auto& [value, input] : list)
    if (!is_leaf(g[value].op))
      result.input[node_of(value)] = negated(value) ? complement(input) : input;
  return result;
}

}  // namespace gdr::native
