// The function of a trace: loops over vectors of lanes and elements around the code of their
// levels.
#pragma once

#include <cstdint>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// Vector registers that collect failures, behind those of values; with mask registers the last two
/// of these do.
constexpr unsigned failure_sets = 2;
jit::RegisterLimits register_limits(jit::VectorTarget target);

/// Interleaved vectors and the window of their order, which were measured, for rows of so many
/// vectors.
Arrangement fastest_arrangement(const Trace& trace, jit::VectorTarget target,
                                std::uint32_t vectors);

/// The counters of the two loops.
enum class Counter : std::uint8_t { Vectors, Elements };

/// Emits the function through a Host, which has the instructions for scalars and labels of one
/// architecture (x86/assemble.cpp, arm64/assemble.cpp).
template <typename Host>
class LoopNestEmitter {
 public:
  LoopNestEmitter(Host& host, const Trace& trace, jit::VectorTarget target, std::uint32_t lanes)
      : h_(host),
        target_(target),
        trace_(trace),
        pool_(target_, base_constants),
        vectors_(lanes / target_.lanes()),
        arrangement_(fastest_arrangement(trace, target_, vectors_)),
        code_(to_ir(trace, target_, arrangement_, pool_)),
        spills_{base_scratch, static_cast<std::int32_t>(code_.kept * target_.vector_bytes), 0} {}

  void emit(std::uint32_t scratch) {
    h_.begin(scratch);
    emit(code_.iteration);
    // From here on the broadcast memory is not read, and its registers count.
    h_.begin_loop(Counter::Vectors, vectors_ / arrangement_.copies);
    emit(code_.lanes);
    h_.first_element();
    h_.begin_loop(Counter::Elements, trace_.elements);
    emit(code_.element);
    h_.advance(base_element, trace_.row_bytes);
    h_.end_loop(Counter::Elements);
    emit(code_.left);
    h_.advance(base_lanes, target_.vector_bytes * arrangement_.copies);
    h_.end_loop(Counter::Vectors);
    h_.end(pool_.bytes());
  }
  std::uint32_t scratch_bytes() const {
    return (code_.kept + spills_.slots) * target_.vector_bytes;
  }
  unsigned copies() const { return arrangement_.copies; }

 private:
  void emit(const jit::Block& block) {
    h_.emit(jit::allocate(block, target_, register_limits(target_), spills_).body);
  }

  Host& h_;
  jit::VectorTarget target_;
  const Trace& trace_;
  jit::ConstantPool pool_;
  std::uint32_t vectors_;
  Arrangement arrangement_;
  LoopNestCode code_;
  jit::SpillArea spills_;
};

}  // namespace gdr::codegen
