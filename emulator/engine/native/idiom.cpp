#include "emulator/engine/native/idiom.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "emulator/engine/native/float_mode.hpp"
#include "emulator/engine/native/lane_operations.hpp"

namespace gdr::native {
namespace {

/// Coarser agreement is not taken for a reciprocal or a root: it could be anything.
constexpr double largest_error = 1e-3;
/// Exponent fields: 1 to this one are numbers.
constexpr unsigned last_exponent = 2046, bias = 1023;
/// With x this near to the ends of the range (powers of two) the steps of a sequence leave it, so
/// that what comes out means nothing: 1/sqrt(x) begins with a y near 2^-512, whose square is zero.
constexpr unsigned margin = 4;

using Row = std::array<std::uint64_t, row_lanes>;

double number_at(const Row& row, std::size_t lane) { return std::bit_cast<double>(row[lane]); }

/// Where the idioms are tried: rows of x, with 1 / c/x and 1 / c/sqrt|x|, by which values are
/// multiplied to be compared with c.
class Domain {
 public:
  static const Domain& all() {
    static const Domain domain;
    return domain;
  }

  struct Points {
    Row x;
    std::array<double, row_lanes> recip, rsqrt;
  };
  /// A first look: both signs, both parities of the exponent, far from 1 both ways.
  const Points& first_look() const { return points_[0]; }
  /// Every exponent with two mantissas and both signs, the mantissas all different; more mantissas
  /// at two exponents.
  const std::vector<Points>& points() const { return points_; }
  /// +0, -0, both infinities, NaN, then ones.
  const Row& special() const { return special_; }

 private:
  Domain() {
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
    while (lane_ != 0) add(false, bias, 0);
    special_.fill(std::bit_cast<std::uint64_t>(1.0));
    const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
    for (std::size_t i = 0; i < std::size(specials); ++i) {
      special_[i] = std::bit_cast<std::uint64_t>(specials[i]);
    }
  }

  /// Multiples of the golden ratio: any number of them lie evenly between 0 and 1.
  std::uint64_t fraction() { return (golden_ += 0x9e3779b97f4a7c15U) >> 12; }

  void add(bool negative, unsigned exponent, std::uint64_t fraction) {
    if (lane_ == 0) points_.emplace_back();
    Points& p = points_.back();
    p.x[lane_] = (std::uint64_t{negative} << 63) | (std::uint64_t{exponent} << 52) | fraction;
    p.recip[lane_] = number_at(p.x, lane_);
    p.rsqrt[lane_] = std::sqrt(std::abs(number_at(p.x, lane_)));
    lane_ = (lane_ + 1) % row_lanes;
  }

  std::vector<Points> points_;
  Row special_{};
  std::uint64_t golden_ = 0;
  std::size_t lane_ = 0;
};

/// The steps that some nodes of a cone need, on rows.
class Sequence {
 public:
  Sequence(const Graph& graph, const std::vector<std::uint32_t>& cone,
           const std::vector<std::size_t>& wanted)
      : graph_(graph) {
    std::vector<bool> needed(graph.size(), false);
    for (const std::size_t k : wanted) needed[cone[k]] = true;
    for (std::size_t k = cone.size(); k-- > 1;) {
      const Node& node = graph[ref_to(cone[k])];
      for (const Ref r : {node.a, node.b, node.c}) {
        if (needed[cone[k]] && r != no_ref) needed[node_of(r)] = true;
      }
    }
    std::vector<std::size_t> row(graph.size(), 0);
    const auto row_of = [&](Ref r) {
      if (r == no_ref) return std::size_t{0};
      if (!graph.is_constant(r)) return row[node_of(r)];
      rows_.emplace_back().fill(graph[r].bits);
      return rows_.size() - 1;
    };
    rows_.emplace_back();
    rows_of_cone_.assign(cone.size(), 0);
    for (std::size_t k = 1; k < cone.size(); ++k) {
      if (!needed[cone[k]]) continue;
      const Node& node = graph[ref_to(cone[k])];
      Step step{node, row_of(node.a), row_of(node.b), row_of(node.c), rows_.size()};
      rows_.emplace_back();
      row[cone[k]] = rows_of_cone_[k] = step.to;
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
  /// The values of node k of the cone.
  const Row& values(std::size_t k) const { return rows_[rows_of_cone_[k]]; }

 private:
  struct Step {
    Node node;
    std::size_t a, b, c, to;
  };
  const Graph& graph_;
  std::vector<Row> rows_;
  std::vector<std::size_t> rows_of_cone_;
  std::vector<Step> steps_;
};

/// Least and largest of what is nearly a constant.
struct Range {
  double least = INFINITY, most = -INFINITY;
  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double centre() const { return (least + most) / 2; }
  /// Relative; a NaN or an infinity among the values makes it useless.
  double spread() const {
    const double spread = (most - least) / 2 / std::abs(centre());
    return spread >= 0 ? spread : INFINITY;
  }
};

/// A node that may be an idiom, while it is tried.
class Trial {
 public:
  Trial(NodeOp op, std::size_t node, double scale) : node_(node), op_(op), scale_(scale) {}

  std::size_t node() const { return node_; }
  bool holds() const { return holds_; }

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
        ratios_.add(ratio);
      } else {
        holds_ = may_go_wrong(points.x[i], value, scale_ / factors[i]);
      }
    }
  }

