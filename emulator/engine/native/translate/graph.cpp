#include "emulator/engine/native/translate/graph.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "emulator/host/hash.hpp"

namespace gdr::native {
namespace {

double number_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// The larger or the smaller; NaN if either is NaN.
double extreme(double a, double b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return (a > b) == largest ? a : b;
}

std::uint64_t shift(NodeOp op, std::uint64_t a, std::uint64_t count) {
  if (op == NodeOp::ShiftArith) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >>
                                      std::min<std::uint64_t>(count, 63));
  }
  if (count > 63) return 0;
  return op == NodeOp::ShiftLeft ? a << count : a >> count;
}

Kind kind_of(WordType type) {
  if (is_number(type)) return Kind::Number;
  return type == WordType::Mask ? Kind::Mask : Kind::Bits;
}

std::uint64_t mask_word(bool value) { return value ? ~std::uint64_t{0} : 0; }

double fma_of(const Node& n, double a, double b, double c) {
  if ((n.detail & fma_negate_product) != 0) a = -a;
  if ((n.detail & fma_negate_addend) != 0) c = -c;
  return std::fma(a, b, c);
}

bool commutes(NodeOp op) {
  constexpr NodeOp ops[] = {NodeOp::Add, NodeOp::Mul, NodeOp::IntAdd,    NodeOp::And,
                            NodeOp::Or,  NodeOp::Xor, NodeOp::BitsEqual, NodeOp::Both};
  return std::ranges::find(ops, op) != std::end(ops);
}

}  // namespace

std::uint64_t evaluate(const Node& n, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const double x = number_of(a);
  const double y = number_of(b);
  switch (n.op) {
    case NodeOp::Constant:
    case NodeOp::Input:
    case NodeOp::Source:
    case NodeOp::Uniform:
      return n.bits;
    case NodeOp::Add:
      return bits_of(x + y);
    case NodeOp::Sub:
      return bits_of(x - y);
    case NodeOp::Mul:
      return bits_of(x * y);
    case NodeOp::Fma:
      return bits_of(fma_of(n, x, y, number_of(c)));
    case NodeOp::Max:
      return bits_of(extreme(x, y, true));
    case NodeOp::Min:
      return bits_of(extreme(x, y, false));
    case NodeOp::Scale:
      return bits_of(std::ldexp(x, static_cast<int>(std::clamp(y, -4e3, 4e3))));
    case NodeOp::Round:
      return round_to_short(a);
    case NodeOp::Rsqrt:
      return bits_of(number_of(n.bits) / std::sqrt(x));
    case NodeOp::Recip:
      return bits_of(number_of(n.bits) / x);
    case NodeOp::RsqrtEstimate:
      return bits_of(1 / std::sqrt(x));
    case NodeOp::RecipEstimate:
      return bits_of(1 / x);
    case NodeOp::RsqrtStep:
      return bits_of(std::fma(-x, y, 3) / 2);
    case NodeOp::RecipStep:
      return bits_of(std::fma(-x, y, 2));
    case NodeOp::Divide:
      return bits_of(x / y);
    case NodeOp::Sqrt:
      return bits_of(std::sqrt(x));
    case NodeOp::Truncate:
      return bits_of(rounded_towards(static_cast<Towards>(n.detail), x));
    case NodeOp::FromInt:
      return bits_of(static_cast<double>(static_cast<std::int64_t>(a)));
    case NodeOp::ToInt:
      return static_cast<std::uint64_t>(integer_of<std::int64_t>(x));
    case NodeOp::Select:
      return a != 0 ? b : c;
    case NodeOp::AsBits:
    case NodeOp::AsNumber:
      return a;
    case NodeOp::IntAdd:
      return a + b;
    case NodeOp::IntSub:
      return a - b;
    case NodeOp::And:
    case NodeOp::Both:
      return a & b;
    case NodeOp::Or:
      return a | b;
    case NodeOp::Xor:
      return a ^ b;
    case NodeOp::ShiftLeft:
    case NodeOp::ShiftRight:
    case NodeOp::ShiftArith:
      return shift(n.op, a, b >> short_shift);
    case NodeOp::SignedMax:
      return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) ? b : a;
    case NodeOp::SignedMin:
      return static_cast<std::int64_t>(b) < static_cast<std::int64_t>(a) ? b : a;
    case NodeOp::UnsignedMax:
      return std::max(a, b);
    case NodeOp::UnsignedMin:
      return std::min(a, b);
    case NodeOp::Negative:
      return mask_word(x < 0);
    case NodeOp::IsZero:
      return mask_word(x == 0);
    case NodeOp::BitsNegative:
      return mask_word((a >> 63) != 0);
    case NodeOp::BitsEqual:
      return mask_word(a == b);
    case NodeOp::BitsAtLeast:
      return mask_word(a >= b);
    case NodeOp::Function:
    case NodeOp::Lookup:
    case NodeOp::Append:
      break;
  }
  return 0;
}

std::size_t Graph::NodeHash::operator()(const Node& n) const noexcept {
  Hash hash;
  hash.add_word(n.bits);
  hash.add_word(static_cast<std::uint64_t>(n.op) << 8 | static_cast<std::uint64_t>(n.kind) |
                std::uint64_t{n.detail} << 16 | std::uint64_t{n.a} << 32);
  return hash.add_word(std::uint64_t{n.b} << 32 | n.c).value();
}

Graph::Graph() { always_ = constant(Kind::Mask, ~std::uint64_t{0}); }

