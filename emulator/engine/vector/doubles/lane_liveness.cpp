#include "emulator/engine/vector/doubles/lane_liveness.hpp"

#include <algorithm>

namespace gdr {

bool LaneLiveness::has(Literal l) const { return std::binary_search(when.begin(), when.end(), l); }

void LaneLiveness::join(const LaneLiveness& other) {
  if (!other.live) return;
  if (!live) {
    *this = other;
    return;
  }
  std::erase_if(when, [&](Literal l) { return !other.has(l); });
}

void RowNumbering::add(RowId row) {
  std::vector<int>& of_kind = numbers_[static_cast<std::size_t>(row.kind)];
  if (row.number >= of_kind.size()) of_kind.resize(row.number + 1, none);
  if (of_kind[row.number] != none) return;
  of_kind[row.number] = static_cast<int>(rows_.size());
  rows_.push_back(row);
}
void RowNumbering::add(const RowSpan& span, std::uint32_t elements) {
  if (!span.used) return;
  for (std::uint32_t k = 0; k < elements; ++k) {
    add(row_at(span, k));
    if (span.has_tail) add(row_at(span, k, true));
  }
}

void RowNumbering::add(const std::vector<RowOp>& ops) {
  for (const RowOp& o : ops)
    for (const RowSpan* span : o.spans()) add(*span, o.op.elements);
}

ListLiveness::ListLiveness(const std::vector<RowOp>& ops, const RowNumbering& rows)
    : ops_(ops), rows_(rows), first_(ops.size()) {
  std::size_t count = 0;
  for (std::size_t n = 0; n < ops.size(); ++n) {
    first_[n] = count;
    count += ops[n].op.elements;
  }
  elements_.resize(count);
  find_sites();
}

void ListLiveness::find_sites() {
  final_.resize(rows_.size());
  for (std::size_t r = 0; r < final_.size(); ++r) final_[r] = entry_site(static_cast<int>(r));
  const auto site = [&](const RowSpan& span, std::uint32_t k) -> ValueSite& {
    return final_[static_cast<std::size_t>(rows_.number(row_at(span, k)))];
  };
  for (std::size_t n = 0; n < ops_.size(); ++n) {
    const RowOp& o = ops_[n];
    for (std::uint32_t k = 0; k < o.op.elements; ++k) {
      ElementLiveness& e = elements_[first_[n] + k];
      if (o.a.used) e.a = site(o.a, k);
      if (o.b.used) e.b = site(o.b, k);
      if (o.mask.used) e.mask = site(o.mask, k);
      if (!o.out.used) continue;
      site(o.out, k) = site_of(n, k);
      if (o.out.has_tail) {
        final_[static_cast<std::size_t>(rows_.number(row_at(o.out, k, true)))] = site_of(n, k);
      }
    }
  }
}

/// A mask that is written under itself as predicate has the predicate's value only where the old
/// and the new bit both have it: !(p or z) is !p and !z.
bool ListLiveness::restrict(std::vector<Literal>& when, Literal l) const {
  const auto at = std::lower_bound(when.begin(), when.end(), l);
  if (at != when.end() && *at == l) return true;
  when.insert(at, l);
  if (std::binary_search(when.begin(), when.end(), Literal{l.site, !l.value})) return false;
  if (l.site < 0) return true;
  const RowOp& o = ops_[op_at(l.site)];
  const ElementLiveness& e = elements_[first_[op_at(l.site)] + element_at(l.site)];
  if (o.out.lanes.kind != RowKind::Mask || o.kind == RowOpKind::Test) return true;
  if (!o.predicated()) return restrict(when, {e.a, l.value});  // a copy
  const std::uint32_t k = element_at(l.site);
  if (row_at(o.mask, k) != row_at(o.out, k) || l.value != o.op.value) return true;
  return restrict(when, {e.mask, l.value})&& restrict(when, {e.a, l.value});
}

void ListLiveness::analyse_element(std::size_t n, std::uint32_t k, RowLiveness& rows) {
  const RowOp& o = ops_[n];
  ElementLiveness& e = elements_[first_[n] + k];
  const auto observe = [&](const RowSpan& span, const LaneLiveness& d) {
    if (!span.used) return;
    demand(rows, row_at(span, k)).join(d);
    if (span.has_tail) demand(rows, row_at(span, k, true)).join(d);
  };
  if (o.kind == RowOpKind::Transfer) {
    e.result = {true, {}};
    observe(o.a, e.result);
    observe(o.mask, e.result);
    return;
  }
  if (o.kind == RowOpKind::Check) {
    e.result = demand(rows, row_at(o.a, k));
    return;
  }
  LaneLiveness& out = demand(rows, row_at(o.out, k));
  LaneLiveness result = out;
  out = {};
  if (o.out.has_tail) {
    LaneLiveness& tail = demand(rows, row_at(o.out, k, true));
    result.join(tail);
    tail = {};
  }
  if (o.predicated()) {
    observe(o.mask, result);
    LaneLiveness kept = result;
    kept.live = kept.live&& restrict(kept.when, {e.mask, !o.op.value});
    if (kept.live) observe(o.old.used ? o.old : o.out, kept);
    e.keeps = kept.live;
    result.live = result.live&& restrict(result.when, {e.mask, o.op.value});
  }
  if (!result.live) result.when.clear();
  e.result = result;
  if (o.kind == RowOpKind::CheckedInput) e.checked = demand(rows, row_at(o.a, k));
  observe(o.a, result);
  observe(o.b, result);
}

RowLiveness ListLiveness::analyse(RowLiveness behind) {
  behind_ = std::move(behind);
  RowLiveness rows = behind_;
  for (std::size_t n = ops_.size(); n-- > 0;) {
    for (std::uint32_t k = ops_[n].op.elements; k-- > 0;) analyse_element(n, k, rows);
  }
  // Literals of masks that this list sets mean nothing before it.
  for (LaneLiveness& d : rows) std::erase_if(d.when, [](Literal l) { return l.site >= 0; });
  before_ = rows;
  return rows;
}

RowLiveness ListLiveness::behind_from(const RowLiveness& next) const {
  RowLiveness rows(rows_.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!next[r].live) continue;
    rows[r].live = true;
    for (const Literal l : next[r].when) {
      const auto mask = static_cast<std::size_t>(-1 - l.site);
      rows[r].live = rows[r].live&& restrict(rows[r].when, {final_[mask], l.value});
    }
    if (!rows[r].live) rows[r].when.clear();
  }
  return rows;
}

}  // namespace gdr
