// Words of a chip as bits.
#pragma once

#include "gdr/debugger.hpp"

namespace gdr {

/// MachinePlace::section at the end of the program.
constexpr unsigned section_at_end = 4;

/// Throw Error (Usage) for a word that the chip lacks.
MachineBits bits_of(const Machine& machine, const MachineWord& word);
/// Also throws for too many bits; the chip is then unchanged.
void set_bits(Machine& machine, const MachineWord& word, const MachineBits& bits);

}  // namespace gdr
