// Reciprocals and reciprocal square roots as steps of a host.
#pragma once

#include "emulator/engine/native/translate/segment.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Whether a graph has reciprocals or roots.
bool uses_roots(const Graph& graph);

/// Square roots, x / sqrt(x), infinite where x is.
Segment with_infinite_roots(const Segment& segment);

/// Reciprocals and reciprocal square roots by the host's estimate and Newton steps, or by its
/// instructions where it has no estimate.
Segment with_steps(const Segment& segment, Target target);

}  // namespace gdr::native
