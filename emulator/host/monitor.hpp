// The monitor of a thread, for threads outside of the pool that work for it.
#pragma once

#include "emulator/host/parallel.hpp"

namespace gdr {

/// The monitor that applies to this thread; without one, one that never stops.
const WorkMonitor& monitor_of_thread() noexcept;

}  // namespace gdr
