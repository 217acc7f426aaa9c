#include "kernels/compiler/charges.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gdr::kc {
namespace {

/// The factors of a product that are candidates for charges, sorted.
using Monomial = std::vector<std::int32_t>;

/// A number as a sum of products of candidates with what has none.
struct Polynomial {
  std::set<Monomial> terms = {{}};
  std::int32_t obstacle = -1;  ///< a variable of the source in another role than as a factor
};

constexpr std::size_t max_factors_of_term = 3, max_terms_of_sum = 256;

/// The numbers of a graph as polynomials of the sources' variables except positions.
class Polynomials {
 public:
  Polynomials(const Graph& graph, std::span<const std::string> positions) : graph_(graph) {
    for (const GraphVariable& v : graph.variables)
      candidate_.push_back(v.kind == VarKind::Source && std::ranges::count(positions, v.name) == 0);
    of_.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) of_.push_back(of_node(node));
  }

  const Polynomial& of(NodeId id) const { return of_[index(id)]; }
  /// The variable that this depends on, in any way; none: -1.
  std::int32_t dependence(NodeId id) const {
    if (id == no_node) return -1;
    const Polynomial& p = of(id);
    if (p.obstacle >= 0) return p.obstacle;
    for (const Monomial& term : p.terms)
      if (!term.empty()) return term.front();
    return -1;
  }
  bool is_candidate(std::int32_t variable) const { return candidate_[index(variable)]; }
  /// The variables of a comparison of a target's number with a source's.
  std::optional<std::pair<std::int32_t, std::int32_t>> numbers(const Node& node) const {
    if (node.fn != Fn::Equal) return {};
    for (const auto& [a, b] : {std::pair(node.a, node.b), {node.b, node.a}}) {
      const Node &target = graph_.node(a), &source = graph_.node(b);
      if (target.fn == Fn::Input && source.fn == Fn::Input && target.type == Type::Int &&
          graph_.variable(target.variable).kind == VarKind::Target && is_candidate(source.variable))
        return {{target.variable, source.variable}};
    }
    return {};
  }

 private:
  /// Zero has no terms: `r2 > 0 ? q*u : 0` is linear in q.
  static bool is_zero(const Node& constant) {
    return constant.type == Type::Int ? constant.integer == 0 : constant.number == 0;
  }
  static Polynomial obstacle(std::int32_t variable) { return {{{}}, variable}; }

  Polynomial of_node(const Node& node) const {
    switch (node.fn) {
      case Fn::Constant:
        return is_zero(node) ? Polynomial{.terms = {}} : Polynomial{};
      case Fn::Input:
        if (!is_candidate(node.variable)) return {};
        if (node.type == Type::Int) return obstacle(node.variable);
        return {{{node.variable}}};
      case Fn::Add:
      case Fn::Sub:
        return sum(of(node.a), of(node.b));
      case Fn::Mul:
        return product(of(node.a), of(node.b));
      case Fn::Neg:
      case Fn::Convert:
        return of(node.a);
      case Fn::Div:
        if (const std::int32_t v = dependence(node.b); v >= 0) return obstacle(v);
        return of(node.a);
      case Fn::Select:
        if (const std::int32_t v = dependence(node.a); v >= 0) return obstacle(v);
        return sum(of(node.b), of(node.c));
      default:
        break;
    }
    if (numbers(node)) return {};
    for (const NodeId operand : {node.a, node.b, node.c})
      if (const std::int32_t v = dependence(operand); v >= 0) return obstacle(v);
    return {};
  }

  static Polynomial sum(const Polynomial& a, const Polynomial& b) {
    Polynomial out = a;
    out.terms.insert(b.terms.begin(), b.terms.end());
    if (out.obstacle < 0) out.obstacle = b.obstacle;
    return limited(out);
  }
  static Polynomial product(const Polynomial& a, const Polynomial& b) {
    Polynomial out{{}, a.obstacle >= 0 ? a.obstacle : b.obstacle};
    for (const Monomial& x : a.terms)
      for (const Monomial& y : b.terms) {
        Monomial term;
        std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(term));
        // More factors are as wrong as these.
        if (term.size() > max_factors_of_term) term.resize(max_factors_of_term);
        out.terms.insert(std::move(term));
      }
    return limited(out);
  }
  static Polynomial limited(Polynomial p) {
    if (p.terms.size() > max_terms_of_sum) return obstacle(p.terms.rbegin()->front());
    return p;
  }

  const Graph& graph_;
  std::vector<bool> candidate_;
  std::vector<Polynomial> of_;
};

/// The terms of all results, and the choice of the charges among their factors.
class Charges {
 public:
  Charges(const Graph& graph, std::span<const std::string> positions)
      : graph_(graph), numbers_(graph, positions) {}

  KernelCharges find() {
    read_terms();
    if (out_.obstacle.empty()) choose();
    if (!out_.obstacle.empty()) return {{}, {}, {}, out_.obstacle};
    for (const std::int32_t v : charges_) out_.charges.push_back(name(v));
    for (const auto& [v, charge] : carried_) out_.carried.push_back({name(v), name(charge)});
    find_numbers();
    return out_;
  }

