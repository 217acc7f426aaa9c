// Locations: registers, memories, T, fixed inputs, declared names, and their suffixes.
#pragma once

#include "emulator/assembler/front/assembly.hpp"

namespace gdr::assembly {

/// A location at the cursor: `$...` or a declared name, with its suffixes. `$null` and `$lnull`
/// give Space::None with their width. False after an error.
bool parse_location(Assembly& a, Cursor& c, Location& location);

/// Suffixes of a location at the cursor: `.v` `.s` `.hi` `.lo` `[K]` `@K`.
bool parse_suffixes(Assembly& a, Cursor& c, const char* begin, Location& location);

/// Description for messages: "a short register", "a long in local memory".
std::string describe(const Operand& operand);

}  // namespace gdr::assembly
