#include <algorithm>
#include <array>
#include <bit>

#include "emulator/engine/vector/doubles/lane_liveness.hpp"

namespace gdr {
namespace {

/// Constants and rows added to a program.
class RowSupply {
 public:
  explicit RowSupply(RowProgram& program) : constants_(program.constants) {}

  /// A harmless number: a short, or a long without a tail. It varies, so that differences are not
  /// 0.
  RowSpan number(bool has_tail) {
    const double x = 1 + 0.125 * (next_number_++ % 8);
    const RowSpan head = constant(std::bit_cast<std::uint64_t>(x));
    return has_tail ? RowSpan{head.lanes, constant(0).lanes, true, 0} : head;
  }
  RowSpan constant(std::uint64_t bits) { return constant_row(constants_, bits); }
  RowSpan strip(bool has_tail, std::uint32_t elements) {
    const RowSpan span{
        {RowKind::Scratch, next_row_}, {RowKind::Scratch, next_row_ + elements}, has_tail, 1};
    next_row_ += (has_tail ? 2 : 1) * elements;
    return span;
  }

 private:
  static constexpr std::uint32_t first_row = 64;  ///< after the translator's own
  std::vector<ConstantRow>& constants_;
  unsigned next_number_ = 0;
  std::uint32_t next_row_ = first_row;
};

/// out = mask == value ? from : other.
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

/// Transforms one list.
class Masker {
 public:
  /// `guarded`: dead lanes of the rows before the list may hold anything.
  Masker(const ListLiveness& list, const RowNumbering& rows, RowSupply& supply,
         const DoublesKernels& kernels, bool guarded)
      : list_(list),
        rows_(rows),
        supply_(supply),
        kernels_(kernels),
        guarded_(guarded),
        now_(list.final_sites().size()),
        made_(list.ops().size()),
        early_(list.ops().size(), no_rows) {
    for (std::size_t r = 0; r < now_.size(); ++r) now_[r] = entry_site(static_cast<int>(r));
  }

  std::vector<RowOp> changed() {
    for (std::size_t n = 0; n < list_.ops().size(); ++n) emit(n);
    return std::move(out_);
  }

 private:
  void emit(std::size_t n) {
    RowOp o = list_.ops()[n];
    made_[n] = true;
    if (unobserved(n)) {
      if (o.kind == RowOpKind::CheckedInput && is_checked_for_others(n)) check(o, o.a);
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
      now_[number(row_at(o.out, k))] = site_of(n, k);
      if (o.out.has_tail) now_[number(row_at(o.out, k, true))] = site_of(n, k);
    }
  }

  std::size_t number(RowId row) const { return static_cast<std::size_t>(rows_.number(row)); }

  template <class Test>
  bool all_elements(std::size_t n, Test test) const {
    for (std::uint32_t k = 0; k < list_.ops()[n].op.elements; ++k) {
      if (!test(list_.at(n, k), k)) return false;
    }
    return true;
  }

  /// Whether all readers of an operation's results have been moved as well.
  bool only_for_early(std::size_t n) const {
    if (list_.ops()[n].out.lanes.kind != RowKind::Scratch || is_left(n)) return false;
    for (std::size_t m = n + 1; m < list_.ops().size(); ++m) {
      const RowOp& o = list_.ops()[m];
      const auto reads = [&](const ElementLiveness& e, std::uint32_t) {
        const auto from = [n](const RowSpan& span, ValueSite site) {
          return span.used && site >= 0 && op_at(site) == n;
        };
        return from(o.a, e.a) || from(o.b, e.b) || from(o.mask, e.mask);
      };
      const bool none =
          all_elements(m, [&](const ElementLiveness& e, std::uint32_t k) { return !reads(e, k); });
      if (!none && !early_[m].used) return false;
    }
    return true;
  }

  /// Whether an operation's results are live after the list.
  bool is_left(std::size_t n) const {
    return !all_elements(n, [&](const ElementLiveness&, std::uint32_t k) {
      const std::size_t row = number(row_at(list_.ops()[n].out, k));
      return list_.final_sites()[row] != site_of(n, k) || !list_.behind()[row].live;
    });
  }

