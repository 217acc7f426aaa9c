// The table of all diagnostics, and the page generated from it.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/diagnostics/codes.hpp"
#include "emulator/assembler/diagnostics/page.hpp"

namespace gdr {
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

constexpr std::uint16_t number(Code code) noexcept { return static_cast<std::uint16_t>(code); }

constexpr DiagnosticInfo diagnostic_rows[] = {
    // 1xxx: characters, numbers, macros and expressions
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

    // 2xxx: declarations, directives and the layout that they specify
    {number(Code::NameTaken), "name already declared",
     "Variables, aliases, constants and templates share one namespace; a name can be declared "
     "once.",
     "ivar long x f64to72\nconst x = 1\n"},
    {number(Code::NameReserved), "reserved name",
     "Mnemonics, declaration keywords, conversions and reductions can be used as names in quotes "
     "only: `ivar long \"at\" f64to72`.",
     "const fadd = 1\n"},
    {number(Code::NameExpected), "name expected",
     "A declaration has no valid name. Names consist of letters, digits and `_`, and do not start "
     "with a digit.",
     "ivar long 3x f64to72\n"},
    {number(Code::WidthExpected), "width expected",
     "A declaration keyword must be followed by `long` or `short`.", "ivar x f64to72\n"},
    {number(Code::ConversionExpected), "conversion missing or unknown",
     "Variables that are transferred between host and chip need a conversion: f64to72 f64to36 "
     "f32to72 f32to36 i64int f64fix.N raw.",
     "ivar long x f64to73\n"},
    {number(Code::ConversionTooWide), "long conversion of a short variable",
     "f64to72 and f32to72 give longs; a short variable takes f64to36 or f32to36.",
     "ivar short x f64to72\n"},
    {number(Code::ReductionMissing), "reduction missing",
     "The values of the blocks are combined by the reduction network, so a `fvar` or `ovar` needs "
     "a reduction: fadd fmax fmin iadd imax imin iand ior ixor pass.",
     "fvar long ax f64to72\n"},
    {number(Code::ReductionMisplaced), "unexpected reduction or conversion",
     "Only results have a reduction; temporaries have no conversion.",
     "ivar long x f64to72 fadd\n"},
    {number(Code::InvalidLocation), "invalid location of a variable",
     "`at` names a location that the kind of variable cannot have, that has another width, or that "
     "has no address for every element.",
     "ivar long x f64to72 at $lb0\n"},
    {number(Code::BadPad), "malformed pad",
     "`pad` is only valid for a jvar, with a number of its host type.",
     "param long eps2 f64to72 pad 0\n"},
    {number(Code::GroupNeedsPad), "group without a pad",
     "The last group of items may be incomplete. At least one jvar needs a `pad` value with which "
     "an item contributes nothing.",
     ".group 2\njvar long mj f64to72\n"},
    {number(Code::DirectiveValue), "value of a directive out of range",
     "The number of a directive or index is out of range.", ".elements 5\n"},
    {number(Code::DirectiveTwice), "duplicate directive",
     "`.kernel`, `.flops`, `.elements` and `.group` can be given once.",
     ".elements 2\n.elements 2\n"},
    {number(Code::DirectiveLate), "directive too late",
     "`.elements` determines the size of vectors, so it must precede the first ivar, fvar or tmp.",
     "ivar long x f64to72\n.elements 2\n"},
    {number(Code::OverlappingLocation), "overlapping locations",
     "Warning: an explicit location overlaps one that the assembler assigned. Declare explicit "
     "locations first; automatic ones avoid them.",
     "ivar long x f64to72\nivar long y f64to72 at $lm0v\n"},
    {number(Code::LayoutTooSmall), "size too small",
     "`.item`, `.output` and `.fixed` must not be smaller than declarations and operands require, "
     "nor odd if a long is included.",
     ".item 2\njvar long x y f64to72\n"},
    {number(Code::BadQuantity), "malformed quantity or default value",
     "`as NAME` and `as NAME^2` tell what the host passes in an ivar, jvar or param. `default "
     "NUMBER` is only valid for an ivar or jvar with the conversion i64int, with a number of its "
     "width.",
     "fvar long ax f64to72 fadd as acc\n"},

    // 3xxx: instructions and operands
    {number(Code::UnknownInstruction), "unknown instruction",
     "The first word of a line or operation is not a mnemonic, declaration keyword or template.",
     ".body\n  fmull $lr0 $lr2 $lr4\n"},
    {number(Code::UnknownName), "unknown name",
     "An operand is a name that is not declared before its use.",
     "ivar long mass f64to72\n.body\n  fadd $lr0 mas $lr4\n"},
    {number(Code::NoSection), "no open section",
     "Instructions must be in one of the sections .init, .start, .body and .end.",
     "fadd $lr0 $lr2 $lr4\n"},
    {number(Code::OperandCount), "wrong number of operands",
     "An operation has a destination followed by one or two operands.",
     ".body\n  fadd $lr0 $lr2\n"},
    {number(Code::WrongOperand), "invalid operand",
     "The operand is not allowed here: a number as destination, a word of the broadcast memory in "
     "arithmetic, or a location on the wrong side of a transfer.",
     ".body\n  fadd 1.5 $lr2 $lr4\n"},
    {number(Code::BadLocation), "malformed location",
     "Text that begins with `$` is not a valid location.", ".body\n  fadd $x0 $lr2 $lr4\n"},
    {number(Code::OddLong), "long at an odd address",
     "Addresses count shorts; a long occupies two of them, from an even address.",
     ".body\n  fadd $lr1 $lr2 $lr4\n"},
    {number(Code::BadSuffix), "invalid suffix",
     "`.v` and `.s` select vector or scalar, `[K]` an element, `@K` an item of the group, `.hi` "
     "and `.lo` a half of a scalar long.",
     "ivar long x f64to72\n.body\n  fadd $lr0 x[7] $lr4\n"},
    {number(Code::BadDestination), "malformed destination",
     "An operation writes at most one location, T and one mask, separated by colons.",
     ".body\n  fadd $lr0:$lr2 $lr4 $lr6\n"},
    {number(Code::WidthMismatch), "width mismatch",
     "T as a second destination has the width of the first; both sides of a transfer have the same "
     "width.",
     ".body\n  fadd $r0:$t $lr4 $lr6\n"},
    {number(Code::SlotTaken), "two operations for one unit",
     "An instruction holds at most one multiplier operation, one adder or integer operation, and "
     "one transfer.",
     ".body\n  fadd $lr0 $lr4 $lr6 ; iadd $t $lr8 1\n"},
    {number(Code::HexDigits), "wrong number of hexadecimal digits",
     "In floating-point operations `0x` is followed by 9 digits for a short or 18 for a long.",
     ".body\n  fadd $lr0 $lr2 0x3ff\n"},
    {number(Code::ImmediateRange), "immediate out of range",
     "The magnitude of a number is too large or too small for its format. Literals are never "
     "rounded to infinity or zero.",
     ".body\n  fadd $lr0 $lr2 1e309\n"},
    {number(Code::TwoImmediates), "two immediates",
     "An operation holds one immediate; both operands may use it if they are equal.",
     ".body\n  fadd $lr0 1.5 2.5\n"},
    {number(Code::BadMask), "invalid mask or flag",
     "Masks are m0 to m7; flags are neg and zero, and carry for the integer unit. The multiplier "
     "sets no masks.",
     ".body\n  fadd m9.neg $lr2 $lr4\n"},
    {number(Code::BadPredicate), "malformed predicate",
     "A predicate is `[mN]` or `[!mN]` before the whole instruction.",
     ".body\n  [x] fadd $lr0 $lr2 $lr4\n"},
    {number(Code::BadTRange), "malformed range of T",
     "`$lm[$t:FIRST..LAST]` must be within the memory, and all accesses through T in one "
     "instruction must have the same range.",
     ".body\n  fadd $lr0 $lm[$t:8..4] $lr4\n"},
    {number(Code::PeNumberRange), "PE number out of range",
     "The PE from which `bput` reads must exist in the block.",
     "bm long w\n.body\n  bput w $lr0 32\n"},
    {number(Code::VlenRange), "vector length out of range", "`vlen` is 1 to 4.", "vlen 5\n"},
    {number(Code::OutsideBody), "item used outside the body",
     "Words of a jvar or ovar belong to the current item of the stream, which exists in `.body` "
     "only.",
     "jvar long x f64to72\n.start\n  bget $lr0 x\n"},
    {number(Code::NopJoined), "nop combined with an operation",
     "`nop` is an instruction without operations. Unused slots are idle without it.",
     ".body\n  nop ; fadd $lr0 $lr2 $lr4\n"},

    // 4xxx: ports and time; 5xxx: limits of the machine
    {number(Code::PortLimit), "port limit exceeded",
     "An element of the instruction accesses a memory more often than its ports allow per clock: "
     "the register file two reads and one write, local memory one access, T one read and one "
     "write, the broadcast memory one access; twice as many in the two clocks of a dmul.",
     ".body\n  fadd $lr0v $lm0v $lm8v\n"},
    {number(Code::DuplicateWrite), "two results in one location",
     "Two operations of an instruction write the same or overlapping locations.",
     ".body\n  dmul $lr0 $lr2 $lr4 ; fadd $lr0 $lr2 $lr6\n"},
    {number(Code::ReadTooEarly), "read before the result is ready",
     "Only with `--stalls error`: an operand is read less than 4 clocks after the issue of the "
     "element that writes it. Without the option the assembler inserts the minimum number of idle "
     "clocks.",
     ".body\n  vlen 1\n  fadd $lr0 $lr2 $lr4\n  fmul $lr6 $lr0 $lr4\n"},
    {number(Code::InstructionMemory), "instruction memory is full",
     "The program, including idle clocks, exceeds the instruction memory of the control processor.",
     ".body\n  .repeat k = 1, 16385\n    nop\n  .endrepeat\n"},
    {number(Code::RegisterFile), "outside the register file",
     "A register, or an element of a register vector, is outside the register file.",
     ".body\n  fadd $lr60v $lr0v $lr8v\n"},
    {number(Code::LocalMemory), "outside the local memory",
     "A location is outside the local memory, or no space is left for a variable.",
     ".body\n  fadd $lm512 $lr0 $lr2\n"},
    {number(Code::BroadcastMemory), "outside the broadcast memory",
     "A word is outside the broadcast memory, or the fixed part and one group of items exceed it.",
     ".body\n  bget $lr0 $lb2048\n"},
    {number(Code::BeyondGroup), "transfer beyond the group of items",
     "A vector operand extends beyond the last item of the group; at the end of the stream there "
     "is no data.",
     "jvar long x y f64to72\n.body\n  bget $lr0v x.v\n"},
};

constexpr DiagnosticGroup groups[] = {
    {1, "1xxx: text, macros, expressions"}, {2, "2xxx: declarations and layout"},
    {3, "3xxx: instructions and operands"}, {4, "4xxx: ports and latency"},
    {5, "5xxx: limits of the machine"},
};

constexpr std::size_t max_shown = 1200;  // size of an example that is shown

Diagnostics diagnostics_of(const DiagnosticInfo& info) {
  AssembleOptions options;
  options.stall_is_error = true;
  return assemble(info.example, "example.gds", options).diagnostics;
}

}  // namespace

