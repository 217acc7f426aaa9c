// Reciprocals and reciprocal square roots that a program works out from the bits of a number: which
// values are one, over the whole range of that number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/native/graph.hpp"

namespace gdr::native {

/// value = scale / sqrt(x) or scale / x.
struct Idiom {
  NodeOp op = NodeOp::Recip;  ///< Rsqrt or Recip
  double scale = 1;
  double error = 0;    ///< largest relative deviation
  double at_zero = 0;  ///< the value at +0; Recip: at -0 it has the other sign
};

/// Nodes that depend on x and constants alone, by index; x itself first. Selects, minima and maxima
/// end it: what they choose by is no part of a sequence.
std::vector<std::uint32_t> cone_of(const Graph& graph, Ref x);

/// For each node of a cone the idiom that it is. A node is one if it equals c/x or c/sqrt(x) to a
/// part in a thousand at every exponent and both signs of x, is no number where x is none, and not
/// finite where x is infinite. Within a few powers of two of the ends of the range, where the steps
/// of a sequence leave it, the program's value means nothing and the function's takes its place. Of
/// a root, negative x must lead to infinities or NaN: a sequence that is finite there means
/// something by it.
std::vector<std::optional<Idiom>> find_idioms(const Graph& graph,
                                              const std::vector<std::uint32_t>& cone);

}  // namespace gdr::native
