// Recognition of reciprocals and reciprocal square roots that a program computes from the bits of a
// number, over the whole range of that number, and their replacement by operations.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "emulator/engine/native/translate/cone.hpp"
#include "emulator/engine/native/translate/lane_operations.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

/// value = scale / sqrt(x) or scale / x.
struct Idiom {
  NodeOp op = NodeOp::Recip;  ///< Rsqrt or Recip
  double scale = 1;
  double error = 0;    ///< largest relative deviation
  double at_zero = 0;  ///< the value at +0; Recip: at -0 it has the other sign
};

/// Exponent fields: 1 to the last one are numbers, the bias that of one.
constexpr unsigned last_exponent = 2046, bias = 1023;

using Row = std::array<std::uint64_t, row_lanes>;

double number_at(const Row& row, std::size_t lane) { return std::bit_cast<double>(row[lane]); }

/// Sample points of x.
struct Domain {
  /// A row of x, with the factors that normalise values for the comparison with c: x for c/x,
  /// sqrt|x| for c/sqrt(x).
  struct Points {
    Row x;
    std::array<double, row_lanes> recip, rsqrt;
  };
  enum Special : std::size_t { zero, minus_zero, infinity, minus_infinity, nan };

  /// First a quick test: both signs, both parities of the exponent, far from 1. Then every exponent
  /// with two mantissas and both signs, the mantissas all different; more mantissas at two
  /// exponents.
  std::vector<Points> points;
  Row special{};  ///< by Special, then ones
};

Domain make_domain() {
  Domain domain;
  std::size_t lane = 0;
  const auto add = [&](bool negative, unsigned exponent, std::uint64_t fraction) {
    if (lane == 0) domain.points.emplace_back();
    Domain::Points& p = domain.points.back();
    p.x[lane] = (std::uint64_t{negative} << 63) | (std::uint64_t{exponent} << 52) | fraction;
    p.recip[lane] = number_at(p.x, lane);
    p.rsqrt[lane] = std::sqrt(std::abs(number_at(p.x, lane)));
    lane = (lane + 1) % row_lanes;
  };
  // Multiples of the golden ratio, which are evenly distributed between 0 and 1.
  std::uint64_t golden = 0;
  const auto fraction = [&] { return (golden += 0x9e3779b97f4a7c15U) >> 12; };
  for (std::size_t i = 0; i < row_lanes; ++i) {
    // Three of four are positive.
    const int exponent = static_cast<int>(i * 37 % 407) - 203;
    add(i % 4 == 3, static_cast<unsigned>(static_cast<int>(bias) + exponent), fraction());
  }
  for (const bool negative : {false, true}) {
    for (unsigned exponent = 1; exponent <= last_exponent; ++exponent) {
      add(negative, exponent, fraction());
      add(negative, exponent, fraction());
    }
    for (const unsigned exponent : {bias, bias + 1}) {
      constexpr std::uint64_t step = std::uint64_t{1} << 46;
      for (std::uint64_t m = 0; m < 64; ++m) add(negative, exponent, m * step);
      for (std::uint64_t m = 1; m <= 64; ++m) add(negative, exponent, m * step - 1);
    }
  }
  while (lane != 0) add(false, bias, 0);
  domain.special.fill(std::bit_cast<std::uint64_t>(1.0));
  const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
  for (std::size_t i = 0; i < std::size(specials); ++i) {
    domain.special[i] = std::bit_cast<std::uint64_t>(specials[i]);
  }
  return domain;
}

const Domain& domain() {
  static const Domain made = make_domain();
  return made;
}

/// Relative tolerance.
constexpr double largest_error = 1e-3;
/// Distance of x from the ends of the range, in powers of two, within which the steps of a sequence
/// leave the range, so that its value is meaningless: 1/sqrt(x) begins with a y near 2^-512, whose
/// square is zero.
constexpr unsigned margin = 4;
/// The same for the small corrections of a Newton step, without which a value is right but less
/// accurate: such points do not count for its factor.
constexpr unsigned correction_margin = 64;

