// Functions of the parser, by the file that defines them. Parsers that return bool report an error
// and return false.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/isa/table.hpp"

namespace gdr::assembly {

// --- statement.cpp: lines, keywords, directives

struct VariableKind;

/// A word that begins a line: a mnemonic, a directive or the keyword of a declaration.
struct Keyword {
  std::string_view text;  ///< text with a leading point
  const OpInfo* operation = nullptr;
  void (*directive)(Assembly& a, Cursor& c, Span word) = nullptr;  ///< the cursor is after the word
  const VariableKind* declaration = nullptr;
};
/// Null if the word is not a keyword.
const Keyword* find_keyword(std::string_view text) noexcept;
/// All keywords, for suggestions.
std::span<const Keyword> keywords() noexcept;
/// Whether a word is reserved: keywords, conversions and other words of declarations.
bool is_reserved(std::string_view word) noexcept;

/// Parse all lines of the reader. An error ends its line.
void parse_lines(Assembly& a, LineReader& reader);
/// Reports an error unless only blanks and a comment follow.
void expect_end(Assembly& a, Cursor& c);
/// Check that a new name is not yet declared, nor reserved unless quoted.
bool check_new_name(Assembly& a, Span word, bool quoted = false);
/// `NAME` or `"NAME"` at the cursor.
bool parse_new_name(Assembly& a, Cursor& c, Span& word, const char* what);
/// Considers the declared names of some kinds.
void suggest_names(const Assembly& a, Suggestion& suggestion,
                   std::initializer_list<NameKind> kinds);
/// After an invalid instruction: later ones do not depend on earlier ones.
void skip_instruction(Assembly& a);

// --- declare.cpp: declarations of variables

/// Properties of a kind of variable, as in the table of docs/reference/assembler.md.
struct VariableKind {
  const char* name;
  std::optional<VarKind> interface;  ///< variables with a conversion, in Program::variables
  bool reduced;                      ///< needs a reduction
  Space default_space;               ///< memory without `at`
  bool vector;
  bool (*allows)(const Operand& location) noexcept;  ///< valid locations of `at`
  const char* locations;                             ///< locations in words, for messages
};
std::span<const VariableKind> variable_kinds() noexcept;

/// `KIND WIDTH NAMES... CONVERSION [REDUCE] [at LOCATION] [pad NUMBER|copy]`; the cursor is after
/// KIND.
void parse_declaration(Assembly& a, Cursor& c, const VariableKind& kind);

// --- names.cpp: other names

/// Adds a name that is not yet declared.
Name& add_name(Assembly& a, Span word, NameKind kind);
/// `alias NAME = LOCATION`, `.symbol NAME LOCATION`, `const NAME = EXPRESSION`.
void parse_alias(Assembly& a, Cursor& c, Span word);
void parse_symbol(Assembly& a, Cursor& c, Span word);
void parse_const(Assembly& a, Cursor& c, Span word);

// --- variable_directives.cpp: directives about declared variables

/// `.array NAME SIZE...`: the elements are the variables declared under its name.
void parse_array(Assembly& a, Cursor& c, Span word);
/// `.host NAME "TEXT"`: the host's name of a variable or array.
void parse_host_name(Assembly& a, Cursor& c, Span word);
/// `.cutoff RADIUS2 XI YI ZI XJ YJ ZJ`: pairs that are not nearer contribute nothing.
void parse_cutoff(Assembly& a, Cursor& c, Span word);

// --- instruction.cpp: instruction lines, up to three operations separated by `;`

/// The cursor is at the predicate or the first mnemonic.
void parse_instruction(Assembly& a, Cursor& c);
/// Code of errors about locations outside the memory of a space.
Code memory_code(Space space) noexcept;

// --- operand.cpp: destinations and sources of arithmetic

/// Operands of an instruction in the source text, for messages about ports and limits.
struct OperandSpan {
  Span span;
  std::uint8_t slot = 0;  ///< slot, as in Access: 0 multiplier, 1 adder/integer, 2 transfer
  bool write = false;
  Operand operand;
};
struct InstructionText {
  Span whole;
  Span predicate;
  std::array<OperandSpan, 10> operands;  ///< operands, at most four of each arithmetic slot
  unsigned count = 0;

