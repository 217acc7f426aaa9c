// Static state of every word of a PE at a point of a section.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/vector/doubles/rows.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// The form that the rows of a word have: a long as h and l, or two shorts.
enum class Rep : std::uint8_t { Shorts, Long };

/// One long word (register file, local memory or T) at one point of a section.
struct WordState {
  Rep rep = Rep::Shorts;
  bool head = false;       ///< Long: has no tail
  bool plus_zero = false;  ///< Long: is never -0
  bool floats[2] = {};     ///< Shorts: left by an operation on floats
  bool defined[2] = {};    ///< written in this pass, whatever a mask says
  friend bool operator==(const WordState&, const WordState&) = default;
};

/// A location of an operand's element: a word, and which half if the operand is short.
struct WordHalf {
  std::uint32_t word = 0;
  unsigned half = 0;
};

/// Register, Local and T operands only.
inline WordHalf word_of(const WordNumbers& numbers, const Operand& x, unsigned element) {
  if (x.space == Space::T) return {numbers.first_t() + element, x.address};
  const unsigned address = x.at(element);
  return {(x.space == Space::Local ? numbers.registers : 0) + address / 2, address % 2};
}

/// The second destination as an operand.
inline Operand t_operand(TTarget t, Width width) {
  return {Space::T, width, false, static_cast<std::uint16_t>(t == TTarget::Lower ? 1 : 0)};
}

/// The form that each access of a word requires. Moves of whole longs require none: they take the
/// form of the next access.
class WordUses {
 public:
  WordUses(std::span<const Instruction> section, const WordNumbers& numbers,
           std::span<const Instruction> then = {});
  /// The form that the first access after an instruction wants; past the end, the first of all
  /// (the next pass). If there is none, that of `then`, or shorts: they are a word's bits as they
  /// are.
  Rep next(std::uint32_t word, std::size_t instruction) const;
  Rep first(std::uint32_t word) const;
  /// False if a half is written after all before anything reads it, in an instruction or behind it
  /// in the same pass.
  bool lives(WordHalf h, std::size_t instruction) const;

 private:
  struct Use {
    std::size_t instruction;
    Rep rep;
  };
  struct Access {
    std::size_t instruction;
    bool read;  ///< or written in part: a mask may keep what was there
  };
  void add_accesses(const Instruction& i, std::size_t number);
  void add_access(const Operand& x, unsigned vlen, Access access);
  void add_slot(const Arithmetic& slot, unsigned vlen, std::size_t number);
  void add(const Operand& x, unsigned vlen, Rep rep, std::size_t number);
  WordNumbers numbers_;
  std::vector<std::vector<Use>> uses_;         ///< [word]
  std::vector<Rep> first_;                     ///< [word]
  std::vector<std::vector<Access>> accesses_;  ///< [word * 2 + half]
};

}  // namespace gdr