/// Evaluation of some nodes of a cone on rows.
class Sequence {
 public:
  Sequence(const Graph& graph, const std::vector<std::uint32_t>& cone,
           const std::vector<std::uint32_t>& wanted)
      : row_(graph.size(), 0) {
    std::vector<bool> needed(graph.size(), false);
    for (const std::uint32_t n : wanted) needed[n] = true;
    needed = with_operands(graph, std::move(needed));
    const auto row_of = [&](Ref r) {
      if (r == no_ref) return std::size_t{0};
      if (!graph.is_constant(r)) return row_[node_of(r)];
      rows_.emplace_back().fill(graph[r].bits);
      constants_.emplace_back(rows_.size() - 1, graph[r].bits);
      return rows_.size() - 1;
    };
    rows_.emplace_back();
    for (const std::uint32_t n : cone) {
      if (!needed[n] || n == cone.front()) continue;
      const Node& node = graph[ref_to(n)];
      Step step{node, row_of(node.a), row_of(node.b), row_of(node.c), rows_.size()};
      rows_.emplace_back();
      row_[n] = step.to;
      steps_.push_back(step);
    }
  }

  void run(const Row& x) {
    rows_[0] = x;
    for (const Step& s : steps_) {
      apply(s.node, Rows<double, std::uint64_t>{rows_[s.a].data(), rows_[s.b].data(),
                                                rows_[s.c].data(), rows_[s.to].data()});
    }
  }
  /// Equal for equal computations.
  std::vector<std::uint64_t> key() const {
    std::vector<std::uint64_t> key;
    for (const Step& s : steps_) {
      key.push_back(static_cast<std::uint64_t>(s.node.op) | (std::uint64_t{s.node.detail} << 8));
      key.insert(key.end(), {s.a, s.b, s.c, s.to});
    }
    for (const auto& [row, bits] : constants_) key.insert(key.end(), {row, bits});
    return key;
  }
  std::size_t row_of_node(std::uint32_t n) const { return row_[n]; }
  const Row& values(std::uint32_t n) const { return rows_[row_[n]]; }

 private:
  struct Step {
    Node node;
    std::size_t a, b, c, to;
  };
  std::vector<Row> rows_;
  std::vector<std::size_t> row_;  ///< by node
  std::vector<std::pair<std::size_t, std::uint64_t>> constants_;
  std::vector<Step> steps_;
};

/// Range of a nearly constant quantity.
struct Range {
  double least = INFINITY, most = -INFINITY;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double centre() const { return (least + most) / 2; }
  /// Relative; infinite if a value is NaN or infinite.
  double spread() const {
    const double spread = (most - least) / 2 / std::abs(centre());
    return spread >= 0 ? spread : INFINITY;
  }
};

/// A candidate for an idiom during its trial.
class Trial {
 public:
  Trial(NodeOp op, std::uint32_t node, double scale) : node_(node), op_(op), scale_(scale) {}

  std::uint32_t node() const { return node_; }
  NodeOp op() const { return op_; }

  void try_at(const Domain::Points& points, const Row& values) {
    const auto& factors = op_ == NodeOp::Rsqrt ? points.rsqrt : points.recip;
    for (std::size_t i = 0; i < row_lanes && holds_; ++i) {
      const double x = number_at(points.x, i);
      const double value = number_at(values, i);
      if (op_ == NodeOp::Rsqrt && x < 0) {
        wild_ = wild_ || (!std::isfinite(value) && std::abs(x) > 0x1p-64 && std::abs(x) < 0x1p64);
        continue;
      }
      const double ratio = value * factors[i];
      if (std::abs(ratio - scale_) <= largest_error * std::abs(scale_)) {
        if (!is_near_end(points.x[i], correction_margin)) ratios_.add(ratio);
      } else {
        holds_ = may_go_wrong(points.x[i], value, scale_ / factors[i]);
      }
    }
  }

