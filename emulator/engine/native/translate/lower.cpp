#include "emulator/engine/native/translate/lower.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "emulator/engine/native/translate/compared_functions.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/engine/native/translate/functions.hpp"
#include "emulator/engine/native/translate/integers.hpp"

namespace gdr::native {
namespace {

// --- rounding of shorts

/// Whether a value is a short for all uses. A long that is also stored as a short is not.
bool is_short(const Node& node) {
  switch (node.op) {
    case NodeOp::Add:
    case NodeOp::Sub:
    case NodeOp::Mul:
      return node.detail == short_result;
    case NodeOp::Rsqrt:
    case NodeOp::Recip:
      return node.detail == static_cast<std::uint8_t>(Accuracy::Short);
    case NodeOp::Input:
      return LeafKey::unpack(node.bits).type == WordType::Short;
    default:
      return false;
  }
}

/// Marks the shorts that a reference denotes, through selects, if they or a select on the way are
/// used more than once. A short with a single use is rounded when it is stored.
void mark_shorts(const Graph& g, Ref r, const std::vector<unsigned>& uses, bool shared,
                 std::vector<bool>& marked) {
  const Node& node = g[r];
  shared = shared || uses[node_of(r)] > 1;
  if (node.op == NodeOp::Select) {
    mark_shorts(g, node.b, uses, shared, marked);
    mark_shorts(g, node.c, uses, shared, marked);
  } else if (shared && is_short(node)) {
    marked[node_of(r)] = true;
  }
}

void drop_left_stores(Segment& segment) {
  std::erase_if(segment.stores, [](const Store& s) { return s.area == Store::Area::Left; });
}

/// Rounds shorts where that is observable. Host numbers that represent shorts are not rounded in
/// general, which is correct as long as all uses of one read the same number. A short that another
/// section reads is rounded in the state, so all its uses must read the rounded number: a Newton
/// step that the other section completes corrects, to first order, the approximation that it
/// started from. The same holds for other kernels of the section, which mark it as
/// Store::Area::Left; the result has no such stores.
Segment round_outputs(const Segment& segment) {
  const Graph& old = segment.graph;
  const std::vector<unsigned> uses = use_counts(segment);
  std::vector<bool> left(old.size(), false);
  for (const Store& store : segment.stores) {
    if (!store.read_by_section || store.type != WordType::Short) continue;
    mark_shorts(old, store.value, uses, false, left);
  }
  Segment made = copied(segment, [&](Graph& g, Ref r, const NodeMap& copy) {
    if (!left[node_of(r)]) return no_ref;
    const Node& node = old[r];
    return g.op(NodeOp::Round, Kind::Number,
                g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c)));
  });
  drop_left_stores(made);
  return cleaned(made);
}

/// Whether a value that a reference may denote is a sum with this constant.
bool is_sum_with(const Graph& g, Ref r, Ref constant) {
  const Node& node = g[r];
  if (node.op == NodeOp::Select) {
    return is_sum_with(g, node.b, constant) || is_sum_with(g, node.c, constant);
  }
  return is_sum(node.op) && (node.a == constant || node.b == constant);
}

// --- simplification

/// Removes x - 0, of an x that is not subnormal because it was computed.
Segment without_zeros(const Segment& s) {
  return rewritten(s, [&](Graph&, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Sub && s.graph.is_constant(node.b) && s.graph[node.b].bits == 0) {
      const NodeOp op = s.graph[node.a].op;
      if (is_sum(op) || op == NodeOp::Mul) return copy(node.a);
    }
    return no_ref;
  });
}

/// A constant factor that may move to another factor: only values within 20 powers of two of the
/// ends of the range become zero or infinite by that.
std::optional<double> moderate_constant(const Graph& g, Ref r) {
  if (!g.is_constant(r) || g[r].kind != Kind::Number) return std::nullopt;
  const double value = std::bit_cast<double>(g[r].bits);
  if (!(std::abs(value) >= 0x1p-20 && std::abs(value) <= 0x1p20)) return std::nullopt;
  return value;
}

