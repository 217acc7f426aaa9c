// Loop segments against their kernels, iteration by iteration, and simplification of arithmetic.
// The oracle is `evaluate`, the definition of a node.
#include <bit>
#include <map>
#include <random>
#include <vector>

#include "emulator/engine/native/translate/constant_factors.hpp"
#include "emulator/engine/native/translate/lower.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using namespace native;

namespace {

/// One lane of a kernel's loop: the contents of its carried locations, and the current iteration.
class Lane {
 public:
  Lane(const Kernel& kernel, const std::vector<double>& start) : kernel_(kernel) {
    for (std::size_t c = 0; c < kernel.carried.size(); ++c)
      state_[kernel.carried[c].slot] = std::bit_cast<std::uint64_t>(start[c]);
  }

  /// Sources are small integers, so that sums are exact in any order.
  static double source(std::uint32_t place, std::int64_t iteration) {
    REQUIRE(iteration >= 0);
    return static_cast<double>((7 * place + 3 * static_cast<std::uint64_t>(iteration)) % 11) - 5;
  }

  void run(const Segment& segment) {
    const Values values = values_of(segment.graph);
    auto next = state_;
    for (const Store& store : segment.stores)
      next[kernel_.carried[store.slot].slot] = value(values, store.value);
    state_ = std::move(next);
    ++iteration_;
  }
  /// One iteration of the unmodified kernel.
  void run_kernel() {
    const Values values = values_of(kernel_.graph);
    auto next = state_;
    for (const KernelCarried& c : kernel_.carried) next[c.slot] = value(values, c.next);
    state_ = std::move(next);
    ++iteration_;
  }

  const std::map<std::uint32_t, std::uint64_t>& state() const noexcept { return state_; }

 private:
  using Values = std::vector<std::uint64_t>;

  static std::uint64_t value(const Values& values, Ref r) {
    return negated(r) ? ~values[node_of(r)] : values[node_of(r)];
  }
  Values values_of(const Graph& g) const {
    Values values(g.size());
    for (std::uint32_t n = 0; n < g.size(); ++n) {
      const Node& node = g[ref_to(n)];
      const LeafKey key = LeafKey::unpack(node.bits);
      const auto operand = [&](Ref r) { return r == no_ref ? 0 : value(values, r); };
      if (node.op == NodeOp::Input) {
        values[n] = state_.at(key.place);
      } else if (node.op == NodeOp::Source) {
        values[n] = std::bit_cast<std::uint64_t>(source(key.place, iteration_ - key.delay));
      } else if (node.op == NodeOp::Constant) {
        values[n] = node.bits;
      } else {
        values[n] = evaluate(node, operand(node.a), operand(node.b), operand(node.c));
      }
    }
    return values;
  }

  const Kernel& kernel_;
  std::map<std::uint32_t, std::uint64_t> state_;  ///< by slot
  std::int64_t iteration_ = 0;
};

/// A kernel whose loop carries sums and their addends.
struct Pipeline {
  Kernel kernel;
  std::uint32_t slots = 0;

  Ref source(std::uint32_t place) {
    return kernel.graph.leaf(NodeOp::Source, {WordType::Long, place, 0});
  }
  Ref input() {
    kernel.inputs.push_back(WordType::Long);
    return kernel.graph.leaf(NodeOp::Input, {WordType::Long, slots++, 0});
  }
  void carry(Ref input, Ref next) {
    kernel.carried.push_back({LeafKey::unpack(kernel.graph[input].bits).place, next});
  }
  Ref op(NodeOp op, Ref a, Ref b) { return kernel.graph.op(op, Kind::Number, a, b); }
};

bool same_after(const Kernel& kernel, const LoopForm& form, unsigned iterations) {
  std::vector<double> start;
  for (std::size_t c = 0; c < kernel.carried.size(); ++c)
    start.push_back(static_cast<double>(c) + 2);
  Lane plain(kernel, start), pieces(kernel, start);
  for (unsigned p = 0; p + 1 < iterations; ++p) plain.run_kernel();
  pieces.run(form.first);
  for (unsigned p = 1; p + 1 < iterations; ++p) pieces.run(form.loop);
  pieces.run(form.last);
  return plain.state() == pieces.state();
}

/// Sums of products with carried parts, plain and under masks, of this item and the last.
Kernel random_pipeline(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Pipeline p;
  Graph& g = p.kernel.graph;
  std::vector<Ref> now, before;
  for (std::uint32_t place = 0; place < 3; ++place) now.push_back(p.source(place));
  for (unsigned k = 0; k < 3; ++k)
    now.push_back(
        p.op(below(2) == 0 ? NodeOp::Mul : NodeOp::Sub, now[below(now.size())], now[below(3)]));
  const auto any = [&](const std::vector<Ref>& of) { return of[below(of.size())]; };
  for (unsigned k = 0; k < 3; ++k) {
    const Ref in = p.input();
    p.carry(in, any(now));
    before.push_back(in);
  }
  for (unsigned s = 0; s < 3; ++s) {
    const Ref in = p.input();
    Ref sum = in;
    for (std::uint64_t steps = 1 + below(3); steps > 0; --steps) {
      const std::vector<Ref>& of = below(2) == 0 ? now : before;
      const Ref term = p.op(NodeOp::Mul, any(of), any(of));
      const Ref next = below(2) == 0   ? p.op(NodeOp::Sub, sum, term)
                       : below(2) == 0 ? p.op(NodeOp::Add, term, sum)
                                       : p.op(NodeOp::Add, sum, term);
      Ref mask = g.op(NodeOp::Negative, Kind::Mask, p.op(NodeOp::Sub, any(of), any(of)));
      if (below(2) == 0) mask = complement(mask);
      sum = below(3) != 0 ? next : g.select(mask, next, sum);
    }
    p.carry(in, sum);
  }
  return p.kernel;
}

}  // namespace

