// The loops that engines execute on arm64 for kernels of the library.
#pragma once

#include <cstddef>
#include <string>

#include "bench/arm_code/arm_loops.hpp"

namespace gdr::bench {

/// A loop of the native engines, without rare conditions. Empty if the body is no loop among
/// floats.
ArmLoop native_loop_for_arm(const ArmTools& tools, const std::string& kernel, bool floats);
/// An iteration of the exact engine over all elements of some PEs. Empty if it is not verified.
ArmLoop exact_loop_for_arm(const ArmTools& tools, const std::string& kernel);
/// Loads and stores of spilled registers in a loop of the native engines.
std::size_t spills_for_arm(const std::string& kernel, bool floats);

}  // namespace gdr::bench
