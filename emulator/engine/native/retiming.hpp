// Loops of sums whose items are all computed in one pass, whatever pipeline the program has.
//
// A program that was pipelined hands on products, differences and so on from pass to pass, and a
// pass adds terms of the items of this pass and of the last one. Where all that is handed on, but
// for sums, is made of items alone, the terms of an item can be added in any pass: the loop adds
// all terms of a group one pass late, computed from that group, and hands on nothing but sums. That
// is retiming (Leiserson and Saxe, Algorithmica 6, 1991) by one pass.
#pragma once

#include <optional>

#include "emulator/engine/native/loop_copy.hpp"

namespace gdr::native {

/// The pieces of such a loop (without `once`); nothing if the kernel is not of that form.
std::optional<LoopForm> retimed_loop(const Kernel& kernel);

}  // namespace gdr::native