TEST_CASE("a retimed loop gives the sums of the kernel") {
  unsigned retimed = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Kernel kernel = random_pipeline(seed);
    INFO("seed " << seed);
    const auto form = retimed_loop(kernel);
    if (form) {
      ++retimed;
      CHECK(form->loop.stores.size() == 3);  // the sums only
    }
    for (const unsigned iterations : {2U, 3U, 4U, 9U}) {
      if (form) REQUIRE(same_after(kernel, *form, iterations));
      REQUIRE(same_after(kernel, make_loop_form(kernel, true), iterations));
    }
  }
  CHECK(retimed > 250);
}

TEST_CASE("a loop whose terms need two items, or that reads a sum, is not retimed") {
  Pipeline two_items;
  const Ref last = two_items.input(), sum = two_items.input();
  two_items.carry(last, two_items.source(0));
  two_items.carry(
      sum, two_items.op(NodeOp::Add, sum, two_items.op(NodeOp::Mul, last, two_items.source(0))));
  CHECK(!retimed_loop(two_items.kernel));

  Pipeline reads_sum;
  const Ref first = reads_sum.input(), second = reads_sum.input();
  reads_sum.carry(first, reads_sum.op(NodeOp::Add, first, reads_sum.source(0)));
  reads_sum.carry(second, reads_sum.op(NodeOp::Add, second, first));
  CHECK(!retimed_loop(reads_sum.kernel));

  Pipeline product;
  const Ref factor = product.input();
  product.carry(factor, product.op(NodeOp::Mul, factor, product.source(0)));
  CHECK(!retimed_loop(product.kernel));

  for (const Kernel* kernel : {&two_items.kernel, &reads_sum.kernel, &product.kernel})
    CHECK(same_after(*kernel, make_loop_form(*kernel, true), 5));
}

namespace {

/// Operations of a kind that stores need.
std::size_t count(const Segment& s, NodeOp op) {
  const std::vector<bool> needed = needed_nodes(s);
  std::size_t n = 0;
  for (std::uint32_t k = 0; k < s.graph.size(); ++k)
    n += needed[k] && s.graph[ref_to(k)].op == op ? 1 : 0;
  return n;
}

/// c (x w), c (y w) and c (z w).
Segment scaled_products(double c) {
  Segment s;
  const auto input = [&](std::uint32_t slot) {
    return s.graph.leaf(NodeOp::Input, {WordType::Long, slot, 0});
  };
  for (std::uint32_t k = 0; k < 3; ++k) {
    const Ref product = s.graph.op(NodeOp::Mul, Kind::Number, input(k), input(3));
    s.stores.push_back({Store::Area::Output, k, WordType::Long,
                        s.graph.op(NodeOp::Mul, Kind::Number, product, s.graph.number(c)), false});
  }
  return s;
}

}  // namespace

TEST_CASE("a constant factor of products with a common factor is multiplied once") {
  CHECK(count(scaled_products(3), NodeOp::Mul) == 6);
  CHECK(count(simplified(scaled_products(3)), NodeOp::Mul) == 4);
  CHECK(count(simplified(scaled_products(-3)), NodeOp::Mul) == 4);
  CHECK(count(simplified(scaled_products(1e-5)), NodeOp::Mul) == 4);
  // These could turn numbers far from the limits of the range into zeros or infinities.
  CHECK(count(simplified(scaled_products(1e-7)), NodeOp::Mul) == 6);
  CHECK(count(simplified(scaled_products(1e7)), NodeOp::Mul) == 6);
}

TEST_CASE("two constant factors of a product are merged") {
  const auto product = [](double outer, double inner, bool shared) {
    Segment s;
    const auto input = [&](std::uint32_t slot) {
      return s.graph.leaf(NodeOp::Input, {WordType::Long, slot, 0});
    };
    const auto mul = [&](Ref a, Ref b) { return s.graph.op(NodeOp::Mul, Kind::Number, a, b); };
    const Ref scaled = mul(input(0), s.graph.number(inner));
    const Ref all = mul(s.graph.number(outer), mul(input(1), scaled));
    s.stores.push_back({Store::Area::Output, 0, WordType::Long, all, false});
    if (shared) s.stores.push_back({Store::Area::Output, 1, WordType::Long, scaled, false});
    return s;
  };
  const Segment one = simplified(product(1e-3, 3, false));
  CHECK(count(one, NodeOp::Mul) == 2);
  CHECK(count(one, NodeOp::Constant) == 1);
  CHECK(count(simplified(product(1e-3, 3, true)), NodeOp::Constant) == 2);
  CHECK(count(simplified(product(1e-5, 1e-5, false)), NodeOp::Mul) == 3);
}

TEST_CASE("a subtraction of zero is removed") {
  Segment s;
  const auto input = [&](std::uint32_t slot) {
    return s.graph.leaf(NodeOp::Input, {WordType::Long, slot, 0});
  };
  const Ref zero = s.graph.number(0);
  const Ref product = s.graph.op(NodeOp::Mul, Kind::Number, input(0), input(1));
  const auto store = [&](Ref r) {
    s.stores.push_back({Store::Area::Output, static_cast<std::uint32_t>(s.stores.size()),
                        WordType::Long, r, false});
  };
  store(s.graph.op(NodeOp::Sub, Kind::Number, product, zero));
  CHECK(count(simplified(s), NodeOp::Sub) == 0);
  // An input may be subnormal, which arithmetic treats as zero.
  store(s.graph.op(NodeOp::Sub, Kind::Number, input(0), zero));
  CHECK(count(simplified(s), NodeOp::Sub) == 1);
}

}  // namespace gdr::test
