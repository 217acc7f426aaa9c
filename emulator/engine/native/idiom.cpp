#include "emulator/engine/native/idiom.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "emulator/engine/native/idiom_domain.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

/// Tolerance; coarser agreement is not considered an idiom.
constexpr double largest_error = 1e-3;
/// With x this near to the ends of the range (powers of two) the steps of a sequence leave it, so
/// that what comes out means nothing: 1/sqrt(x) begins with a y near 2^-512, whose square is zero.
constexpr unsigned margin = 4;

/// Evaluation of some nodes of a cone on rows.
class Sequence {
 public:
  Sequence(const Graph& graph, const std::vector<std::uint32_t>& cone,
           const std::vector<std::size_t>& wanted) {
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
      constants_.emplace_back(rows_.size() - 1, graph[r].bits);
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
  /// Equal for sequences that compute the same.
  std::vector<std::uint64_t> key() const {
    std::vector<std::uint64_t> key;
    for (const Step& s : steps_) {
      key.push_back(static_cast<std::uint64_t>(s.node.op) | (std::uint64_t{s.node.detail} << 8));
      key.insert(key.end(), {s.a, s.b, s.c, s.to});
    }
    for (const auto& [row, bits] : constants_) key.insert(key.end(), {row, bits});
    return key;
  }
  std::size_t row_of_node(std::size_t k) const { return rows_of_cone_[k]; }
  /// The values of node k of the cone.
  const Row& values(std::size_t k) const { return rows_[rows_of_cone_[k]]; }

 private:
  struct Step {
    Node node;
    std::size_t a, b, c, to;
  };
  std::vector<Row> rows_;
  std::vector<std::size_t> rows_of_cone_;
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
  /// Relative; a NaN or an infinity among the values makes it useless.
  double spread() const {
    const double spread = (most - least) / 2 / std::abs(centre());
    return spread >= 0 ? spread : INFINITY;
  }
};

/// A candidate for an idiom during its trial.
class Trial {
 public:
  Trial(NodeOp op, std::size_t node, double scale) : node_(node), op_(op), scale_(scale) {}

  std::size_t node() const { return node_; }
  NodeOp op() const { return op_; }
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
    if (ratios_.spread() > largest_error) return std::nullopt;
    return Idiom{op_, ratios_.centre(), ratios_.spread(), at_zero};
  }

 private:
  /// Whether x is so near to the ends of the range that a sequence may leave it.
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

/// Candidate nodes.
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

using Found = std::vector<std::optional<Idiom>>;

/// Cached outcomes of sequences. Kernels and segments repeat the same few.
class KnownSequences {
 public:
  static KnownSequences& all() {
    static KnownSequences known;
    return known;
  }
  std::optional<Found> find(const std::vector<std::uint64_t>& key) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(key);
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }
  void add(const std::vector<std::uint64_t>& key, const Found& found) {
    constexpr std::size_t most = 200;
    const std::lock_guard lock(mutex_);
    if (known_.size() >= most) known_.clear();
    known_.emplace(key, found);
  }

 private:
  std::mutex mutex_;
  std::map<std::vector<std::uint64_t>, Found> known_;
};

/// Number of full trials so far.
Found try_all(std::vector<Trial>& trials, Sequence& sequence) {
  for (const Domain::Points& points : Domain::all().points()) {
    sequence.run(points.x);
    for (Trial& t : trials) t.try_at(points, sequence.values(t.node()));
  }
  sequence.run(Domain::all().special());
  Found found;
  for (const Trial& t : trials) found.push_back(t.result(sequence.values(t.node())));
  return found;
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
  const MachineFloatMode mode;  // as where the program runs
  std::vector<Trial> trials = first_look(graph, cone);
  if (trials.empty()) return found;
  std::vector<std::size_t> wanted;
  for (const Trial& t : trials) wanted.push_back(t.node());
  Sequence sequence(graph, cone, wanted);
  std::vector<std::uint64_t> key = sequence.key();
  for (const Trial& t : trials) {
    key.push_back(static_cast<std::uint64_t>(t.op()) + (sequence.row_of_node(t.node()) << 8));
  }
  std::optional<Found> by_trial = KnownSequences::all().find(key);
  if (!by_trial) {
    by_trial = try_all(trials, sequence);
    KnownSequences::all().add(key, *by_trial);
  }
  for (std::size_t n = 0; n < trials.size(); ++n) {
    if ((*by_trial)[n]) found[trials[n].node()] = (*by_trial)[n];
  }
  return found;
}

}  // namespace gdr::native
