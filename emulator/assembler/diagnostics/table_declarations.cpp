// Diagnostics 2xxx: declarations, directives and the layout they ask for.
#include "emulator/assembler/diagnostics/table_parts.hpp"

namespace gdr::assembly {
namespace {

constexpr DiagnosticInfo rows[] = {
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
};

}  // namespace

std::span<const DiagnosticInfo> declaration_diagnostics() noexcept { return rows; }

}  // namespace gdr::assembly
