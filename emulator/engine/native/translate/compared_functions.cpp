#include "emulator/engine/native/translate/compared_functions.hpp"

#include <bit>
#include <cmath>
#include <vector>

namespace gdr::native {
namespace {

/// What a function lacks in floats: values below 2^-100, which are zero; values of arguments
/// outside of a range, or infinite ones, which are NaN.
constexpr unsigned lacks_tiny_values = 1, lacks_large_arguments = 2;
unsigned lacks_of(const Node& node) {
  if (node.op != NodeOp::Function) return 0;
  switch (static_cast<Function>(node.detail)) {
    case Function::Exp:
    case Function::Erfc:
    case Function::Power:
      return lacks_tiny_values;
    case Function::Sin:
    case Function::Cos:
    case Function::Tan:
    case Function::Atan:
    case Function::Atan2:
    case Function::Cbrt:
      return lacks_large_arguments;
    default:
      return 0;
  }
}

class Comparisons {
 public:
  explicit Comparisons(const Graph& g)
      : g_(g), lacks_(inherited(g, [&](Ref r) { return lacks_of(g[r]); })) {}

  unsigned lacks(Ref r) const { return lacks_[node_of(r)]; }

  /// Whether a number is compared with a constant that is much larger than what lacks_tiny_values.
  bool is_with_large_constant(Ref difference) const {
    const Node& node = g_[difference];
    switch (node.op) {
      case NodeOp::Add:
      case NodeOp::Sub:
        return (is_large(node.a) && is_steady(node.b)) || (is_large(node.b) && is_steady(node.a));
      case NodeOp::Fma:
        return is_large(node.c) && is_steady_product(node.a, node.b);
      default:
        return false;
    }
  }

 private:
  bool vanishes_in(Ref r) const { return (lacks(r) & lacks_tiny_values) != 0; }
  double constant(Ref r) const {
    const bool number = g_.is_constant(r) && g_[r].kind == Kind::Number;
    return number ? std::abs(std::bit_cast<double>(g_[r].bits)) : NAN;
  }
  bool is_large(Ref r) const { return constant(r) >= 0x1p-60; }

  /// Whether a number would differ by less than 2^-70 if nothing vanished in it, or has the same
  /// sign of infinity.
  bool is_steady(Ref r) const {
    if (!vanishes_in(r)) return true;
    const Node& node = g_[r];
    switch (node.op) {
      case NodeOp::Function:
        return lacks_of(node) == lacks_tiny_values && !vanishes_in(node.a) &&
               (node.b == no_ref || !vanishes_in(node.b));
      case NodeOp::Add:
      case NodeOp::Sub:
        return (!vanishes_in(node.a) && is_steady(node.b)) ||
               (!vanishes_in(node.b) && is_steady(node.a));
      case NodeOp::Mul:
        return is_steady_product(node.a, node.b);
      case NodeOp::Fma:
        return !vanishes_in(node.c) && is_steady_product(node.a, node.b);
      case NodeOp::Max:
      case NodeOp::Min:
        return is_steady(node.a) && is_steady(node.b);
      default:
        return false;
    }
  }
  bool is_steady_product(Ref a, Ref b) const {
    constexpr double limit = 0x1p10;
    if (!vanishes_in(a) && !vanishes_in(b)) return true;
    return (constant(a) <= limit && is_steady(b)) || (constant(b) <= limit && is_steady(a));
  }

  const Graph& g_;
  std::vector<unsigned> lacks_;  ///< what each node lacks
};

}  // namespace

bool check_compared_functions(const Segment& s, bool may_detect) {
  const std::vector<bool> needed = needed_nodes(s);
  const Comparisons comparisons(s.graph);
  bool detects = false;
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    const Node& node = s.graph[ref_to(n)];
    if (!needed[n] || (node.op != NodeOp::Negative && node.op != NodeOp::IsZero)) continue;
    const unsigned lacks = comparisons.lacks(node.a);
    detects = detects || (lacks & lacks_large_arguments) != 0;
    if ((detects && !may_detect) ||
        ((lacks & lacks_tiny_values) != 0 && !comparisons.is_with_large_constant(node.a)))
      throw Unsupported("a function is compared");
  }
  return detects;
}

}  // namespace gdr::native
