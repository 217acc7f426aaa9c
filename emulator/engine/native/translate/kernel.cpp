#include "emulator/engine/native/translate/kernel.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace gdr::native {
namespace {

bool alike(const Kernel& a, const Kernel& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.carried == b.carried &&
         a.lists == b.lists && a.appends == b.appends && a.left == b.left &&
         a.graph.nodes() == b.graph.nodes();
}

class Splitter {
 public:
  Splitter(const SectionModel& model, const Liveness& liveness)
      : m_(model), g_(model.graph), d_(liveness), size_(model.graph.size()) {}

  SplitSection run() {
    find_private();
    find_left();
    std::vector<Kernel>& kernels = made_.kernels;
    for (const auto& [id, part] : parts()) {
      Kernel kernel = build(part);
      // Not more than elements, so that packed targets can use one of them for all: sums of several
      // components, of which each element has one, may be alike.
      const auto twin = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) {
        return k.instances.size() < m_.elements && alike(k, kernel);
      });
      if (twin == kernels.end()) {
        kernels.push_back(std::move(kernel));
      } else {
        twin->instances.push_back(std::move(kernel.instances[0]));
      }
    }
    return std::move(made_);
  }

 private:
  /// The roots, carried locations and appends of a connected component.
  struct Part {
    std::vector<std::size_t> roots, carried;
    std::vector<Ref> appends;
  };

  bool is_needed(std::uint32_t n) const { return d_.of_node[n].has_value(); }
  bool is_private(Ref r) const { return is_private_[node_of(r)]; }
  /// Whether passes change this input.
  bool is_carried(Ref r) const {
    return std::ranges::any_of(d_.carried,
                               [&](const Carried& c) { return node_of(c.input) == node_of(r); });
  }
  void unite(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }

  /// Skips selects with only one live side.
  Ref resolve(Ref r) const {
    for (;;) {
      const Node& node = g_[r];
      if (node.op != NodeOp::Select) return r;
      const Ref side = decided(node, *d_.of_node[node_of(r)]);
      if (side == no_ref) return r;
      r = side;
    }
  }

  std::uint32_t find(std::uint32_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }

  /// By node: whether it depends on the PE.
  std::vector<bool> dependent_nodes() const {
    std::vector<bool> depends(size_, false), uniform(size_, false);
    for (std::size_t c = 0; c < d_.carried.size(); ++c)
      uniform[node_of(d_.carried[c].input)] = is_shared_[c];
    for (std::uint32_t n = 0; n < size_; ++n) {
      if (!is_needed(n)) continue;
      const Node& node = g_[ref_to(n)];
      depends[n] = node.op == NodeOp::Input && !uniform[n];
      for (const Ref r : node.operands()) {
        if (is_needed(node_of(r))) depends[n] = depends[n] || depends[node_of(resolve(r))];
      }
    }
    return depends;
  }

  /// Leaves are shared by parts; uniform values are recomputed in each part.
  void find_private() {
    is_private_.assign(size_, false);
    is_shared_.assign(d_.carried.size(), true);
    std::vector<bool> depends;
    for (bool changed = true; changed;) {
      changed = false;
      depends = dependent_nodes();
      for (std::size_t c = 0; c < d_.carried.size(); ++c) {
        if (!is_shared_[c] || !depends[node_of(resolve(d_.carried[c].next))]) continue;
        is_shared_[c] = false;
        changed = true;
      }
    }
    for (std::size_t c = 0; c < d_.carried.size(); ++c)
      is_private_[node_of(d_.carried[c].input)] = !is_shared_[c];
    for (std::uint32_t n = 0; n < size_; ++n) {
      if (is_needed(n) && depends[n] && !is_leaf(g_[ref_to(n)].op)) is_private_[n] = true;
    }
  }

  std::map<std::uint32_t, Part> parts() {
    const std::size_t lists = size_ + d_.roots.size();  // the first of the lists' own parts
    const std::size_t total = lists + m_.lists.size();
    parent_.resize(total);
    std::iota(parent_.begin(), parent_.end(), 0U);
    for (std::uint32_t n = 0; n < size_; ++n) {
      if (!is_needed(n) || resolve(ref_to(n)) != ref_to(n)) continue;
      for (const Ref r : g_[ref_to(n)].operands()) {
        const std::uint32_t operand = node_of(resolve(r));
        if (is_private_[n] && is_private_[operand]) unite(n, operand);
      }
    }
    for (const Carried& c : d_.carried) {
      if (is_private(resolve(c.next))) unite(node_of(c.input), node_of(resolve(c.next)));
    }
    // All appends to a list are in one part, also if some of them are alike in all PEs.
    const auto part_of_list = [&](Ref append) {
      return static_cast<std::uint32_t>(lists + AppendKey::unpack(g_[append].bits).list);
    };
    for (const Ref append : m_.appends)
      if (is_private(append)) unite(node_of(append), part_of_list(append));
    find_owners();
    std::map<std::uint32_t, Part> parts;
    for (std::size_t r = 0; r < d_.roots.size(); ++r) {
      const Ref value = resolve(d_.roots[r].value);
      if (g_.is_constant(value)) {
        made_.constants.emplace_back(r, value);
        continue;
      }
      const LeafKey from = LeafKey::unpack(g_[value].bits);
      if (is_leaf(g_[value].op) && !is_private(value) && !is_carried(value) &&
          from.type == WordType::Bits && d_.roots[r].key.delay == 0) {
        made_.moves.push_back({d_.roots[r].key.place, g_[value].op, from.place});
        continue;
      }
      const std::uint32_t part =
          is_private(value) ? find(node_of(value)) : static_cast<std::uint32_t>(size_ + r);
      parts[part].roots.push_back(r);
    }
    for (std::size_t c = 0; c < d_.carried.size(); ++c) {
      if (!is_shared_[c]) parts[find(node_of(d_.carried[c].input))].carried.push_back(c);
    }
    for (const Ref append : m_.appends) parts[find(part_of_list(append))].appends.push_back(append);
    return parts;
  }

  void find_owners() {
    owner_.assign(size_, nobody);
    for (std::uint32_t n = 0; n < size_; ++n) {
      if (!is_needed(n) || !is_private_[n] || resolve(ref_to(n)) != ref_to(n)) continue;
      for (const Ref r : g_[ref_to(n)].operands()) {
        std::uint32_t& owner = owner_[node_of(resolve(r))];
        owner = owner == nobody || owner == find(n) ? find(n) : shared;
      }
    }
  }

  /// Shared values are recomputed in every part; if one stores such a value as a short, the others
  /// are marked.
  void find_left() {
    left_.assign(size_, false);
    for (const Root& root : d_.roots) {
      if (root.read_by_section && root.key.type == WordType::Short) mark_left(root.value);
    }
  }

  void mark_left(Ref r) {
    r = resolve(r);
    const Node& node = g_[r];
    if (node.op == NodeOp::Select) {
      mark_left(node.b);
      mark_left(node.c);
    } else if (!is_leaf(node.op) && !is_private(r)) {
      left_[node_of(r)] = true;
    }
  }

  /// Operands of a value, transitively, in topological order.
  void gather(Ref r, std::vector<bool>& seen, std::vector<std::uint32_t>& nodes) const {
    r = resolve(r);
    if (seen[node_of(r)]) return;
    seen[node_of(r)] = true;
    for (const Ref operand : g_[r].operands()) gather(operand, seen, nodes);
    nodes.push_back(node_of(r));
  }

  /// The order of nodes in the new graph depends only on their positions in the part, so that
  /// isomorphic parts become equal graphs.
  Kernel build(const Part& part) {
    std::vector<bool> seen(size_, false);
    std::vector<std::uint32_t> nodes;
    for (const std::size_t r : part.roots) gather(d_.roots[r].value, seen, nodes);
    for (const Ref append : part.appends) gather(append, seen, nodes);
    std::vector<std::size_t> carried_here = part.carried;
    for (const std::size_t c : part.carried) {
      gather(d_.carried[c].input, seen, nodes);
      gather(d_.carried[c].next, seen, nodes);
    }
    for (bool found = true; found;) {
      found = false;
      for (std::size_t c = 0; c < d_.carried.size(); ++c) {
        const bool missing = std::ranges::find(carried_here, c) == carried_here.end();
        if (!is_shared_[c] || !seen[node_of(d_.carried[c].input)] || !missing) continue;
        gather(d_.carried[c].next, seen, nodes);
        carried_here.push_back(c);
        found = true;
      }
    }
    std::vector<std::uint32_t> first_user(size_, nobody);
    for (const std::uint32_t n : nodes) {
      for (const Ref r : g_[ref_to(n)].operands()) {
        std::uint32_t& user = first_user[node_of(resolve(r))];
        user = std::min(user, n);
      }
    }
    const auto rank = [&](std::uint32_t n) {
      using Tuple = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
      const Node& node = g_[ref_to(n)];
      // Shared leaves by kind, operation and key, inputs by their first use, the rest in graph
      // order.
      if (node.op == NodeOp::Input) {
        return Tuple(1, first_user[n], owner_[n] == shared, node.bits);
      }
      if (is_leaf(node.op)) {
        return Tuple(0, static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.op),
                     node.bits);
      }
      return Tuple(2, n, 0, 0);
    };
    std::ranges::sort(nodes, {}, rank);

    Kernel kernel;
    KernelInstance instance;
    NodeMap made(size_);
    const auto copy = [&](Ref r) { return r == no_ref ? r : made(resolve(r)); };
    std::unordered_map<std::uint32_t, std::uint32_t> slots;
    std::unordered_map<std::uint32_t, std::uint32_t> list_slots;
    std::uint32_t position = 0;
    for (const std::uint32_t n : nodes) {
      const Node& node = g_[ref_to(n)];
      if (node.op == NodeOp::Append) {
        const std::uint32_t number = AppendKey::unpack(node.bits).list;
        const List& list = m_.lists[number];
        const auto [slot, is_new] =
            list_slots.try_emplace(number, static_cast<std::uint32_t>(kernel.lists.size()));
        if (is_new) {
          kernel.lists.push_back({list.stride, list.first, list.last});
          instance.lists.push_back(list);
        }
        made.set(n, kernel.graph.append(copy(node.a), copy(node.b), {slot->second, position++}));
        kernel.appends.push_back(made(ref_to(n)));
      } else if (node.op == NodeOp::Input) {
        const LeafKey key = LeafKey::unpack(node.bits);
        const auto slot = static_cast<std::uint32_t>(kernel.inputs.size());
        slots[n] = slot;
        kernel.inputs.push_back(key.type);
        instance.inputs.push_back(key);
        made.set(n, kernel.graph.leaf(NodeOp::Input, {key.type, slot, 0}));
      } else {
        made.set(n, kernel.graph.rebuilt(node, copy(node.a), copy(node.b), copy(node.c)));
      }
    }
    for (const std::size_t r : part.roots) {
      const Root& root = d_.roots[r];
      kernel.outputs.push_back({root.key.type, copy(root.value), root.read_by_section});
      instance.outputs.push_back(root.key);
    }
    for (const std::size_t c : carried_here) {
      const Carried& carried = d_.carried[c];
      kernel.carried.push_back({slots.at(node_of(carried.input)), copy(carried.next)});
    }
    for (const std::uint32_t n : nodes) {
      if (left_[n]) kernel.left.push_back(made(ref_to(n)));
    }
    kernel.instances.push_back(std::move(instance));
    return kernel;
  }

  const SectionModel& m_;
  const Graph& g_;
  const Liveness& d_;
  std::size_t size_;
  std::vector<bool> is_private_;  ///< nodes of one part only
  /// By carried location: its value is uniform over PEs, so that every part that reads it carries
  /// its own copy.
  std::vector<bool> is_shared_;
  std::vector<bool> left_;  ///< nodes that are shorts of several parts, and that some section reads
  std::vector<std::uint32_t> parent_;
  SplitSection made_;
  std::vector<std::uint32_t> owner_;  ///< using part of each input, or `shared`
  static constexpr std::uint32_t nobody = ~std::uint32_t{0}, shared = nobody - 1;
};

}  // namespace

SplitSection split(const SectionModel& model, const Liveness& liveness) {
  return Splitter(model, liveness).run();
}

}  // namespace gdr::native
