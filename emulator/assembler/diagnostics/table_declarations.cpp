// Diagnostics 2xxx: declarations, directives and the layout they ask for.
#include "emulator/assembler/diagnostics/table_parts.hpp"

namespace gdr::assembly {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::NameTaken), "name declared twice",
     "Variables, aliases, constants and templates share one space of names; a name is declared "
     "once.",
     "ivar long x f64to72\nconst x = 1\n"},
    {number(Code::NameReserved), "name is a word of the language",
     "Mnemonics, declaration words, conversions and reductions can be names only in quotes: "
     "`ivar long \"at\" f64to72`.",
     "const fadd = 1\n"},
    {number(Code::NameExpected), "name expected",
     "A declaration lacks a name, or has something else in its place. Names are letters, digits "
     "and `_`, "
     "not starting with a digit.",
     "ivar long 3x f64to72\n"},
    {number(Code::WidthExpected), "width expected",
     "`long` or `short` stands behind the word that begins a declaration.", "ivar x f64to72\n"},
    {number(Code::ConversionExpected), "conversion missing or unknown",
     "Variables that go between host and chip say how: f64to72 f64to36 f32to72 f32to36 i64int "
     "f64fix.N raw.",
     "ivar long x f64to73\n"},
    {number(Code::ConversionTooWide), "conversion makes a long, the variable is short",
     "f64to72 and f32to72 give longs; a short variable takes f64to36 or f32to36.",
     "ivar short x f64to72\n"},
    {number(Code::ReductionMissing), "reduction missing",
     "The values that the blocks hold for one result are joined on their way out, so a `fvar` or "
     "`ovar` "
     "says how: fadd fmax fmin iadd imax imin iand ior ixor pass.",
     "fvar long ax f64to72\n"},
    {number(Code::ReductionMisplaced), "reduction or conversion where none is possible",
     "Only results are joined by a reduction; scratch locations have no conversion.",
     "ivar long x f64to72 fadd\n"},
    {number(Code::PlaceImpossible), "variable cannot be in this place",
     "`at` names a location that the kind of variable cannot have, that has another width, or that "
     "has no "
     "place for every element.",
     "ivar long x f64to72 at $lb0\n"},
    {number(Code::BadPad), "malformed pad",
     "`pad` belongs to a jvar, and its number must be one of the host's type.",
     "param long eps2 f64to72 pad 0\n"},
    {number(Code::GroupNeedsPad), "group without a pad",
     "A kernel that takes groups of items may be given items that fill up the last group. At least "
     "one "
     "jvar says with `pad` what makes such an item contribute nothing.",
     ".group 2\njvar long mj f64to72\n"},
    {number(Code::DirectiveValue), "value of a directive out of range",
     "The number that a directive or an index takes lies outside of what is possible.",
     ".elements 5\n"},
    {number(Code::DirectiveTwice), "directive stands twice",
     "`.kernel`, `.flops`, `.elements` and `.group` stand at most once.",
     ".elements 2\n.elements 2\n"},
    {number(Code::DirectiveLate), "directive comes too late",
     "`.elements` decides how much room vectors take, so it stands above the first ivar, fvar or "
     "tmp.",
     "ivar long x f64to72\n.elements 2\n"},
    {number(Code::PlaceShared), "explicit place overlaps an automatic one",
     "A warning: the explicit place of a variable is one that the assembler has given to another. "
     "Explicit places that are declared first are kept clear of.",
     "ivar long x f64to72\nivar long y f64to72 at $lm0v\n"},
    {number(Code::LayoutTooSmall), "size given is too small",
     "`.item`, `.output` and `.fixed` cannot be smaller than what declarations and operands need, "
     "nor odd "
     "where a long is involved.",
     ".item 2\njvar long x y f64to72\n"},
};

}  // namespace

std::span<const DiagnosticInfo> declaration_diagnostics() noexcept { return rows; }

}  // namespace gdr::assembly
