// In which order the items of a piece are to be emitted.
#pragma once

#include <vector>

#include "emulator/engine/vector/doubles/fused/x86/block.hpp"

namespace gdr::fused {

/// The steps of one level that have no home yet, each copy of it, and the stores of its values;
/// what others wait for comes early.
std::vector<Block::Item> items_in_order(const Function& f, Level level);

}  // namespace gdr::fused