  bool unobserved(std::size_t n) const {
    return all_elements(n, [](const ElementLiveness& e, std::uint32_t) { return !e.result.live; });
  }

  /// Replaces dead previous values of a masked write.
  void drop_dead_old_values(std::size_t n, RowOp& o) {
    if (!o.predicated() || o.old.used || o.out.lanes.kind == RowKind::Mask) return;
    const auto left = [](const ElementLiveness& e, std::uint32_t) { return !e.keeps; };
    if (all_elements(n, left)) o.old = supply_.number(o.out.has_tail);
  }

  // --- operands

  void guard_operands(std::size_t n, RowOp& o) {
    if (o.kind == RowOpKind::Transfer || o.out.lanes.kind == RowKind::Mask) return;
    const RowSpan is_checked = o.a;
    bool apart = false;
    for (const Literal l : list_.at(n, 0).result.when) {
      if (!holds_for_all(n, l)) continue;
      const RowSpan before = o.a;
      guard_operand(n, o, o.a, &ElementLiveness::a, l);
      guard_operand(n, o, o.b, &ElementLiveness::b, l);
      if (o.kind != RowOpKind::CheckedInput) continue;
      const bool replaced = before.lanes != o.a.lanes;
      const auto in_these_lanes = [&](const ElementLiveness& e, std::uint32_t k) {
        return !e.checked.live || e.checked.has(of_element(l, k));
      };
      apart = apart || (replaced && !all_elements(n, in_these_lanes));
    }
    if (!apart) return;
    // The checked operand is live in more lanes than the result.
    check(o, is_checked);
    const auto at = std::ranges::find(kernels_.integer_checked, o.op.kernel);
    o.op.kernel = kernels_.integer[at - std::begin(kernels_.integer_checked)];
    o.kind = RowOpKind::Compute;
  }

  /// Whether later operations rely on the check of a CheckedInput.
  bool is_checked_for_others(std::size_t n) const {
    return !all_elements(n,
                         [](const ElementLiveness& e, std::uint32_t) { return !e.checked.live; });
  }
  void check(const RowOp& like, const RowSpan& rows) {
    RowOp o = like;
    o.op.kernel = kernels_.check;
    o.kind = RowOpKind::Check;
    o.a = rows;
    o.b = o.out = o.mask = no_rows;
    out_.push_back(o);
  }

  /// The literal of element k's mask that corresponds to `l` of the first element's.
  Literal of_element(Literal l, std::uint32_t k) const {
    if (l.site >= 0) return {l.site + static_cast<ValueSite>(k), l.value};
    const RowId first = rows_.row(-1 - l.site);
    const RowId row{first.kind, first.number + (first.kind == RowKind::Constant ? 0 : k)};
    return {rows_.has(row) ? entry_site(rows_.number(row)) : 0, l.value};
  }
  bool holds_for_all(std::size_t n, Literal l) const {
    return all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
      return e.result.has(of_element(l, k));
    });
  }

