// The steps of functions in floats. Errors are some units of the last place of a float.
#include "emulator/engine/native/translate/angle_steps.hpp"
#include "emulator/engine/native/translate/exponential_steps.hpp"
#include "emulator/engine/native/translate/float_coefficients.hpp"
#include "emulator/engine/native/translate/functions.hpp"

namespace gdr::native {
namespace {

/// x y^2 (1 - e)^(-2/3) with y near |x|^(-1/3), whose bits are `magic` minus a third of those of
/// |x|, and e = 1 - |x| y^3.
Ref cube_root(Graph& g, FloatMode mode, Ref x) {
  constexpr double magic = 1419900544;
  FloatNodes n(g, mode);
  const Ref a = n.absolute(x);
  const Ref word = g.op(NodeOp::FromInt, Kind::Number, g.as_bits(a));
  const Ref seed = n.fma(word, n.number(-1.0 / 3), n.number(magic));
  const Ref y = g.as_number(g.op(NodeOp::ToInt, Kind::Bits, seed));
  const Ref yy = n.mul(y, y);
  const Ref ayy = n.mul(yy, a);
  const Ref e = n.minus_product(n.number(1), ayy, y);
  const Ref made = n.fma(n.mul(ayy, e), n.polynomial(e, coefficients::cbrt_rest), ayy);
  return n.with_sign_of(x, made);
}

Ref steps_of(Function f, Graph& g, Target target, Ref a, Ref b) {
  ExponentialSteps exponentials(g, target.mode, target.isa == Isa::Avx512);
  AngleSteps angles(g, target.mode);
  switch (f) {
    case Function::Exp:
      return exponentials.exponential(a);
    case Function::Log:
      return exponentials.logarithm(a);
    case Function::Tanh:
      return exponentials.hyperbolic_tangent(a);
    case Function::Erf:
      return exponentials.error_function(a);
    case Function::Erfc:
      return exponentials.complementary_error_function(a);
    case Function::Power:
      return exponentials.power(a, b);
    case Function::Sin:
      return angles.sine(a, false);
    case Function::Cos:
      return angles.sine(a, true);
    case Function::Tan:
      return angles.tangent(a);
    case Function::Asin:
      return angles.arc_sine(a);
    case Function::Acos:
      return angles.arc_cosine(a);
    case Function::Atan:
      return angles.arc_tangent(a);
    case Function::Atan2:
      return angles.angle_of_point(b, a);
    case Function::Cbrt:
      return cube_root(g, target.mode, a);
  }
  throw Unsupported("a function that has no steps in floats");
}

}  // namespace

Segment with_function_steps(const Segment& s, Target target) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op != NodeOp::Function) return no_ref;
    return steps_of(static_cast<Function>(node.detail), g, target, copy(node.a), copy(node.b));
  });
}

}  // namespace gdr::native
