// Transfers from PEs to the broadcast memory, and the end of a list: kernels that need no vectors.
#pragma once

#include "emulator/engine/vector/doubles/op.hpp"

namespace gdr {

/// Copies a lane's short to DoublesRun::put, before the instruction writes anything.
void read_lane(const DoublesOp& op, DoublesRun& run);
/// Stores it to the broadcast memory, always or under the lane's mask.
void write_always(const DoublesOp& op, DoublesRun& run);
void write_masked_word(const DoublesOp& op, DoublesRun& run);
/// Longs of a lane, element by element, to words that stand side by side: `a` has their upper and
/// lower halves.
void store_longs(const DoublesOp& op, DoublesRun& run);
/// True for these kernels.
bool touches_memory(DoublesKernel kernel);
/// The operation behind the last one; and one that stops, to go on behind it.
void stop(const DoublesOp& op, DoublesRun& run);
void pause(const DoublesOp& op, DoublesRun& run);
/// Operations after which there is a pause.
constexpr std::size_t pause_after = 256;

/// An operation without operands.
DoublesOp plain_operation(DoublesKernel kernel);

}  // namespace gdr
