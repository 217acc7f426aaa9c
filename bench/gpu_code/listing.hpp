// NVIDIA's machine code as nvdisasm lists it: the loop of a kernel, and the shortest way through
// it.
#pragma once

#include <string>
#include <vector>

namespace gdr::bench {

/// The instructions of a loop, those of its jumps included.
struct LoopCode {
  /// The fewest instructions from the loop's beginning to its end: no rare branch is taken.
  std::vector<std::string> shortest_way;
  std::size_t all = 0;  ///< number of instructions, with those of all branches

  /// Instructions of the shortest way that compute or compare doubles.
  std::size_t on_doubles() const;
  /// Fused multiply-adds of the shortest way, of doubles or floats.
  std::size_t fused() const;
};

/// The loops of a listing (`nvdisasm -c`) without a loop inside.
std::vector<LoopCode> innermost_loops(const std::string& listing);

}  // namespace gdr::bench
