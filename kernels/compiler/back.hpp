// From the pair law to assembly text: lowering, scheduling, placement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/emit/emit.hpp"
#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/place/layout.hpp"

namespace gdr::kc {

struct BackOptions {
  Geometry geometry;
  unsigned elements = 0;   ///< targets a PE holds, 1 to 4; 0: as many as fit
  unsigned effort = 3;     ///< how long to look for a shorter loop: 0 (first that works) to 9
  std::uint64_t seed = 1;  ///< of the search; the result depends on nothing else
  bool relaxed = false;    ///< allow what changes roundings
};

/// A scheduled kernel and everything that a report tells about it.
struct Compiled {
  Graph graph;  ///< with inferred types and gates in their places
  MachineLoop loop;
  Problem problem;  ///< refers to `loop` of this object: do not copy apart from it
  Schedule schedule;
  Layout layout;
  ItemLayout item;
  bool guarded = false;
  std::string assembly;
  std::vector<std::string> remarks;  ///< what the compiler chose, in words for the user
};

/// Compile, or throw gdr::Error (Program) that says which resource does not suffice.
void compile_graph(const Graph& graph, const BackOptions& options, Compiled& out);

}  // namespace gdr::kc
