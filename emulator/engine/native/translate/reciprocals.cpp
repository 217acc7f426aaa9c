#include "emulator/engine/native/translate/reciprocals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdr::native {
namespace {

/// Builds numbers in a graph.
struct Maker {
  Graph& g;
  Ref number(double x) const { return g.number(x); }
  Ref mul(Ref a, Ref b) const { return g.op(NodeOp::Mul, Kind::Number, a, b); }
  Ref fma(Ref a, Ref b, Ref c, std::uint8_t sign = fma_plain) const {
    return g.add({NodeOp::Fma, Kind::Number, sign, a, b, c, 0});
  }
  Ref estimate(NodeOp op, Ref x) const { return g.op(op, Kind::Number, x); }
  /// A Newton step by NEON's instruction, which doubles the bits of y. x y comes first: y y
  /// underflows for the largest x.
  Ref rsqrt_step(Ref x, Ref y, double scale = 1) const {
    return mul(scaled(y, scale), g.op(NodeOp::RsqrtStep, Kind::Number, mul(x, y), y));
  }
  Ref recip_step(Ref x, Ref y, double scale = 1) const {
    return mul(scaled(y, scale), g.op(NodeOp::RecipStep, Kind::Number, x, y));
  }
  /// scale * y, which is y where the scale is one.
  Ref scaled(Ref y, double scale) const { return scale == 1 ? y : mul(y, number(scale)); }
};

/// A quotient or root by the host's instructions. Among floats, and on GPUs, with NaN instead of
/// zero for an infinite x: an overflow must not be lost, whatever the instruction set.
Ref with_infinity(const Maker& m, Target target, Ref x, Ref quotient) {
  const bool plain = target.precision == Precision::Double && !target.gpu;
  return plain ? quotient : m.fma(x, m.number(0), quotient);
}

/// A value, with another one where a double is infinite.
Ref where_infinite(Graph& g, Ref x, double infinity, Ref at_infinity, Ref otherwise) {
  const Ref bits = g.constant(Kind::Bits, std::bit_cast<std::uint64_t>(infinity));
  return g.select(g.op(NodeOp::BitsEqual, Kind::Mask, g.as_bits(x), bits), at_infinity, otherwise);
}

/// scale / x or scale / sqrt(x), a signed zero where x is infinite.
Ref zero_at_infinity(const Maker& m, NodeOp op, Ref x, double scale, Ref quotient) {
  const Ref made = where_infinite(m.g, x, INFINITY, m.number(scale * 0), quotient);
  if (op == NodeOp::Rsqrt) return made;
  return where_infinite(m.g, x, -INFINITY, m.number(scale * -0.0), made);
}

/// 1 / sqrt(x) or 1 / x in 14 bits (AVX2: 12): the host's estimate, with NEON's 8 bits after a
/// Newton step.
Ref host_estimate(const Maker& m, NodeOp op, Target target, Ref x) {
  const Ref y = m.estimate(op, x);
  if (target.isa != Isa::Neon) return y;
  return op == NodeOp::RsqrtEstimate ? m.rsqrt_step(x, y) : m.recip_step(x, y);
}

/// y = 1 / sqrt(x) from an estimate of 14 bits (12 will do for floats): one Newton step, or one of
/// fourth order. x * y comes first: neither it nor its product with y leaves the range of numbers.
Ref rsqrt_by_estimate(const Maker& m, Target target, Ref x, double scale, bool coarse) {
  const Ref y = host_estimate(m, NodeOp::RsqrtEstimate, target, x);
  if (coarse && target.isa == Isa::Neon) return m.rsqrt_step(x, y, scale);
  const Ref t = m.mul(x, y);
  if (coarse) {
    const Ref half = m.scaled(y, scale / 2);
    return m.mul(half, m.fma(t, y, m.number(3), fma_negate_product));
  }
  // With e = 1 - x y^2: y (1 + e/2 + 3 e^2/8 + 5 e^3/16).
  const Ref e = m.fma(t, y, m.number(1), fma_negate_product);
  if (scale == 1) {
    const Ref p = m.fma(m.fma(e, m.number(0.3125), m.number(0.375)), e, m.number(0.5));
    return m.fma(m.mul(p, e), y, y);
  }
  // A scale costs nothing in the constants.
  const Ref p = m.fma(e, m.number(0.3125 * scale), m.number(0.375 * scale));
  return m.mul(y, m.fma(m.fma(p, e, m.number(0.5 * scale)), e, m.number(scale)));
}

/// The same by integers, where the host has no estimate for doubles: a seed from the exponent and
/// the minimax parabola of the gravity kernel, at the scale where it has the fewest constants: then
/// y sqrt(x) = rho within 2^-15.9. A Newton step at that scale gives 2 rho^3; a step of fourth
/// order gives 1.
Ref rsqrt_by_integers(const Maker& m, Ref x, double scale, bool coarse) {
  constexpr std::uint64_t magic = 0x5fe4000000000000;
  constexpr double fit_1 = -1.32769405841827392578125, fit_2 = 1.407470285892486572265625;
  constexpr double newton = 6.8217227458953857421875;  // 3 rho^2
  constexpr double square = newton / 3;
  Graph& g = m.g;
  const Ref count = g.constant(Kind::Bits, std::uint64_t{1} << short_shift);
  const Ref halved = g.op(NodeOp::ShiftRight, Kind::Bits, g.as_bits(x), count);
  const Ref seed =
      g.as_number(g.op(NodeOp::IntSub, Kind::Bits, g.constant(Kind::Bits, magic), halved));
  const Ref t = m.mul(m.mul(x, seed), seed);
  const Ref u = g.op(NodeOp::Add, Kind::Number, t, m.number(fit_1));
  const Ref y = m.mul(seed, m.fma(u, u, m.number(fit_2)));
  if (coarse) {
    const double after = 2 * std::pow(square, 1.5);
    const Ref h = m.fma(m.mul(x, y), y, m.number(newton), fma_negate_product);
    const bool natural = std::abs(scale / after - 1) < 1e-9;
    return m.mul(natural ? y : m.mul(y, m.number(scale / after)), h);
  }
  // With e = rho^2 - x y^2 and v = e / rho^2: y (1 + v/2 + 3 v^2/8 + 5 v^3/16) / rho, the next term
  // of which is below 2^-61.
  const Ref e = m.fma(m.mul(x, y), y, m.number(square), fma_negate_product);
  const auto factor = [&](double c, int power) {
    return m.number(scale * c * std::pow(square, -0.5 - power));
  };
  const Ref p = m.fma(m.fma(e, factor(0.3125, 3), factor(0.375, 2)), e, factor(0.5, 1));
  return m.mul(y, m.fma(p, e, factor(1, 0)));
}

/// Whether the estimate of x / 4 is used: the host silently flushes one that is too small (AVX2,
/// NEON). NEON's of x is also good where the result is as small: up to a scale of one, but for the
/// rounding errors of a program's own.
bool needs_quarter(Target target, double scale) {
  constexpr double rounded_one = 1 + 0x1p-20;
  return target.isa == Isa::Avx2 || (target.isa == Isa::Neon && std::abs(scale) > rounded_one);
}

/// `at_zero`: among floats, infinite for zero, and still no number for infinity.
Ref recip_by_estimate(const Maker& m, Target target, Ref x, double scale, bool coarse,
                      bool at_zero = false) {
  if (needs_quarter(target, scale)) {
    x = m.mul(x, m.number(0.25));
    scale /= 4;
  }
  const Ref y = host_estimate(m, NodeOp::RecipEstimate, target, x);
  if (coarse && !at_zero && target.isa == Isa::Neon) return m.recip_step(x, y, scale);
  const Ref e = m.fma(x, y, m.number(1), fma_negate_product);
  const Ref s = m.scaled(y, scale);
  // The error is no number for both; the estimate, infinite or zero, times infinity is what is
  // wanted.
  if (at_zero) {
    const Ref error =
        m.g.op(NodeOp::Min, Kind::Number, e, m.number(INFINITY), no_ref, second_of_nan);
    return m.fma(s, error, s);
  }
  if (coarse) return m.fma(s, e, s);
  // 1 + e + e^2 + e^3, of which only the last sum is rounded by much.
  return m.fma(m.fma(m.fma(e, e, e), e, e), s, s);
}

bool has_estimates(Target target) {
  return target.isa == Isa::Avx512 || target.isa == Isa::Neon ||
         (target.isa == Isa::Avx2 && target.precision == Precision::Float);
}

/// A program's own scale differs from one by its rounding errors, which floats may not resolve.
double scale_of(const Node& quotient, Precision precision) {
  const auto exact = std::bit_cast<double>(quotient.bits);
  return precision == Precision::Float ? static_cast<float>(exact) : exact;
}

Ref estimate_alone(const Maker& m, NodeOp op, Target target, Ref x, double scale) {
  const bool root = op == NodeOp::Rsqrt;
  const NodeOp estimate = root ? NodeOp::RsqrtEstimate : NodeOp::RecipEstimate;
  return m.scaled(host_estimate(m, estimate, target, x), scale);
}

Ref reciprocal(const Maker& m, Target target, Ref x, double scale, bool coarse) {
  if (!has_estimates(target))
    return with_infinity(m, target, x, m.g.op(NodeOp::Divide, Kind::Number, m.number(scale), x));
  const Ref made = recip_by_estimate(m, target, x, scale, coarse);
  return target.infinities ? zero_at_infinity(m, NodeOp::Recip, x, scale, made) : made;
}

Ref reciprocal_root(const Maker& m, Target target, Ref x, double scale, bool coarse) {
  const bool by_integers = target.isa == Isa::Avx2 && !target.square_roots;
  if (has_estimates(target) || by_integers) {
    const Ref made = has_estimates(target) ? rsqrt_by_estimate(m, target, x, scale, coarse)
                                           : rsqrt_by_integers(m, x, scale, coarse);
    return target.infinities ? zero_at_infinity(m, NodeOp::Rsqrt, x, scale, made) : made;
  }
  // A GPU's function has an error of two units of the last place.
  if (target.gpu) {
    const Ref root = estimate_alone(m, NodeOp::Rsqrt, target, x, scale);
    return with_infinity(m, target, x, root);
  }
  const Ref root = m.g.op(NodeOp::Sqrt, Kind::Number, x);
  return with_infinity(m, target, x, m.g.op(NodeOp::Divide, Kind::Number, m.number(scale), root));
}

/// Whether a node is 1/x by steps, with the host's estimate of it where x is zero.
bool is_reciprocal_with_zero(const Graph& g, const std::vector<unsigned>& uses, const Node& node) {
  if (node.op != NodeOp::Select || g[node.a].op != NodeOp::IsZero) return false;
  const Ref x = g[node.a].a;
  const Node &estimate = g[node.b], &recip = g[node.c];
  return estimate.op == NodeOp::RecipEstimate && estimate.a == x && recip.op == NodeOp::Recip &&
         recip.a == x && std::bit_cast<double>(recip.bits) > 0 && uses[node_of(node.c)] == 1;
}

}  // namespace

