// A trace as lowered IR: one piece for each level.
#pragma once

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// Base pointers of the code.
enum Base : std::uint8_t {
  base_element,  ///< rows at the current element and vectors
  base_lanes,    ///< rows at the current vectors
  base_scratch,
  base_constants,
  base_memory,  ///< this and the next two: DoublesRun::memory, once for a pass
  base_count = base_memory + 3
};

/// Pieces of code: `pass` comes first, `lanes` for every group of vectors, then `element` for each
/// of its elements, then `left`. What later pieces need of earlier ones is in the scratch.
struct Pieces {
  jit::Block pass, lanes, element, left;
  std::uint32_t kept = 0;  ///< vectors of scratch that they use
};

/// How the steps of several vectors are interleaved: `window` as jit::order_for_latency has it.
struct Arrangement {
  unsigned copies = 1;
  std::size_t window = 1;
};

Pieces to_ir(const Trace& trace, jit::VectorTarget target, Arrangement arrangement,
             jit::ConstantPool& pool);

}  // namespace gdr::codegen
