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
     "A character that is no part of the language. Comments begin with `//` or stand between `/*` "
     "and `*/`; and, or and not are `&&`, `||` and `!`; a power is `x^2`.",
     "VARI x; VARF f;\nf += x % 2;\n"},
    {number(Code::BadNumber), "malformed number",
     "What begins like a number is none in C: an exponent without digits, letters in a decimal "
     "number, an 8 in an octal one.",
     "VARI x; VARF f;\nf += 1.5e*x;\n"},
    {number(Code::BadString), "malformed string",
     "The name of a file stands in double quotes, on one line.", "include \"forces.gdk;\n"},
    {number(Code::CommentNotClosed), "comment not closed",
     "A `/*` has no `*/`. Comments do not stand inside each other.",
     "VARI x; VARF f;\nf += x; /* the rest\n"},
    {number(Code::SymbolExpected), "symbol expected",
     "A `;`, a comma, a parenthesis, bracket or brace is missing. Every statement ends with `;`, "
     "but for declarations that begin with `/`, which end with their line.",
     "VARI x; VARF f;\ny = x*x\nf += y;\n"},
    {number(Code::StatementExpected), "statement expected",
     "Something begins no statement. A statement is a declaration, `name = expression;` (also "
     "`+=`, `-=`, and for results `min=`, `max=` and `append=`), `if`, `for`, `skip if`, a "
     "setting, a "
     "function "
     "or an include.",
     "VARI x; VARF f;\nf + x;\n"},
    {number(Code::NameExpected), "name expected",
     "A name is missing, or stands for an array where a single value is needed. Names are made of "
     "letters, digits and `_`; only CONST, VARI, VARJ and VARF are no names.",
     "VARI x, ;\n"},
    {number(Code::ExpressionExpected), "expression expected",
     "A number, a name, a function or something in parentheses is missing.",
     "VARI x; VARF f;\nf += x*;\n"},
    {number(Code::BlockNotClosed), "block not closed", "A `{` has no `}`.",
     "VARI x; VARF f;\nif (x > 0) {\n  f += x;\n"},
    {number(Code::NestedTooDeeply),
     "nested too deeply",
     "Parentheses and signs stand inside each other more than 200 deep, blocks, branches behind "
     "`else if`, includes or calls more than 64 deep.",
     {deep.data(), deep.size()}},
    {number(Code::IncludeUnreadable), "included file cannot be read",
     "The file of an `include` is neither beside the including file nor in one of the include "
     "folders, is not a regular file, or all files together have more than 1 MiB.",
     "include \"no_such_file.gdk\";\n"},
    {number(Code::IncludeCycle), "file includes itself",
     "A file is included while it is being read, directly or through others.",
     "include \"example.gdk\";\n"},
    {number(Code::Misplaced), "statement in the wrong place",
     "Declarations of the interface, settings, functions and includes stand outside of all braces; "
     "a `return` is the last statement of a function; a function gives a value and does nothing "
     "else.",
     "VARI x; VARF f;\nif (x > 0) {\n  VARI y;\n  f += x;\n}\n"},
};

}  // namespace

std::span<const DiagnosticInfo> syntax_diagnostics() noexcept { return rows; }

}  // namespace gdr::kc
