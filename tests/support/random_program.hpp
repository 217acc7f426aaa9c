// Programs, words and states drawn at random from the instruction table.
#pragma once

#include "emulator/engine/engine.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"
#include "support/draw.hpp"

namespace gdr::test {

/// A machine that is small and odd more often than not: PEs not a multiple of eight, memories of
/// few words and of sizes that are no power of two.
Geometry random_geometry(Draw& draw);

/// How far operands relative to an item may reach, in shorts (even).
struct ItemSizes {
  std::uint32_t source = 0, output = 0;
};

/// A well-formed instruction that addresses only what the geometry has. With `keep_ports` it keeps
/// all port limits; without, it still never writes one place twice in an element.
Instruction random_instruction(Draw& draw, const Geometry& geometry, const ItemSizes& items,
                               bool keep_ports);

/// A word that arithmetic finds hard: zeros with fractions, infinities, NaNs, numbers next to
/// 2^-1022 and to overflow, exact ties, exponents close together, small integers, random bits.
Long random_word(Draw& draw);

/// Fills every memory, T and the masks with random words.
void randomize(BlockState& block, Draw& draw);

/// A program (all in section Body) with a state to run it on and the run to make.
struct RandomCase {
  Geometry geometry;
  Program program;
  BlockState state;
  BlockRun run;
};
RandomCase random_case(std::uint64_t seed, bool keep_ports = true);

/// Adds sections, source lines, files, variables and symbols, so that nothing of a program is left
/// out; for tests of object files and disassembly.
void add_interface(Program& program, Draw& draw);

}  // namespace gdr::test
