#include "emulator/engine/native/lower.hpp"

#include <bit>
#include <cmath>

#include "emulator/engine/native/float_range.hpp"
#include "emulator/engine/native/rsqrt_idiom.hpp"
#include "emulator/engine/native/short_rounding.hpp"
#include "emulator/engine/native/simplify.hpp"

namespace gdr::native {
namespace {

// --- fused multiply-adds

/// Products whose uses are all sums, none of them with itself.
std::vector<bool> fusable_products(const Segment& s) {
  const std::vector<bool> needed = needed_nodes(s);
  std::vector<bool> fusable(s.graph.size(), false);
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    fusable[n] = needed[n] && s.graph[ref_to(n)].op == NodeOp::Mul;
  }
  for (const Store& store : s.stores) fusable[node_of(store.value)] = false;
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = s.graph[ref_to(n)];
    const bool sum = node.op == NodeOp::Add || node.op == NodeOp::Sub;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref && (!sum || node.a == node.b)) fusable[node_of(r)] = false;
    }
    // A difference of products that are equal is zero: neither may keep what the other rounds.
    if (node.op == NodeOp::Sub && s.graph[node.a].op == NodeOp::Mul &&
        s.graph[node.b].op == NodeOp::Mul) {
      fusable[node_of(node.a)] = fusable[node_of(node.b)] = false;
    }
    // Of two products only one goes into the sum: the second, so that a chain stays a chain.
    if (sum && fusable[node_of(node.a)] && fusable[node_of(node.b)]) {
      fusable[node_of(node.a)] = false;
    }
  }
  return fusable;
}

Segment fused(const Segment& s) {
  const std::vector<bool> fusable = fusable_products(s);
  return cleaned(rewritten(s, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = s.graph[r];
    const bool sum = node.op == NodeOp::Add || node.op == NodeOp::Sub;
    const bool first = sum && fusable[node_of(node.a)];
    const bool second = sum && fusable[node_of(node.b)];
    if (!first && !second) return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
    const Node& product = s.graph[first ? node.a : node.b];
    std::uint8_t sign = fma_plain;
    if (node.op == NodeOp::Sub) sign = first ? fma_negate_addend : fma_negate_product;
    return g.add({NodeOp::Fma, Kind::Number, sign, copy(product.a), copy(product.b),
                  copy(first ? node.b : node.a), 0});
  }));
}

// --- reciprocals and roots

/// Builds numbers in a graph.
struct Maker {
  Graph& g;
  Ref number(double x) const { return g.number(x); }
  Ref mul(Ref a, Ref b) const { return g.op(NodeOp::Mul, Kind::Number, a, b); }
  Ref fma(Ref a, Ref b, Ref c, std::uint8_t sign = fma_plain) const {
    return g.add({NodeOp::Fma, Kind::Number, sign, a, b, c, 0});
  }
  /// scale * y, which is y where the scale is one.
  Ref scaled(Ref y, double scale) const { return scale == 1 ? y : mul(y, number(scale)); }
};

/// What the host divides or takes a root of, with NaN for an infinite x in place of zero: what has
/// overflowed must not be lost, whatever the instruction set.
Ref with_infinity(const Maker& m, Ref x, Ref quotient) { return m.fma(x, m.number(0), quotient); }

