// Instruction selection: a segment's graph as lowered IR.
#pragma once

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/native/code.hpp"

namespace gdr::native {

/// Base pointers of a kernel's code.
enum Base : std::uint8_t {
  base_items,     ///< the work items
  base_source,    ///< the group of source words of this pass
  base_uniforms,  ///< invariant words
  base_spills,
  base_carried,  ///< set of loop-carried values to read
  base_next,     ///< the set to write
  base_constants,
  base_count
};

jit::VectorTarget vector_target(Target target) noexcept;

/// Common context of a kernel's segments.
struct IrContext {
  Target target;
  const KernelCode& kernel;
  const WordTable& source_words;
  const WordTable& uniform_words;
  jit::ConstantPool pool;

  std::uint32_t word_bytes() const noexcept { return target.lane_bytes(); }
  std::uint32_t group_bytes() const noexcept {
    return static_cast<std::uint32_t>(source_words.words.size()) * word_bytes();
  }
};

struct IrSegment {
  jit::Block block;        ///< interleaved code of all work items
  unsigned pressure = 0;   ///< maximum number of live vectors in one work item
  bool in_memory = false;  ///< a loop: some carried values go through memory
};

/// Destination of carried values: the other set, or the same one at the end of the code.
enum class CarriedStores : std::uint8_t { Next, InPlace };

/// Lowers a segment for `copies` work items. Up to `resident` loop-carried values of each work item
/// stay in registers.
IrSegment to_ir(IrContext& context, const Segment& segment, unsigned copies, CarriedStores stores);
IrSegment loop_to_ir(IrContext& context, const Segment& segment, unsigned copies,
                     unsigned resident);

}  // namespace gdr::native
