// Vectorised conversions of numbers to adjacent words and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/host/isa.hpp"

namespace gdr {

/// n numbers of the host, `stride` words from one to the next, to the halves of words. Conversions
/// to shorts do not write lower halves.
using RowsToWords = void (*)(const std::uint64_t* numbers, std::size_t stride, std::size_t n,
                             std::uint64_t* upper, std::uint64_t* lower);
/// Words to numbers side by side.
using RowsFromWords = void (*)(const std::uint64_t* upper, const std::uint64_t* lower,
                               std::size_t n, std::uint64_t* numbers);

/// For one instruction set of the host. All give the same bits.
struct PortRows {
  RowsToWords double_to_long, double_to_short, int_to_long, int_to_short;
  RowsFromWords long_to_double;
};
const PortRows& port_rows(Isa isa) noexcept;

}  // namespace gdr
