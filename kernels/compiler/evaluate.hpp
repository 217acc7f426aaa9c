// What a graph says, computed on the host: the oracle of the compiler's tests.
//
// Nothing is rounded to the machine's words here: every operation is that of `Real`, so that with a
// long double or wider the result is exact for a test's purposes. Conditions with NaN, minima and
// maxima follow the machine (a NaN operand gives NaN; -0 is smaller than +0).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/compiler/graph.hpp"

namespace gdr::kc {

/// The functions that evaluate() needs of a number; specialise it for others than the host's own.
template <class Real>
struct RealMath {
  static Real sqrt(const Real& x) { return std::sqrt(x); }
  static Real exp(const Real& x) { return std::exp(x); }
  static bool negative(const Real& x) { return std::signbit(x); }
};

/// What a graph reads: for each of Graph::variables its value, or the elements of its table; of
/// results nothing (an empty vector). Ints as integral Reals.
template <class Real>
using InputValues = std::vector<std::vector<Real>>;

/// What one contribution gives for one pair.
template <class Real>
struct PairTerm {
  bool counts = true;  ///< the gate holds
  Real value = 0;      ///< with the sign of a subtraction
  Real payload = 0;
};

namespace evaluation {

template <class Real>
Real extreme(bool minimum, const Real& a, const Real& b) {
  if (a != a || b != b) return a != a ? a : b;
  if (a == b) return RealMath<Real>::negative(a) == minimum ? a : b;
  return (a < b) == minimum ? a : b;
}

/// One node; Bools are 0 and 1.
template <class Real>
Real compute(const Node& n, const Real& a, const Real& b, const Real& c) {
  using Math = RealMath<Real>;
  const auto truth = [](bool x) { return Real(x ? 1 : 0); };
  switch (n.fn) {
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
    case Fn::Abs:
      return Math::negative(a) ? -a : a;
    case Fn::Min:
    case Fn::Max:
      return extreme(n.fn == Fn::Min, a, b);
    case Fn::Sqrt:
      return Math::sqrt(a);
    case Fn::Rsqrt:
      return 1 / Math::sqrt(a);
    case Fn::Reciprocal:
      return 1 / a;
    case Fn::Exp:
      return Math::exp(a);
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
  }
  return 0;
}

}  // namespace evaluation

/// The value of every node for one pair; a look-up outside of its table gives NaN.
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
      values.push_back(evaluation::compute(n, a, at(n.b), at(n.c)));
    }
  }
  return values;
}

/// What every contribution gives for one pair, in the order of Graph::contributions.
template <class Real>
std::vector<PairTerm<Real>> evaluate(const Graph& graph, const InputValues<Real>& inputs) {
  const std::vector<Real> values = evaluate_nodes(graph, inputs);
  std::vector<PairTerm<Real>> terms;
  for (const Contribution& c : graph.contributions) {
    PairTerm<Real> t;
    t.counts = c.gate == no_node || values[std::size_t(c.gate)] != 0;
    t.value = values[std::size_t(c.value)];
    if (c.negated) t.value = -t.value;
    if (c.payload != no_node) t.payload = values[std::size_t(c.payload)];
    terms.push_back(t);
  }
  return terms;
}

/// Results of a kernel while terms are joined to them: by variable; those of sums begin as zero,
/// those of minima and maxima as plus and minus infinity, and indices as -1. Of a list it is the
/// number of entries, which begins as zero.
template <class Real>
std::vector<Real> empty_results(const Graph& graph) {
  std::vector<Real> results(graph.variables.size(), Real(0));
  for (const Contribution& c : graph.contributions) {
    if (c.join == Join::Min || c.join == Join::Max)
      results[std::size_t(c.result)] = Real(c.join == Join::Min ? INFINITY : -INFINITY);
    if (c.payload != no_node) results[std::size_t(c.payload_result)] = Real(-1);
  }
  return results;
}

/// Join the terms of one pair to the results. Of equal keys the first counts.
template <class Real>
void join_terms(const Graph& graph, const std::vector<PairTerm<Real>>& terms,
                std::vector<Real>& results) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Contribution& c = graph.contributions[i];
    Real& result = results[std::size_t(c.result)];
    if (!terms[i].counts) continue;
    if (c.join == Join::Sum) {
      result += terms[i].value;
      continue;
    }
    if (c.join == Join::Append) {
      result += 1;
      continue;
    }
    const Real before = result;
    result = evaluation::extreme(c.join == Join::Min, before, terms[i].value);
    const bool better = c.join == Join::Min ? terms[i].value < before : terms[i].value > before;
    if (better && c.payload != no_node) results[std::size_t(c.payload_result)] = terms[i].payload;
  }
}

}  // namespace gdr::kc
