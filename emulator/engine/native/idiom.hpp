// Recognition of reciprocals and reciprocal square roots that a program computes from the bits of a
// number, over the whole range of that number.
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
/// end the sequence.
std::vector<std::uint32_t> cone_of(const Graph& graph, Ref x);

/// The idiom of each node of a cone, if any. A node is an idiom if it equals c/x or c/sqrt(x) to a
/// part in a thousand at every exponent and both signs of x, is NaN where x is NaN, and not finite
/// where x is infinite. Within a few powers of two of the ends of the range, where the steps of a
/// sequence leave it, the program's value is meaningless and replaced by the function's. For a
/// root, negative x must give infinities or NaN: a sequence that is finite there is not replaced.
std::vector<std::optional<Idiom>> find_idioms(const Graph& graph,
                                              const std::vector<std::uint32_t>& cone);

}  // namespace gdr::native
