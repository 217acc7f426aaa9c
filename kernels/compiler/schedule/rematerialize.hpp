// Rematerialization: recompute values instead of keeping them where memory is short.
#pragma once

#include "kernels/compiler/machine_ir.hpp"

namespace gdr::kc {

/// Reduces the number of live shorts of an item, to `capacity` if possible. Values with late uses
/// only are computed later; values with early and late uses are computed twice if a few operations
/// on available values suffice. The operations end up in an order of short lifetimes. Returns the
/// number of values that are moved or duplicated.
unsigned rematerialize(MachineLoop& loop, unsigned capacity);

}  // namespace gdr::kc
