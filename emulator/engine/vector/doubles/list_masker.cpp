#include "emulator/engine/vector/doubles/list_masker.hpp"

#include <algorithm>

namespace gdr {

RowOp choice(const DoublesKernels& kernels, const RowSpan& mask, bool value, const RowSpan& from,
             const RowSpan& out, const RowSpan& other, const RowOp& like) {
  RowOp o;
  o.op.kernel = kernels.blend[from.has_tail ? 1 : 0][value ? 1 : 0];
  o.op.elements = like.op.elements;
  o.op.lanes = like.op.lanes;
  o.op.value = value;
  o.a = from;
  o.out = out;
  o.mask = mask;
  o.old = other;
  o.origin = like.origin;
  return o;
}

ListMasker::ListMasker(const ListLiveness& list, const RowNumbering& rows, RowSupply& supply,
                       const DoublesKernels& kernels, bool guarded)
    : facts_(list, rows),
      supply_(supply),
      kernels_(kernels),
      guarded_(guarded),
      now_(list.final_sites().size()),
      made_(list.ops().size()),
      early_(list.ops().size(), no_rows) {
  for (std::size_t r = 0; r < now_.size(); ++r) now_[r] = entry_site(static_cast<int>(r));
}

std::vector<RowOp> ListMasker::changed() && {
  for (std::size_t n = 0; n < facts_.ops().size(); ++n) emit(n);
  return std::move(out_);
}

void ListMasker::emit(std::size_t n) {
  RowOp o = facts_.ops()[n];
  made_[n] = true;
  if (facts_.unobserved(n)) {
    if (o.kind == RowOpKind::CheckedInput && facts_.is_checked_for_others(n)) check(o, o.a);
    return;
  }
  if (early_[n].used && only_for_early(n)) return;
  if (early_[n].used) {  // computed before: only copied to its place
    RowSpan from = early_[n];
    o.op.kernel = kernels_.copy[o.out.has_tail ? 1 : 0];
    o.a = from;
    o.b = no_rows;
    o.kind = RowOpKind::Compute;
  } else {
    drop_dead_old_values(n, o);
    guard_operands(n, o);
  }
  out_.push_back(o);
  if (!o.out.used) return;
  for (std::uint32_t k = 0; k < o.op.elements; ++k) {
    now_[facts_.number(row_at(o.out, k))] = site_of(n, k);
    if (o.out.has_tail) now_[facts_.number(row_at(o.out, k, true))] = site_of(n, k);
  }
}

/// Whether all readers of an operation's results have been moved as well.
bool ListMasker::only_for_early(std::size_t n) const {
  if (facts_.ops()[n].out.lanes.kind != RowKind::Scratch || facts_.is_live_after(n)) return false;
  for (std::size_t m = n + 1; m < facts_.ops().size(); ++m) {
    const RowOp& o = facts_.ops()[m];
    const auto reads = [&](const ElementLiveness& e, std::uint32_t) {
      const auto from = [n](const RowSpan& span, ValueSite site) {
        return span.used && site >= 0 && op_at(site) == n;
      };
      return from(o.a, e.a) || from(o.b, e.b) || from(o.mask, e.mask);
    };
    const bool none = facts_.all_elements(
        m, [&](const ElementLiveness& e, std::uint32_t k) { return !reads(e, k); });
    if (!none && !early_[m].used) return false;
  }
  return true;
}

/// Replaces dead previous values of a masked write.
void ListMasker::drop_dead_old_values(std::size_t n, RowOp& o) {
  if (!o.predicated() || o.old.used || o.out.lanes.kind == RowKind::Mask) return;
  const auto left = [](const ElementLiveness& e, std::uint32_t) { return !e.keeps; };
  if (facts_.all_elements(n, left)) o.old = supply_.number(o.out.has_tail);
}

void ListMasker::guard_operands(std::size_t n, RowOp& o) {
  if (o.kind == RowOpKind::Transfer || o.out.lanes.kind == RowKind::Mask) return;
  const RowSpan is_checked = o.a;
  bool apart = false;
  for (const Literal l : facts_.list().at(n, 0).result.when) {
    if (!facts_.holds_for_all(n, l)) continue;
    const RowSpan before = o.a;
    guard_operand(n, o, o.a, &ElementLiveness::a, l);
    guard_operand(n, o, o.b, &ElementLiveness::b, l);
    if (o.kind != RowOpKind::CheckedInput) continue;
    const bool replaced = before.lanes != o.a.lanes;
    const auto in_these_lanes = [&](const ElementLiveness& e, std::uint32_t k) {
      return !e.checked.live || e.checked.has(facts_.of_element(l, k));
    };
    apart = apart || (replaced && !facts_.all_elements(n, in_these_lanes));
  }
  if (!apart) return;
  // The checked operand is live in more lanes than the result.
  check(o, is_checked);
  const auto at = std::ranges::find(kernels_.integer_checked, o.op.kernel);
  o.op.kernel = kernels_.integer[at - std::begin(kernels_.integer_checked)];
  o.kind = RowOpKind::Compute;
}

void ListMasker::check(const RowOp& like, const RowSpan& rows) {
  RowOp o = like;
  o.op.kernel = kernels_.check;
  o.kind = RowOpKind::Check;
  o.a = rows;
  o.b = o.out = o.mask = no_rows;
  out_.push_back(o);
}

void ListMasker::guard_operand(std::size_t n, const RowOp& o, RowSpan& operand,
                               ValueSite ElementLiveness::*site, Literal l) {
  if (!operand.used || operand.lanes.kind == RowKind::Constant) return;
  const bool suspect = facts_.all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
    const Literal own = facts_.of_element(l, k);
    return facts_.is_tested(e.*site, own) || facts_.has_remains(e.*site, own) ||
           is_left_over(operand, e.*site, k, own);
  });
  if (!suspect) return;
  std::vector<ValueSite> sites;
  for (std::uint32_t k = 0; k < o.op.elements; ++k) sites.push_back(facts_.list().at(n, k).*site);
  const auto key =
      std::make_tuple(operand.lanes, operand.has_tail ? operand.tail : operand.lanes, l, sites);
  const auto known = chosen_.find(key);
  if (known != chosen_.end()) {
    operand = known->second;
    return;
  }
  const RowSpan mask = mask_of(l, o.op.elements);
  if (!mask.used) return;
  const RowSpan to = supply_.strip(operand.has_tail, o.op.elements);
  out_.push_back(choice(kernels_, mask, l.value, operand, to, supply_.number(operand.has_tail), o));
  chosen_[key] = operand = to;
}

