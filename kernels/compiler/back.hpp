// From the pair law to assembly text: lowering, scheduling, placement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/emit/emit.hpp"
#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/place/layout.hpp"

namespace gdr::kc {

/// Where a schedule was found: looked for there first, it is found again at once.
struct Hint {
  unsigned elements = 0, interval = 0, copies = 1;
  bool guarded = false;
  bool recompute = false;  ///< values are worked out again where there is no room
  std::uint64_t seed = 0, moves = 0;
};
/// As a comment for the kernel's source, `schedule: elements 4 interval 19 ...`, and back. A text
/// without one, or with one that makes no sense, gives nothing.
std::string to_text(const Hint& hint);
std::optional<Hint> find_hint(std::string_view source);

struct BackOptions {
  Geometry geometry;
  unsigned elements = 0;   ///< targets a PE holds, 1 to 4; 0: as many as fit
  unsigned effort = 3;     ///< how long to look for a shorter loop: 0 (first that works) to 9
  std::uint64_t seed = 1;  ///< of the search; the result depends on nothing else
  bool relaxed = false;    ///< allow what changes roundings
  std::span<const SourceText> sources;  ///< for comments: what the places of the graph refer to
  std::optional<Hint> hint;             ///< where to look first
  std::stop_token stop;                 ///< see CompileOptions
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
  Hint found;               ///< for the next time
  unsigned recomputed = 0;  ///< values that are worked out late or again, for want of room
  std::string assembly;
  std::vector<std::string> remarks;  ///< what the compiler chose, in words for the user
};

/// Compile, or throw Refusal.
void compile_graph(const Graph& graph, const BackOptions& options, Compiled& out);

}  // namespace gdr::kc
