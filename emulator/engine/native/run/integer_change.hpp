// How far sums of integers can go.
#pragma once

#include <optional>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/translate/integer_sums.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// By how much an iteration of the loop, or End, changes results that are sums of integers (iadd)
/// at most. None if that is not known. `folded`: see PackedPlan; the program can be packed so.
std::optional<IntegerBound> integer_change(const CompiledProgram& compiled,
                                           const LoadedProgram& loaded, bool folded);

}  // namespace gdr::native
