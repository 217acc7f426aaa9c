#include "emulator/engine/vector/doubles/lane_liveness.hpp"
#include "emulator/engine/vector/doubles/list_masker.hpp"

namespace gdr {
namespace {

/// All lists of a program and their liveness.
class MaskedProgram {
 public:
  MaskedProgram(RowProgram& program, const DoublesKernels& kernels)
      : program_(program),
        kernels_(kernels),
        rows_(rows_of(program)),
        supply_(program),
        before_(program.before, rows_),
        iteration_(program.iteration, rows_),
        last_(program.iteration, rows_),
        last_but_one_(program.iteration, rows_),
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
    made.iteration = list(iteration_, false);
    made.enter.ops = entering();
    made.enter.live = live_rows(iteration_.before());
    return made;
  }

 private:
  static RowNumbering rows_of(const RowProgram& program) {
    RowNumbering rows;
    for (const auto* ops : {&program.before, &program.iteration, &program.after}) rows.add(*ops);
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
    if (program_.repeats) analyse_iteration();
    RowLiveness first = before_.behind_from(last_.before());
    join(first, before_.behind_from(last_but_one_.before()));
    if (program_.repeats) join(first, before_.behind_from(iteration_.before()));
    before_.analyse(std::move(first));
  }
  /// An iteration is followed by another one, by the last two, or by `after`. All that the last
  /// iteration leaves is live, often including values of the iteration before it, but seldom of the
  /// one before that.
  void analyse_iteration() {
    RowLiveness seed = iteration_.behind_from(last_but_one_.before());
    if (fused_) {
      ListLiveness results_only(program_.after, rows_);
      seed = iteration_.behind_from(results_only.analyse(exported(false)));
    }
    settle(iteration_, seed);
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
    return {ListMasker(demands, rows_, supply_, kernels_, guarded).changed(),
            live_rows(demands.behind())};
  }

  /// Replaces imported words in lanes in which they are dead in all iterations.
  std::vector<RowOp> entering() {
    std::vector<RowOp> ops;
    if (program_.iteration.empty()) return ops;
    const RowLiveness& demands = iteration_.before();
    for (std::size_t r = 0; r < demands.size(); ++r) {
      const RowId row = rows_.row(static_cast<int>(r));
      if (!demands[r].live || demands[r].when.empty() || row.kind == RowKind::Mask) continue;
      if (before_.final_sites()[r] >= 0) continue;
      const Literal l = demands[r].when.front();
      const RowSpan span{row, {}, false, 0};
      const RowSpan mask{rows_.row(-1 - l.site), {}, false, 0};
      RowOp like;
      like.op.elements = 1;
      like.op.lanes = program_.iteration.front().op.lanes;
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
  ListLiveness before_, iteration_, last_, last_but_one_, after_;
  bool fused_;
};

}  // namespace

MaskedLists mask_lanes(RowProgram& program, const DoublesKernels& kernels) {
  return MaskedProgram(program, kernels).lists();
}

}  // namespace gdr