/// y = 1 / sqrt(x) from an estimate of 14 bits (12 will do for floats): one Newton step, or one of
/// fourth order. x * y comes first: neither it nor its product with y leaves the range of numbers.
Ref rsqrt_by_estimate(const Maker& m, Ref x, double scale, bool coarse) {
  const Ref y = m.g.op(NodeOp::RsqrtEstimate, Kind::Number, x);
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
/// the minimax parabola of the gravity kernel, at the scale where its constants are fewest: then
/// y sqrt(x) = rho within 2^-15.9. A Newton step at that scale makes 2 rho^3 of it, or a step of
/// fourth order what is wanted.
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

/// `of_quarter`: the host makes zero of an estimate that is too small for a float, without telling
/// (AVX2), so that of a quarter of x is taken.
Ref recip_by_estimate(const Maker& m, Ref x, double scale, bool coarse, bool of_quarter) {
  if (of_quarter) {
    x = m.mul(x, m.number(0.25));
    scale /= 4;
  }
  const Ref y = m.g.op(NodeOp::RecipEstimate, Kind::Number, x);
  const Ref e = m.fma(x, y, m.number(1), fma_negate_product);
  const Ref s = m.scaled(y, scale);
  const Ref first = m.fma(s, e, s);
  // (1 + e) (1 + e^2)
  return coarse ? first : m.fma(first, m.mul(e, e), first);
}

Segment with_steps(const Segment& s, Target target) {
  return cleaned(rewritten(s, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = s.graph[r];
    const bool floats = target.precision == Precision::Float;
    const bool estimates = target.isa == Isa::Avx512 || (target.isa == Isa::Avx2 && floats);
    if (node.op == NodeOp::RecipEstimate && !estimates) {
      return g.op(NodeOp::Divide, Kind::Number, g.number(1), copy(node.a));
    }
    if (node.op != NodeOp::Rsqrt && node.op != NodeOp::Recip) {
      return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
    }
    const Maker m{g};
    const Ref x = copy(node.a);
    const double scale = std::bit_cast<double>(node.bits);
    const bool coarse = floats || node.detail == static_cast<std::uint8_t>(Accuracy::Short);
    if (node.op == NodeOp::Recip) {
      if (estimates) return recip_by_estimate(m, x, scale, coarse, target.isa == Isa::Avx2);
      return with_infinity(m, x, g.op(NodeOp::Divide, Kind::Number, m.number(scale), x));
    }
    if (estimates) return rsqrt_by_estimate(m, x, scale, coarse);
    if (target.isa == Isa::Avx2) return rsqrt_by_integers(m, x, scale, coarse);
    const Ref root = g.op(NodeOp::Sqrt, Kind::Number, x);
    return with_infinity(m, x, g.op(NodeOp::Divide, Kind::Number, m.number(scale), root));
  }));
}

// --- masks

/// Without masked operations, p + q under a mask is best p plus what is left of q.
Segment with_masked_terms(const Segment& s) {
  const std::vector<unsigned> uses = use_counts(s);
  return cleaned(rewritten(s, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Select && uses[node_of(node.b)] == 1) {
      const Node& sum = s.graph[node.b];
      const bool is_sum = sum.op == NodeOp::Add || sum.op == NodeOp::Sub;
      const bool turned = sum.op == NodeOp::Add && sum.b == node.c;
      if (is_sum && (sum.a == node.c || turned)) {
        const Ref term =
            g.select(copy(node.a), copy(turned ? sum.a : sum.b), g.constant(Kind::Number, 0));
        return g.op(sum.op, Kind::Number, copy(node.c), term, no_ref, sum.detail);
      }
    }
    return g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
  }));
}

// --- floats

void check_float_constant(const Node& node) {
  if (node.kind == Kind::Number && !fits_float(std::bit_cast<double>(node.bits))) {
    throw Unsupported("a constant is beyond the range of floats");
  }
  if (node.kind != Kind::Bits) return;
  const auto value = static_cast<std::int64_t>(node.bits) >> short_shift;
  if (value != static_cast<std::int32_t>(value)) {
    throw Unsupported("an integer constant has more than 32 bits");
  }
}

/// Integers are 32 bits wide beside floats, and have nothing to do with numbers' bits.
void check_floats(const Segment& s) {
  const std::vector<bool> needed = needed_nodes(s);
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = s.graph[ref_to(n)];
    if (node.op == NodeOp::Constant) check_float_constant(node);
    if (node.op == NodeOp::AsBits || node.op == NodeOp::AsNumber) {
      throw Unsupported("the bits of a number are used");
    }
    if (node.op == NodeOp::Round) throw Unsupported("a number is rounded to a short");
    const bool compares = node.kind == Kind::Mask || node.op == NodeOp::Select ||
                          node.op == NodeOp::And || node.op == NodeOp::Or || node.op == NodeOp::Xor;
    if (node.kind == Kind::Bits && !is_leaf(node.op) && !compares) {
      throw Unsupported("integers are computed with");
    }
  }
}

}  // namespace

std::uint64_t constant_lane(const Node& constant, Precision precision) noexcept {
  if (precision == Precision::Double || constant.kind == Kind::Mask) return constant.bits;
  if (constant.kind == Kind::Bits) {
    return static_cast<std::uint32_t>(constant.bits >> short_shift);
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(constant.bits)));
}

Segment lowered(const Segment& segment, Target target) {
  Segment s = cleaned(replace_rsqrt_idioms(segment, target.precision));
  // A float has fewer bits than a short.
  s = target.precision == Precision::Double ? round_outputs(s)
                                            : cleaned(drop_left_stores(std::move(s)));
  s = simplified(s);
  if (target.isa == Isa::Avx2) s = with_masked_terms(s);
  s = with_steps(fused(s), target);
  if (target.precision == Precision::Float) check_floats(s);
  return s;
}

}  // namespace gdr::native
