// Diagnostics 1xxx: characters, numbers, macros and expressions.
#include <algorithm>
#include <array>

#include "emulator/assembler/diagnostics/table_parts.hpp"

namespace gdr::assembly {
namespace {

/// Repeats inside each other, one more than is possible.
constexpr auto make_deep_repeats() {
  constexpr std::string_view open = ".repeat k00 = 0, 0\n";
  constexpr std::string_view close = ".endrepeat\n";
  constexpr std::size_t levels = 65;
  std::array<char, levels*(open.size() + close.size())> text{};
  auto at = text.begin();
  for (std::size_t i = 0; i < levels; ++i) {
    auto digit = std::copy(open.begin(), open.end(), at) - open.size() + 9;
    *digit = static_cast<char>('0' + i / 10);
    *(digit + 1) = static_cast<char>('0' + i % 10);
    at += open.size();
  }
  for (std::size_t i = 0; i < levels; ++i) at = std::copy(close.begin(), close.end(), at);
  return text;
}
constexpr auto deep_repeats = make_deep_repeats();

constexpr DiagnosticInfo rows[] = {
    {number(Code::UnexpectedCharacter), "unexpected character",
     "A character is not allowed at the beginning of a line, operation or operand.",
     ".body\n  fadd $lr0 $lr2 ?\n"},
    {number(Code::BadNumber), "malformed number",
     "A number has an exponent without digits, letters in a decimal number, or `0x` without "
     "digits.",
     ".body\n  fadd $lr0 $lr2 1.5x\n"},
    {number(Code::BadString), "malformed string",
     "A name in double quotes is missing, not closed, or contains an unknown escape sequence.",
     ".include \"other.gds\n"},
    {number(Code::TrailingText), "text after the end of a statement",
     "A line contains more than one statement. The operations of one instruction are separated by "
     "`;`.",
     ".elements 4 5\n"},
    {number(Code::LineTooLong), "line too long",
     "After expansion of templates and braces, a line has more than 65536 characters.",
     ".template grow(A)\n  more(A A A A A A A A A A A A A A A A)\n.endtemplate\n"
     ".template more(A)\n  most(A A A A A A A A A A A A A A A A)\n.endtemplate\n"
     ".template most(A)\n  last(A A A A A A A A A A A A A A A A)\n.endtemplate\n"
     ".template last(A)\n  fadd A A A A A A A A A A A A A A A A\n.endtemplate\n"
     "grow($lr0 $lr0)\n"},
    {number(Code::UnknownDirective), "unknown directive",
     "A word with a leading point is not a directive.", ".bdoy\n"},
    {number(Code::IncludeUnreadable), "included file cannot be read",
     "The file of an `.include` is not in the including file's directory or an include directory, "
     "or is not a regular file.",
     ".include \"no_such_file.gds\"\n"},
    {number(Code::IncludeCycle), "file includes itself",
     "A file includes itself, directly or through other files.", ".include \"example.gds\"\n"},
    {number(Code::NestedTooDeeply),
     "nested too deeply",
     "Repeats, templates and includes can be nested 64 deep.",
     {deep_repeats.data(), deep_repeats.size()}},
    {number(Code::BlockNotClosed), "block not closed",
     "A `.repeat` has no `.endrepeat`, or a `.template` no `.endtemplate`.", ".repeat k = 0, 3\n"},
    {number(Code::EndWithoutBlock), "end without a block",
     "A `.endrepeat` or `.endtemplate` without an open block.", ".endrepeat\n"},
    {number(Code::BadRepeat), "malformed repeat",
     "A repeat is `.repeat NAME = FIRST, LAST` or `.repeat NAME = FIRST, LAST, STEP`, with "
     "integers and a nonzero step.",
     ".repeat k = 0\n.endrepeat\n"},
    {number(Code::TooManyLines), "expansion too large",
     "Repeats, templates and includes expand to more than four million lines (every iteration of a "
     "repeat and every use of a template counts as one more line), or there are more than 10000 "
     "includes.",
     ".repeat k = 1, 5000000\n  # nothing\n.endrepeat\n"},
    {number(Code::BadTemplate), "malformed template",
     "A template is `.template NAME(P, Q)`, at the outermost level of a file.",
     ".template twice P\n.endtemplate\n"},
    {number(Code::TemplateArguments), "wrong arguments of a template",
     "A template needs as many arguments as it has parameters, in parentheses.",
     ".template double(X)\n  fadd X X X\n.endtemplate\n.body\ndouble($lr0, $lr2)\n"},
    {number(Code::TemplateRecursion), "recursive template",
     "A template uses itself, directly or through other templates.",
     ".template again(X)\n  again(X)\n.endtemplate\nagain(1)\n"},
    {number(Code::BadBraces), "malformed braces",
     "`{EXPRESSION}` in a word must contain an integer expression and be closed on the same line.",
     ".body\n  fadd $lr{1.5} $lr2 $lr4\n"},
    {number(Code::ExpressionExpected), "expression expected",
     "A number, a constant, a function call or a parenthesised expression is missing, or a "
     "parenthesis is not closed.",
     "const half = 1 /\n"},
    {number(Code::NotANumber), "name is not a constant",
     "A name in an expression is not declared, or is not a constant.", "const twice = 2*one\n"},
    {number(Code::IntegerNeeded), "integer required",
     "A real number is used where an integer is required: a size, an index, a bit operation.",
     "vlen 2.5\n"},
    {number(Code::ExpressionRange), "expression out of range",
     "A division by zero, a shift out of range, an integer of more than 127 bits, or a result that "
     "is infinite or not a number.",
     "const bad = 1/0\n"},
    {number(Code::ExpressionTooDeep), "expression nested too deeply",
     "Parentheses, signs and functions can be nested 200 deep.",
     "const deep = -------------------------------------------------------------------------------"
     "------------------------------------------------------------------------------------------"
     "----------------------------------------------1\n"},
};

}  // namespace

std::span<const DiagnosticInfo> text_diagnostics() noexcept { return rows; }

}  // namespace gdr::assembly
