#include "emulator/engine/native/translate/functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emulator/engine/native/translate/cone.hpp"
#include "emulator/engine/native/translate/known_inputs.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

// --- the functions

/// What a value may be.
struct Candidate {
  NodeOp op;
  std::uint8_t detail;
  double (*value)(double);
  double largest;  ///< argument up to which values are compared
  double scale;    ///< of the values: errors are relative to this where a value is smaller
};

constexpr std::uint8_t code_of(Function f) { return static_cast<std::uint8_t>(f); }
constexpr std::uint8_t code_of(Towards t) { return static_cast<std::uint8_t>(t); }

double log_of(double x) { return x > 0 ? std::log(x) : NAN; }
double asin_of(double x) { return std::asin(std::clamp(x, -1.0, 1.0)); }
double acos_of(double x) { return std::acos(std::clamp(x, -1.0, 1.0)); }

constexpr double everywhere = 1e300;
const Candidate known_functions[] = {
    {NodeOp::Function, code_of(Function::Exp), std::exp, everywhere, 0},
    {NodeOp::Function, code_of(Function::Log), log_of, everywhere, 1},
    {NodeOp::Function, code_of(Function::Sin), std::sin, 1e5, 1},
    {NodeOp::Function, code_of(Function::Cos), std::cos, 1e5, 1},
    {NodeOp::Function, code_of(Function::Tanh), std::tanh, everywhere, 0},
    {NodeOp::Function, code_of(Function::Erf), std::erf, everywhere, 0},
    {NodeOp::Function, code_of(Function::Erfc), std::erfc, everywhere, 0},
    {NodeOp::Function, code_of(Function::Tan), std::tan, 1e4, 1},
    {NodeOp::Function, code_of(Function::Asin), asin_of, everywhere, 0},
    {NodeOp::Function, code_of(Function::Acos), acos_of, everywhere, 1},
    {NodeOp::Function, code_of(Function::Atan), std::atan, everywhere, 0},
    {NodeOp::Function, code_of(Function::Cbrt), std::cbrt, everywhere, 0},
    {NodeOp::Truncate, code_of(Towards::Nearest), std::nearbyint, 4e6, 0},
    {NodeOp::Truncate, code_of(Towards::Down), std::floor, 4e6, 0},
    {NodeOp::Truncate, code_of(Towards::Zero), std::trunc, 4e6, 0},
};

/// A function and its arguments, which are numbers of the graph, or for powers a constant instead
/// of one.
struct Found {
  NodeOp op = NodeOp::Function;
  std::uint8_t detail = 0;
  Ref x = no_ref, y = no_ref;
  double constant = 0;
};

/// Whether values agree to half of a short's bits or so, where the right one is a number that
/// programs can represent with some room for their steps.
bool agrees(double value, double right, double scale) {
  constexpr double error = 3e-6, large = 1e290;
  if (std::isnan(right)) return !std::isfinite(value);
  if (std::abs(right) > large) return !(std::abs(value) < large / 1e10);
  const double size = std::max(std::abs(right), scale);
  if (size < 1 / large) return std::abs(value) < 1e10 / large;
  return std::abs(value - right) <= error * size;
}

/// Arguments at which a value is compared first, and those at which a candidate must hold.
constexpr double few_arguments[] = {0.3125, 1.6875, -0.8125, 5.25, -2.1875, 0.046875};
std::vector<double> many_arguments() {
  std::vector<double> list{0,      0.25,  1e-7,   1e-4, 7e-3,      100.3,
                           333.25, 640.7, 1234.6, 7e4,  1e6 + 0.25};
  for (int k = 0; k < 60; ++k) list.push_back(0.0371 + k * 0.4173);
  for (const double power : {-250.0, -120.0, -60.0, -20.0, 9.0, 18.0, 60.0, 120.0, 250.0})
    list.push_back(1.37 * std::pow(10, power));
  // Shorts, since programs that compute in shorts round their arguments.
  for (double& x : list) x = std::bit_cast<double>(round_to_short(std::bit_cast<std::uint64_t>(x)));
  const std::size_t positive = list.size();
  for (std::size_t k = 1; k < positive; ++k) list.push_back(-list[k]);
  return list;
}

// --- values of a graph

constexpr std::size_t max_nodes = 500;  ///< of a cone

/// By node: whether functions may consist of it.
std::vector<bool> usable_nodes(const Graph& g, std::vector<bool> needed) {
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    const NodeOp op = g[ref_to(n)].op;
    if (is_leaf(op) || op == NodeOp::Lookup || op == NodeOp::Append || op == NodeOp::Function)
      needed[n] = false;
  }
  return needed;
}

