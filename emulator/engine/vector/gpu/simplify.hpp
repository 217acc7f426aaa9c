// Simpler traces for a GPU's text.
#pragma once

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// Replaces operations on constant bits by their results, and shifts by constants with their own
/// operations. Unused steps remain.
void simplify(Trace& trace);

}  // namespace gdr::codegen
