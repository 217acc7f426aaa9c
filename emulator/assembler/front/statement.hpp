// Parsing of one source line.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/lines.hpp"

namespace gdr::assembly {

/// Parse one line. An error ends the line.
void parse_statement(Assembly& a, const Line& line, LineReader& reader);

/// Reports an error unless only blanks and a comment follow.
void expect_end(Assembly& a, Cursor& c);

/// Report an error and return false if a new name is already declared, or reserved and not quoted.
bool check_new_name(Assembly& a, Span word, bool quoted = false);

/// `NAME` or `"NAME"` at the cursor; reports an error if there is none.
bool parse_new_name(Assembly& a, Cursor& c, Span& word, const char* what);

}  // namespace gdr::assembly
