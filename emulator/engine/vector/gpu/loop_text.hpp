// A traced loop as OpenCL C.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// A row that every thread has a word of: read from the frame, or stored to it.
struct ThreadRow {
  std::uint32_t offset = 0;  ///< bytes in the frame; of the first element
  bool of_elements = false;  ///< a row for each element, else one for all
  bool from_memory = false;  ///< read: a word of the broadcast memory at `offset` instead
};

/// Two programs with a kernel `run` each. A thread executes the loop for one element of one PE; the
/// threads of a block are consecutive, those of an element, too.
struct LoopText {
  /// What depends on sources alone, a thread for each group of j-items:
  /// run(words, kept, failures, number of the first group, groups, words of a group).
  std::string sources;
  /// The iterations `begin` to `begin + iterations - 1`, or those that the block has:
  /// run(rows, results, kept, runs, failures, threads, begin, iterations).
  std::string loop;
  std::uint32_t kept = 0;          ///< words of a group that `sources` makes and `loop` reads; even
  std::vector<ThreadRow> rows;     ///< what threads read: those that iterations change come first
  std::uint32_t carried = 0;       ///< the number of these
  std::vector<ThreadRow> results;  ///< what threads store besides
};

/// `trace`: of the kernels for AVX2 (TestedSteps). Throws UnsupportedLoop.
LoopText loop_text(Trace trace);

/// Why a GPU does not execute a loop.
struct UnsupportedLoop {
  std::string why;
};

}  // namespace gdr::codegen
