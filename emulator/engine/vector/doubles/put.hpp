// Transfers from PEs to the broadcast memory, and the end of a list: kernels that need no vectors.
#pragma once

#include "emulator/engine/vector/doubles/op.hpp"

namespace gdr {

/// A lane's short to DoublesRun::put: read before anything of the instruction is written.
void read_lane(const DoublesOp& op, DoublesRun& run);
/// From there to the broadcast memory; and where the lane's mask lets it.
void write_always(const DoublesOp& op, DoublesRun& run);
void write_masked_word(const DoublesOp& op, DoublesRun& run);
/// Longs of a lane, element by element, to words that stand side by side: `a` has their upper and
/// lower halves.
void put_longs(const DoublesOp& op, DoublesRun& run);
/// Whether it is one of these.
bool touches_memory(DoublesKernel kernel);
/// The operation behind the last one; and one that stops, to go on behind it.
void stop(const DoublesOp& op, DoublesRun& run);
void pause(const DoublesOp& op, DoublesRun& run);
/// Operations after which there is a pause.
constexpr std::size_t pause_after = 256;

/// An operation without operands.
DoublesOp plain_operation(DoublesKernel kernel);

}  // namespace gdr
