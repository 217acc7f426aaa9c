#include "emulator/engine/native/translate/bits_of_numbers.hpp"

#include <algorithm>

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {
namespace {

class BitsOfNumbers {
 public:
  explicit BitsOfNumbers(const Kernel& kernel) : k_(kernel) {}

  Kernel run() const {
    Kernel made = rewritten(k_, [&](Graph& g, Ref r, const NodeMap&) {
      const Node& node = k_.graph[r];
      const Ref number = number_of(node);
      if (number == no_ref) return no_ref;
      return g.as_bits(g.add(k_.graph[number]));
    });
    // Inputs that nothing reads any more.
    for (const Node& node : k_.graph.nodes()) {
      if (node.op != NodeOp::Input || number_of(node) == no_ref) continue;
      const std::uint32_t slot = LeafKey::unpack(node.bits).place;
      made.inputs[slot] = WordType::Short;
      for (KernelInstance& instance : made.instances) instance.inputs[slot].type = WordType::Short;
    }
    return made;
  }

 private:
  /// The leaf that reads the word of a leaf of bits as a short; or none.
  Ref number_of(const Node& node) const {
    const bool word = node.op == NodeOp::Source || node.op == NodeOp::Uniform;
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.type != WordType::Bits || (!word && node.op != NodeOp::Input)) return no_ref;
    for (std::uint32_t n = 0; n < k_.graph.size(); ++n) {
      const Node& other = k_.graph[ref_to(n)];
      if (other.op != node.op) continue;
      const LeafKey of_other = LeafKey::unpack(other.bits);
      if (of_other.type != WordType::Short || of_other.delay != key.delay) continue;
      if (word ? of_other.place == key.place : is_same_input(of_other.place, key.place))
        return ref_to(n);
    }
    return no_ref;
  }
  /// Whether two slots hold the same word, which iterations leave alone.
  bool is_same_input(std::uint32_t a, std::uint32_t b) const {
    const auto is_carried = [&](std::uint32_t slot) {
      return std::ranges::find(k_.carried, slot, &KernelCarried::slot) != k_.carried.end();
    };
    return !is_carried(a) && !is_carried(b) &&
           std::ranges::all_of(k_.instances, [&](const KernelInstance& instance) {
             return instance.inputs[a].place == instance.inputs[b].place &&
                    instance.inputs[a].delay == instance.inputs[b].delay;
           });
  }

  const Kernel& k_;
};

}  // namespace

Kernel with_bits_of_numbers(const Kernel& kernel) { return BitsOfNumbers(kernel).run(); }

}  // namespace gdr::native
