// Random geometries and instructions from the instruction table.
#pragma once

#include <cstdint>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/instruction.hpp"
#include "emulator/selftest/operands.hpp"
#include "emulator/selftest/rng.hpp"

namespace gdr::selftest {

/// A geometry, mostly small and odd: PEs not a multiple of eight, small memories whose sizes are no
/// power of two.
Geometry random_geometry(Rng& rng);

/// How far operands relative to an item may reach, in shorts (even).
struct ItemSizes {
  std::uint32_t source = 0, output = 0;
};

/// Parameters of random instructions. Chances are in percent.
struct Style {
  OperandDistribution immediates = OperandDistribution::Hostile;
  bool keep_ports = true;         ///< if false, still no location is written twice by an element
  unsigned float_chance = 0;      ///< adder slots with floating point only
  unsigned long_chance = 50;      ///< long locations
  unsigned indirect_chance = 10;  ///< T-indirect operands in local memory
};

/// A well-formed instruction that addresses only what the geometry has.
Instruction random_instruction(Rng& rng, const Geometry& geometry, const ItemSizes& items,
                               const Style& style);

/// True if two results of an element may go to one place. The whole broadcast memory counts as one
/// place, since items may be anywhere.
bool writes_twice(const Instruction& instruction, const Geometry& geometry);

}  // namespace gdr::selftest