/// c (x y) as x (c y), where another product of x has the same constant.
Segment with_shared_factors(const Segment& s) {
  const Graph& old = s.graph;
  const std::vector<unsigned> uses = use_counts(s);
  struct Scaled {
    Ref product, constant;
  };
  // c (x y), where nothing else uses x y, and neither x nor y is a constant.
  const auto scaled_product = [&](Ref r) -> std::optional<Scaled> {
    const Node& node = old[r];
    if (node.op != NodeOp::Mul) return std::nullopt;
    const bool second = moderate_constant(old, node.b).has_value();
    if (!second && !moderate_constant(old, node.a)) return std::nullopt;
    const Ref product = second ? node.a : node.b;
    const Node& inner = old[product];
    if (inner.op != NodeOp::Mul || uses[node_of(product)] != 1 || inner.a == inner.b ||
        old.is_constant(inner.a) || old.is_constant(inner.b)) {
      return std::nullopt;
    }
    return Scaled{product, second ? node.b : node.a};
  };
  std::map<std::pair<Ref, Ref>, unsigned> count;  // scaled products by factor and constant
  for (std::uint32_t n = 0; n < old.size(); ++n) {
    const auto scaled = uses[n] != 0 ? scaled_product(ref_to(n)) : std::nullopt;
    if (!scaled) continue;
    for (const Ref factor : old[scaled->product].operands()) ++count[{factor, scaled->constant}];
  }
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const auto scaled = scaled_product(r);
    if (!scaled) return no_ref;
    const Node& product = old[scaled->product];
    for (const bool second : {false, true}) {
      const Ref common = second ? product.b : product.a;
      const Ref own = second ? product.a : product.b;
      if (count.at({common, scaled->constant}) < 2) continue;
      const Ref factor = g.op(NodeOp::Mul, Kind::Number, copy(common), copy(scaled->constant));
      return g.op(NodeOp::Mul, Kind::Number, copy(own), factor, no_ref, old[r].detail);
    }
    return no_ref;
  });
}

/// Joins the constants of nested products: c (x (k y)) as x ((c k) y), where nothing else uses the
/// parts.
Segment with_joined_constants(const Segment& s) {
  const Graph& old = s.graph;
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    // c x, if a constant factor of x can take c; else no_ref.
    const auto scaled_by = [&](const auto& self, double c, Ref x) -> Ref {
      const Node& node = old[x];
      if (node.op != NodeOp::Mul || uses[node_of(x)] != 1) return no_ref;
      for (const bool second : {false, true}) {
        const Ref one = second ? node.b : node.a, other = second ? node.a : node.b;
        Ref scaled = no_ref;
        if (const auto k = moderate_constant(old, one)) {
          const Ref product = g.number(c * *k);
          if (moderate_constant(g, product)) scaled = product;
        } else if (one != other) {
          scaled = self(self, c, one);
        }
        if (scaled == no_ref) continue;
        return g.op(NodeOp::Mul, Kind::Number, scaled, copy(other), no_ref, node.detail);
      }
      return no_ref;
    };
    const Node& node = old[r];
    for (const bool second : {false, true}) {
      if (node.op != NodeOp::Mul) break;
      const auto c = moderate_constant(old, second ? node.b : node.a);
      const Ref scaled = c ? scaled_by(scaled_by, *c, second ? node.a : node.b) : no_ref;
      if (scaled != no_ref) return scaled;
    }
    return no_ref;
  });
}

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
    const bool sum = is_sum(node.op);
    for (const Ref r : node.operands()) {
      if (!sum || node.a == node.b) fusable[node_of(r)] = false;
    }
    // A difference of equal products is zero: both have to be rounded.
    if (node.op == NodeOp::Sub && s.graph[node.a].op == NodeOp::Mul &&
        s.graph[node.b].op == NodeOp::Mul) {
      fusable[node_of(node.a)] = fusable[node_of(node.b)] = false;
    }
    // Of two products only the second is fused, so that a chain stays a chain.
    if (sum && fusable[node_of(node.a)] && fusable[node_of(node.b)]) {
      fusable[node_of(node.a)] = false;
    }
  }
  return fusable;
}

Segment fused(const Segment& s) {
  const std::vector<bool> fusable = fusable_products(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    const bool sum = is_sum(node.op);
    const bool first = sum && fusable[node_of(node.a)];
    const bool second = sum && fusable[node_of(node.b)];
    if (!first && !second) return no_ref;
    const Node& product = s.graph[first ? node.a : node.b];
    std::uint8_t sign = fma_plain;
    if (node.op == NodeOp::Sub) sign = first ? fma_negate_addend : fma_negate_product;
    return g.add({NodeOp::Fma, Kind::Number, sign, copy(product.a), copy(product.b),
                  copy(first ? node.b : node.a), 0});
  });
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