  std::optional<Idiom> result(const Row& special) const {
    if (!holds_ || !std::isnan(number_at(special, Domain::nan))) return std::nullopt;
    if (op_ == NodeOp::Rsqrt && !wild_) return std::nullopt;
    if (std::isfinite(number_at(special, Domain::infinity))) return std::nullopt;
    const double at_zero = number_at(special, Domain::zero);
    if (op_ == NodeOp::Recip) {
      if (std::isfinite(number_at(special, Domain::minus_infinity))) return std::nullopt;
      const double other = number_at(special, Domain::minus_zero);
      if (std::isnan(at_zero) != std::isnan(other)) return std::nullopt;
      if (!std::isnan(at_zero) && other != -at_zero) return std::nullopt;
    }
    const double spread = ratios_.spread();
    if (spread > largest_error) return std::nullopt;
    // The centre is known up to the rounding of the steps.
    const double scale = std::abs(ratios_.centre() - 1) <= spread ? 1 : ratios_.centre();
    return Idiom{op_, scale, spread, at_zero};
  }

 private:
  /// Whether x is so near to the ends of the range that a sequence may leave it.
  static bool may_go_wrong(std::uint64_t x, double value, double right) {
    if (is_near_end(x, margin)) return true;
    if (std::abs(right) >= 0x1p1019) return !std::isfinite(value);
    return std::abs(right) <= 0x1p-1018 && !(std::abs(value) > 0x1p-1016);
  }

  /// Whether the exponent of x is within this distance of the ends of the range.
  static bool is_near_end(std::uint64_t x, unsigned distance) {
    const auto exponent = static_cast<unsigned>(x >> 52) & 2047;
    return exponent <= distance || exponent > last_exponent - distance;
  }

  std::uint32_t node_;
  NodeOp op_;
  double scale_;
  Range ratios_;
  bool holds_ = true;
  bool wild_ = false;  ///< not finite for some negative x
};

/// Candidate nodes.
std::vector<Trial> first_look(const Graph& graph, const std::vector<std::uint32_t>& cone) {
  const std::vector<std::uint32_t> all(cone.begin() + 1, cone.end());
  Sequence sequence(graph, cone, all);
  const Domain::Points& points = domain().points.front();
  sequence.run(points.x);
  std::vector<Trial> trials;
  for (const std::uint32_t n : all) {
    const Node& node = graph[ref_to(n)];
    // The user's rounding of a reciprocal stays.
    if (node.kind != Kind::Number || node.op == NodeOp::AsNumber || node.op == NodeOp::Round)
      continue;
    Range roots, reciprocals;
    for (std::size_t i = 0; i < row_lanes; ++i) {
      const double value = number_at(sequence.values(n), i);
      reciprocals.add(value * points.recip[i]);
      if (number_at(points.x, i) > 0) roots.add(value * points.rsqrt[i]);
    }
    for (const auto& [op, range] :
         {std::pair(NodeOp::Rsqrt, roots), std::pair(NodeOp::Recip, reciprocals)}) {
      if (range.spread() <= largest_error) trials.emplace_back(op, n, range.centre());
    }
  }
  return trials;
}

using Found = std::vector<std::optional<Idiom>>;

Found try_all(std::vector<Trial>& trials, Sequence& sequence) {
  for (const Domain::Points& points : domain().points) {
    sequence.run(points.x);
    for (Trial& t : trials) t.try_at(points, sequence.values(t.node()));
  }
  sequence.run(domain().special);
  Found found;
  for (const Trial& t : trials) found.push_back(t.result(sequence.values(t.node())));
  return found;
}

