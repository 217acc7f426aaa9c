// Host evaluation of a graph: constant folding, and the oracle of the compiler's tests.
//
// Nothing is rounded to machine words: every operation is that of `Real`, so a long double or wider
// type gives a reference result. Conditions with NaN, minima and maxima follow the machine (a NaN
// operand gives NaN; -0 is less than +0).
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/compiler/ir/function.hpp"
#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

/// The functions of a number type that evaluate() needs; specialise it for types that the rows of
/// the functions (ir/function.hpp) do not have.
template <class Real>
struct RealMath {
  static bool negative(const Real& x) { return std::signbit(x); }
  /// f(x) or f(x, y); `order` is that of a family of functions.
  static Real function(Fn fn, const Real& x, const Real& y = {}, int order = 0) {
    return function_of(fn)->value(x, y, order);
  }
};

/// Inputs of a graph: for each of Graph::variables its value, or the elements of its table; empty
/// for results. Ints as integral Reals.
template <class Real>
using InputValues = std::vector<std::vector<Real>>;

/// One contribution of one pair.
template <class Real>
struct PairTerm {
  bool counts = true;  ///< the condition holds
  Real value = 0;      ///< signed value
  Real payload = 0;
};

namespace evaluation {

template <class Real>
Real extreme(bool minimum, const Real& a, const Real& b) {
  if (a != a || b != b) return a != a ? a : b;
  if (a == b) return RealMath<Real>::negative(a) == minimum ? a : b;
  return (a < b) == minimum ? a : b;
}

/// An operation on the operands of a node; Bools are 0 and 1, `order` is that of a family.
template <class Real>
Real compute(Fn fn, const Real& a, const Real& b = {}, const Real& c = {}, int order = 0) {
  using Math = RealMath<Real>;
  const auto truth = [](bool x) { return Real(x ? 1 : 0); };
  switch (fn) {
    case Fn::Add:
      return a + b;
    case Fn::Sub:
      return a - b;
    case Fn::Mul:
      return a * b;
    case Fn::Div:
      return a / b;
    case Fn::Neg:
      return -a;
    case Fn::Convert:
      return a;
    case Fn::Less:
      return truth(a < b);
    case Fn::Equal:
      return truth(a == b);
    case Fn::And:
      return truth(a != 0 && b != 0);
    case Fn::Or:
      return truth(a != 0 || b != 0);
    case Fn::Not:
      return truth(a == 0);
    case Fn::Select:
      return a != 0 ? b : c;
    case Fn::Input:
    case Fn::Constant:
    case Fn::Lookup:
      break;
    case Fn::Integer:
      return Math::function(Fn::Trunc, a);
    case Fn::Quotient:
      return Math::function(Fn::Trunc, a / b);
    default:
      return Math::function(fn, a, b, order);
  }
  return 0;
}

}  // namespace evaluation

/// The value of every node for one pair; a lookup outside its table gives NaN.
template <class Real>
std::vector<Real> evaluate_nodes(const Graph& graph, const InputValues<Real>& inputs) {
  std::vector<Real> values;
  values.reserve(graph.nodes.size());
  const auto at = [&](NodeId id) { return id == no_node ? Real(0) : values[std::size_t(id)]; };
  for (const Node& n : graph.nodes) {
    const Real a = at(n.a);
    if (n.fn == Fn::Constant) {
      values.push_back(n.type == Type::Int ? Real(n.integer) : Real(n.number));
    } else if (n.fn == Fn::Input) {
      values.push_back(inputs[std::size_t(n.variable)][0]);
    } else if (n.fn == Fn::Lookup) {
      const std::vector<Real>& table = inputs[std::size_t(n.variable)];
      const bool inside = a >= 0 && a < Real(table.size());
      values.push_back(inside ? table[static_cast<std::size_t>(a)] : Real(NAN));
    } else {
      const auto order = static_cast<int>(n.integer);
      values.push_back(evaluation::compute(n.fn, a, at(n.b), at(n.c), order));
    }
  }
  return values;
}

/// The contributions of one pair, in the order of Graph::contributions.
template <class Real>
std::vector<PairTerm<Real>> evaluate(const Graph& graph, const InputValues<Real>& inputs) {
  const std::vector<Real> values = evaluate_nodes(graph, inputs);
  std::vector<PairTerm<Real>> terms;
  for (const Contribution& c : graph.contributions) {
    PairTerm<Real> t;
    t.counts = c.condition == no_node || values[std::size_t(c.condition)] != 0;
    t.value = values[std::size_t(c.value)];
    if (c.negated) t.value = -t.value;
    if (c.payload != no_node) t.payload = values[std::size_t(c.payload)];
    terms.push_back(t);
  }
  return terms;
}