 private:
  /// Terms, with a result that each occurs in, for messages.
  using Terms = std::map<Monomial, std::int32_t>;

  const std::string& name(std::int32_t variable) const { return graph_.variable(variable).name; }

  /// Keeps the first reason.
  void refuse(std::string reason) {
    if (out_.obstacle.empty()) out_.obstacle = std::move(reason);
  }

  void read_terms() {
    if (graph_.contributions.empty()) refuse("it has no results");
    for (const Contribution& c : graph_.contributions) {
      const std::string& result = name(c.result);
      if (c.reduction != Reduction::Sum) {
        refuse(fmt::format("result \"{}\" is {} of all sources, not a sum", result,
                           reduction_info(c.reduction).name));
        continue;
      }
      if (const std::int32_t v = numbers_.dependence(c.condition); v >= 0)
        refuse(fmt::format("\"{}\" decides whether a source counts in result \"{}\"", name(v),
                           result));
      const Polynomial& value = numbers_.of(c.value);
      if (value.obstacle >= 0)
        refuse(fmt::format("result \"{}\" depends on \"{}\" in another way than as a factor",
                           result, name(value.obstacle)));
      for (const Monomial& term : value.terms) terms_.emplace(term, c.result);
    }
  }

  void choose() {
    for (const auto& [term, result] : terms_) {
      if (term.empty())
        refuse(
            fmt::format("a term of result \"{}\" has no variable of the source as a factor, "
                        "besides positions: `VARJ qj as charge;`, and a factor qj, would do",
                        name(result)));
      if (term.size() > 2)
        refuse(
            fmt::format("a term of result \"{}\" is a product of more than two variables of the "
                        "source: {}",
                        name(result), listed(term)));
      if (term.size() == 2 && term[0] == term[1])
        refuse(fmt::format("result \"{}\" is quadratic in \"{}\"", name(result), name(term[0])));
      if (term.size() == 1) charges_.insert(term[0]);
    }
    choose_of_pairs();
    for (const auto& [term, result] : terms_)
      if (term.size() == 2) carry(term, result);
    if (charges_.empty()) refuse("its results are zero for all sources");
  }

  /// Charges of terms with two factors: those that are declared as charges, then, until each term
  /// has one, the factor of most terms, of several the first.
  void choose_of_pairs() {
    for (const auto& [term, result] : terms_)
      if (is_open(term))
        for (const std::int32_t v : term)
          if (is_open(term) && is_declared(v)) charges_.insert(v);
    for (;;) {
      std::map<std::int32_t, int> uses;
      for (const auto& [term, result] : terms_)
        if (is_open(term))
          for (const std::int32_t v : term) ++uses[v];
      if (uses.empty()) break;
      const auto by_number = [](const auto& use) { return use.second; };
      charges_.insert(std::ranges::max_element(uses, {}, by_number)->first);
    }
  }
  /// Whether a term has two factors, neither of which is a charge.
  bool is_open(const Monomial& term) const {
    return term.size() == 2 && !is_charge(term[0]) && !is_charge(term[1]);
  }

  bool is_charge(std::int32_t v) const { return charges_.contains(v); }
  bool is_declared(std::int32_t v) const {
    const std::string& quantity = graph_.variable(v).quantity;
    return quantity == "charge" || quantity == "mass";
  }
  std::string listed(const Monomial& term) const {
    std::string out;
    for (const std::int32_t v : std::set(term.begin(), term.end()))
      out += (out.empty() ? "\"" : ", \"") + name(v) + "\"";
    return out;
  }

  void carry(const Monomial& term, std::int32_t result) {
    if (is_charge(term[0]) && is_charge(term[1]))
      return refuse(fmt::format("a term of result \"{}\" is a product of two charges: {}",
                                name(result), listed(term)));
    const std::int32_t charge = is_charge(term[0]) ? term[0] : term[1];
    const std::int32_t other = is_charge(term[0]) ? term[1] : term[0];
    if (const auto& [known, added] = carried_.emplace(other, charge);
        !added && known->second != charge)
      refuse(
          fmt::format("result \"{}\" depends on products of \"{}\" with several charges: "
                      "\"{}\", \"{}\"",
                      name(result), name(other), name(known->second), name(charge)));
  }

  void find_numbers() {
    const std::vector<bool> needed = needed_nodes(graph_);
    std::set<std::pair<std::int32_t, std::int32_t>> all;
    for (std::size_t k = 0; k < needed.size(); ++k)
      if (needed[k])
        if (const auto pair = numbers_.numbers(graph_.nodes[k])) all.insert(*pair);
    for (const auto& [target, source] : all) out_.numbers.push_back({name(target), name(source)});
  }

  const Graph& graph_;
  Polynomials numbers_;
  Terms terms_;
  std::set<std::int32_t> charges_;
  std::map<std::int32_t, std::int32_t> carried_;
  KernelCharges out_;
};

}  // namespace

KernelCharges find_charges(const Graph& graph, std::span<const std::string> positions) {
  return Charges(graph, positions).find();
}

}  // namespace gdr::kc
