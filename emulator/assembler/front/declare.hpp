// Declarations of variables and names.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/keywords.hpp"

namespace gdr::assembly {

/// `KIND WIDTH NAMES... CONVERSION [REDUCE] [at LOCATION] [pad NUMBER]`; the cursor is after KIND.
void parse_declaration(Assembly& a, Cursor& c, const Keyword& keyword);

/// `alias NAME = LOCATION`, and `.symbol NAME LOCATION` where `equals` is false.
void parse_alias(Assembly& a, Cursor& c, bool equals);
/// `const NAME = EXPRESSION`.
void parse_const(Assembly& a, Cursor& c);

}  // namespace gdr::assembly
