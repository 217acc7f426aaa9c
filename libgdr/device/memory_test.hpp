// Part of a board's test: the memories inside its chips.
#pragma once

#include <string>

#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// Every PE writes patterns to all registers, its local memory and T and verifies them; a stream of
/// words passes the broadcast memories. Every bit is tested as 0 and as 1, and every word differs
/// from its neighbours. Returns the failure and its location; empty: none. `device` has a single
/// board and distributes targets over its blocks. Machines with too few registers or instructions
/// are not tested.
std::string test_inner_memories(Device& device, const Geometry& geometry, unsigned round);

}  // namespace gdr