/// Square roots, x / sqrt(x), infinite where x is.
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

/// `of_quarter`: the host silently flushes an estimate that is too small for a float (AVX2), so the
/// estimate of x / 4 is used.
Ref recip_by_estimate(const Maker& m, Ref x, double scale, bool coarse, bool of_quarter) {
  if (of_quarter) {
    x = m.mul(x, m.number(0.25));
    scale /= 4;
  }
  const Ref y = m.g.op(NodeOp::RecipEstimate, Kind::Number, x);
  const Ref e = m.fma(x, y, m.number(1), fma_negate_product);
  const Ref s = m.scaled(y, scale);
  if (coarse) return m.fma(s, e, s);
  // 1 + e + e^2 + e^3, of which only the last sum is rounded by much.
  return m.fma(m.fma(m.fma(e, e, e), e, e), s, s);
}

/// Whether a mask is never set where `other` is not; false if that is not known.
bool implies(const Graph& g, Ref mask, Ref other) {
  if (mask == other) return true;
  if (negated(mask) || g[mask].op != NodeOp::Both) return false;
  return implies(g, g[mask].a, other) || implies(g, g[mask].b, other);
}

/// A value where a mask is set: of a select whose mask is known there, one operand.
Ref known_choice(const Graph& g, Ref mask, Ref value) {
  const Node& node = g[value];
  if (node.op != NodeOp::Select) return value;
  if (implies(g, mask, node.a)) return node.b;
  return implies(g, mask, complement(node.a)) ? node.c : value;
}

/// Without selects whose choice the mask of another select decides.
Segment without_decided_selects(const Segment& s) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op != NodeOp::Select || node.kind == Kind::Mask) return no_ref;
    const Ref yes = known_choice(s.graph, node.a, node.b);
    const Ref no = known_choice(s.graph, complement(node.a), node.c);
    if (yes == node.b && no == node.c) return no_ref;
    return g.select(copy(node.a), copy(yes), copy(no));
  });
}

/// Whether r is x / sqrt(x), and 1 / sqrt(x) has no other use.
const Node* root_of(const Graph& g, const std::vector<unsigned>& uses, const Node& product) {
  if (product.op != NodeOp::Mul) return nullptr;
  for (const bool second : {false, true}) {
    const Ref root = second ? product.b : product.a, x = second ? product.a : product.b;
    if (g[root].op == NodeOp::Rsqrt && g[root].a == x && uses[node_of(root)] == 1) return &g[root];
  }
  return nullptr;
}

/// A sum of squares: never -0.
bool is_sum_of_squares(const Graph& g, Ref r) {
  const Node& node = g[r];
  if (node.op == NodeOp::Mul) return node.a == node.b;
  return node.op == NodeOp::Add && (is_sum_of_squares(g, node.a) || is_sum_of_squares(g, node.b));
}

/// Square roots, x / sqrt(x), by the host's instruction, which runs beside products and sums.
Segment with_square_roots(const Segment& s) {
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Graph& old = s.graph;
    const Node* node = &old[r];
    // The instruction needs no other value for zero.
    const bool at_zero = node->op == NodeOp::Select && old[node->a].op == NodeOp::IsZero &&
                         !negated(node->a) && old.is_constant(node->b) && old[node->b].bits == 0 &&
                         uses[node_of(node->c)] == 1;
    const Ref zero_of = at_zero ? old[node->a].a : no_ref;
    if (at_zero) node = &old[node->c];
    const Node* const root = root_of(old, uses, *node);
    if (root == nullptr || (at_zero && (zero_of != root->a || !is_sum_of_squares(old, zero_of))))
      return no_ref;
    const Ref made = g.op(NodeOp::Sqrt, Kind::Number, copy(root->a));
    // A program's own scale differs from one by the rounding of its steps.
    const auto scale = std::bit_cast<double>(root->bits);
    return std::abs(scale - 1) < 1e-15 ? made : Maker{g}.scaled(made, scale);
  });
}

bool uses_roots(const Graph& g) {
  return std::ranges::any_of(g.nodes(), [](const Node& node) {
    return node.op == NodeOp::Rsqrt || node.op == NodeOp::Recip;
  });
}

