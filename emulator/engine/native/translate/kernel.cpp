#include "emulator/engine/native/translate/kernel.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "emulator/engine/native/translate/section_parts.hpp"

namespace gdr::native {
namespace {

bool alike(const Kernel& a, const Kernel& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.carried == b.carried &&
         a.lists == b.lists && a.appends == b.appends && a.left == b.left &&
         a.graph.nodes() == b.graph.nodes();
}

/// Makes a kernel of one part. The order of nodes in its graph depends only on their positions in
/// the part, so that isomorphic parts become equal graphs.
class KernelBuilder {
 public:
  KernelBuilder(const SectionModel& model, const Liveness& liveness, const SectionParts& parts,
                const SectionPart& part)
      : m_(model),
        g_(model.graph),
        d_(liveness),
        parts_(parts),
        part_(part),
        carried_(part.carried),
        seen_(g_.size(), false),
        made_(g_.size()) {}

  Kernel run() {
    gather_nodes();
    sort_nodes();
    for (const std::uint32_t n : nodes_) copy_node(n);
    for (const std::size_t r : part_.roots) {
      const Root& root = d_.roots[r];
      kernel_.outputs.push_back({root.key.type, copy(root.value), root.read_by_section});
      instance_.outputs.push_back(root.key);
    }
    for (const std::size_t c : carried_) {
      const Carried& carried = d_.carried[c];
      kernel_.carried.push_back({slots_.at(node_of(carried.input)), copy(carried.next)});
    }
    for (const std::uint32_t n : nodes_) {
      if (parts_.is_left(n)) kernel_.left.push_back(made_(ref_to(n)));
    }
    kernel_.instances.push_back(std::move(instance_));
    return std::move(kernel_);
  }

 private:
  /// Collects the nodes of the part, and the shared carried locations that it reads.
  void gather_nodes() {
    for (const std::size_t r : part_.roots) gather(d_.roots[r].value);
    for (const Ref append : part_.appends) gather(append);
    for (const std::size_t c : part_.carried) {
      gather(d_.carried[c].input);
      gather(d_.carried[c].next);
    }
    for (bool found = true; found;) {
      found = false;
      for (std::size_t c = 0; c < d_.carried.size(); ++c) {
        const bool missing = std::ranges::find(carried_, c) == carried_.end();
        if (!parts_.is_shared(c) || !seen_[node_of(d_.carried[c].input)] || !missing) continue;
        gather(d_.carried[c].next);
        carried_.push_back(c);
        found = true;
      }
    }
  }

  /// Operands of a value, transitively, in topological order.
  void gather(Ref r) {
    r = parts_.resolve(r);
    if (seen_[node_of(r)]) return;
    seen_[node_of(r)] = true;
    for (const Ref operand : g_[r].operands()) gather(operand);
    nodes_.push_back(node_of(r));
  }

  /// Shared leaves by kind, operation and key, inputs by their first use, the rest in graph order.
  void sort_nodes() {
    std::vector<std::uint32_t> first_user(g_.size(), ~std::uint32_t{0});
    for (const std::uint32_t n : nodes_) {
      for (const Ref r : g_[ref_to(n)].operands()) {
        std::uint32_t& user = first_user[node_of(parts_.resolve(r))];
        user = std::min(user, n);
      }
    }
    const auto rank = [&](std::uint32_t n) {
      using Tuple = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
      const Node& node = g_[ref_to(n)];
      if (node.op == NodeOp::Input)
        return Tuple(1, first_user[n], parts_.has_several_users(n), node.bits);
      if (is_leaf(node.op))
        return Tuple(0, static_cast<std::uint64_t>(node.kind), static_cast<std::uint64_t>(node.op),
                     node.bits);
      return Tuple(2, n, 0, 0);
    };
    std::ranges::sort(nodes_, {}, rank);
  }

  Ref copy(Ref r) const { return r == no_ref ? r : made_(parts_.resolve(r)); }

  void copy_node(std::uint32_t n) {
    const Node& node = g_[ref_to(n)];
    if (node.op == NodeOp::Append) return copy_append(n);
    if (node.op == NodeOp::Input) return copy_input(n);
    made_.set(n, kernel_.graph.rebuilt(node, copy(node.a), copy(node.b), copy(node.c)));
  }

  void copy_input(std::uint32_t n) {
    const LeafKey key = LeafKey::unpack(g_[ref_to(n)].bits);
    const auto slot = static_cast<std::uint32_t>(kernel_.inputs.size());
    slots_[n] = slot;
    kernel_.inputs.push_back(key.type);
    instance_.inputs.push_back(key);
    made_.set(n, kernel_.graph.leaf(NodeOp::Input, {key.type, slot, 0}));
  }

  void copy_append(std::uint32_t n) {
    const Node& node = g_[ref_to(n)];
    const std::uint32_t number = AppendKey::unpack(node.bits).list;
    const List& list = m_.lists[number];
    const auto [slot, is_new] =
        list_slots_.try_emplace(number, static_cast<std::uint32_t>(kernel_.lists.size()));
    if (is_new) {
      kernel_.lists.push_back({list.stride, list.first, list.last});
      instance_.lists.push_back(list);
    }
    const auto position = static_cast<std::uint32_t>(kernel_.appends.size());
    made_.set(n, kernel_.graph.append(copy(node.a), copy(node.b), {slot->second, position}));
    kernel_.appends.push_back(made_(ref_to(n)));
  }

  const SectionModel& m_;
  const Graph& g_;
  const Liveness& d_;
  const SectionParts& parts_;
  const SectionPart& part_;
  std::vector<std::size_t> carried_;  ///< carried locations of the kernel
  std::vector<bool> seen_;            ///< nodes of the part
  std::vector<std::uint32_t> nodes_;  ///< nodes of the part, in the order of the kernel's graph
  NodeMap made_;
  Kernel kernel_;
  KernelInstance instance_;
  std::unordered_map<std::uint32_t, std::uint32_t> slots_;       ///< slots of inputs
  std::unordered_map<std::uint32_t, std::uint32_t> list_slots_;  ///< numbers of lists
};

}  // namespace

SplitSection split(const SectionModel& model, const Liveness& liveness) {
  SplitSection made;
  SectionParts parts(model, liveness);
  for (const auto& [number, part] : parts.parts(made)) {
    Kernel kernel = KernelBuilder(model, liveness, parts, part).run();
    // Not more than elements, so that packed targets can use one of them for all: sums of several
    // components, of which each element has one, may be alike.
    const auto twin = std::ranges::find_if(made.kernels, [&](const Kernel& k) {
      return k.instances.size() < model.elements && alike(k, kernel);
    });
    if (twin == made.kernels.end()) {
      made.kernels.push_back(std::move(kernel));
    } else {
      twin->instances.push_back(std::move(kernel.instances[0]));
    }
  }
  return made;
}

}  // namespace gdr::native
