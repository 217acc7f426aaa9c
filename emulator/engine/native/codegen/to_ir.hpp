// Instruction selection: a segment's graph as lowered IR.
#pragma once

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

jit::VectorTarget vector_target(Target target) noexcept;

struct IrSegment {
  jit::Block block;        ///< interleaved code of all work items
  unsigned pressure = 0;   ///< maximum number of live vectors in one work item
  bool in_memory = false;  ///< whether carried values of a loop go through memory
};

/// Destination of carried values: the other set, or the same one at the end of the code. A loop
/// keeps some in registers and stores the others to the other set.
enum class CarriedStores : std::uint8_t { Next, InPlace, Loop };

/// Lowers a segment for `copies` work items. Up to `resident` loop-carried values of each work item
/// of a loop stay in registers.
IrSegment to_ir(const CodeContext& context, jit::ConstantPool& pool, const Segment& segment,
                unsigned copies, CarriedStores stores, unsigned resident = 0);

}  // namespace gdr::native
