// Random programs for tests of other rooms, with all that a program can have.
#pragma once

#include "emulator/selftest/generators.hpp"

namespace gdr::test {

using selftest::Rng;

/// Adds sections, source lines, files, variables and symbols, so that nothing of a program is left
/// out; for tests of object files and disassembly.
void add_interface(Program& program, Rng& rng);

}  // namespace gdr::test