/// Outcomes by sequence: kernels and segments repeat the same few. `key`: sequence and trials.
Found try_cached(const std::vector<std::uint64_t>& key, std::vector<Trial>& trials,
                 Sequence& sequence) {
  constexpr std::size_t max_cached = 200;
  static std::mutex mutex;
  static std::map<std::vector<std::uint64_t>, Found> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto at = known.find(key); at != known.end()) return at->second;
  }
  const Found found = try_all(trials, sequence);
  const std::lock_guard lock(mutex);
  if (known.size() >= max_cached) known.clear();
  return known.emplace(key, found).first->second;
}

/// By node: whether a sequence may contain it. Selects, minima and maxima end it.
std::vector<bool> usable_nodes(const Graph& g) {
  std::vector<bool> usable;
  for (const Node& node : g.nodes())
    usable.push_back(!is_leaf(node.op) && node.kind != Kind::Mask && node.op != NodeOp::Select &&
                     node.op != NodeOp::Max && node.op != NodeOp::Min && node.op != NodeOp::Lookup);
  return usable;
}

/// Finds the idioms among the nodes of a cone: `found` is by node. A node is an idiom if it equals
/// c/x or c/sqrt(x) to a part in a thousand at every exponent and both signs of x, is NaN where x
/// is NaN, and not finite where x is infinite. Within a few powers of two of the ends of the range,
/// where the steps of a sequence leave it, the program's value is meaningless and replaced by the
/// function's. For a root, negative x must give infinities or NaN: a sequence that is finite there
/// is not replaced.
void find_idioms(const Graph& graph, const std::vector<std::uint32_t>& cone, Found& found) {
  const MachineFloatMode mode;
  std::vector<Trial> trials = first_look(graph, cone);
  if (trials.empty()) return;
  std::vector<std::uint32_t> wanted;
  for (const Trial& t : trials) wanted.push_back(t.node());
  Sequence sequence(graph, cone, wanted);
  std::vector<std::uint64_t> key = sequence.key();
  for (const Trial& t : trials) {
    key.push_back(static_cast<std::uint64_t>(t.op()) + (sequence.row_of_node(t.node()) << 8));
  }
  const Found by_trial = try_cached(key, trials, sequence);
  for (std::size_t n = 0; n < trials.size(); ++n) {
    if (by_trial[n]) found[trials[n].node()] = by_trial[n];
  }
}

/// A relative error that is negligible beside half a unit in the last place of a short, 2^-25.
constexpr double short_error = 0x1p-27;

/// Whether a number can be -0. A sum is -0 only if both operands are.
bool may_be_minus_zero(const Graph& g, Ref r, int depth = 0) {
  constexpr int deepest = 6;
  const Node& node = g[r];
  if (depth == deepest) return true;
  switch (node.op) {
    case NodeOp::Constant:
      return node.bits == std::bit_cast<std::uint64_t>(-0.0);
    case NodeOp::Add:
      return may_be_minus_zero(g, node.a, depth + 1) && may_be_minus_zero(g, node.b, depth + 1);
    case NodeOp::Mul:
      return node.a != node.b;
    default:
      return true;
  }
}

class IdiomReplacer {
 public:
  IdiomReplacer(const Segment& segment, Precision precision)
      : s_(segment),
        g_(segment.graph),
        floats_(precision == Precision::Float),
        cones_(g_, usable_nodes(g_)),
        found_(g_.size()),
        argument_(g_.size(), no_ref) {}

  Segment run() {
    for (const Ref x : candidates()) examine(x);
    if (std::ranges::none_of(found_, [](const auto& f) { return f.has_value(); })) {
      return cleaned(s_);
    }
    find_conditions();
    return rewritten(s_, [&](Graph& g, Ref old, const NodeMap& copy) {
      const std::uint32_t n = node_of(old);
      const Node& node = g_[old];
      if (!found_[n] || is_product_of_found(node)) return no_ref;
      const Idiom& found = *found_[n];
      const bool is_short = node.detail == short_result && node.op != NodeOp::Fma;
      const bool coarse = found.error > short_error || is_short;
      const Ref x = copy(argument_[n]);
      const Ref root =
          g.add({found.op, Kind::Number,
                 static_cast<std::uint8_t>(coarse ? Accuracy::Short : Accuracy::Double), x, no_ref,
                 no_ref, std::bit_cast<std::uint64_t>(found.scale)});
      if (guarded(n, argument_[n]) || std::isnan(found.at_zero)) return root;
      return g.select(g.op(NodeOp::IsZero, Kind::Mask, x), value_at_zero(g, found, x), root);
    });
  }

