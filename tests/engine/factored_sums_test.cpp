// Sums of a value and a multiple of its square, as products.
#include "emulator/engine/native/translate/factored_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "support/catch.hpp"

namespace gdr::native {
namespace {

/// The value of each store where the inputs have these numbers.
std::vector<double> stored_at(const Segment& s, std::initializer_list<double> inputs) {
  std::vector<std::uint64_t> values(s.graph.size(), 0);
  const auto value = [&](Ref r) { return r == no_ref ? 0 : values[node_of(r)]; };
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    const Node& node = s.graph[ref_to(n)];
    values[n] = node.op == NodeOp::Input
                    ? std::bit_cast<std::uint64_t>(inputs.begin()[LeafKey::unpack(node.bits).place])
                    : evaluate(node, value(node.a), value(node.b), value(node.c));
  }
  std::vector<double> found;
  found.reserve(s.stores.size());
  for (const Store& store : s.stores) found.push_back(std::bit_cast<double>(value(store.value)));
  return found;
}

std::ptrdiff_t nodes_of(const Segment& s, NodeOp op) {
  return std::ranges::count(cleaned(s).graph.nodes(), op, &Node::op);
}

/// Builds a segment that stores sums of x and its square.
struct SumBuilder {
  Segment s;
  Graph& g = s.graph;

  Ref input(std::uint32_t slot) { return g.leaf(NodeOp::Input, {WordType::Long, slot, 0}); }
  Ref op(NodeOp op, Ref a, Ref b = no_ref) { return g.op(op, Kind::Number, a, b); }
  Ref recip(Ref a) {
    return g.add(
        {NodeOp::Recip, Kind::Number, 0, a, no_ref, no_ref, std::bit_cast<std::uint64_t>(1.5)});
  }
  void store(Ref value) {
    const auto slot = static_cast<std::uint32_t>(s.stores.size());
    s.stores.push_back({Store::Area::Output, slot, WordType::Long, value, false});
  }
};

TEST_CASE("sums of a value and a multiple of its square become products") {
  SumBuilder b;
  const Ref x = b.recip(b.input(0));
  const Ref square = b.op(NodeOp::Mul, x, x);
  const auto scaled = [&](double c) { return b.op(NodeOp::Mul, b.g.number(c), square); };
  b.store(b.op(NodeOp::Sub, scaled(3), x));
  b.store(b.op(NodeOp::Sub, x, scaled(5)));
  b.store(b.op(NodeOp::Add, scaled(7), x));
  b.store(b.op(NodeOp::Add, x, b.op(NodeOp::Mul, b.op(NodeOp::Mul, b.input(1), x), x)));
  const Segment made = with_factored_sums(b.s);
  CHECK(nodes_of(made, NodeOp::Fma) == 4);
  CHECK(nodes_of(made, NodeOp::Mul) == 4);  // no square
  CHECK(nodes_of(made, NodeOp::Add) + nodes_of(made, NodeOp::Sub) == 0);
  for (const double r : {0.3, -2.0, 1e9, 4.5, -7.5}) {
    const std::vector<double> before = stored_at(b.s, {r, 0.7}), after = stored_at(made, {r, 0.7});
    const long double v = 1.5L / static_cast<long double>(r);
    for (std::size_t k = 0; k < before.size(); ++k) {
      CAPTURE(r, k, before[k], after[k]);
      // Relative to the terms, which may cancel.
      const double size = static_cast<double>(std::abs(v) + 7 * v * v);
      CHECK(std::abs(after[k] - before[k]) <= 4 * 0x1p-53 * size);
    }
    const long double exact = 3 * v * v - v;
    CHECK(std::abs(static_cast<double>(after[0] - exact)) <=
          4 * 0x1p-53 * static_cast<double>(std::abs(v) + 3 * v * v));
  }
}

TEST_CASE(
    "sums of squares stay as they are without a reciprocal, or if the product is used again") {
  SumBuilder b;
  const Ref y = b.input(0);
  b.store(b.op(NodeOp::Sub, b.op(NodeOp::Mul, b.g.number(3), b.op(NodeOp::Mul, y, y)), y));
  const Ref x = b.recip(y);
  const Ref twice = b.op(NodeOp::Mul, b.g.number(2), b.op(NodeOp::Mul, x, x));
  b.store(twice);
  b.store(b.op(NodeOp::Sub, twice, x));
  const Segment made = with_factored_sums(b.s);
  CHECK(nodes_of(made, NodeOp::Fma) == 0);
  CHECK(nodes_of(made, NodeOp::Sub) == 2);
  CHECK(stored_at(made, {0.3}) == stored_at(b.s, {0.3}));
}

}  // namespace
}  // namespace gdr::native