Segment with_infinite_roots(const Segment& s) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op != NodeOp::Mul) return no_ref;
    for (const bool second : {false, true}) {
      const Ref x = second ? node.a : node.b;
      const Node& root = s.graph[second ? node.b : node.a];
      if (root.op != NodeOp::Rsqrt || root.a != x) continue;
      const double end = std::bit_cast<double>(root.bits) * INFINITY;
      return where_infinite(g, copy(x), INFINITY, g.number(end),
                            g.rebuilt(node, copy(node.a), copy(node.b), no_ref));
    }
    return no_ref;
  });
}

bool uses_roots(const Graph& g) {
  return std::ranges::any_of(g.nodes(), [](const Node& node) {
    return node.op == NodeOp::Rsqrt || node.op == NodeOp::Recip;
  });
}

Segment with_steps(const Segment& s, Target target) {
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    const Maker m{g};
    if (node.op == NodeOp::RecipEstimate && !has_estimates(target))
      return g.op(NodeOp::Divide, Kind::Number, g.number(1), copy(node.a));
    if (node.op == NodeOp::RecipEstimate && target.isa == Isa::Neon)
      return host_estimate(m, node.op, target, copy(node.a));
    const bool floats = target.precision == Precision::Float;
    const bool alone = floats && target.mode == FloatMode::Fast &&
                       (target.isa == Isa::Avx512 || target.isa == Isa::Neon);
    if (floats && has_estimates(target) && !alone && is_reciprocal_with_zero(s.graph, uses, node)) {
      const Node& recip = s.graph[node.c];
      const double scale = scale_of(recip, target.precision);
      return recip_by_estimate(m, target, copy(recip.a), scale, true, true);
    }
    if (node.op != NodeOp::Rsqrt && node.op != NodeOp::Recip) return no_ref;
    const Ref x = copy(node.a);
    const double scale = scale_of(node, target.precision);
    if (alone) return estimate_alone(m, node.op, target, x, scale);
    const bool coarse = floats || node.detail == static_cast<std::uint8_t>(Accuracy::Short);
    if (node.op == NodeOp::Recip) return reciprocal(m, target, x, scale, coarse);
    return reciprocal_root(m, target, x, scale, coarse);
  });
}

}  // namespace gdr::native
