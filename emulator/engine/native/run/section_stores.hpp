// Lanes of a section's results to the state and the broadcast memory.
#pragma once

#include "emulator/engine/native/run/section_frame.hpp"

namespace gdr::native {

/// Stores all results, with shorts that move unchanged, and constants that the next section does
/// not absorb.
void store_all(SectionFrame& f, const std::vector<ConstantRoot>& constants);

}  // namespace gdr::native