/// The values that depend on some numbers and constants alone.
class Values {
 public:
  Values(const Graph& g, Cones& cones, std::vector<Ref> numbers)
      : g_(g),
        numbers_(std::move(numbers)),
        nodes_(cones.cone_of(numbers_, max_nodes)),
        values_(numbers_.size() + nodes_.size()) {
    steps_.reserve(nodes_.size());
    for (const std::uint32_t n : nodes_) {
      const Node& node = g[ref_to(n)];
      const Step step{node, operand(node.a), operand(node.b), operand(node.c),
                      node.op == NodeOp::AsBits || node.op == NodeOp::Round};
      steps_.push_back(step);
      steps_.back().from_bits |=
          is_from_bits(step.a) || is_from_bits(step.b) || is_from_bits(step.c);
    }
  }

  /// Sets the numbers, in their order, and computes all others.
  void evaluate_at(std::initializer_list<double> numbers) {
    std::size_t at = 0;
    for (const double number : numbers) values_[at++] = std::bit_cast<std::uint64_t>(number);
    for (const Step& s : steps_)
      values_[at++] = evaluate(s.node, value(s.a), value(s.b), value(s.c));
  }
  double number(std::uint32_t n) const { return std::bit_cast<double>(values_[*place_of(n)]); }

  /// Numbers that depend on the bits of numbers, in the order of the graph.
  std::vector<std::uint32_t> results() const {
    std::vector<std::uint32_t> list;
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (steps_[k].from_bits && steps_[k].node.kind == Kind::Number) list.push_back(nodes_[k]);
    return list;
  }

 private:
  /// An operand: the place of its value, or a constant.
  struct Operand {
    std::optional<std::size_t> place;
    std::uint64_t constant = 0;
    bool negated = false;
  };
  struct Step {
    Node node;
    Operand a, b, c;
    bool from_bits = false;  ///< depends on the bits of a number
  };

  /// The place of the value of a node; none if it is neither a number nor in the cone.
  std::optional<std::size_t> place_of(std::uint32_t n) const {
    const auto is_n = [&](Ref x) { return node_of(x) == n; };
    if (const auto x = std::ranges::find_if(numbers_, is_n); x != numbers_.end())
      return x - numbers_.begin();
    const auto at = std::ranges::lower_bound(nodes_, n);
    if (at == nodes_.end() || *at != n) return std::nullopt;
    return numbers_.size() + (at - nodes_.begin());
  }
  Operand operand(Ref r) const {
    if (r == no_ref) return {};
    const std::optional<std::size_t> place = place_of(node_of(r));
    return {place, place ? 0 : g_[r].bits, negated(r)};
  }
  bool is_from_bits(const Operand& x) const {
    return x.place && *x.place >= numbers_.size() && steps_[*x.place - numbers_.size()].from_bits;
  }
  std::uint64_t value(const Operand& x) const {
    const std::uint64_t bits = x.place ? values_[*x.place] : x.constant;
    return x.negated ? ~bits : bits;
  }

  const Graph& g_;
  std::vector<Ref> numbers_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Step> steps_;            ///< by nodes_
  std::vector<std::uint64_t> values_;  ///< of numbers_ and nodes_
};

// --- recognition

bool uses(const Segment& s, NodeOp op) {
  return std::ranges::count(s.graph.nodes(), op, &Node::op) > 0;
}
bool uses_bits(const Segment& s) { return uses(s, NodeOp::AsBits) || uses(s, NodeOp::Round); }

class Recogniser {
 public:
  explicit Recogniser(const SegmentOfKnown& of)
      : of_(of),
        s_(of.segment),
        g_(s_.graph),
        needed_(needed_nodes(s_)),
        cones_(g_, usable_nodes(g_, needed_)),
        found_(g_.size()) {}

  Segment run() {
    const MachineFloatMode mode;
    const std::vector<Ref> list = arguments(true);
    for (const Ref x : list) examine(x, false);
    for (const Ref x : list) examine(x, true);
    Segment made = replaced();
    if (uses(made, NodeOp::AsBits)) {
      // The logarithm of a power reads the bits of its base, an angle depends on signs.
      const std::vector<Ref> second = with_compared(list);
      for (const Ref x : with_compared(arguments(false)))
        for (const Ref y : second)
          if (x != y) examine_pair(x, y);
      made = replaced();
    }
    mark_vanishing(made);
    return made;
  }

