// Questions about a list of operations and its liveness (lane_liveness.hpp).
#pragma once

#include "emulator/engine/vector/doubles/lane_liveness.hpp"

namespace gdr {

class ListFacts {
 public:
  ListFacts(const ListLiveness& list, const RowNumbering& rows) : list_(list), rows_(rows) {}

  const std::vector<RowOp>& ops() const { return list_.ops(); }
  const ListLiveness& list() const { return list_; }
  const RowNumbering& rows() const { return rows_; }
  std::size_t number(RowId row) const { return static_cast<std::size_t>(rows_.number(row)); }

  /// Whether test(liveness, element) holds for all elements of an operation.
  template <class Test>
  bool all_elements(std::size_t n, Test test) const {
    for (std::uint32_t k = 0; k < list_.ops()[n].op.elements; ++k) {
      if (!test(list_.at(n, k), k)) return false;
    }
    return true;
  }
  /// Whether no result of an operation is live.
  bool unobserved(std::size_t n) const {
    return all_elements(n, [](const ElementLiveness& e, std::uint32_t) { return !e.result.live; });
  }
  /// Whether an operation's results are live after the list.
  bool is_live_after(std::size_t n) const;
  /// Whether later operations rely on the check of a CheckedInput.
  bool is_checked_for_others(std::size_t n) const;

  /// The literal of element k's mask that corresponds to `l` of the first element's.
  Literal of_element(Literal l, std::uint32_t k) const;
  bool holds_for_all(std::size_t n, Literal l) const;

  /// Whether a mask was computed from the value.
  bool is_tested(ValueSite value, Literal mask) const;
  /// Whether a predicated write has kept previous values, which are live.
  bool has_remains(ValueSite value, Literal mask) const;

 private:
  ValueSite origin_of(ValueSite value) const;

  const ListLiveness& list_;
  const RowNumbering& rows_;
};

}  // namespace gdr
