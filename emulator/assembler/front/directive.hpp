// Directives that set something: sections, sizes, names of the kernel and of files.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/keywords.hpp"

namespace gdr::assembly {

/// The cursor stands behind the directive's word. Those that take lines (repeats, templates,
/// includes) and names (alias, const, .symbol) are parsed elsewhere.
void parse_directive(Assembly& a, Cursor& c, Directive directive, Span word);

}  // namespace gdr::assembly
