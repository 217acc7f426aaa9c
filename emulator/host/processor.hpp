// The processor that a thread runs on.
#pragma once

namespace gdr {

/// The number of the processor that this thread runs on; -1 if it is unknown.
int current_processor() noexcept;

/// Moves this thread to another processor if it runs on this one and may run on others. Afterwards
/// it may run wherever it could before.
void leave_processor(int processor) noexcept;

}  // namespace gdr
