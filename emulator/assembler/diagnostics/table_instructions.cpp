// Diagnostics 3xxx: instructions and operands.
#include "emulator/assembler/diagnostics/table_parts.hpp"

namespace gdr::assembly {
namespace {

constexpr DiagnosticInfo rows[] = {
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
};

}  // namespace

std::span<const DiagnosticInfo> instruction_diagnostics() noexcept { return rows; }

}  // namespace gdr::assembly
