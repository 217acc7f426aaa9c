#include "emulator/engine/native/gpu/value_text.hpp"

#include <fmt/format.h>

#include <array>

namespace gdr::native {

Kind ValueText::carried_kind(std::uint32_t number) const {
  for (const Segment* s : {&c_.kernel.loop, &c_.kernel.first, &c_.kernel.last})
    for (const Store& store : s->stores) {
      if (store.area != Store::Area::Carried || store.slot != number) continue;
      if (store.type == WordType::Mask) return Kind::Mask;
      return is_number(store.type) ? Kind::Number : Kind::Bits;
    }
  return Kind::Bits;
}

const char* ValueText::type_name(Kind kind) {
  constexpr std::array names{"number", "bits", "bool"};
  return names[static_cast<std::size_t>(kind)];
}

std::string ValueText::loaded(Kind kind, const std::string& from) {
  if (kind == Kind::Number) return "as_number(" + from + ")";
  return kind == Kind::Mask ? from + " != 0" : from;
}

std::string ValueText::stored(Kind kind, const std::string& value) {
  if (kind == Kind::Number) return "as_bits(" + value + ")";
  return kind == Kind::Mask ? "load_mask(" + value + ")" : value;
}

std::string ValueText::as_kind(const std::string& value, Kind from, Kind to) {
  return from == to ? value : loaded(to, stored(from, value));
}

std::string ValueText::place(Location l) const {
  const std::int32_t offset = l.offset / static_cast<std::int32_t>(c_.target.lane_bytes());
  if (l.base == base_source) return fmt::format("source[{}]", offset);
  if (l.base == base_uniforms) return fmt::format("uniforms[{}]", offset);
  if (l.base == base_carried)
    return fmt::format("item[{}]",
                       static_cast<std::int64_t>(word(c_.kernel.layout.set(0))) + offset);
  return fmt::format("item[{}]", offset);
}

std::string ValueText::constant(const Node& node) const {
  const std::uint64_t lane = constant_lane(node, c_.target.precision);
  const std::string bits = floats_ ? fmt::format("{:#x}u", static_cast<std::uint32_t>(lane))
                                   : fmt::format("{:#x}UL", lane);
  if (node.kind == Kind::Mask) return lane != 0 ? "true" : "false";
  return node.kind == Kind::Number ? "as_number(" + bits + ")" : bits;
}

std::string ValueText::leaf(const Node& node) const {
  if (node.op == NodeOp::Constant) return constant(node);
  const LeafKey key = LeafKey::unpack(node.bits);
  if (node.op == NodeOp::Input) {
    if (const auto number = c_.carried_number(key.place))
      return as_kind(fmt::format("c{}", *number), carried_kind(*number), node.kind);
    const std::uint32_t inputs = c_.kernel.layout.inputs;
    if (key.place >= inputs) return fmt::format("total{}", key.place - inputs);
  }
  if (node.op == NodeOp::Source && in_pairs()) {
    const std::int32_t word = source_word(node);
    return loaded(node.kind,
                  fmt::format("{}.{}", pair_name(word >> 1), (word & 1) == 0 ? 'x' : 'y'));
  }
  return loaded(node.kind, place(c_.leaf(node)));
}

std::string ValueText::operand(const Graph& g, Ref r) {
  const std::string name = fmt::format("v{}", node_of(r));
  if (!negated(r)) return name;
  return g[r].kind == Kind::Mask ? "!" + name : "~" + name;
}

std::int32_t ValueText::source_word(const Node& node) const {
  return c_.leaf(node).offset / static_cast<std::int32_t>(c_.target.lane_bytes());
}

std::string ValueText::pair_name(std::int32_t pair) {
  return fmt::format("{}{}", pair < 0 ? "before" : "pair", pair < 0 ? -pair : pair);
}

}  // namespace gdr::native
