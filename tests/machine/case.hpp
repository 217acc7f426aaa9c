// Machine tests as text: a small program, the contents of memories before it, and those after it.
//
// A file (`*.gdt`) contains cases. Lines that begin with one of these words describe the test, all
// others are the program, in the assembly language:
//
//   .case NAME                       a new case
//   .geometry blocks=2 pes=5 ...     sizes of the machine (default: blocks=1 pes=3)
//   .set LOCATION [pe N] [block N] = VALUES
//   .run [iterations=N] [source=BASE+STEP] [output=BASE+STEP] [flags]
//   .expect LOCATION [pe N] [block N] == VALUES
//   .expect flags [block N] == LETTERS          of i, o, u; or -
//   .expect reduce OPERATION LOCATION == VALUE  the reduction of the blocks' words
//   .refused TEXT                    the program must be refused with a message that contains TEXT
//
// A LOCATION is written as in assembly ($lr4, $r5v, $m7, $t, $tl, $lb0, and m3 for a mask); of a
// vector and of T the VALUES are those of the elements, one value is for all of them. Without `pe`
// or `block` all are meant. A VALUE is hex (18 digits a long, 9 a short), a number with a point (a
// float of the location's width, which must be exact), an integer, or 0 and 1 for a mask.
// All other words must be unchanged: a case fails on every write that no `.expect` names.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"

namespace gdr::test {

/// One `.set` or `.expect`: words for a location of some PEs and blocks.
struct Cell {
  unsigned line = 0;
  bool mask = false;  ///< a mask, whose number is `location.address`
  Operand location;
  int pe = -1, block = -1;  ///< -1: all
  std::vector<u128> values;
};

struct FlagsCell {
  int block = -1;
  Flags flags = no_flags;
};

struct ReduceCell {
  unsigned line = 0;
  Reduce op = Reduce::Pass;
  std::uint32_t address = 0;
  u128 value = 0;
};

struct MachineCase {
  std::string file, name;
  unsigned line = 0;
  Geometry geometry;
  std::string program;  ///< test lines are replaced by empty lines, which keeps line numbers
  std::vector<Cell> before, after;
  std::vector<FlagsCell> flags;
  std::vector<ReduceCell> reduced;
  std::string refused;
  BlockRun run;
  bool source_given = false, output_given = false;
};

/// The cases of a text. Throws std::runtime_error with file and line for invalid lines.
std::vector<MachineCase> parse_cases(const std::string& text, const std::string& file);

/// Runs a case on every engine and instruction set of this host; empty if each leaves the expected
/// state, else what is different.
std::string run_machine_case(const MachineCase& test);

}  // namespace gdr::test
