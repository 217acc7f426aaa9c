// Sums of the reduction network in doubles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/host/isa.hpp"

namespace gdr {

/// Consecutive rows of longs: `lanes` upper shorts, then as many lower ones.
struct LongRows {
  std::uint64_t* shorts = nullptr;
  std::size_t count = 0, lanes = 0;
};

/// Sums of the reduction network: leaves the sum of all rows in the first, in the order of
/// reduce_tree. False if the sum is not verified exact in doubles, or this host's flags do not
/// work: then nothing has changed.
bool add_rows_in_doubles(Isa isa, const LongRows& rows);

}  // namespace gdr