Segment with_steps(const Segment& s, Target target) {
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    const bool floats = target.precision == Precision::Float;
    const bool estimates = target.isa == Isa::Avx512 || (target.isa == Isa::Avx2 && floats);
    if (node.op == NodeOp::RecipEstimate && !estimates) {
      return g.op(NodeOp::Divide, Kind::Number, g.number(1), copy(node.a));
    }
    if (node.op != NodeOp::Rsqrt && node.op != NodeOp::Recip) return no_ref;
    const Maker m{g};
    const Ref x = copy(node.a);
    // A program's own scale differs from one by its rounding errors, which floats may not resolve.
    const auto exact_scale = std::bit_cast<double>(node.bits);
    const double scale = floats ? static_cast<float>(exact_scale) : exact_scale;
    const bool coarse = floats || node.detail == static_cast<std::uint8_t>(Accuracy::Short);
    const auto at_end = [&](Ref quotient) {
      return target.infinities ? zero_at_infinity(m, node.op, x, scale, quotient) : quotient;
    };
    if (floats && target.mode == FloatMode::Fast && target.isa == Isa::Avx512) {
      const bool root = node.op == NodeOp::Rsqrt;
      const NodeOp estimate = root ? NodeOp::RsqrtEstimate : NodeOp::RecipEstimate;
      return m.scaled(g.op(estimate, Kind::Number, x), scale);
    }
    if (node.op == NodeOp::Recip) {
      if (estimates) return at_end(recip_by_estimate(m, x, scale, coarse, target.isa == Isa::Avx2));
      return with_infinity(m, target, x, g.op(NodeOp::Divide, Kind::Number, m.number(scale), x));
    }
    if (estimates) return at_end(rsqrt_by_estimate(m, x, scale, coarse));
    if (target.isa == Isa::Avx2 && !target.square_roots)
      return at_end(rsqrt_by_integers(m, x, scale, coarse));
    // A GPU's function has an error of two units of the last place.
    if (target.gpu)
      return with_infinity(m, target, x,
                           m.scaled(g.op(NodeOp::RsqrtEstimate, Kind::Number, x), scale));
    const Ref root = g.op(NodeOp::Sqrt, Kind::Number, x);
    return with_infinity(m, target, x, g.op(NodeOp::Divide, Kind::Number, m.number(scale), root));
  });
}

// --- masks

/// Without masked operations: p + q under a mask as p + (mask ? q : 0).
Segment with_masked_terms(const Segment& s) {
  const std::vector<unsigned> uses = use_counts(s);
  return rewritten(s, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    if (node.op == NodeOp::Select && uses[node_of(node.b)] == 1) {
      const Node& sum = s.graph[node.b];
      const bool turned = sum.op == NodeOp::Add && sum.b == node.c;
      if (is_sum(sum.op) && (sum.a == node.c || turned)) {
        const Ref term =
            g.select(copy(node.a), copy(turned ? sum.a : sum.b), g.constant(Kind::Number, 0));
        return g.op(sum.op, Kind::Number, copy(node.c), term, no_ref, sum.detail);
      }
    }
    return no_ref;
  });
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

/// Floats are as coarse as shorts: a long converted to a short stays the same float.
Segment without_conversions(const Segment& s) {
  return rewritten(s, [&](Graph&, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    return node.op == NodeOp::Round && node.detail == short_result ? copy(node.a) : no_ref;
  });
}

void check_float_constants(const Segment& s) {
  const std::vector<bool> needed = needed_nodes(s);
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    const Node& node = s.graph[ref_to(n)];
    if (needed[n] && node.op == NodeOp::Constant && node.kind == Kind::Number)
      check_float_constant(node);
  }
}

/// Whether a sum with a constant is for the last bits of a short, of which floats have one less:
/// the constant is, but for a half, a multiple of 2^22.
bool is_for_last_bits(const Graph& g, const Node& node) {
  const auto rounds = [&](Ref r) {
    if (r == no_ref || !g.is_constant(r)) return false;
    const double c = std::abs(std::bit_cast<double>(g[r].bits));
    constexpr double step = 0x1p22, largest = 0x1p50;
    return c >= 2 * step && c <= largest && std::abs(std::remainder(c, step)) <= 0.5;
  };
  if (is_sum(node.op)) return rounds(node.a) || rounds(node.b);
  return node.op == NodeOp::Fma && rounds(node.c);
}