/// Whether a row holds a value from before the list, in lanes where it was dead there.
bool ListMasker::is_left_over(const RowSpan& operand, ValueSite value, std::uint32_t k,
                              Literal mask) const {
  const RowId row = row_at(operand, k);
  if (!guarded_ || value >= 0 || mask.site >= 0 || !facts_.rows().has(row)) return false;
  return facts_.list().before()[facts_.number(row)].has(mask);
}

/// Rows that currently hold the mask of so many elements; no_rows if there are none.
RowSpan ListMasker::mask_of(Literal l, std::uint32_t elements) {
  if (l.site < 0) {
    const RowId first = facts_.rows().row(-1 - l.site);
    const RowSpan span{first, {}, false, first.kind == RowKind::Constant ? 0U : 1U};
    return still(span, l.site, elements) ? span : no_rows;
  }
  const std::size_t t = op_at(l.site);
  const std::uint32_t first = element_at(l.site);
  const RowOp& test = facts_.ops()[t];
  if (first + elements > test.op.elements) return no_rows;
  RowSpan span = test.out;
  span.lanes = row_at(test.out, first);
  span.has_tail = false;
  if (made_[t] && still(span, l.site, elements)) return span;
  if (!early_[t].used && (made_[t] || !compute_early(t))) return no_rows;
  span = early_[t];
  span.lanes.number += first;
  return span;
}

bool ListMasker::still(const RowSpan& span, ValueSite first, std::uint32_t elements) const {
  for (std::uint32_t k = 0; k < elements; ++k) {
    const RowId row = row_at(span, k);
    if (!facts_.rows().has(row) ||
        now_[facts_.number(row)] != facts_.of_element({first, false}, k).site)
      return false;
  }
  return true;
}

/// Computes a test before its place, to scratch rows, if its operands are available.
bool ListMasker::compute_early(std::size_t n) {
  RowOp o = facts_.ops()[n];
  if (o.predicated() || (o.kind != RowOpKind::Test && o.out.lanes.kind != RowKind::Scratch))
    return false;
  if (o.kind != RowOpKind::Test && o.kind != RowOpKind::Compute) return false;
  if (!compute_operand_early(n, o.a, &ElementLiveness::a) ||
      !compute_operand_early(n, o.b, &ElementLiveness::b))
    return false;
  guard_operands(n, o);
  o.out = early_[n] = supply_.strip(o.out.has_tail, o.op.elements);
  out_.push_back(o);
  return true;
}
bool ListMasker::compute_operand_early(std::size_t n, RowSpan& operand,
                                       ValueSite ElementLiveness::*site) {
  if (!operand.used || operand.lanes.kind == RowKind::Constant) return true;
  const std::uint32_t elements = facts_.ops()[n].op.elements;
  const bool known = facts_.all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
    return now_[facts_.number(row_at(operand, k))] == e.*site &&
           (!operand.has_tail || now_[facts_.number(row_at(operand, k, true))] == e.*site);
  });
  if (known) return true;
  const ValueSite first = facts_.list().at(n, 0).*site;
  const bool strip =
      first >= 0 && facts_.all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
        return e.*site == first + static_cast<ValueSite>(k);
      });
  if (!strip || element_at(first) != 0) return false;
  const std::size_t from = op_at(first);
  if (facts_.ops()[from].op.elements != elements || made_[from]) return false;
  if (!early_[from].used && !compute_early(from)) return false;
  const bool has_tail = operand.has_tail;
  operand = early_[from];
  operand.has_tail = has_tail;
  return true;
}

}  // namespace gdr