  std::optional<Idiom> result(const Row& special) const {
    if (!holds_ || !std::isnan(number_at(special, 4))) return std::nullopt;
    if (op_ == NodeOp::Rsqrt && !wild_) return std::nullopt;
    if (std::isfinite(number_at(special, 2))) return std::nullopt;
    const double at_zero = number_at(special, 0);
    if (op_ == NodeOp::Recip) {
      if (std::isfinite(number_at(special, 3))) return std::nullopt;
      const double other = number_at(special, 1);
      if (std::isfinite(at_zero) != std::isfinite(other)) return std::nullopt;
      if (std::isfinite(at_zero) && other != -at_zero) return std::nullopt;
    }
    if (ratios_.spread() > largest_error) return std::nullopt;
    return Idiom{op_, ratios_.centre(), ratios_.spread(), at_zero};
  }

 private:
  /// Is it near enough to the ends of the range for the steps of a sequence to leave it?
  static bool may_go_wrong(std::uint64_t x, double value, double right) {
    const auto exponent = static_cast<unsigned>(x >> 52) & 2047;
    if (exponent <= margin || exponent > last_exponent - margin) return true;
    if (std::abs(right) >= 0x1p1019) return !std::isfinite(value);
    return std::abs(right) <= 0x1p-1018 && !(std::abs(value) > 0x1p-1016);
  }

  std::size_t node_;
  NodeOp op_;
  double scale_;
  Range ratios_;
  bool holds_ = true;
  bool wild_ = false;  ///< not finite for some negative x
};

/// Nodes that are worth a trial.
std::vector<Trial> first_look(const Graph& graph, const std::vector<std::uint32_t>& cone) {
  std::vector<std::size_t> all(cone.size() - 1);
  for (std::size_t k = 1; k < cone.size(); ++k) all[k - 1] = k;
  Sequence sequence(graph, cone, all);
  const Domain::Points& points = Domain::all().first_look();
  sequence.run(points.x);
  std::vector<Trial> trials;
  for (const std::size_t k : all) {
    const Node& node = graph[ref_to(cone[k])];
    if (node.kind != Kind::Number || node.op == NodeOp::AsNumber) continue;
    Range roots, reciprocals;
    for (std::size_t i = 0; i < row_lanes; ++i) {
      const double value = number_at(sequence.values(k), i);
      reciprocals.add(value * points.recip[i]);
      if (number_at(points.x, i) > 0) roots.add(value * points.rsqrt[i]);
    }
    for (const auto& [op, range] :
         {std::pair(NodeOp::Rsqrt, roots), std::pair(NodeOp::Recip, reciprocals)}) {
      if (range.spread() <= largest_error) trials.emplace_back(op, k, range.centre());
    }
  }
  return trials;
}

}  // namespace

std::vector<std::uint32_t> cone_of(const Graph& g, Ref x) {
  std::vector<bool> inside(g.size(), false);
  inside[node_of(x)] = true;
  std::vector<std::uint32_t> cone{node_of(x)};
  for (std::uint32_t n = node_of(x) + 1; n < g.size(); ++n) {
    const Node& node = g[ref_to(n)];
    if (is_leaf(node.op) || node.kind == Kind::Mask || node.op == NodeOp::Select) continue;
    if (node.op == NodeOp::Max || node.op == NodeOp::Min) continue;
    bool all = true;
    bool any = false;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r == no_ref) continue;
      any = any || inside[node_of(r)];
      all = all && (inside[node_of(r)] || g.is_constant(r));
    }
    if (!all || !any) continue;
    inside[n] = true;
    cone.push_back(n);
  }
  return cone;
}

std::vector<std::optional<Idiom>> find_idioms(const Graph& graph,
                                              const std::vector<std::uint32_t>& cone) {
  std::vector<std::optional<Idiom>> found(cone.size());
  const FloatMode mode;  // as where the program runs
  std::vector<Trial> trials = first_look(graph, cone);
  if (trials.empty()) return found;
  std::vector<std::size_t> wanted;
  for (const Trial& t : trials) wanted.push_back(t.node());
  Sequence sequence(graph, cone, wanted);
  for (const Domain::Points& points : Domain::all().points()) {
    sequence.run(points.x);
    for (Trial& t : trials) t.try_at(points, sequence.values(t.node()));
  }
  sequence.run(Domain::all().special());
  for (const Trial& t : trials) {
    if (const auto idiom = t.result(sequence.values(t.node()))) found[t.node()] = idiom;
  }
  return found;
}

}  // namespace gdr::native