 private:
  /// Numbers whose bits are used.
  std::vector<Ref> candidates() const {
    std::vector<Ref> list;
    const std::vector<bool> needed = needed_nodes(s_);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const Node& node = g_[ref_to(n)];
      if (!needed[n] || node.op != NodeOp::AsBits) continue;
      const Node& number = g_[node.a];
      const Ref x = number.op == NodeOp::Round ? number.a : node.a;
      if (std::ranges::find(list, x) == list.end()) list.push_back(x);
    }
    return list;
  }

  void examine(Ref x) {
    std::vector<std::uint32_t> cone = cones_.cone_of(std::span(&x, 1), g_.size());
    cone.insert(cone.begin(), node_of(x));
    Found idioms(g_.size());
    find_idioms(g_, cone, idioms);
    for (const std::uint32_t n : cone) {
      if (!idioms[n]) continue;
      found_[n] = idioms[n];
      argument_[n] = x;
    }
  }

  /// Liveness conditions of values within the segment.
  void find_conditions() {
    conditions_.resize(g_.size());
    const auto mark_live = [&](Ref r, const Condition& where) {
      join(conditions_[node_of(r)], where);
    };
    for (const Store& store : s_.stores) mark_live(store.value, {});
    for (std::uint32_t n = static_cast<std::uint32_t>(g_.size()); n-- > 0;) {
      if (conditions_[n]) for_each_live_operand(g_, g_[ref_to(n)], *conditions_[n], mark_live);
    }
  }

  /// Whether node n is live only where x is not zero.
  bool guarded(std::uint32_t n, Ref x) const {
    if (!conditions_[n]) return true;
    return std::any_of(conditions_[n]->begin(), conditions_[n]->end(), [&](Ref literal) {
      const Node& mask = g_[literal];
      return mask.op == NodeOp::IsZero && negated(literal) && mask.a == x;
    });
  }

  /// 1 / x as the square of 1 / sqrt(x): it costs one product.
  bool is_product_of_found(const Node& node) const {
    return node.op == NodeOp::Mul && found_[node_of(node.a)] && found_[node_of(node.b)];
  }

  /// The program's value at zero, which may be infinite. Floats scale it to the end of their range,
  /// so that derived values stay finite.
  Ref value_at_zero(Graph& to, const Idiom& found, Ref x) const {
    double value = found.at_zero;
    if (floats_) value *= found.op == NodeOp::Recip ? 0x1p-896 : 0x1p-448;
    if (found.op == NodeOp::Rsqrt || !may_be_minus_zero(to, x)) return to.number(value);
    // With the sign of the zero: the estimate is infinite there.
    Ref made = to.op(NodeOp::RecipEstimate, Kind::Number, x);
    if (const double most = std::abs(value); std::isfinite(most)) {
      made = to.op(NodeOp::Max, Kind::Number, to.number(-most), made);
      made = to.op(NodeOp::Min, Kind::Number, to.number(most), made);
    }
    return value > 0 ? made : to.op(NodeOp::Sub, Kind::Number, to.number(0), made);
  }

  const Segment& s_;
  const Graph& g_;
  bool floats_;
  Cones cones_;
  Found found_;                   ///< by node
  std::vector<Ref> argument_;     ///< by node
  std::vector<Live> conditions_;  ///< by node
};

}  // namespace

Segment replace_rsqrt_idioms(const Segment& segment, Precision precision) {
  return IdiomReplacer(segment, precision).run();
}

}  // namespace gdr::native
