// Macros: includes, repeats, templates, and braces in words.
#pragma once

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/lines.hpp"

namespace gdr::assembly {

/// Parse all lines of the reader.
void parse_lines(Assembly& a, LineReader& reader);

/// Directives that read further lines; the cursor is after the directive's word.
void parse_repeat(Assembly& a, Cursor& c, Span word, LineReader& reader);
void parse_template(Assembly& a, Cursor& c, Span word, LineReader& reader);
void parse_include(Assembly& a, Cursor& c, Span word);

/// Use of a template; the cursor is at the opening parenthesis.
void expand_template(Assembly& a, Cursor& c, Span word, const Name& name);

/// Replace every `{EXPRESSION}` of a line. False after an error.
bool expand_braces(Assembly& a, const Line& line, std::string& text, std::vector<Segment>& map);

/// A quoted string with escape sequences. False after an error.
bool parse_string(Assembly& a, Cursor& c, std::string& text);

/// Report an error and return false if expansions exceed their limits; it ends the assembly.
bool check_expansion(Assembly& a, Span word);
/// Report an error and return false if macros and includes are nested too deeply.
bool check_nesting(Assembly& a, const SourceSpan& use);

/// Add a source text; returns its index.
std::uint32_t add_source(Assembly& a, std::string name, std::string text);

}  // namespace gdr::assembly
