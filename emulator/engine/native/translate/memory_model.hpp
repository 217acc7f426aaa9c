// Symbolic contents of a PE's memories during translation: by short, not yet interpreted as number
// or bits, which depends on the reader.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "emulator/engine/native/translate/graph.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/operand.hpp"

namespace gdr::native {

/// Indices of all shorts (cells) of a PE: register file, then local memory, then T. Masks have
/// separate indices.
struct CellMap {
  explicit CellMap(const Geometry& g)
      : local(g.register_words * 2), t(local + g.local_words * 2), count(t + max_elements * 2) {}
  std::uint32_t local, t, count;
  static constexpr std::uint32_t masks = mask_registers * max_elements;

  /// The cell of a location in Register, Local or T.
  std::uint32_t cell(const Operand& x, unsigned element) const noexcept {
    if (x.space == Space::Register) return x.at(element);
    if (x.space == Space::Local) return local + x.at(element);
    return t + element * 2 + x.address;
  }
};

/// Index of a cell's symbolic value.
using CellValue = std::uint32_t;

/// All symbolic values of cells. Reading one as number or bits creates nodes in the graph.
class MemoryModel {
 public:
  explicit MemoryModel(Graph& graph) : graph_(graph) {}

  // --- construction
  /// Initial contents of a cell.
  CellValue input(std::uint32_t place) { return add({.tag = Tag::Input, .place = place}); }
  /// A short of the broadcast memory; `space`: Source or Uniform.
  CellValue memory(NodeOp space, std::uint32_t address) {
    return add({.tag = Tag::Memory, .space = space, .place = address});
  }
  /// A half of the element of a table that is so many behind an index; not `lower`: the upper half,
  /// or a short.
  CellValue lookup(Ref index, std::uint32_t behind, std::uint32_t table, bool lower) {
    return add({.tag = Tag::Lookup, .lower = lower, .place = table, .bits = behind, .ref = index});
  }
  /// A short of 36 bits.
  CellValue constant(std::uint64_t bits) { return add({.tag = Tag::Constant, .bits = bits}); }
  CellValue value(Ref short_number_or_bits) {
    return add({.tag = Tag::Value, .ref = short_number_or_bits});
  }
  CellValue half(Ref long_number, bool lower) {
    return add({.tag = Tag::Half, .lower = lower, .ref = long_number});
  }
  CellValue select(Ref mask, CellValue yes, CellValue no);
  /// A half of a long constant, whose upper bits are these and whose lower are zero, to which a
  /// short integer is added.
  CellValue sum(std::uint64_t constant_upper, Ref integer, bool lower) {
    return add({.tag = Tag::Sum, .lower = lower, .bits = constant_upper, .ref = integer});
  }

  // --- interpretation; throws Unsupported if host numbers cannot represent it
  Ref short_number(CellValue cell);
  Ref bits(CellValue cell);
  Ref long_number(CellValue upper, CellValue lower);
  /// The integer added to this constant, if the long is such a sum; else no_ref.
  Ref integer_added_to(std::uint64_t constant_upper, CellValue upper, CellValue lower) const;

  /// Whether the long was assembled by integer operations, so that it may have bits that host
  /// numbers lack. `place` answers for longs of the initial PE state or the broadcast memory.
  using AskPlace = std::function<bool(NodeOp space, std::uint32_t place)>;
  bool made_of_integers(CellValue upper, CellValue lower, const AskPlace& place) const;

  /// The address of an unchanged short of the broadcast memory outside of the items, if it is one.
  std::optional<std::uint32_t> uniform_word(CellValue cell) const noexcept {
    const Cell& held = cells_[cell];
    if (held.tag != Tag::Memory || held.space != NodeOp::Uniform) return std::nullopt;
    return held.place;
  }
  bool is_constant(CellValue cell) const noexcept { return cells_[cell].tag == Tag::Constant; }
  bool is_zero(CellValue cell) const noexcept {
    return is_constant(cell) && constant_bits(cell) == 0;
  }
  std::uint64_t constant_bits(CellValue cell) const noexcept { return cells_[cell].bits; }
  /// True if it contains a half of a long number.
  bool holds_half(CellValue cell) const noexcept;
  /// True if it was computed as a number.
  bool prefers_number(CellValue cell) const noexcept;
  bool holds_input(CellValue cell, std::uint32_t place) const noexcept {
    return cells_[cell].tag == Tag::Input && cells_[cell].place == place;
  }
  /// True if it is a half of a computed long number.
  bool is_half_of_number(CellValue cell) const noexcept { return cells_[cell].tag == Tag::Half; }
  Ref number_of_half(CellValue cell) const noexcept { return cells_[cell].ref; }

 private:
  enum class Tag : std::uint8_t { Input, Memory, Lookup, Constant, Value, Half, Sum, Select };
  struct Cell {
    Tag tag;
    bool lower = false;            ///< Lookup, Half, Sum
    NodeOp space = NodeOp::Input;  ///< Memory: Source or Uniform
    std::uint32_t place = 0;       ///< Input, Memory; Lookup: the table
    /// Constant; Sum: the constant's upper half; Lookup: number of elements behind the index
    std::uint64_t bits = 0;
    /// Lookup: the index; Value, Half: the node; Sum: the integer; Select: the mask
    Ref ref = no_ref;
    CellValue yes = 0, no = 0;
    friend auto operator<=>(const Cell&, const Cell&) = default;
  };
  CellValue add(const Cell& cell);
  Ref leaf(const Cell& cell, WordType type);
  bool are_one_word(const Cell& upper, const Cell& lower) const noexcept;
  bool are_one_number(const Cell& upper, const Cell& lower) const noexcept;

  Graph& graph_;
  std::vector<Cell> cells_;
  std::map<Cell, CellValue> known_;
};

}  // namespace gdr::native
