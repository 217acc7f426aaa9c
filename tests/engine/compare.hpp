// Runs a random case on two engines; finds, shrinks and words a difference between them.
#pragma once

#include <optional>
#include <string>

#include "emulator/engine/engine.hpp"
#include "support/random_program.hpp"

namespace gdr::test {

/// The state that an engine leaves.
BlockState run_case(const Engine& engine, const RandomCase& test);

/// True if both engines leave the same state, flags included.
bool agree(const Engine& reference, const Engine& other, const RandomCase& test);

/// The smallest part of a case on which the engines still differ: fewer iterations, instructions,
/// slots and elements. `test` must be one on which they do.
RandomCase shrink(const Engine& reference, const Engine& other, RandomCase test);

/// The first instruction that leaves different states, with iteration, memory, PE, element and
/// both words; and the whole case as it stands.
std::string explain(const Engine& reference, const Engine& other, const RandomCase& test);

}  // namespace gdr::test
