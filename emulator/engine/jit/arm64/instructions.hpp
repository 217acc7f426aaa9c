// The words of A64 instructions without their registers and numbers (Arm Architecture Reference
// Manual for A-profile, chapters C4 and C7).
#pragma once

#include <cstdint>

namespace gdr::jit::arm64::a64 {

using Word = std::uint32_t;

// Vectors of 128 bits. Those of numbers and integers are for lanes of 32 bits; with `of_doubles`,
// for 64.
constexpr Word of_doubles = Word{1} << 22;

// numbers: to, a, b
constexpr Word fadd = 0x4e20d400, fsub = 0x4ea0d400, fmul = 0x6e20dc00, fdiv = 0x6e20fc00;
constexpr Word fmla = 0x4e20cc00, fmls = 0x4ea0cc00;  // to + a * b, to - a * b
// the same by lane 0 of b
constexpr Word fmul_lane = 0x4f809000, fmla_lane = 0x4f801000, fmls_lane = 0x4f805000;
constexpr Word fmaxnm = 0x4e20c400;  // the number, if the other one is none
constexpr Word frsqrts = 0x4ea0fc00, frecps = 0x4e20fc00;
constexpr Word fcmeq = 0x4e20e400, fcmgt = 0x6ea0e400, fcmge = 0x6e20e400;
// numbers: to, a
constexpr Word fneg = 0x6ea0f800, fsqrt = 0x6ea1f800, frsqrte = 0x6ea1d800, frecpe = 0x4ea1d800;
constexpr Word frintn = 0x4e218800, frintm = 0x4e219800, frintz = 0x4ea19800;
constexpr Word scvtf = 0x4e21d800, fcvtzs = 0x4ea1b800;
// integers: to, a, b
constexpr Word add = 0x4ea08400, sub = 0x6ea08400;
constexpr Word cmeq = 0x6ea08c00, cmgt = 0x4ea03400, cmge = 0x4ea03c00;
constexpr Word cmhi = 0x6ea03400, cmhs = 0x6ea03c00;
constexpr Word ushl = 0x6ea04400, sshl = 0x4ea04400;  // to the right by negative counts
// integers: to, a
constexpr Word neg = 0x6ea0b800, cmeq_zero = 0x4ea09800;
// integers: to, a and a count (Assembler::shift)
constexpr Word shl = 0x4f005400, ushr = 0x6f000400, sshr = 0x4f000400;
// bits: to, a, b
constexpr Word and_ = 0x4e201c00, bic = 0x4e601c00, orr = 0x4ea01c00, eor = 0x6e201c00;
constexpr Word bsl = 0x6e601c00;                    // to ? a : b
constexpr Word bit = 0x6ea01c00, bif = 0x6ee01c00;  // b ? a : to, b ? to : a
// bits: to, a
constexpr Word not_ = 0x6e205800;
// between lanes, and between vectors and registers
constexpr Word umov_d = 0x4e083c00, smov_s = 0x4e042c00;  // to a register, from a lane
constexpr Word ins_d = 0x4e081c00, ins_s = 0x4e041c00;    // from a register, to a lane
constexpr Word xtn_2d = 0x0ea12800, xtn_4s = 0x0e612800;  // the lower half of each lane
constexpr Word fmov_x = 0x9e660000;                       // lane 0 to a register
constexpr Word movi_zero = 0x6f00e400;
constexpr Word movi_top_byte = 0x4f006400;  // 32-bit lanes: a byte, shifted by 24

// Loads and stores at a register and a multiple of the size; `unscaled` ones at -256 to 255 bytes.
struct Access {
  Word scaled, unscaled;
  unsigned size;
};
constexpr Access ldr_q{0x3dc00000, 0x3cc00000, 16}, str_q{0x3d800000, 0x3c800000, 16};
constexpr Access ldr_s{0xbd400000, 0xbc400000, 4};
constexpr Access ldr_d{0xfd400000, 0xfc400000, 8};
constexpr Access ldr_x{0xf9400000, 0xf8400000, 8}, str_x{0xf9000000, 0xf8000000, 8};
constexpr Access ldrsw{0xb9800000, 0xb8800000, 4}, prfm{0xf9800000, 0xf8800000, 8};
// at a register: to all lanes
constexpr Word ld1r_s = 0x4d40c800, ld1r_d = 0x4d40cc00;
// at a register and an index of 8 or 4 bytes
constexpr Word ldr_x_indexed = 0xf8607800, ldr_w_indexed = 0xb8607800;
// pairs of doubles on the stack
constexpr Word stp_d = 0x6d000000, ldp_d = 0x6d400000;

// Registers of 64 bits: to, a, b
constexpr Word add_x = 0x8b000000, orr_x = 0xaa000000, madd = 0x9b000000;
constexpr Word csel = 0x9a800000;
// to, a and a number of 12 bits
constexpr Word add_number = 0x91000000, sub_number = 0xd1000000, subs_number = 0xf1000000;
constexpr Word subs_x = 0xeb000000;
// to, a and bits `first` to `last` of it (Assembler::field)
constexpr Word ubfm = 0xd3400000, sbfm = 0x93400000;
constexpr Word movz = 0xd2800000, movk = 0xf2800000, movn = 0x92800000;
// branches
constexpr Word b = 0x14000000, b_if = 0x54000000, cbz = 0xb4000000, cbnz = 0xb5000000;
constexpr Word tbz = 0x36000000, br = 0xd61f0000, ret = 0xd65f03c0, adr = 0x10000000;

enum Condition : std::uint8_t { eq = 0, ne = 1, ls = 9, lt = 11, gt = 12 };

/// As a register number: zero as an operand or result, the stack pointer as a base.
constexpr unsigned zero = 31, sp = 31;

}  // namespace gdr::jit::arm64::a64
