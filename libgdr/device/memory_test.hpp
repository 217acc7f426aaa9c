// A part of the test of a board: the memories inside its chips.
#pragma once

#include <string>

#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// Every PE writes patterns to all of its registers, its local memory and T, and looks whether they
/// are there; a stream of words goes through the broadcast memories. Every bit is 0 once and 1
/// once, and every word differs from its neighbours. What is wrong and where; empty: nothing is.
/// `device` has a single board, and shares targets out over its blocks. Machines with fewer
/// registers or instructions than it takes are not tested.
std::string test_inner_memories(Device& device, const Geometry& geometry, unsigned round);

}  // namespace gdr