/// With floats, integers have 32 bits and are unrelated to the bits of numbers.
void check_float_operations(const Segment& s) {
  const std::vector<bool> needed = needed_nodes(s);
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    if (!needed[n]) continue;
    const Node& node = s.graph[ref_to(n)];
    if (node.kind == Kind::Bits && node.op == NodeOp::Constant) check_float_constant(node);
    if (node.op == NodeOp::AsBits || node.op == NodeOp::AsNumber) {
      throw Unsupported("the bits of a number are used");
    }
    if (node.op == NodeOp::Round || is_for_last_bits(s.graph, node))
      throw Unsupported("a number is rounded to a short");
  }
  check_float_integers(s);
}

}  // namespace

Segment simplified(const Segment& segment) {
  return with_joined_constants(with_shared_factors(without_zeros(segment)));
}

Kernel round_loop_sums(const Kernel& kernel) {
  const Graph& old = kernel.graph;
  std::vector<Ref> next(kernel.inputs.size(), no_ref);
  for (const KernelCarried& c : kernel.carried) {
    if (kernel.inputs[c.slot] == WordType::Short) next[c.slot] = c.next;
  }
  return rewritten(kernel, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = old[r];
    if (!is_sum(node.op)) return no_ref;
    const auto operand = [&](Ref x, Ref other) {
      const bool is_zero = old.is_constant(other) && std::bit_cast<double>(old[other].bits) == 0.0;
      if (old[x].op != NodeOp::Input || !old.is_constant(other) || is_zero) return copy(x);
      const Ref before = next[LeafKey::unpack(old[x].bits).place];
      if (before == no_ref || !is_sum_with(old, before, other)) return copy(x);
      return g.op(NodeOp::Round, Kind::Number, copy(x));
    };
    const Ref a = operand(node.a, node.b);
    return g.rebuilt(node, a, operand(node.b, node.a), no_ref);
  });
}

std::uint64_t constant_lane(const Node& constant, Precision precision) noexcept {
  if (precision == Precision::Double || constant.kind == Kind::Mask) return constant.bits;
  if (constant.kind == Kind::Bits) {
    return static_cast<std::uint32_t>(constant.bits >> short_shift);
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(constant.bits)));
}

Segment lowered(const Segment& segment, Target target, const KnownInputs& known) {
  const bool floats = target.precision == Precision::Float;
  Segment s = floats ? with_functions(segment, known) : segment;
  s = replace_rsqrt_idioms(with_integers(s, target.precision), target.precision);
  if (!floats) {
    s = round_outputs(s);
  } else {  // a float has fewer bits than a short
    drop_left_stores(s);
    s = without_conversions(cleaned(s));
  }
  if (target.infinities) s = with_infinite_roots(s);
  s = simplified(s);
  s = without_decided_selects(s);
  if (target.square_roots) s = with_square_roots(s);
  if (target.isa == Isa::Avx2) s = with_masked_terms(s);
  s = fused(s);
  if (!floats) {
    const bool has_roots = uses_roots(s.graph);
    s = with_steps(s, target);
    s.has_roots = has_roots;
    return s;
  }
  check_float_operations(s);
  const bool compares = check_compared_functions(s, !target.gpu);
  s = with_steps(with_function_steps(s, target.mode), target);
  check_float_constants(s);
  s.detects_overflows = compares;
  return s;
}

bool square_roots_pay(const Segment& with_instructions, Isa isa) {
  const std::vector<bool> needed = needed_nodes(with_instructions);
  std::size_t roots = 0, quotients = 0, others = 0;
  for (std::uint32_t n = 0; n < with_instructions.graph.size(); ++n) {
    const NodeOp op = with_instructions.graph[ref_to(n)].op;
    if (!needed[n] || is_leaf(op) || op == NodeOp::AsBits || op == NodeOp::AsNumber) continue;
    ++(op == NodeOp::Sqrt ? roots : op == NodeOp::Divide ? quotients : others);
  }
  if (isa == Isa::Avx512) return others + quotients >= 20 * roots;
  // Clocks of the divider, and operations of the steps; two others run in a clock.
  constexpr std::size_t of_root = 8, of_quotient = 5, of_steps = 14;
  return 2 * (of_root * roots + of_quotient * quotients) <= others + of_steps * roots;
}

}  // namespace gdr::native
