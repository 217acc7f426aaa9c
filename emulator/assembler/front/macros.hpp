// Text that makes text: includes, repeats, templates, and braces inside words.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/lines.hpp"

namespace gdr::assembly {

/// Parse every line that the reader gives.
void parse_lines(Assembly& a, LineReader& reader);

/// Directives that take over the reader; the cursor stands behind the directive's word.
void parse_repeat(Assembly& a, Cursor& c, Span word, LineReader& reader);
void parse_template(Assembly& a, Cursor& c, Span word, LineReader& reader);
void parse_include(Assembly& a, Cursor& c, Span word);

/// Use of a template; the cursor stands on the opening parenthesis.
void expand_template(Assembly& a, Cursor& c, Span word, const Name& name);

/// Replace every `{EXPRESSION}` of a line. False after an error.
bool expand_braces(Assembly& a, const Line& line, std::string& text, std::vector<Segment>& map);

/// A string in double quotes with its escapes resolved. False after an error.
bool parse_string(Assembly& a, Cursor& c, std::string& text);

/// Add a source text; gives its number.
std::uint32_t add_source(Assembly& a, std::string name, std::string text);

}  // namespace gdr::assembly
