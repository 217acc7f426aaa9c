#include "emulator/engine/native/translate/float_checks.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/engine/native/translate/integers.hpp"

namespace gdr::native {
namespace {

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

}  // namespace

void check_float_constants(const Segment& s) {
  const std::vector<bool> needed = needed_nodes(s);
  for (std::uint32_t n = 0; n < s.graph.size(); ++n) {
    const Node& node = s.graph[ref_to(n)];
    if (needed[n] && node.op == NodeOp::Constant && node.kind == Kind::Number)
      check_float_constant(node);
  }
}

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

}  // namespace gdr::native
