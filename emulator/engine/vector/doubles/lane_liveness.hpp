// Liveness of rows with predicates: the lanes in which a row is observed.
//
// A row that is written under a predicate, or read only by such operations, is dead in lanes that
// the predicate excludes. The analysis goes backwards through a list of operations, element by
// element, and keeps for every row a condition: a set of literals "this mask has that value", all
// of which hold in a lane in which the row is live. Dropping a literal is always correct.
#pragma once

#include <array>
#include <vector>

#include "emulator/engine/vector/doubles/row_program.hpp"

namespace gdr {

/// Definition of a row's value: an element of an operation of the list, or (negative) the row
/// itself before the list.
using ValueSite = std::int32_t;
constexpr ValueSite elements_per_site = 4096;
constexpr ValueSite site_of(std::size_t op, std::uint32_t element) {
  return static_cast<ValueSite>(op) * elements_per_site + static_cast<ValueSite>(element);
}
constexpr ValueSite entry_site(int row) { return -1 - row; }
constexpr std::size_t op_at(ValueSite site) {
  return static_cast<std::size_t>(site / elements_per_site);
}
constexpr std::uint32_t element_at(ValueSite site) {
  return static_cast<std::uint32_t>(site % elements_per_site);
}

/// A mask has a value in a lane.
struct Literal {
  ValueSite site = 0;
  bool value = false;
  friend auto operator<=>(const Literal&, const Literal&) = default;
};

/// Whether a row is live, and in which lanes: where all literals hold (sorted; none: in all lanes).
struct LaneLiveness {
  bool live = false;
  std::vector<Literal> when;
  bool has(Literal l) const;
  /// Liveness for both of two readers.
  void join(const LaneLiveness& other);
  friend bool operator==(const LaneLiveness&, const LaneLiveness&) = default;
};
/// By row.
using RowLiveness = std::vector<LaneLiveness>;

/// Numbers for the rows of a program.
class RowNumbering {
 public:
  void add(const RowSpan& span, std::uint32_t elements);
  void add(const std::vector<RowOp>& ops);
  /// The number of a row that was added.
  int number(RowId row) const { return numbers_[static_cast<std::size_t>(row.kind)][row.number]; }
  bool has(RowId row) const {
    const std::vector<int>& of_kind = numbers_[static_cast<std::size_t>(row.kind)];
    return row.number < of_kind.size() && of_kind[row.number] != none;
  }
  std::size_t size() const { return rows_.size(); }
  RowId row(int number) const { return rows_[static_cast<std::size_t>(number)]; }

 private:
  static constexpr int none = -1;

  void add(RowId row);
  /// By kind and number of a row: number, or none. Numbers of rows are small.
  std::array<std::vector<int>, row_kinds> numbers_;
  std::vector<RowId> rows_;
};

/// One element of an operation: definitions of its operands and liveness of its result.
struct ElementLiveness {
  ValueSite a = 0, b = 0, mask = 0;
  LaneLiveness result;   ///< liveness of the result; of a Check: of the operand
  LaneLiveness checked;  ///< liveness of the operand of a CheckedInput after it
  bool keeps = false;    ///< whether lanes that its predicate excludes are live
};

/// Liveness in a list of operations.
class ListLiveness {
 public:
  ListLiveness(const std::vector<RowOp>& ops, const RowNumbering& rows);

  const std::vector<RowOp>& ops() const { return ops_; }
  const ElementLiveness& at(std::size_t op, std::uint32_t element) const {
    return elements_[first_[op] + element];
  }
  /// Definitions of the rows after the list.
  const std::vector<ValueSite>& final_sites() const { return final_; }

  /// Backward analysis from the liveness after the list; returns the liveness before it.
  RowLiveness analyse(RowLiveness behind);
  /// Converts the liveness before the next list to that after this one: literals of masks that only
  /// the next list sets are dropped.
  RowLiveness behind_from(const RowLiveness& next) const;
  const RowLiveness& before() const { return before_; }
  const RowLiveness& behind() const { return behind_; }

 private:
  void find_sites();
  /// Adds a literal and all that it implies; false if no lane is left.
  bool restrict(std::vector<Literal>& when, Literal l) const;
  void analyse_element(std::size_t n, std::uint32_t k, RowLiveness& rows);
  LaneLiveness& demand(RowLiveness& rows, RowId row) const {
    return rows[static_cast<std::size_t>(rows_.number(row))];
  }

  const std::vector<RowOp>& ops_;
  const RowNumbering& rows_;
  std::vector<std::size_t> first_;  ///< first element of each operation
  std::vector<ElementLiveness> elements_;
  std::vector<ValueSite> final_;
  RowLiveness before_, behind_;
};

}  // namespace gdr
