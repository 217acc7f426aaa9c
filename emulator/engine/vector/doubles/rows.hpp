// Rows of a frame: words in two forms, masks, constants and scratch.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "emulator/engine/vector/doubles/op.hpp"
#include "emulator/isa/geometry.hpp"

namespace gdr {

/// Kinds of rows. A word of the machine has rows of its own for each form that it ever takes.
enum class RowKind : std::uint8_t { Short, Head, Tail, Mask, Constant, Scratch };

/// A row, before layout.
struct RowId {
  RowKind kind = RowKind::Scratch;
  std::uint32_t number = 0;
  friend bool operator<(RowId a, RowId b) {
    return a.kind != b.kind ? a.kind < b.kind : a.number < b.number;
  }
};

/// Rows of an operand: element k has the row `stride` * k behind the first.
struct RowSpan {
  RowId lanes, tail;
  bool has_tail = false;
  std::uint32_t stride = 0;
  bool used = true;
};
constexpr RowSpan no_rows{{}, {}, false, 0, false};

/// Collects used rows and assigns their offsets: rows of one operand are consecutive; a cache line
/// separates others, so that strips of a kilobyte have different page offsets.
class RowLayout {
 public:
  void use(const RowSpan& span, unsigned elements);
  /// Offsets for all rows of `row_bytes`; returns the size of the frame.
  std::uint32_t assign(std::uint32_t row_bytes);
  bool has(RowId row) const { return offsets_.count(row) != 0; }
  std::uint32_t offset(RowId row) const { return offsets_.at(row); }
  LanePlace place(const RowSpan& span) const;  ///< all zero for no_rows

 private:
  void use_rows(RowId first, unsigned count);
  std::map<RowId, bool> joined_;  ///< whether the row stands right behind the one before
  std::map<RowId, std::uint32_t> offsets_;
  std::uint32_t row_bytes_ = 0;
};

/// Numbers of the words of all memories, and of the shorts in them, as rows have them.
struct WordNumbers {
  std::uint32_t registers, local;  ///< long words of each
  explicit WordNumbers(const Geometry& geometry)
      : registers(geometry.register_words), local(geometry.local_words) {}
  std::uint32_t count() const { return registers + local + 4; }
  std::uint32_t first_t() const { return registers + local; }
  /// T's upper halves stand one after the other, then its lower ones: both are strips.
  std::uint32_t short_row(std::uint32_t word, unsigned half) const {
    return word < first_t() ? 2 * word + half : 2 * first_t() + 4 * half + (word - first_t());
  }
};

}  // namespace gdr
