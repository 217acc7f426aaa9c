#include "emulator/engine/native/translate/blocked_sums.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gdr::native {
namespace {

/// The terms that a value adds to the input `sum`, perhaps under masks; nothing, if it depends on
/// the input in another way. `reaches`, by node: whether it depends on the input.
std::optional<std::uint32_t> terms_of(const Graph& g, Ref r, Ref sum,
                                      const std::vector<unsigned>& reaches) {
  const auto depends = [&](Ref x) { return reaches[node_of(x)] != 0; };
  // Those of the value that the input goes into, and one more.
  const auto with_term = [&](Ref before, Ref term) -> std::optional<std::uint32_t> {
    const auto terms = depends(term) ? std::nullopt : terms_of(g, before, sum, reaches);
    if (!terms) return std::nullopt;
    return *terms + 1;
  };
  if (r == sum) return 0;
  if (!depends(r)) return std::nullopt;
  const Node& node = g[r];
  switch (node.op) {
    case NodeOp::Add:
      return depends(node.a) ? with_term(node.a, node.b) : with_term(node.b, node.a);
    case NodeOp::Sub:
      return with_term(node.a, node.b);
    case NodeOp::Fma:
      if ((node.detail & fma_negate_addend) != 0 || depends(node.a)) return std::nullopt;
      return with_term(node.c, node.b);
    case NodeOp::Select: {
      const auto yes = terms_of(g, node.b, sum, reaches), no = terms_of(g, node.c, sum, reaches);
      if (depends(node.a) || !yes || !no) return std::nullopt;
      return std::max(*yes, *no);
    }
    default:
      return std::nullopt;
  }
}

class SumBlocker {
 public:
  SumBlocker(const Segment& loop, std::span<const std::uint32_t> carried_slots,
             std::uint32_t first_total, std::uint32_t block_terms)
      : s_(loop),
        g_(loop.graph),
        carried_(carried_slots),
        first_total_(first_total),
        block_terms_(block_terms) {}

  bool only_sums() const {
    return std::ranges::all_of(s_.stores, [&](const Store& store) {
      return store.area != Store::Area::Carried || terms_of_sum(store).has_value();
    });
  }

  BlockedSums run() {
    std::uint32_t max_terms = 1;
    for (const Store& store : s_.stores) {
      const auto terms = store.area == Store::Area::Carried ? terms_of_sum(store) : std::nullopt;
      if (!terms || *terms == 0) continue;
      max_terms = std::max(max_terms, *terms);
      add(store);
    }
    made_.iterations = std::max(1U, block_terms_ / max_terms);
    return std::move(made_);
  }

 private:
  /// The terms that an iteration adds to a carried value, if it is a sum.
  std::optional<std::uint32_t> terms_of_sum(const Store& store) const {
    if (store.type != WordType::Long && store.type != WordType::Short) return std::nullopt;
    const auto is_input = [&](Ref r) {
      const Node& node = g_[r];
      return node.op == NodeOp::Input && LeafKey::unpack(node.bits).place == carried_[store.slot]
                 ? 1U
                 : 0U;
    };
    const std::vector<unsigned> reaches = inherited(g_, is_input);
    const bool others_read = std::ranges::any_of(s_.stores, [&](const Store& other) {
      return &other != &store && reaches[node_of(other.value)] != 0;
    });
    if (others_read) return std::nullopt;
    for (std::uint32_t n = 0; n < g_.size(); ++n)
      if (is_input(ref_to(n)) != 0) return terms_of(g_, store.value, ref_to(n), reaches);
    return std::nullopt;
  }

  void add(const Store& sum) {
    const std::uint32_t total = 2 * made_.count++;
    const LeafKey partial{sum.type, carried_[sum.slot], 0};
    const auto leaves = [&](Graph& g) {
      const auto total_of = [&](std::uint32_t part) {
        return g.leaf(NodeOp::Input, {WordType::Long, first_total_ + total + part, 0});
      };
      return std::array{g.leaf(NodeOp::Input, partial), total_of(0), total_of(1)};
    };
    const auto store_total = [&](Segment& s, std::uint32_t part, Ref value) {
      s.stores.push_back({Store::Area::Total, total + part, WordType::Long, value, false});
    };
    const auto store_sum = [&](Segment& s, Ref value) {
      s.stores.push_back({Store::Area::Carried, sum.slot, sum.type, value, false});
    };
    for (const std::uint32_t part : {0U, 1U})
      store_total(made_.begin, part, made_.begin.graph.number(0));

    Graph& g = made_.move.graph;
    const auto number = [&](NodeOp op, Ref a, Ref b) { return g.op(op, Kind::Number, a, b); };
    const auto [p, high, low] = leaves(g);
    const Ref s = number(NodeOp::Add, high, p);
    const Ref of_p = number(NodeOp::Sub, s, high);
    const Ref lost = number(NodeOp::Add, number(NodeOp::Sub, high, number(NodeOp::Sub, s, of_p)),
                            number(NodeOp::Sub, p, of_p));
    store_total(made_.move, 0, s);
    store_total(made_.move, 1, number(NodeOp::Add, low, lost));
    store_sum(made_.move, g.number(0));

    Graph& f = made_.finish.graph;
    const auto [rest, most, less] = leaves(f);
    store_sum(made_.finish,
              f.op(NodeOp::Add, Kind::Number, most, f.op(NodeOp::Add, Kind::Number, less, rest)));
  }

  const Segment& s_;
  const Graph& g_;
  std::span<const std::uint32_t> carried_;
  std::uint32_t first_total_, block_terms_;
  BlockedSums made_;
};

}  // namespace

bool only_sums(const Segment& loop, std::span<const std::uint32_t> carried_slots) {
  return SumBlocker(loop, carried_slots, 0, 1).only_sums();
}

BlockedSums make_blocked_sums(const Segment& loop, std::span<const std::uint32_t> carried_slots,
                              std::uint32_t first_total, std::uint32_t block_terms) {
  return SumBlocker(loop, carried_slots, first_total, block_terms).run();
}

}  // namespace gdr::native
