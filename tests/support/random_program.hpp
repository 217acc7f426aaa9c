// Random programs with all parts of a program, for tests of other components.
#pragma once

#include "emulator/selftest/case.hpp"

namespace gdr::test {

using selftest::Rng;

/// Adds name, variables, symbols, source lines and files to a program, for tests of object files
/// and disassembly.
void add_interface(Program& program, Rng& rng);

}  // namespace gdr::test
