// A segment as lowered IR: which instructions of a vector unit do what its graph says.
#pragma once

#include "emulator/engine/jit/constants.hpp"
#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/native/code.hpp"

namespace gdr::native {

/// Base pointers of a kernel's code.
enum Base : std::uint8_t {
  base_items,     ///< the work items
  base_source,    ///< the group of source words of this pass
  base_uniforms,  ///< words that do not move
  base_spills,
  base_carried,  ///< set of carried values that is read
  base_next,     ///< the one that is written
  base_constants,
  base_count
};

jit::VectorTarget vector_target(Target target) noexcept;

/// What the segments of a kernel's code have in common.
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
  jit::Block block;        ///< for one work item after the other, side by side
  unsigned pressure = 0;   ///< most vectors alive at a time in one work item
  bool in_memory = false;  ///< a loop: some carried values go through memory
};

/// Where carried values are stored: in the other set, or at the end of the code over the old ones.
enum class CarriedStores : std::uint8_t { Next, InPlace };

/// For `copies` work items at once. Of a loop's carried values up to `resident` of each work item
/// stay in registers.
IrSegment to_ir(IrContext& context, const Segment& segment, unsigned copies, CarriedStores stores);
IrSegment loop_to_ir(IrContext& context, const Segment& segment, unsigned copies,
                     unsigned resident);

}  // namespace gdr::native
