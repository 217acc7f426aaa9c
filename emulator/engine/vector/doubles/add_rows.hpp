// Sums of the reduction network in doubles: many rows of longs, added up pair by pair.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/host/isa.hpp"

namespace gdr {

/// Rows of longs one behind the other: of each `lanes` upper shorts and then as many lower ones.
struct LongRows {
  std::uint64_t* shorts = nullptr;
  std::size_t count = 0, lanes = 0;
};

/// Leaves the sum of all rows in the first, in the order of reduce_tree. False if doubles cannot
/// show that it is right, or are not to be trusted on this host: then nothing has changed.
bool add_rows_in_doubles(Isa isa, const LongRows& rows);

}  // namespace gdr