std::span<const DiagnosticInfo> diagnostic_table() noexcept { return diagnostic_rows; }

std::string diagnostics_chapters(std::span<const DiagnosticGroup> chapters,
                                 std::span<const DiagnosticInfo> table,
                                 Diagnostics (*provoke)(const DiagnosticInfo& info)) {
  std::string out;
  for (const DiagnosticGroup& group : chapters) {
    out += fmt::format("\n## {}\n", group.title);
    for (const DiagnosticInfo& info : table) {
      if (info.code / 1000 != group.thousands) continue;
      out += fmt::format("\n### GDR{}: {}\n\n{}\n", info.code, info.title, info.explanation);
      if (info.example.size() <= max_shown) out += fmt::format("\n```gdr\n{}```\n", info.example);
      const Diagnostics all = provoke(info);
      const std::string first = all.list.empty() ? std::string{} : all.render(all.list.front());
      out += fmt::format("\n```text\n{}```\n", first);
    }
  }
  return out;
}

std::string diagnostics_page() {
  return "# Diagnostics of the assembler\n\n"
         "Generated from the table in `emulator/assembler/diagnostics/`; do not edit. The tests "
         "assemble every\nexample. "
         "A message has the form `file:line:col: error[GDRnnnn]: what is wrong`,\n"
         "followed by the line with a caret range, notes about other places, and help. Codes are "
         "stable.\n" +
         diagnostics_chapters(groups, diagnostic_table(), diagnostics_of);
}

}  // namespace gdr
