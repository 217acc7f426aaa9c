// Retiming of software-pipelined loops whose only recurrences are sums.
//
// A software-pipelined program carries products, differences and so on from pass to pass, and a
// pass adds terms of its own items and of the previous ones. If all carried values except sums
// depend on items only, the terms of an item can be added in any pass: the loop adds all terms of a
// group one pass late, computed from that group, and carries only sums. This is retiming (Leiserson
// and Saxe, Algorithmica 6, 1991) by one pass.
#pragma once

#include <optional>

#include "emulator/engine/native/loop_copy.hpp"

namespace gdr::native {

/// The segments of such a loop (without `once`); nothing if the kernel is not of that form.
std::optional<LoopForm> retimed_loop(const Kernel& kernel);

}  // namespace gdr::native