 private:
  Segment replaced() const {
    return rewritten(s_, [&](Graph& g, Ref r, const NodeMap& copy) {
      if (const Ref input = of_.input[node_of(r)]; input != no_ref)
        return g.add(of_.inputs[input]) ^ (input & 1);
      const auto& found = found_[node_of(r)];
      return found ? node_of_function(g, *found, copy(found->x), copy(found->y)) : no_ref;
    });
  }

  /// Numbers whose bits are read, or, with `rounded`, that are rounded to a short; and those that
  /// these are computed from by operations with constants. In the order of the graph.
  std::vector<Ref> arguments(bool rounded) const {
    std::vector<bool> marked(g_.size(), false);
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const Node& node = g_[ref_to(n)];
      if (!needed_[n]) continue;
      if (node.op != NodeOp::AsBits && !(rounded && node.op == NodeOp::Round)) continue;
      for (Ref r = node.a; r != no_ref && !marked[node_of(r)]; r = only_operand(r))
        marked[node_of(r)] = g_[r].kind == Kind::Number && !g_.is_constant(r);
    }
    std::vector<Ref> list;
    for (std::uint32_t n = 0; n < g_.size(); ++n)
      if (marked[n]) list.push_back(ref_to(n));
    return list;
  }
  /// And the numbers whose signs decide.
  std::vector<Ref> with_compared(std::vector<Ref> list) const {
    for (std::uint32_t n = 0; n < g_.size(); ++n) {
      const Node& node = g_[ref_to(n)];
      if (!needed_[n] || node.op != NodeOp::Negative) continue;
      Ref x = node.a;
      if (g_[x].op == NodeOp::Sub && g_.is_constant(g_[x].b)) x = g_[x].a;
      if (!g_.is_constant(x) && std::ranges::find(list, x) == list.end()) list.push_back(x);
    }
    return list;
  }
  /// The operand of an operation whose other ones are constants.
  Ref only_operand(Ref r) const {
    Ref only = no_ref;
    for (const Ref x : g_[r].operands()) {
      if (g_.is_constant(x) || x == only) continue;
      if (only != no_ref) return no_ref;
      only = x;
    }
    return only;
  }

  /// `powers`: for functions that are not found otherwise.
  void examine(Ref x, bool only_powers) {
    Values values(g_, cones_, {x});
    std::vector<std::uint32_t> results = values.results();
    std::erase_if(results, [&](std::uint32_t n) { return found_[n].has_value(); });
    if (results.empty()) return;
    struct Trial {
      std::uint32_t node;
      const Candidate* candidate;
    };
    std::vector<Trial> trials;
    if (!only_powers)
      for (const std::uint32_t n : results)
        for (const Candidate& c : known_functions) trials.push_back({n, &c});
    PowerTrials powers(values, only_powers ? results : std::vector<std::uint32_t>());
    const auto compare = [&](std::span<const double> at) {
      for (const double argument : at) {
        values.evaluate_at({argument});
        std::erase_if(trials, [&](const Trial& t) {
          if (!(std::abs(argument) <= t.candidate->largest)) return false;
          return !agrees(values.number(t.node), t.candidate->value(argument), t.candidate->scale);
        });
        powers.compare(values, argument);
        if (trials.empty() && powers.none()) return;
      }
    };
    static const std::vector<double> many = many_arguments();
    compare(few_arguments);
    compare(many);
    for (const Trial& t : trials)
      found_[t.node] = Found{t.candidate->op, t.candidate->detail, x, no_ref, 0};
    for (const auto& [node, constant, is_base] : powers.list())
      if (!found_[node])
        found_[node] = Found{NodeOp::Function, code_of(Function::Power), is_base ? no_ref : x,
                             is_base ? x : no_ref, constant};
  }

  /// Values that may be x to some power, or a constant to the power of x. Roots and reciprocals are
  /// other operations.
  class PowerTrials {
   public:
    struct Trial {
      std::uint32_t node;
      double constant;
      bool is_base;  ///< else an exponent
      double value(double x) const {
        return is_base ? std::pow(constant, x) : std::pow(x, constant);
      }
    };
    PowerTrials(Values& values, const std::vector<std::uint32_t>& results) {
      constexpr double at = 8;
      values.evaluate_at({at});
      for (const std::uint32_t n : results) {
        const double logarithm = std::log(values.number(n));
        const double exponent = logarithm / std::log(at), base = std::exp(logarithm / at);
        const bool plain = exponent == std::nearbyint(exponent) ||
                           std::abs(exponent + 0.5) < 1e-3 || std::abs(exponent + 1) < 1e-3;
        if (!plain && std::abs(exponent) < 100) list_.push_back({n, exponent, false});
        if (std::abs(logarithm) > 1e-3 && base < 1e6) list_.push_back({n, base, true});
      }
    }
    void compare(const Values& values, double x) {
      std::erase_if(list_, [&](const Trial& t) {
        const double value = values.number(t.node);
        if (x <= 0 && !t.is_base) return x < 0 && !std::isnan(value);
        return !agrees(value, t.value(x), 0);
      });
    }
    bool none() const { return list_.empty(); }
    const std::vector<Trial>& list() const { return list_; }

   private:
    std::vector<Trial> list_;
  };

  /// Functions of two numbers: powers, which long numbers have no logarithm for, and angles.
  void examine_pair(Ref x, Ref y) {
    Values values(g_, cones_, {x, y});
    struct Trial {
      std::uint32_t node;
      Function f;
    };
    std::vector<Trial> trials;
    for (const std::uint32_t n : values.results())
      for (const Function f : {Function::Power, Function::Atan2})
        if (!found_[n]) trials.push_back({n, f});
    const auto compare = [&](double a, double b) {
      values.evaluate_at({a, b});
      std::erase_if(trials, [&](const Trial& t) {
        const bool power = t.f == Function::Power;
        if (power && a < 0) return !std::isnan(values.number(t.node));
        return !agrees(values.number(t.node), power ? std::pow(a, b) : std::atan2(a, b), 0);
      });
      return !trials.empty();
    };
    for (const double b : {1.375, -0.6875, 20.5, -3.25})
      for (const double a : {1.3125, 0.40625, 19.75, 1.75e-3, 3.5e9, -2.5})
        if (!compare(a, b)) return;
    for (const Trial& t : trials) found_[t.node] = Found{NodeOp::Function, code_of(t.f), x, y, 0};
  }

  static bool is_function(const Graph& g, Ref r, Function f) {
    return g[r].op == NodeOp::Function && g[r].detail == code_of(f);
  }

  /// e^(y log x) is x^y, whose exponent must not be rounded to a float.
  static Ref node_of_function(Graph& g, const Found& found, Ref x, Ref y) {
    const auto function = [&](Function f, Ref a, Ref b = no_ref) {
      return g.add({NodeOp::Function, Kind::Number, code_of(f), a, b, no_ref, 0});
    };
    if (found.op != NodeOp::Function)
      return g.op(found.op, Kind::Number, x, no_ref, no_ref, found.detail);
    const auto f = static_cast<Function>(found.detail);
    if (f == Function::Atan2) return function(f, x, y);
    if (f == Function::Power)
      return function(f, x != no_ref ? x : g.number(found.constant),
                      y != no_ref ? y : g.number(found.constant));
    const Node node = g[x];
    if (f == Function::Exp && node.op == NodeOp::Mul) {
      if (is_function(g, node.a, Function::Log))
        return function(Function::Power, g[node.a].a, node.b);
      if (is_function(g, node.b, Function::Log))
        return function(Function::Power, g[node.b].a, node.a);
    }
    return function(f, x);
  }

  static void mark_vanishing(Segment& s) {
    constexpr unsigned vanishes = 1, masked = 2;
    const std::vector<unsigned> origins = inherited(s.graph, [&](Ref r) {
      const Node& node = s.graph[r];
      if (node.op == NodeOp::Select) return masked;
      if (node.op != NodeOp::Function) return 0U;
      const auto f = static_cast<Function>(node.detail);
      return f == Function::Exp || f == Function::Erfc || f == Function::Power ? vanishes : 0U;
    });
    for (Store& store : s.stores) {
      store.may_vanish = (origins[node_of(store.value)] & vanishes) != 0;
      store.may_be_masked = (origins[node_of(store.value)] & masked) != 0;
    }
  }

  const SegmentOfKnown& of_;
  const Segment& s_;
  const Graph& g_;
  std::vector<bool> needed_;
  Cones cones_;
  std::vector<std::optional<Found>> found_;  ///< by node
};

}  // namespace

Segment with_functions(const Segment& segment, const KnownInputs& known) {
  const SegmentOfKnown of = with_known_inputs(segment, known);
  return uses_bits(of.segment) ? Recogniser(of).run() : segment;
}

}  // namespace gdr::native
