#include "emulator/engine/vector/doubles/list_facts.hpp"

namespace gdr {

bool ListFacts::is_live_after(std::size_t n) const {
  return !all_elements(n, [&](const ElementLiveness&, std::uint32_t k) {
    const std::size_t row = number(row_at(list_.ops()[n].out, k));
    return list_.final_sites()[row] != site_of(n, k) || !list_.behind()[row].live;
  });
}

bool ListFacts::is_checked_for_others(std::size_t n) const {
  return !all_elements(n, [](const ElementLiveness& e, std::uint32_t) { return !e.checked.live; });
}

Literal ListFacts::of_element(Literal l, std::uint32_t k) const {
  if (l.site >= 0) return {l.site + static_cast<ValueSite>(k), l.value};
  const RowId first = rows_.row(-1 - l.site);
  const RowId row{first.kind, first.number + (first.kind == RowKind::Constant ? 0 : k)};
  return {rows_.has(row) ? entry_site(rows_.number(row)) : 0, l.value};
}

bool ListFacts::holds_for_all(std::size_t n, Literal l) const {
  return all_elements(
      n, [&](const ElementLiveness& e, std::uint32_t k) { return e.result.has(of_element(l, k)); });
}

bool ListFacts::is_tested(ValueSite value, Literal mask) const {
  if (mask.site < 0) return false;
  const std::size_t t = op_at(mask.site);
  if (list_.ops()[t].kind != RowOpKind::Test) return false;
  const ValueSite origin = origin_of(value);
  const auto among = [&](const RowOp& o, const ElementLiveness& operands) {
    return (o.a.used && origin_of(operands.a) == origin) ||
           (o.b.used && origin_of(operands.b) == origin);
  };
  const ElementLiveness& e = list_.at(t, element_at(mask.site));
  if (among(list_.ops()[t], e)) return true;
  if (e.a < 0) return false;
  const RowOp& from = list_.ops()[op_at(e.a)];
  return from.out.lanes.kind == RowKind::Scratch &&
         among(from, list_.at(op_at(e.a), element_at(e.a)));
}
/// Definition of a value before moves and conversions.
ValueSite ListFacts::origin_of(ValueSite value) const {
  while (value >= 0) {
    const RowOp& o = list_.ops()[op_at(value)];
    const ElementLiveness& e = list_.at(op_at(value), element_at(value));
    const bool moves =
        o.a.used && (!o.b.used || e.a == e.b) && !o.predicated() && o.kind == RowOpKind::Compute;
    if (!moves || o.a.lanes.kind == RowKind::Constant) break;
    value = e.a;
  }
  return value;
}

bool ListFacts::has_remains(ValueSite value, Literal mask) const {
  if (value < 0) return false;
  const RowOp& o = list_.ops()[op_at(value)];
  const ElementLiveness& e = list_.at(op_at(value), element_at(value));
  return o.predicated() && e.keeps && e.mask == mask.site && o.op.value == mask.value;
}

}  // namespace gdr
