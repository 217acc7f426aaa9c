// In which lanes anybody observes the rows of a frame: liveness with predicates.
//
// A row that is written under a predicate, or read only by what is, need not be right in lanes that
// the predicate leaves out. The analysis goes backwards through a list of operations, element by
// element, and keeps for every row a condition: a set of literals "this mask has that value", all
// of which hold in a lane in which the row is observed. Fewer literals are always right.
#pragma once

#include <map>
#include <vector>

#include "emulator/engine/vector/doubles/lay_out.hpp"

namespace gdr {

/// Where the value came from that a row has: an element of an operation of the list at hand, or
/// (negative) the row itself, as it was before the list.
using ValueSite = std::int32_t;
constexpr ValueSite elements_a_site = 4096;
constexpr ValueSite site_of(std::size_t op, std::uint32_t element) {
  return static_cast<ValueSite>(op) * elements_a_site + static_cast<ValueSite>(element);
}
constexpr ValueSite entry_site(int row) { return -1 - row; }
constexpr std::size_t op_at(ValueSite site) {
  return static_cast<std::size_t>(site / elements_a_site);
}
constexpr std::uint32_t element_at(ValueSite site) {
  return static_cast<std::uint32_t>(site % elements_a_site);
}

/// A mask has a value in a lane.
struct Literal {
  ValueSite site = 0;
  bool value = false;
  friend auto operator<=>(const Literal&, const Literal&) = default;
};

/// Whether a row is observed, and in which lanes: where all literals hold (sorted; none: in all).
struct LaneDemand {
  bool live = false;
  std::vector<Literal> when;
  bool has(Literal l) const;
  /// Adds what another reader observes.
  void join(const LaneDemand& other);
  friend bool operator==(const LaneDemand&, const LaneDemand&) = default;
};
/// By row.
using RowDemands = std::vector<LaneDemand>;

/// Numbers for the rows of a program.
class RowNumbering {
 public:
  void add(const RowSpan& span, std::uint32_t elements);
  int number(RowId row) const { return numbers_.at(row); }
  bool has(RowId row) const { return numbers_.count(row) != 0; }
  std::size_t size() const { return rows_.size(); }
  RowId row(int number) const { return rows_[static_cast<std::size_t>(number)]; }

 private:
  void add(RowId row);
  std::map<RowId, int> numbers_;
  std::vector<RowId> rows_;
};

/// The row of an element; `tail`: of the tails.
inline RowId row_at(const RowSpan& span, std::uint32_t element, bool tail = false) {
  const RowId first = tail ? span.tail : span.lanes;
  return {first.kind, first.number + span.stride * element};
}

/// One element of an operation: where its operands come from, and who observes what it computes.
struct ElementDemand {
  ValueSite a = 0, b = 0, mask = 0;
  LaneDemand result;   ///< of a Check: of what it looks at
  LaneDemand vouched;  ///< of a CheckedInput: who else observes what it looks at
  bool keeps = false;  ///< somebody observes what its predicate leaves in place
};

/// A list of operations, and the demands in it.
class ListDemand {
 public:
  ListDemand(const std::vector<RowOp>& ops, const RowNumbering& rows);

  const std::vector<RowOp>& ops() const { return ops_; }
  const ElementDemand& at(std::size_t op, std::uint32_t element) const {
    return elements_[first_[op] + element];
  }
  /// What the rows hold behind the list.
  const std::vector<ValueSite>& final_sites() const { return final_; }

  /// Goes through the list from the demands behind it; returns those before it.
  RowDemands analyse(RowDemands behind);
  /// Demands before the next list as demands behind this one: masks that only that list sets say
  /// nothing here.
  RowDemands behind_from(const RowDemands& next) const;
  const RowDemands& before() const { return before_; }
  const RowDemands& behind() const { return behind_; }

 private:
  void find_sites();
  /// Adds a literal and all that it implies; false if no lane is left.
  bool restrict(std::vector<Literal>& when, Literal l) const;
  void analyse_element(std::size_t n, std::uint32_t k, RowDemands& rows);
  LaneDemand& demand(RowDemands& rows, RowId row) const {
    return rows[static_cast<std::size_t>(rows_.number(row))];
  }

  const std::vector<RowOp>& ops_;
  const RowNumbering& rows_;
  std::vector<std::size_t> first_;  ///< by operation, its first element
  std::vector<ElementDemand> elements_;
  std::vector<ValueSite> final_;
  RowDemands before_, behind_;
};

}  // namespace gdr
