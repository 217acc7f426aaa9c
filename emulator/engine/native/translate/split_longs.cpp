#include "emulator/engine/native/translate/split_longs.hpp"

#include <algorithm>
#include <vector>

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {
namespace {

class LongSplitter {
 public:
  explicit LongSplitter(const Kernel& kernel) : k_(kernel), inputs_(kernel.inputs) {}

  Kernel run() {
    find_squared();
    Kernel made = rewritten(k_, [&](Graph& g, Ref r, const NodeMap& copy) {
      const Node& node = k_.graph[r];
      if (!squared_[node_of(r)] || !is_distance(node)) return no_ref;
      const auto number = [&](NodeOp op, Ref a, Ref b) {
        return g.op(op, Kind::Number, a, b, no_ref, node.detail);
      };
      const Ref rest_a = rest_of(g, node.a);
      const Ref rest = number(NodeOp::Sub, rest_a, rest_of(g, node.b));
      return number(NodeOp::Add, number(NodeOp::Sub, copy(node.a), copy(node.b)), rest);
    });
    made.inputs = inputs_;
    for (KernelInstance& instance : made.instances)
      for (const std::uint32_t slot : split_)
        instance.inputs.push_back({WordType::LongRest, instance.inputs[slot].place, 0});
    return made;
  }

 private:
  void find_squared() {
    squared_.assign(k_.graph.size(), false);
    for (const Node& node : k_.graph.nodes())
      if (node.op == NodeOp::Mul && node.a == node.b) squared_[node_of(node.a)] = true;
  }

  bool is_long_of(Ref r, NodeOp leaf) const {
    const Node& node = k_.graph[r];
    if (node.op != leaf) return false;
    const LeafKey key = LeafKey::unpack(node.bits);
    const bool carried =
        leaf == NodeOp::Input &&
        std::ranges::find(k_.carried, key.place, &KernelCarried::slot) != k_.carried.end();
    return key.type == WordType::Long && !carried;
  }

  /// Whether it is the difference of a target's and a source's long.
  bool is_distance(const Node& node) const {
    if (node.op != NodeOp::Sub) return false;
    return (is_long_of(node.a, NodeOp::Input) && is_long_of(node.b, NodeOp::Source)) ||
           (is_long_of(node.a, NodeOp::Source) && is_long_of(node.b, NodeOp::Input));
  }

  /// The leaf of a long's rest. Slots of rests follow all others.
  Ref rest_of(Graph& g, Ref r) {
    const Node& node = k_.graph[r];
    LeafKey key = LeafKey::unpack(node.bits);
    key.type = WordType::LongRest;
    if (node.op == NodeOp::Source) return g.leaf(NodeOp::Source, key);
    const auto known = std::ranges::find(split_, key.place);
    const auto slot = static_cast<std::uint32_t>(k_.inputs.size() +
                                                 static_cast<std::size_t>(known - split_.begin()));
    if (known == split_.end()) {
      split_.push_back(key.place);
      inputs_.push_back(WordType::LongRest);
    }
    return g.leaf(NodeOp::Input, {WordType::LongRest, slot, 0});
  }

  const Kernel& k_;
  std::vector<bool> squared_;  ///< nodes that are squared
  std::vector<WordType> inputs_;
  std::vector<std::uint32_t> split_;  ///< slots of longs that have a slot for the rest
};

}  // namespace

Kernel with_split_distances(const Kernel& kernel) { return LongSplitter(kernel).run(); }

}  // namespace gdr::native
