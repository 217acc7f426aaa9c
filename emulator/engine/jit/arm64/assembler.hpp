// Machine code for AArch64: one word for an instruction, and branches to labels.
//
// Debian's asmjit and other encoders are not built for arm64, and a kernel needs about 70
// instructions, whose words are the sum of a constant and their registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/jit/arm64/instructions.hpp"

namespace gdr::jit::arm64 {

/// A position of code, which branches may refer to before it is known.
class Label {
 private:
  friend class Assembler;
  static constexpr std::size_t unknown = ~std::size_t{0};
  std::size_t at_ = unknown;       ///< index of the word
  std::vector<std::size_t> uses_;  ///< words that wait for it
};

/// Registers are numbers: of vectors or of the 64-bit registers x0 to x30. x16 and x17 hold
/// addresses that do not fit an instruction.
class Assembler {
 public:
  using Word = a64::Word;
  static constexpr unsigned address_register = 16, scratch_register = 17;
  static constexpr unsigned temporary_vector = 31;  ///< register for steps of an operation

  void put(Word word) { words_.push_back(word); }
  void two(Word op, unsigned to, unsigned a) { put(op | a << 5 | to); }
  void three(Word op, unsigned to, unsigned a, unsigned b) { put(op | b << 16 | a << 5 | to); }

  /// Vector shifts by 0 to lane_bits - 1 to the left, or 1 to lane_bits to the right.
  void shift(Word op, unsigned to, unsigned a, unsigned count, unsigned lane_bits) {
    const unsigned code = op == a64::shl ? lane_bits + count : 2 * lane_bits - count;
    put(op | code << 16 | a << 5 | to);
  }
  /// A lane of a vector and a register, in either direction (umov, smov, ins).
  void lane(Word op, unsigned to, unsigned a, unsigned lane, bool doubles) {
    put(op | lane << (doubles ? 20 : 19) | a << 5 | to);
  }
  /// Bits 0 to `last` of a register.
  void low_bits(Word op, unsigned to, unsigned a, unsigned last) {
    put(op | last << 10 | a << 5 | to);
  }
  void shift_right(unsigned to, unsigned a, unsigned count) {
    put(a64::ubfm | count << 16 | 63U << 10 | a << 5 | to);
  }
  void move(unsigned to, unsigned from) { three(a64::orr_x, to, a64::zero, from); }
  /// to = a + number, through another register if the number has more than 24 bits.
  void add(unsigned to, unsigned a, std::int64_t number);
  /// to = a - number, with the flags of the difference; number below 4096.
  void subtract(unsigned to, unsigned a, unsigned number) {
    put(a64::subs_number | number << 10 | a << 5 | to);
  }
  void constant(unsigned to, std::int64_t number);
  /// A load or store of a register at base + offset.
  void access(const a64::Access& access, unsigned r, unsigned base, std::int64_t offset);

  /// The beginning of a function: saves the lower halves of vectors 8 to 15 on the stack, which
  /// callers want back.
  void enter();
  /// The end, before the jump elsewhere: restores them.
  void leave();

  void bind(Label& label);
  void branch(Label& label) { refer(a64::b, label); }
  void branch(a64::Condition c, Label& label) { refer(a64::b_if | c, label); }
  void branch_if_zero(unsigned r, Label& label) { refer(a64::cbz | r, label); }
  void branch_unless_zero(unsigned r, Label& label) { refer(a64::cbnz | r, label); }
  void branch_if_bit_clear(unsigned r, unsigned bit, Label& label) {
    refer(a64::tbz | (bit >> 5) << 31 | (bit & 31) << 19 | r, label);
  }
  /// The address of a label, at most 1 MB away.
  void address(unsigned to, Label& label) { refer(a64::adr | to, label); }
  /// The next code begins at a multiple of so many bytes, after instructions without effect.
  void align(std::size_t bytes);
  /// Data, up to a whole number of words.
  void data(std::span<const std::uint8_t> bytes);

  /// The code; all labels that it refers to are bound.
  std::span<const Word> words() const noexcept { return words_; }

 private:
  void saved_vectors(Word op);
  void refer(Word op, Label& label);
  /// Adds the distance of a label to the word at an index.
  void patch(std::size_t at, std::size_t to);

  std::vector<Word> words_;
};

}  // namespace gdr::jit::arm64
