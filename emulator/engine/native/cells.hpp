// What the memories of a PE hold while a section is translated: short by short, and not yet taken
// as number or bits, for that is decided by what reads them.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "emulator/engine/native/graph.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/operand.hpp"

namespace gdr::native {

/// Numbers all shorts of a PE: register file, then local memory, then T. Masks by themselves.
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

/// Index of what a cell holds.
using CellRef = std::uint32_t;

/// All that cells have held. Reading one as number or bits makes nodes in the graph.
class Cells {
 public:
  explicit Cells(Graph& graph) : graph_(graph) {}

  // --- what a cell can hold
  CellRef input(std::uint32_t place);  ///< what stood in a cell at the beginning
  CellRef memory(NodeOp source_or_uniform, std::uint32_t address);  ///< a short of the BM
  CellRef constant(std::uint64_t short_bits);                       ///< 36 bits
  CellRef value(Ref short_number_or_bits);
  CellRef half(Ref long_number, bool lower);
  CellRef select(Ref mask, CellRef yes, CellRef no);
  /// A half of a long constant, whose upper bits are these and whose lower are zero, to which a
  /// short integer is added.
  CellRef sum(std::uint64_t constant_upper, Ref integer, bool lower);

  // --- how it is read; throw Unsupported where host numbers lack what is asked for
  Ref short_number(CellRef cell);
  Ref bits(CellRef cell);
  Ref long_number(CellRef upper, CellRef lower);
  /// The integer that was added to this constant, if that is what the long is; or no_ref.
  Ref integer_added_to(std::uint64_t constant_upper, CellRef upper, CellRef lower) const;

  /// Does the long have bits that host numbers lack: was it put together by integer operations?
  /// `place` is asked of longs that stood in the PE or in the broadcast memory.
  using AskPlace = std::function<bool(NodeOp space, std::uint32_t place)>;
  bool made_of_integers(CellRef upper, CellRef lower, const AskPlace& place) const;

  bool is_constant(CellRef cell) const noexcept { return cells_[cell].tag == Tag::Constant; }
  bool is_zero(CellRef cell) const noexcept {
    return is_constant(cell) && constant_bits(cell) == 0;
  }
  std::uint64_t constant_bits(CellRef cell) const noexcept { return cells_[cell].bits; }
  /// True if some half of a long number is in it: it is a number rather than bits.
  bool holds_half(CellRef cell) const noexcept;
  /// True if what it holds was computed as a number.
  bool prefers_number(CellRef cell) const noexcept;
  bool holds_input(CellRef cell, std::uint32_t place) const noexcept {
    return cells_[cell].tag == Tag::Input && cells_[cell].place == place;
  }
  /// True if its bits are those of a computed long number.
  bool is_half_of_number(CellRef cell) const noexcept { return cells_[cell].tag == Tag::Half; }
  Ref number_of_half(CellRef cell) const noexcept { return cells_[cell].ref; }

 private:
  enum class Tag : std::uint8_t { Input, Memory, Constant, Value, Half, Sum, Select };
  struct Cell {
    Tag tag;
    bool lower = false;            ///< Half, Sum
    NodeOp space = NodeOp::Input;  ///< Memory: Source or Uniform
    std::uint32_t place = 0;       ///< Input, Memory
    std::uint64_t bits = 0;        ///< Constant; Sum: the constant's upper half
    Ref ref = no_ref;              ///< Value, Half; Sum: the integer; Select: the mask
    CellRef yes = 0, no = 0;
    friend auto operator<=>(const Cell&, const Cell&) = default;
  };
  CellRef add(const Cell& cell);
  Ref leaf(const Cell& cell, Take take);
  bool are_one_word(const Cell& upper, const Cell& lower) const noexcept;
  bool are_one_number(const Cell& upper, const Cell& lower) const noexcept;

  Graph& graph_;
  std::vector<Cell> cells_;
  std::map<Cell, CellRef> known_;
};

}  // namespace gdr::native
