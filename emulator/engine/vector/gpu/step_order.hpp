// The order of a loop's steps in its text.
#pragma once

#include <vector>

#include "emulator/engine/vector/gpu/traced_loop.hpp"

namespace gdr::codegen {

/// Steps in the order of the text. A list has only steps that may branch, or only others.
using StepLists = std::vector<std::vector<StepId>>;

/// A sum that an iteration computes with few operations, unless a test asks for a branch.
bool may_branch(const TracedLoop& loop, StepId n);

/// Orders steps so that few branches are needed, and few values wait in registers.
StepLists step_lists(const TracedLoop& loop, const std::vector<StepId>& steps);

}  // namespace gdr::codegen
