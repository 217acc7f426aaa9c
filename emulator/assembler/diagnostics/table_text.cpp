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
     "A character stands where none of the language can: at the beginning of a line, of an "
     "operation or "
     "of an operand.",
     ".body\n  fadd $lr0 $lr2 ?\n"},
    {number(Code::BadNumber), "malformed number",
     "What begins like a number is none: an exponent without digits, letters in a decimal number, "
     "`0x` "
     "without digits.",
     ".body\n  fadd $lr0 $lr2 1.5x\n"},
    {number(Code::BadString), "malformed string",
     "A name in double quotes is expected, or it is not closed, or holds an unknown escape.",
     ".include \"other.gds\n"},
    {number(Code::TrailingText), "text after the end",
     "A line goes on after the statement on it is complete. A line holds one statement; operations "
     "of "
     "one instruction are joined by `;`.",
     ".elements 4 5\n"},
    {number(Code::LineTooLong), "line too long",
     "After templates and braces were replaced, a line has more than 65536 characters.",
     ".template grow(A)\n  more(A A A A A A A A A A A A A A A A)\n.endtemplate\n"
     ".template more(A)\n  most(A A A A A A A A A A A A A A A A)\n.endtemplate\n"
     ".template most(A)\n  last(A A A A A A A A A A A A A A A A)\n.endtemplate\n"
     ".template last(A)\n  fadd A A A A A A A A A A A A A A A A\n.endtemplate\n"
     "grow($lr0 $lr0)\n"},
    {number(Code::UnknownDirective), "unknown directive",
     "A word with a leading point is none of the directives.", ".bdoy\n"},
    {number(Code::IncludeUnreadable), "included file cannot be read",
     "The file of an `.include` is neither beside the including file nor in one of the include "
     "folders, "
     "or it is not a regular file.",
     ".include \"no_such_file.gds\"\n"},
    {number(Code::IncludeCycle), "file includes itself",
     "A file is included while it is being read, directly or through others.",
     ".include \"example.gds\"\n"},
    {number(Code::NestedTooDeeply),
     "nested too deeply",
     "Repeats, templates and includes stand inside each other more than 64 deep.",
     {deep_repeats.data(), deep_repeats.size()}},
    {number(Code::BlockNotClosed), "block not closed",
     "A `.repeat` has no `.endrepeat`, or a `.template` no `.endtemplate`.", ".repeat k = 0, 3\n"},
    {number(Code::EndWithoutBlock), "end without a block",
     "A `.endrepeat` or `.endtemplate` stands where no such block is open.", ".endrepeat\n"},
    {number(Code::BadRepeat), "malformed repeat",
     "A repeat is `.repeat NAME = FIRST, LAST` or `.repeat NAME = FIRST, LAST, STEP`, with "
     "integers and a "
     "step other than zero.",
     ".repeat k = 0\n.endrepeat\n"},
    {number(Code::TooManyLines), "text expands to too much",
     "Repeats, templates and includes together give more than four million lines; every turn of a "
     "repeat and every use of a template counts as one line more. More than 10000 includes are too "
     "many, too.",
     ".repeat k = 1, 5000000\n  # nothing\n.endrepeat\n"},
    {number(Code::BadTemplate), "malformed template",
     "A template is `.template NAME(P, Q)`, at the outermost level of a file.",
     ".template twice P\n.endtemplate\n"},
    {number(Code::TemplateArguments), "wrong arguments of a template",
     "A template is used with as many arguments as it has parameters, in parentheses.",
     ".template double(X)\n  fadd X X X\n.endtemplate\n.body\ndouble($lr0, $lr2)\n"},
    {number(Code::TemplateRecursion), "template uses itself",
     "A template is used inside its own expansion, directly or through others.",
     ".template again(X)\n  again(X)\n.endtemplate\nagain(1)\n"},
    {number(Code::BadBraces), "malformed braces",
     "`{EXPRESSION}` in a word holds an expression with an integer value, and is closed on the "
     "same line.",
     ".body\n  fadd $lr{1.5} $lr2 $lr4\n"},
    {number(Code::ExpressionExpected), "expression expected",
     "A number, a constant, a function or something in parentheses is missing, or a parenthesis is "
     "not "
     "closed.",
     "const half = 1 /\n"},
    {number(Code::NotANumber), "name is not a number",
     "An expression names something that is no constant: it is not declared, or it is a location.",
     "const twice = 2*one\n"},
    {number(Code::IntegerNeeded), "integer needed",
     "A real number stands where only an integer is possible: a size, an index, a bit operation.",
     "vlen 2.5\n"},
    {number(Code::ExpressionRange), "expression has no usable value",
     "A division by zero, a shift out of range, an integer of more than 127 bits, or a result that "
     "is "
     "infinite or not a number.",
     "const bad = 1/0\n"},
    {number(Code::ExpressionTooDeep), "expression nested too deeply",
     "Parentheses, signs and functions of an expression stand inside each other more than 200 "
     "deep.",
     "const deep = -------------------------------------------------------------------------------"
     "------------------------------------------------------------------------------------------"
     "----------------------------------------------1\n"},
};

}  // namespace

std::span<const DiagnosticInfo> text_diagnostics() noexcept { return rows; }

}  // namespace gdr::assembly
