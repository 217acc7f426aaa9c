// Words of a PE: their rows in a frame, and their static states at a point of a section.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Kinds of rows. A word has separate rows for each of its forms.
enum class RowKind : std::uint8_t { Short, Head, Tail, Mask, Constant, Scratch };
constexpr std::size_t row_kinds = 6;

/// A row, before layout.
struct RowId {
  RowKind kind = RowKind::Scratch;
  std::uint32_t number = 0;
  friend auto operator<=>(const RowId&, const RowId&) = default;
};

/// Rows of an operand: element k has the row first + `stride` * k.
struct RowSpan {
  RowId lanes, tail;
  bool has_tail = false;
  std::uint32_t stride = 0;
  bool used = true;
};
constexpr RowSpan no_rows{{}, {}, false, 0, false};

/// The row of an element; `tail`: that of its tail.
inline RowId row_at(const RowSpan& span, std::uint32_t element, bool tail = false) {
  const RowId first = tail ? span.tail : span.lanes;
  return {first.kind, first.number + span.stride * element};
}
inline bool same_rows(const RowSpan& a, const RowSpan& b) {
  return a.used && b.used && a.has_tail == b.has_tail && a.stride == b.stride &&
         a.lanes == b.lanes && (!a.has_tail || a.tail == b.tail);
}

/// Numbers of the words of all memories, and of their shorts' rows.
struct WordNumbers {
  std::uint32_t registers, local;  ///< number of long words of each
  explicit WordNumbers(const Geometry& geometry)
      : registers(geometry.register_words), local(geometry.local_words) {}
  std::uint32_t count() const { return registers + local + 4; }
  std::uint32_t first_t() const { return registers + local; }
  /// T's upper halves are consecutive, and so are its lower ones.
  std::uint32_t short_row(std::uint32_t word, unsigned half) const {
    return word < first_t() ? 2 * word + half : 2 * first_t() + 4 * half + (word - first_t());
  }
};

/// The form that the rows of a word have: a long as h and l, or two shorts.
enum class Rep : std::uint8_t { Shorts, Long };

/// One long word (register file, local memory or T) at one point of a section.
struct WordState {
  Rep rep = Rep::Shorts;
  bool head = false;       ///< Long: has no tail
  bool plus_zero = false;  ///< Long: is never -0
  bool floats[2] = {};     ///< Shorts: result of a float operation
  bool defined[2] = {};    ///< whether it was written in this iteration in all lanes
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
  /// The form that the first access after an instruction requires; past the end, the first of all
  /// (the next iteration). If there is none, that of `then`, or shorts (a word's bits).
  Rep next(std::uint32_t word, std::size_t instruction) const;
  Rep first(std::uint32_t word) const;
  /// False if a half is overwritten by or after an instruction in the same iteration before it is
  /// read.
  bool lives(WordHalf h, std::size_t instruction) const;

 private:
  struct Use {
    std::size_t instruction;
    Rep rep;
  };
  struct Access {
    std::size_t instruction;
    bool read;  ///< whether it is read, or written under a mask, which may keep the previous value
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