  void guard_operand(std::size_t n, const RowOp& o, RowSpan& operand,
                     ValueSite ElementLiveness::*site, Literal l) {
    if (!operand.used || operand.lanes.kind == RowKind::Constant) return;
    const bool suspect = all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
      const Literal own = of_element(l, k);
      return is_tested(e.*site, own) || has_remains(e.*site, own) ||
             is_left_over(operand, e.*site, k, own);
    });
    if (!suspect) return;
    std::vector<ValueSite> sites;
    for (std::uint32_t k = 0; k < o.op.elements; ++k) sites.push_back(list_.at(n, k).*site);
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
    out_.push_back(
        choice(kernels_, mask, l.value, operand, to, supply_.number(operand.has_tail), o));
    chosen_[key] = operand = to;
  }

  /// Whether a mask was computed from the value.
  bool is_tested(ValueSite value, Literal mask) const {
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
  ValueSite origin_of(ValueSite value) const {
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

  /// Whether a predicated write has kept previous values, which are live.
  bool has_remains(ValueSite value, Literal mask) const {
    if (value < 0) return false;
    const RowOp& o = list_.ops()[op_at(value)];
    const ElementLiveness& e = list_.at(op_at(value), element_at(value));
    return o.predicated() && e.keeps && e.mask == mask.site && o.op.value == mask.value;
  }

  /// Whether a row holds a value from before the list, in lanes where it was dead there.
  bool is_left_over(const RowSpan& operand, ValueSite value, std::uint32_t k, Literal mask) const {
    const RowId row = row_at(operand, k);
    if (!guarded_ || value >= 0 || mask.site >= 0 || !rows_.has(row)) return false;
    return list_.before()[number(row)].has(mask);
  }

  // --- masks

  /// Rows that currently hold the mask of so many elements; no_rows if there are none.
  RowSpan mask_of(Literal l, std::uint32_t elements) {
    if (l.site < 0) {
      const RowId first = rows_.row(-1 - l.site);
      const RowSpan span{first, {}, false, first.kind == RowKind::Constant ? 0U : 1U};
      return still(span, l.site, elements) ? span : no_rows;
    }
    const std::size_t t = op_at(l.site);
    const std::uint32_t first = element_at(l.site);
    const RowOp& test = list_.ops()[t];
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

  bool still(const RowSpan& span, ValueSite first, std::uint32_t elements) const {
    for (std::uint32_t k = 0; k < elements; ++k) {
      const RowId row = row_at(span, k);
      if (!rows_.has(row) || now_[number(row)] != of_element({first, false}, k).site) return false;
    }
    return true;
  }

  /// Computes a test before its place, to scratch rows, if its operands are available.
  bool compute_early(std::size_t n) {
    RowOp o = list_.ops()[n];
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
  bool compute_operand_early(std::size_t n, RowSpan& operand, ValueSite ElementLiveness::*site) {
    if (!operand.used || operand.lanes.kind == RowKind::Constant) return true;
    const std::uint32_t elements = list_.ops()[n].op.elements;
    const bool known = all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
      return now_[number(row_at(operand, k))] == e.*site &&
             (!operand.has_tail || now_[number(row_at(operand, k, true))] == e.*site);
    });
    if (known) return true;
    const ValueSite first = list_.at(n, 0).*site;
    const bool strip =
        first >= 0 && all_elements(n, [&](const ElementLiveness& e, std::uint32_t k) {
          return e.*site == first + static_cast<ValueSite>(k);
        });
    if (!strip || element_at(first) != 0) return false;
    const std::size_t from = op_at(first);
    if (list_.ops()[from].op.elements != elements || made_[from]) return false;
    if (!early_[from].used && !compute_early(from)) return false;
    const bool has_tail = operand.has_tail;
    operand = early_[from];
    operand.has_tail = has_tail;
    return true;
  }

  const ListLiveness& list_;
  const RowNumbering& rows_;
  RowSupply& supply_;
  const DoublesKernels& kernels_;
  bool guarded_;
  std::vector<ValueSite> now_;  ///< by row
  std::vector<bool> made_;      ///< by operation: already emitted
  std::vector<RowSpan> early_;  ///< by operation: rows of its early result
  /// By rows, literal and definitions: the rows with dead lanes replaced.
  std::map<std::tuple<RowId, RowId, Literal, std::vector<ValueSite>>, RowSpan> chosen_;
  std::vector<RowOp> out_;
};

/// All lists of a program and their liveness.
class MaskedProgram {
 public:
  MaskedProgram(RowProgram& program, const DoublesKernels& kernels)
      : program_(program),
        kernels_(kernels),
        rows_(rows_of(program)),
        supply_(program),
        before_(program.before, rows_),
        pass_(program.pass, rows_),
        last_(program.pass, rows_),
        last_but_one_(program.pass, rows_),
        after_(program.after, rows_),
        fused_(program.fused) {
    analyse();
  }

  MaskedLists lists() {
    MaskedLists made;
    made.before = list(before_, true);
    made.last = list(last_, !fused_);
    made.after = list(after_, false);
    made.carried = live_rows(last_but_one_.before());
    if (!program_.repeats) return made;
    made.pass = list(pass_, false);
    made.enter.ops = entering();
    made.enter.live = live_rows(pass_.before());
    return made;
  }

 private:
  static RowNumbering rows_of(const RowProgram& program) {
    RowNumbering rows;
    for (const auto* ops : {&program.before, &program.pass, &program.after}) rows.add(*ops);
    for (const auto* links : {&program.imports, &program.exports}) {
      for (const RowLink& l : *links) rows.add(l.rows, 1);
    }
    return rows;
  }

  void analyse() {
    const RowLiveness all = exported(true);
    const RowLiveness after = after_.analyse(all);
    settle(last_, last_.behind_from(after));
    last_but_one_.analyse(last_but_one_.behind_from(last_.before()));
    if (program_.repeats) analyse_pass();
    RowLiveness first = before_.behind_from(last_.before());
    join(first, before_.behind_from(last_but_one_.before()));
    if (program_.repeats) join(first, before_.behind_from(pass_.before()));
    before_.analyse(std::move(first));
  }
  /// A pass is followed by another one, by the last two, or by `after`. All that the last pass
  /// leaves is live, often including values of the pass before it, but seldom of the one before
  /// that.
  void analyse_pass() {
    RowLiveness seed = pass_.behind_from(last_but_one_.before());
    if (fused_) {
      ListLiveness results_only(program_.after, rows_);
      seed = pass_.behind_from(results_only.analyse(exported(false)));
    }
    settle(pass_, seed);
  }
  /// Liveness of a repeated list, given that after the last repetition.
  void settle(ListLiveness& list, const RowLiveness& seed) const {
    RowLiveness behind = seed;
    for (;;) {
      list.analyse(behind);
      RowLiveness next = seed;
      join(next, list.behind_from(list.before()));
      join(next, behind);  // conditions only get weaker, so this terminates
      if (next == behind) return;
      behind = std::move(next);
    }
  }

  RowLiveness exported(bool scratch) const {
    RowLiveness rows(rows_.size());
    const auto observe = [&](RowId row) {
      rows[static_cast<std::size_t>(rows_.number(row))].live = true;
    };
    for (const RowLink& l : program_.exports) {
      if (l.link.scratch && !scratch) continue;
      observe(l.rows.lanes);
      if (l.rows.has_tail) observe(l.rows.tail);
    }
    return rows;
  }

  static void join(RowLiveness& to, const RowLiveness& other) {
    for (std::size_t r = 0; r < to.size(); ++r) to[r].join(other[r]);
  }

  std::set<RowId> live_rows(const RowLiveness& demands) const {
    std::set<RowId> live;
    for (std::size_t r = 0; r < demands.size(); ++r) {
      if (demands[r].live) live.insert(rows_.row(static_cast<int>(r)));
    }
    return live;
  }

  MaskedLists::List list(const ListLiveness& demands, bool guarded) {
    return {Masker(demands, rows_, supply_, kernels_, guarded).changed(),
            live_rows(demands.behind())};
  }

  /// Replaces imported words in lanes in which they are dead in all passes.
  std::vector<RowOp> entering() {
    std::vector<RowOp> ops;
    if (program_.pass.empty()) return ops;
    const RowLiveness& demands = pass_.before();
    for (std::size_t r = 0; r < demands.size(); ++r) {
      const RowId row = rows_.row(static_cast<int>(r));
      if (!demands[r].live || demands[r].when.empty() || row.kind == RowKind::Mask) continue;
      if (before_.final_sites()[r] >= 0) continue;
      const Literal l = demands[r].when.front();
      const RowSpan span{row, {}, false, 0};
      const RowSpan mask{rows_.row(-1 - l.site), {}, false, 0};
      RowOp like;
      like.op.elements = 1;
      like.op.lanes = program_.pass.front().op.lanes;
      ops.push_back(choice(kernels_, mask, l.value, span, span,
                           row.kind == RowKind::Tail ? supply_.constant(0) : supply_.number(false),
                           like));
    }
    return ops;
  }

  RowProgram& program_;
  const DoublesKernels& kernels_;
  RowNumbering rows_;
  RowSupply supply_;
  ListLiveness before_, pass_, last_, last_but_one_, after_;
  bool fused_;
};

}  // namespace

MaskedLists mask_lanes(RowProgram& program, const DoublesKernels& kernels) {
  return MaskedProgram(program, kernels).lists();
}

}  // namespace gdr
