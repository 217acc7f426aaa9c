// One line of the source: which parser it belongs to.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/lines.hpp"

namespace gdr::assembly {

/// Parse one line. Errors are reported and end the line.
void parse_statement(Assembly& a, const Line& line, LineReader& reader);

/// Nothing but blanks and a comment may follow; reports what does.
void expect_end(Assembly& a, Cursor& c);

/// Check a name that is about to be declared and report what is wrong with it: a word of the
/// language has to stand in quotes. False after an error.
bool may_declare(Assembly& a, Span word, bool quoted = false);

/// `NAME` or `"NAME"` at the cursor; reports if there is none.
bool parse_new_name(Assembly& a, Cursor& c, Span& word, const char* what);

}  // namespace gdr::assembly
