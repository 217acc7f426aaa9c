#include "emulator/engine/native/translate/functions.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "emulator/engine/native/translate/cone.hpp"
#include "emulator/engine/native/translate/function_search.hpp"
#include "emulator/engine/native/translate/known_functions.hpp"
#include "emulator/engine/native/translate/known_inputs.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

/// By node: whether functions may consist of it.
std::vector<bool> nodes_of_functions(const Graph& g, std::vector<bool> needed) {
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    const NodeOp op = g[ref_to(n)].op;
    if (is_leaf(op) || op == NodeOp::Lookup || op == NodeOp::Append || op == NodeOp::Function)
      needed[n] = false;
  }
  return needed;
}

bool contains(const Segment& s, NodeOp op) {
  return std::ranges::count(s.graph.nodes(), op, &Node::op) > 0;
}
bool uses_bits(const Segment& s) {
  return contains(s, NodeOp::AsBits) || contains(s, NodeOp::Round);
}

bool is_function(const Graph& g, Ref r, Function f) {
  return g[r].op == NodeOp::Function && g[r].detail == code_of(f);
}

/// e^(y log x) is x^y, whose exponent must not be rounded to a float.
Ref node_of_function(Graph& g, const RecognisedFunction& found, Ref x, Ref y) {
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

/// Marks the stores that depend on functions that are zero below their end.
void mark_vanishing(Segment& s) {
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

class FunctionRecogniser {
 public:
  explicit FunctionRecogniser(const SegmentOfKnown& of)
      : of_(of),
        s_(of.segment),
        g_(s_.graph),
        needed_(needed_nodes(s_)),
        cones_(g_, nodes_of_functions(g_, needed_)),
        found_(g_.size()) {}

  Segment run() {
    const MachineFloatMode mode;
    const std::vector<Ref> list = arguments(true);
    for (const bool only_powers : {false, true})
      for (const Ref x : list) {
        GraphValues values(g_, cones_, {x});
        find_functions(values, x, only_powers, found_);
      }
    Segment made = replaced();
    if (contains(made, NodeOp::AsBits)) {
      // The logarithm of a power reads the bits of its base, an angle depends on signs.
      const std::vector<Ref> second = with_compared(list);
      for (const Ref x : with_compared(arguments(false)))
        for (const Ref y : second)
          if (x != y) find_of_two(x, y);
      made = replaced();
    }
    mark_vanishing(made);
    return made;
  }

 private:
  void find_of_two(Ref x, Ref y) {
    GraphValues values(g_, cones_, {x, y});
    find_functions_of_two(values, x, y, found_);
  }

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

  const SegmentOfKnown& of_;
  const Segment& s_;
  const Graph& g_;
  std::vector<bool> needed_;
  Cones cones_;
  FunctionsByNode found_;
};

}  // namespace

Segment with_functions(const Segment& segment, const KnownInputs& known) {
  const SegmentOfKnown of = with_known_inputs(segment, known);
  return uses_bits(of.segment) ? FunctionRecogniser(of).run() : segment;
}

}  // namespace gdr::native
