// Diagnostics 3xxx: instructions and operands.
#include "emulator/assembler/diagnostics/table_parts.hpp"

namespace gdr::assembly {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::UnknownInstruction), "unknown instruction",
     "The first word of a line or of an operation is no mnemonic, no declaration and no template.",
     ".body\n  fmull $lr0 $lr2 $lr4\n"},
    {number(Code::UnknownName), "unknown name",
     "An operand is a name that is not declared above its use.",
     "ivar long mass f64to72\n.body\n  fadd $lr0 mas $lr4\n"},
    {number(Code::NoSection), "no section is open",
     "Instructions stand in one of the sections .init, .start, .body and .end.",
     "fadd $lr0 $lr2 $lr4\n"},
    {number(Code::OperandCount), "wrong number of operands",
     "An operation has its destination first, then one or two operands.",
     ".body\n  fadd $lr0 $lr2\n"},
    {number(Code::WrongOperand), "operand cannot stand here",
     "A number as a destination, a word of the broadcast memory in arithmetic, a location where a "
     "transfer "
     "needs the other side.",
     ".body\n  fadd 1.5 $lr2 $lr4\n"},
    {number(Code::BadLocation), "malformed location",
     "What begins with `$` is none of the locations.", ".body\n  fadd $x0 $lr2 $lr4\n"},
    {number(Code::OddLong), "long at an odd address",
     "Addresses count shorts, and a long takes two of them, beginning at an even one.",
     ".body\n  fadd $lr1 $lr2 $lr4\n"},
    {number(Code::BadSuffix), "suffix is not possible",
     "`.v` and `.s` choose vector or scalar, `[K]` an element, `@K` an item of the group, `.hi` "
     "and `.lo` "
     "a half of a long that is no vector.",
     "ivar long x f64to72\n.body\n  fadd $lr0 x[7] $lr4\n"},
    {number(Code::BadDestination), "malformed destination",
     "An operation writes at most one location, T and one mask, joined by colons.",
     ".body\n  fadd $lr0:$lr2 $lr4 $lr6\n"},
    {number(Code::WidthMismatch), "widths do not agree",
     "T as a second destination has the width of the first; both sides of a transfer have one "
     "width.",
     ".body\n  fadd $r0:$t $lr4 $lr6\n"},
    {number(Code::SlotTaken), "two operations for one unit",
     "What issues together is at most one operation of the multiplier, one of the adder or the "
     "integer "
     "unit, and one transfer.",
     ".body\n  fadd $lr0 $lr4 $lr6 ; iadd $t $lr8 1\n"},
    {number(Code::HexDigits), "number of hexadecimal digits",
     "In floating-point operations `0x` has 9 digits for a short or 18 for a long; their number "
     "tells the "
     "format.",
     ".body\n  fadd $lr0 $lr2 0x3ff\n"},
    {number(Code::ImmediateRange), "immediate out of range",
     "A number is too large or too small for the format it takes. Literals never become infinities "
     "or "
     "zeros silently.",
     ".body\n  fadd $lr0 $lr2 1e309\n"},
    {number(Code::TwoImmediates), "two immediates",
     "An operation holds one immediate; both operands may use it if it is the same.",
     ".body\n  fadd $lr0 1.5 2.5\n"},
    {number(Code::BadMask), "no such mask or flag",
     "Masks are m0 to m7; their flags are neg and zero, of the integer unit also carry. The "
     "multiplier sets "
     "no masks.",
     ".body\n  fadd m9.neg $lr2 $lr4\n"},
    {number(Code::BadPredicate), "malformed predicate",
     "A predicate is `[mN]` or `[!mN]` in front of the whole instruction.",
     ".body\n  [x] fadd $lr0 $lr2 $lr4\n"},
    {number(Code::BadTRange), "malformed range of T",
     "`$lm[$t:FIRST..LAST]` promises addresses inside the memory, and all accesses through T in "
     "one "
     "instruction have the same range.",
     ".body\n  fadd $lr0 $lm[$t:8..4] $lr4\n"},
    {number(Code::PeNumberRange), "no such PE",
     "The PE that `bput` takes a word from is one of the block's.",
     "bm long w\n.body\n  bput w $lr0 32\n"},
    {number(Code::VlenRange), "vector length out of range", "`vlen` is 1 to 4.", "vlen 5\n"},
    {number(Code::OutsideBody), "item named outside the body",
     "The words of a jvar or ovar move with the items of the stream, and there is an item only in "
     "`.body`.",
     "jvar long x f64to72\n.start\n  bget $lr0 x\n"},
    {number(Code::NopJoined), "nop joined with an operation",
     "`nop` is an instruction without any operation. An empty slot idles by itself.",
     ".body\n  nop ; fadd $lr0 $lr2 $lr4\n"},
};

}  // namespace

std::span<const DiagnosticInfo> instruction_diagnostics() noexcept { return rows; }

}  // namespace gdr::assembly
