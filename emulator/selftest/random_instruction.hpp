// Machines and instructions drawn at random from the instruction table.
#pragma once

#include <cstdint>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/instruction.hpp"
#include "emulator/selftest/draw.hpp"
#include "emulator/selftest/words.hpp"

namespace gdr::selftest {

/// A machine that is small and odd more often than not: PEs not a multiple of eight, memories of
/// few words and of sizes that are no power of two.
Geometry random_geometry(Draw& draw);

/// How far operands relative to an item may reach, in shorts (even).
struct ItemSizes {
  std::uint32_t source = 0, output = 0;
};

/// What instructions are drawn by. Chances are in percent.
struct Style {
  Mood immediates = Mood::Hostile;
  bool keep_ports = true;         ///< else an element still never writes one place twice
  unsigned float_chance = 0;      ///< that an adder slot is drawn from floating point only
  unsigned long_chance = 50;      ///< that a location is a long
  unsigned indirect_chance = 10;  ///< that an operand in local memory is addressed through T
};

/// A well-formed instruction that addresses only what the geometry has.
Instruction random_instruction(Draw& draw, const Geometry& geometry, const ItemSizes& items,
                               const Style& style);

/// True if two results of an element may go to one place. Items may stand anywhere, so whatever is
/// in the broadcast memory counts as one place.
bool writes_twice(const Instruction& instruction, const Geometry& geometry);

}  // namespace gdr::selftest
