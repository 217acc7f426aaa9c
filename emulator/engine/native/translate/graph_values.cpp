#include "emulator/engine/native/translate/graph_values.hpp"

#include <algorithm>
#include <utility>

namespace gdr::native {
namespace {

constexpr std::size_t max_cone_nodes = 500;

}  // namespace

GraphValues::GraphValues(const Graph& g, Cones& cones, std::vector<Ref> numbers)
    : g_(g),
      numbers_(std::move(numbers)),
      nodes_(cones.cone_of(numbers_, max_cone_nodes)),
      values_(numbers_.size() + nodes_.size()) {
  steps_.reserve(nodes_.size());
  for (const std::uint32_t n : nodes_) {
    const Node& node = g[ref_to(n)];
    const Step step{node, operand(node.a), operand(node.b), operand(node.c),
                    node.op == NodeOp::AsBits || node.op == NodeOp::Round};
    steps_.push_back(step);
    steps_.back().from_bits |= is_from_bits(step.a) || is_from_bits(step.b) || is_from_bits(step.c);
  }
}

void GraphValues::evaluate_at(std::initializer_list<double> numbers) {
  std::size_t at = 0;
  for (const double number : numbers) values_[at++] = std::bit_cast<std::uint64_t>(number);
  for (const Step& s : steps_) values_[at++] = evaluate(s.node, value(s.a), value(s.b), value(s.c));
}

std::vector<std::uint32_t> GraphValues::results() const {
  std::vector<std::uint32_t> list;
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    if (steps_[k].from_bits && steps_[k].node.kind == Kind::Number) list.push_back(nodes_[k]);
  return list;
}

/// The place of the value of a node; none if it is neither a number nor in the cone.
std::optional<std::size_t> GraphValues::place_of(std::uint32_t n) const {
  const auto is_n = [&](Ref x) { return node_of(x) == n; };
  if (const auto x = std::ranges::find_if(numbers_, is_n); x != numbers_.end())
    return x - numbers_.begin();
  const auto at = std::ranges::lower_bound(nodes_, n);
  if (at == nodes_.end() || *at != n) return std::nullopt;
  return numbers_.size() + (at - nodes_.begin());
}

GraphValues::Operand GraphValues::operand(Ref r) const {
  if (r == no_ref) return {};
  const std::optional<std::size_t> place = place_of(node_of(r));
  return {place, place ? 0 : g_[r].bits, negated(r)};
}

bool GraphValues::is_from_bits(const Operand& x) const {
  return x.place && *x.place >= numbers_.size() && steps_[*x.place - numbers_.size()].from_bits;
}

std::uint64_t GraphValues::value(const Operand& x) const {
  const std::uint64_t bits = x.place ? values_[*x.place] : x.constant;
  return x.negated ? ~bits : bits;
}

}  // namespace gdr::native
