// Diagnostics 6xxx: characters, literals, statements, includes.
#include <array>

#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::kc {
namespace {

/// More signs in front of each other than an expression can have.
constexpr auto make_deep() {
  std::array<char, 4 + 201 + 2> text{};
  auto at = text.begin();
  for (const char c : {'t', ' ', '=', ' '}) *at++ = c;
  for (int i = 0; i < 201; ++i) *at++ = '-';
  *at++ = '1';
  *at = ';';
  return text;
}
constexpr auto deep = make_deep();

constexpr DiagnosticInfo rows[] = {
    {number(Code::UnexpectedCharacter), "unexpected character",
     "A character that is not part of the language. Comments begin with `//` or are enclosed in "
     "`/*` and `*/`; logical and, or and not are `&&`, `||` and `!`; a power is `x^2`.",
     "VARI x; VARF f;\nf += x % 2;\n"},
    {number(Code::BadNumber), "malformed number",
     "A number is not valid in C: an exponent without digits, letters in a decimal number, or an 8 "
     "in an octal number.",
     "VARI x; VARF f;\nf += 1.5e*x;\n"},
    {number(Code::BadString), "malformed string",
     "The file name of an include is enclosed in double quotes, on one line.",
     "include \"forces.gdk;\n"},
    {number(Code::CommentNotClosed), "comment not closed",
     "A `/*` has no `*/`. Comments cannot be nested.", "VARI x; VARF f;\nf += x; /* the rest\n"},
    {number(Code::SymbolExpected), "symbol expected",
     "A `;`, comma, parenthesis, bracket or brace is missing. Every statement ends with `;`, "
     "except declarations that begin with `/`, which end with their line.",
     "VARI x; VARF f;\ny = x*x\nf += y;\n"},
    {number(Code::StatementExpected), "statement expected",
     "The text is not a statement. A statement is a declaration, `name = expression;` (also `+=`, "
     "`-=`, and for results `min=`, `max=` and `append=`), `if`, `for`, `skip if`, a setting, a "
     "function or an include.",
     "VARI x; VARF f;\nf + x;\n"},
    {number(Code::NameExpected), "name expected",
     "A name is missing, or an array is named where a single value is needed. Names consist of "
     "letters, digits and `_`; CONST, VARI, VARJ and VARF are reserved.",
     "VARI x, ;\n"},
    {number(Code::ExpressionExpected), "expression expected",
     "A number, a name, a function call or a parenthesised expression is missing.",
     "VARI x; VARF f;\nf += x*;\n"},
    {number(Code::BlockNotClosed), "block not closed", "A `{` has no `}`.",
     "VARI x; VARF f;\nif (x > 0) {\n  f += x;\n"},
    {number(Code::NestedTooDeeply),
     "nested too deeply",
     "Parentheses and signs can be nested 200 deep; blocks, `else if` branches, includes and calls "
     "64 deep.",
     {deep.data(), deep.size()}},
    {number(Code::IncludeUnreadable), "included file cannot be read",
     "The file of an `include` is not in the including file's directory or an include directory, "
     "is not a regular file, or makes the total size of all files exceed 1 MiB.",
     "include \"no_such_file.gdk\";\n"},
    {number(Code::IncludeCycle), "file includes itself",
     "A file includes itself, directly or through other files.", "include \"example.gdk\";\n"},
    {number(Code::Misplaced), "statement in the wrong place",
     "Declarations of variables, settings, functions and includes are allowed at the outermost "
     "level only; `return` is the last statement of a function; a function computes a value and "
     "has no other effect.",
     "VARI x; VARF f;\nif (x > 0) {\n  VARI y;\n  f += x;\n}\n"},
};

}  // namespace

std::span<const DiagnosticInfo> syntax_diagnostics() noexcept { return rows; }

}  // namespace gdr::kc