Ref Graph::add(Node node) {
  // The smaller operand first, so that a * b and b * a are one node.
  if (commutes(node.op) && node.a > node.b) std::swap(node.a, node.b);
  const auto [found, is_new] =
      known_.try_emplace(node, ref_to(static_cast<std::uint32_t>(nodes_.size())));
  if (is_new) nodes_.push_back(node);
  return found->second;
}

Ref Graph::constant(Kind kind, std::uint64_t bits) {
  return add({NodeOp::Constant, kind, 0, no_ref, no_ref, no_ref, bits});
}

Ref Graph::number(double value) { return constant(Kind::Number, bits_of(value)); }

Ref Graph::leaf(NodeOp op, LeafKey key) {
  return add({op, kind_of(key.type), 0, no_ref, no_ref, no_ref, key.packed()});
}

Ref Graph::lookup(Ref element, LeafKey key) {
  return add({NodeOp::Lookup, kind_of(key.type), 0, element, no_ref, no_ref, key.packed()});
}

Ref Graph::op(NodeOp op, Kind kind, Ref a, Ref b, Ref c, std::uint8_t detail) {
  const Node node{op, kind, detail, a, b, c, 0};
  if (!std::ranges::all_of(node.operands(), [&](Ref r) { return is_constant(r); }))
    return add(node);
  const auto value = [&](Ref r) -> std::uint64_t {
    if (r == no_ref) return 0;
    return negated(r) ? ~(*this)[r].bits : (*this)[r].bits;
  };
  const std::uint64_t result = evaluate(node, value(a), value(b), value(c));
  if (kind == Kind::Mask) return result != 0 ? always_ : complement(always_);
  return constant(kind, result);
}

Ref Graph::both(Ref a, Ref b) {
  const Ref never = complement(always_);
  if (a == b || b == always_) return a;
  if (a == always_) return b;
  if (a == never || b == never || a == complement(b)) return never;
  for (const auto& [below, other] : {std::pair(a, b), std::pair(b, a)}) {
    // A number below zero is not zero.
    const Node &x = (*this)[below], &y = (*this)[other];
    if (negated(below) || x.op != NodeOp::Negative || y.op != NodeOp::IsZero || x.a != y.a)
      continue;
    return negated(other) ? below : never;
  }
  return op(NodeOp::Both, Kind::Mask, a, b);
}

Ref Graph::append(Ref mask, Ref entry, AppendKey key) {
  if (mask == complement(always_)) return constant(Kind::Bits, 0);
  return add({NodeOp::Append, Kind::Bits, 0, mask, entry, no_ref, key.packed()});
}

Ref Graph::select(Ref mask, Ref yes, Ref no) {
  if (mask == always_ || yes == no) return yes;
  if (mask == complement(always_)) return no;
  const Kind kind = (*this)[yes].kind;
  if (kind == Kind::Mask) {
    const Ref first = both(mask, yes);
    const Ref second = both(complement(mask), no);
    // Often one of them is empty, or the complement of the result is a single Both.
    if (second == complement(always_)) return first;
    if (no == complement(mask)) return complement(both(mask, complement(yes)));
    return complement(both(complement(first), complement(second)));
  }
  if (negated(mask)) return op(NodeOp::Select, kind, complement(mask), no, yes);
  return op(NodeOp::Select, kind, mask, yes, no);
}

Ref Graph::rebuilt(const Node& node, Ref a, Ref b, Ref c) {
  switch (node.op) {
    case NodeOp::Both:
      return both(a, b);
    case NodeOp::Select:
      return select(a, b, c);
    case NodeOp::AsBits:
      return as_bits(a);
    case NodeOp::AsNumber:
      return as_number(a);
    case NodeOp::Append:
      return append(a, b, AppendKey::unpack(node.bits));
    case NodeOp::Fma:
    case NodeOp::Rsqrt:
    case NodeOp::Recip:
    case NodeOp::Lookup:
    case NodeOp::Function:
      return add({node.op, node.kind, node.detail, a, b, c, node.bits});
    default:
      return is_leaf(node.op) ? add(node) : op(node.op, node.kind, a, b, c, node.detail);
  }
}

Ref Graph::as_bits(Ref number) {
  const Node node = (*this)[number];
  if (node.op == NodeOp::AsNumber) return node.a;
  return op(NodeOp::AsBits, Kind::Bits, number);
}

Ref Graph::as_number(Ref bits) {
  const Node node = (*this)[bits];
  if (node.op == NodeOp::AsBits) return node.a;
  return op(NodeOp::AsNumber, Kind::Number, bits);
}

std::vector<bool> with_operands(const Graph& graph, std::vector<bool> marked) {
  for (std::uint32_t n = static_cast<std::uint32_t>(graph.size()); n-- > 0;) {
    if (!marked[n]) continue;
    for (const Ref r : graph[ref_to(n)].operands()) marked[node_of(r)] = true;
  }
  return marked;
}

std::optional<double> constant_added(const Graph& g, const Node& node) {
  if (!is_sum(node.op)) return std::nullopt;
  const Ref constant = g.is_constant(node.a) ? node.a : node.b;
  if (!g.is_constant(constant)) return std::nullopt;
  const double value = std::bit_cast<double>(g[constant].bits);
  if (value == 0) return std::nullopt;
  return constant == node.b && node.op == NodeOp::Sub ? -value : value;
}

}  // namespace gdr::native
