#include "emulator/isa/table.hpp"

#include <array>

namespace gdr {
namespace {

/// Properties that only some integer operations have.
enum Property : std::uint8_t { plain = 0, is_signed = 1, takes_count = 2, sets_carry = 4 };

struct Text {
  std::string_view summary, meaning, notes, example;
};

constexpr OpInfo row(Op op, std::string_view name, Unit unit, unsigned operands,
                     unsigned element_clocks, FloatFunction compute, Text text) {
  return {.op = op,
          .mnemonic = name,
          .unit = unit,
          .operands = static_cast<std::uint8_t>(operands),
          .element_clocks = static_cast<std::uint8_t>(element_clocks),
          .compute_float = compute,
          .summary = text.summary,
          .meaning = text.meaning,
          .notes = text.notes,
          .example = text.example};
}
constexpr OpInfo row(Op op, std::string_view name, unsigned operands, unsigned properties,
                     IntFunction compute, Text text) {
  OpInfo info = row(op, name, Unit::Integer, operands, 1, nullptr, text);
  info.signed_operands = (properties & is_signed) != 0;
  info.unsigned_count = (properties & takes_count) != 0;
  info.has_carry = (properties & sets_carry) != 0;
  info.compute_int = compute;
  return info;
}
constexpr OpInfo row(Op op, std::string_view name, unsigned operands, Text text) {
  return row(op, name, Unit::Transfer, operands, 1, nullptr, text);
}

FloatWord convert(Long a, Long, Width out, Flags& flags) noexcept { return fcvt(a, out, flags); }

constexpr std::array table{
    row(Op::None, "nop", 0,
        {"Idles for vlen clocks.", "", "An instruction without any operation.", "nop"}),

    row(Op::Fmul, "fmul", Unit::Multiplier, 2, 1, fmul,
        {"Product in one pass of the multiplier.",
         "dst = round(leading(a, 50 bits) * leading(b, 25 bits))",
         "The operands are cut, not rounded, to their leading significant bits; the product of "
         "what is left is exact, then rounded once. The order of the operands matters where b is "
         "long: "
         "put the long one first. 0 x inf is NaN (invalid).",
         "fmul $lr0v $lr8v $r40"}),
    row(Op::Dmul, "dmul", Unit::Multiplier, 2, 2, dmul,
        {"Product in two passes of the multiplier.",
         "dst = round(leading(a, 50 bits) * leading(b, 50 bits))",
         "Takes two clocks an element, and so does everything beside it. A product of two IEEE "
         "doubles is good to about 2^-48; a kernel that wants all 53 bits adds the two small cross "
         "products, each one fmul.",
         "dmul $lr0v $lr8v $lr16v"}),

    row(Op::Fadd, "fadd", Unit::Adder, 2, 1, fadd,
        {"Sum.", "dst = round(a + b)", "inf - inf is NaN (invalid); x - x is +0; -0 + -0 is -0.",
         "fadd $lr0v $lr0v $r40v"}),
    row(Op::Fsub, "fsub", Unit::Adder, 2, 1, fsub,
        {"Difference.", "dst = round(a - b)", "As fadd with the sign of b turned round.",
         "fsub $r0v $lr8 $lm0v"}),
    row(Op::Fmax, "fmax", Unit::Adder, 2, 1, fmax,
        {"The larger of two numbers.", "dst = round(a < b ? b : a)",
         "NaN if either is NaN (no flag); -0 < +0.", "fmax $r0v $r0v $r40"}),
    row(Op::Fmin, "fmin", Unit::Adder, 2, 1, fmin,
        {"The smaller of two numbers.", "dst = round(b < a ? b : a)",
         "NaN if either is NaN (no flag); -0 < +0.", "fmin $r0v $r0v $r40"}),
    row(Op::Fcvt, "fcvt", Unit::Adder, 1, 1, convert,
        {"A number in the destination's format.", "dst = round(a)",
         "Also cleans: fraction bits of zeros vanish, every NaN becomes the canonical one.",
         "fcvt $r0v $lr8v"}),

    row(Op::Iadd, "iadd", 2, is_signed | sets_carry, iadd,
        {"Integer sum.", "dst = a + b; carry = carry out of the top bit",
         "Two's complement, wraps round.", "iadd $lr0v $lr0v 1"}),
    row(Op::Isub, "isub", 2, is_signed | sets_carry, isub,
        {"Integer difference.", "dst = a - b; carry = no borrow", "Two's complement, wraps round.",
         "isub $r0v 0x5f3000000 $r4v"}),
    row(Op::Iand, "iand", 2, plain, iand,
        {"Bitwise and.", "dst = a & b", "", "iand $r0v $r0v $r4v"}),
    row(Op::Ior, "ior", 2, plain, ior, {"Bitwise or.", "dst = a | b", "", "ior $r0v $r0v $r4v"}),
    row(Op::Ixor, "ixor", 2, plain, ixor,
        {"Bitwise exclusive or.", "dst = a ^ b", "", "ixor $r0v $r0v $r4v"}),
    row(Op::Inot, "inot", 1, plain, inot,
        {"Bitwise complement.", "dst = ~a", "", "inot $r0v $r4v"}),
    row(Op::Ishl, "ishl", 2, takes_count, ishl,
        {"Shift left.", "dst = b < width ? a << b : 0", "The count is unsigned.",
         "ishl $r0v $r4v 3"}),
    row(Op::Ishr, "ishr", 2, takes_count, ishr,
        {"Logical shift right.", "dst = b < width ? a >> b : 0", "The count is unsigned.",
         "ishr $r0v $r4v 1"}),
    row(Op::Iasr, "iasr", 2, is_signed | takes_count, iasr,
        {"Arithmetic shift right.", "dst = a >> min(b, width - 1), filled with the sign",
         "The count is unsigned.", "iasr $r0v $r4v 1"}),
    row(Op::Imax, "imax", 2, is_signed, imax,
        {"Larger of two signed integers.", "dst = a < b ? b : a", "", "imax $r0v $r0v $r4v"}),
    row(Op::Imin, "imin", 2, is_signed, imin,
        {"Smaller of two signed integers.", "dst = b < a ? b : a", "", "imin $r0v $r0v $r4v"}),
    row(Op::Umax, "umax", 2, plain, umax,
        {"Larger of two unsigned integers.", "dst = a < b ? b : a", "", "umax $r0v $r0v $r4v"}),
    row(Op::Umin, "umin", 2, plain, umin,
        {"Smaller of two unsigned integers.", "dst = b < a ? b : a", "", "umin $r0v $r0v $r4v"}),
    row(Op::Ipass, "ipass", 1, is_signed, ipass,
        {"The word itself; a short widens with its sign.", "dst = a", "Moves any word unchanged.",
         "ipass $lr0v $lm8v"}),
    row(Op::Upass, "upass", 1, plain, ipass,
        {"The word itself; a short widens with zeros.", "dst = a", "", "upass $lr0v $r40v"}),

    row(Op::Bget, "bget", 2,
        {"A word of the broadcast memory to all PEs of the block.", "dst of every PE = bm",
         "Bits are moved unchanged; both sides have the same width.", "bget $lr8v $lb0v"}),
    row(Op::Bput, "bput", 3,
        {"Words of one PE to the broadcast memory.", "bm = src of PE number N",
         "Where the predicate's mask of that PE says no, nothing is written.",
         "bput $lb16v $lr0v 5"}),
};

constexpr bool indexed_by_opcode() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].op) != i) return false;
  }
  return true;
}
static_assert(indexed_by_opcode(), "row i of the table must describe opcode i");

}  // namespace

std::span<const OpInfo> instruction_table() noexcept { return table; }

const OpInfo& info(Op op) noexcept { return table[static_cast<std::size_t>(op)]; }

}  // namespace gdr