/// Initial results by variable: 0 for sums, weighted means and the number of entries of a list, 1
/// for products and conditions of all, plus and minus infinity (of ints the limits) for minima and
/// maxima, minus infinity for logarithms of sums, -1 for indices.
template <class Real>
std::vector<Real> empty_results(const Graph& graph) {
  std::vector<Real> results(graph.variables.size(), Real(0));
  for (std::size_t v = 0; v < results.size(); ++v) {
    const GraphVariable& x = graph.variables[v];
    const Real most = x.type == Type::Int ? Real(34359738367) : Real(INFINITY);
    if (x.reduction == Reduction::Min || x.reduction == Reduction::Smallest) results[v] = most;
    if (x.reduction == Reduction::Max || x.reduction == Reduction::Largest)
      results[v] = x.type == Type::Int ? -most - 1 : -most;
    if (x.reduction == Reduction::LogSumExp) results[v] = -most;
    if (x.reduction == Reduction::Product || x.reduction == Reduction::And) results[v] = Real(1);
  }
  for (const GraphVariable& x : graph.variables)
    if (x.index_result >= 0) results[std::size_t(x.index_result)] = Real(-1);
  return results;
}

/// Insert a key and its index into results in ascending or descending order, behind equal keys.
template <class Real>
void insert_ranked(const Graph& graph, const Contribution& c, const PairTerm<Real>& term,
                   std::vector<Real>& results) {
  const auto ahead = [&](const Real& a, const Real& b) {
    return c.reduction == Reduction::Smallest ? a < b : a > b;
  };
  const auto ranks = static_cast<std::int32_t>(graph.variable(c.result).ranks);
  Real key = term.value, number = term.payload;
  bool inserting = false;  // all later entries move by one
  for (std::int32_t k = 0; k < ranks; ++k) {
    const auto at = std::size_t(c.result + k);
    inserting = inserting || ahead(key, results[at]);
    if (!inserting) continue;
    std::swap(key, results[at]);
    if (c.payload != no_node)
      std::swap(number, results[std::size_t(graph.variables[at].index_result)]);
  }
}

/// Reduce the contributions of one pair into the results. Of equal keys the first wins.
template <class Real>
void reduce_terms(const Graph& graph, const std::vector<PairTerm<Real>>& terms,
                  std::vector<Real>& results) {
  using Math = RealMath<Real>;
  Real weight = 0, kept = 1;  // of the last LogSumExp: of this term, and of all before
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Contribution& c = graph.contributions[i];
    const Real value = terms[i].value;
    Real& result = results[std::size_t(c.result)];
    if (!terms[i].counts) continue;
    switch (c.reduction) {
      case Reduction::Sum:
        result += value;
        break;
      case Reduction::Append:
        result += 1;
        break;
      case Reduction::Product:
        result *= value;
        break;
      case Reduction::LogSumExp: {
        const Real before = result;
        const Real most = before < value ? value : before;
        weight = kept = 0;
        if (value == -Real(INFINITY)) break;
        const Real sum =
            Math::function(Fn::Exp, before - most) + Math::function(Fn::Exp, value - most);
        result = most + Math::function(Fn::Log, sum);
        weight = Math::function(Fn::Exp, value - most) / sum;
        kept = Math::function(Fn::Exp, before - most) / sum;
        for (std::size_t v = 0; v < results.size(); ++v)
          if (graph.variables[v].weighted_by == c.result) results[v] *= kept;
        break;
      }
      case Reduction::Softmax:
        if (weight != 0) result += weight * value;
        break;
      case Reduction::Smallest:
      case Reduction::Largest:
        insert_ranked(graph, c, terms[i], results);
        break;
      case Reduction::Min:
      case Reduction::Max:
      case Reduction::And:
      case Reduction::Or: {
        const bool least = c.reduction == Reduction::Min || c.reduction == Reduction::And;
        const Real before = result;
        result = evaluation::extreme(least, before, value);
        const bool better = least ? value < before : value > before;
        if (better && c.payload != no_node)
          results[std::size_t(c.payload_result)] = terms[i].payload;
      }
    }
  }
}

}  // namespace gdr::kc
