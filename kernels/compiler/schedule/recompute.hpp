// Working values out again, where keeping them takes more room than there is.
#pragma once

#include "kernels/compiler/machine.hpp"

namespace gdr::kc {

/// Brings down how many shorts the values of an item take at a time, to `room` if that is possible:
/// what is read late only is worked out late, and what is read early and late is worked out a
/// second time, if a few operations do that from what is there anyway. The operations end up in an
/// order in which values live as shortly. Returns how many values are now worked out later or
/// again.
unsigned recompute(MachineLoop& loop, unsigned room);

}  // namespace gdr::kc
