// Conditions on the lists of a section.
#pragma once

#include "emulator/engine/native/translate/liveness.hpp"

namespace gdr::native {

/// Appends of one vector of PEs and one element are executed for all iterations before those of
/// others, so the lists must be disjoint, and nothing else may use them in their section. `start`:
/// the section that sets the counters; null: it runs on the exact engine. Throws Unsupported.
void check_lists(const SectionModel& model, const SectionModel* start, const Liveness& liveness,
                 const LiveOut& live, Section section);

}  // namespace gdr::native
