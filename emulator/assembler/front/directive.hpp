// Directives for sections, sizes, and names of kernel and files.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/keywords.hpp"

namespace gdr::assembly {

/// Parse a directive; the cursor is after its word. Directives that read lines (repeats, templates,
/// includes) or declare names (alias, const, .symbol) are parsed elsewhere.
void parse_directive(Assembly& a, Cursor& c, Directive directive, Span word);

}  // namespace gdr::assembly