  void add(Span span, unsigned slot, bool write, const Operand& operand) {
    operands[count++] = {span, static_cast<std::uint8_t>(slot), write, operand};
  }
};

/// Parse `LOCATION:$tX:mN.flag` into the slot: dst, t, mask and width.
bool parse_destination(Assembly& a, Cursor& c, const OpInfo& op, Arithmetic& slot,
                       unsigned slot_number, InstructionText& text);

/// The digits of a mask `mN` at the cursor; large numbers give 1000.
unsigned parse_mask_number(Cursor& c) noexcept;
/// Check that there is a mask of this number.
bool check_mask(Assembly& a, Span span, unsigned number);

/// A source operand in the text.
struct SourceOperand {
  Span span;
  bool number = false;
  Location location;
  Value value;  ///< value of a number
};
/// A location, or a number in any of its forms.
bool parse_operand(Assembly& a, Cursor& c, SourceOperand& operand);
/// Set the operands of an operation: choose the format of immediates and combine them. `slot.width`
/// must be set.
bool set_operands(Assembly& a, const OpInfo& op, std::array<SourceOperand, 2>& operands,
                  Arithmetic& slot);

// --- location.cpp: registers, memories, T, fixed inputs, declared names, and their suffixes

/// A location at the cursor: `$...` or a declared name, with its suffixes. `$null` and `$lnull`
/// give Space::None with their width.
bool parse_location(Assembly& a, Cursor& c, Location& location);
/// Suffixes of a location at the cursor: `.v` `.s` `.hi` `.lo` `[K]` `@K`.
bool parse_suffixes(Assembly& a, Cursor& c, const char* begin, Location& location);
/// Description for messages: "a short register", "a long in local memory".
std::string describe(const Operand& operand);

// --- expression.cpp

/// A literal; the cursor is at a digit, or at a point followed by a digit.
bool parse_number(Assembly& a, Cursor& c, Value& value);
/// A number, constant, parenthesised expression or function call, with optional signs.
bool parse_primary(Assembly& a, Cursor& c, Value& value);
/// A complete expression.
bool parse_expression(Assembly& a, Cursor& c, Value& value);
/// An integer from `first` to `last`; `what` names it in messages. With parse_primary, as after
/// `@`, a blank terminates it.
std::optional<std::int64_t> parse_integer(Assembly& a, Cursor& c, std::int64_t first,
                                          std::int64_t last, const char* what,
                                          Code out_of_range = Code::DirectiveValue,
                                          bool (*parse)(Assembly& a, Cursor& c,
                                                        Value& value) = parse_expression);

// --- macros.cpp, expand.cpp: includes, repeats, templates, and braces in words

void parse_repeat(Assembly& a, Cursor& c, Span word);
void parse_template(Assembly& a, Cursor& c, Span word);
void parse_include(Assembly& a, Cursor& c, Span word);
/// Use of a template; the cursor is at the opening parenthesis.
void expand_template(Assembly& a, Cursor& c, Span word, const Name& name);
/// Replace every `{EXPRESSION}` of a line.
bool expand_braces(Assembly& a, const Line& line, std::string& text, std::vector<Segment>& map);
/// A quoted string with escape sequences.
bool parse_string(Assembly& a, Cursor& c, std::string& text);
/// Check the limits of expansions; an error ends the assembly.
bool check_expansion(Assembly& a, Span word);
/// Check the nesting of macros and includes.
bool check_nesting(Assembly& a, const SourceSpan& use);
/// Add a source text; returns its index.
std::uint32_t add_source(Assembly& a, std::string name, std::string text);

}  // namespace gdr::assembly
