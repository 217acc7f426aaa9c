// Minimisation of a failing case.
#pragma once

#include "emulator/selftest/case.hpp"

namespace gdr::selftest {

/// Fewer PEs, iterations, sections, instructions, slots, destinations and elements, as long as the
/// engines leave different states. `test` must be a case on which they do.
Case shrink(const Engine& reference, const Engine& other, Case test);

}  // namespace gdr::selftest
