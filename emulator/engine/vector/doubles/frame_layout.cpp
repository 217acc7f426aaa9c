// Layout of rows in a frame: operations and links to the state with frame offsets.
#include <algorithm>
#include <atomic>
#include <map>

#include "emulator/engine/vector/doubles/row_program.hpp"

namespace gdr {
namespace {

/// Memory and row of a word in the state.
std::pair<StateMemory, std::uint32_t> state_row(const WordNumbers& numbers, std::uint32_t w) {
  if (w >= numbers.first_t()) return {StateMemory::T, 2 * (w - numbers.first_t())};
  if (w >= numbers.registers) return {StateMemory::Local, 2 * (w - numbers.registers)};
  return {StateMemory::Registers, 2 * w};
}

std::vector<RowLink> links(const RowSection& s, const WordNumbers& numbers, bool import,
                           const std::vector<bool>& results) {
  std::vector<RowLink> list;
  const auto add = [&list](StateMemory memory, std::uint32_t row, Form form, const RowSpan& rows) {
    RowLink& made = list.emplace_back();
    made.link.memory = memory;
    made.link.row = row;
    made.link.form = form;
    made.rows = rows;
    return &made.link;
  };
  const Halves& chosen = import ? s.imported : s.written;
  for (std::uint32_t w = 0; w < chosen.size(); ++w) {
    if (!chosen[w][0] && !chosen[w][1]) continue;
    const WordState& word = import ? s.entry[w] : s.exit[w];
    const auto [memory, row] = state_row(numbers, w);
    const bool is_long = word.rep == Rep::Long;
    for (unsigned half = 0; half < 2; ++half) {
      if (is_long ? half == 1 : !chosen[w][half]) continue;
      const Form of_long = word.head ? Form::Head : Form::Pair;
      StateLink* link = add(memory, row + half, is_long ? of_long : Form::Short,
                            is_long ? long_rows(w, 0) : short_rows(numbers, {w, half}, 0));
      link->float_result = !is_long && word.floats[half];
      link->plus_zero = import && is_long && word.plus_zero;
      link->fresh = !import && !s.imported[w][0] && !s.imported[w][1];
      link->scratch = !import && !results[w];
    }
  }
  const std::vector<bool>& masks = import ? s.mask_imported : s.mask_written;
  for (std::uint32_t m = 0; m < masks.size(); ++m) {
    if (masks[m]) add(StateMemory::Masks, m, Form::Short, mask_rows(0, m));
  }
  return list;
}

/// Collects used rows and assigns their offsets: rows of one operand are consecutive; a cache line
/// separates others, so that strips of a kilobyte have different page offsets.
class RowLayout {
 public:
  void use(const RowSpan& span, unsigned elements) {
    if (!span.used) return;
    const unsigned count = span.stride * (elements - 1) + 1;
    use_rows(span.lanes, count);
    if (span.has_tail) use_rows(span.tail, count);
  }
  /// Offsets for all rows of `row_bytes`; returns the size of the frame.
  std::uint32_t assign(std::uint32_t row_bytes) {
    constexpr std::uint32_t line = 64;
    row_bytes_ = row_bytes;
    std::uint32_t next = 0;
    for (const auto& [row, joined] : joined_) {
      if (!joined) next += line;
      offsets_[row] = next;
      next += row_bytes;
    }
    return next + line;
  }
  bool has(RowId row) const { return offsets_.count(row) != 0; }
  std::uint32_t offset(RowId row) const { return offsets_.at(row); }
  /// All zero for no_rows.
  LanePlace place(const RowSpan& span) const {
    if (!span.used) return {};
    return {offset(span.lanes), span.has_tail ? offset(span.tail) : 0, span.stride * row_bytes_};
  }

 private:
  void use_rows(RowId first, unsigned count) {
    joined_.try_emplace(first, false);
    for (unsigned k = 1; k < count; ++k) joined_[{first.kind, first.number + k}] = true;
  }
  std::map<RowId, bool> joined_;  ///< whether the row follows the previous one without a gap
  std::map<RowId, std::uint32_t> offsets_;
  std::uint32_t row_bytes_ = 0;
};

OpList placed(const MaskedLists::List& list, const RowLayout& layout) {
  OpList out;
  const auto append = [&out](const DoublesOp& op, OpOrigin origin) {
    out.ops.push_back(op);
    out.origins.push_back(origin);
  };
  for (const RowOp& o : list.ops) {
    DoublesOp op = o.op;
    op.a = layout.place(o.a);
    op.b = layout.place(o.b);
    op.out = layout.place(o.out);
    op.mask = layout.place(o.mask);
    op.old = layout.place(o.old.used ? o.old : o.out);
    append(op, o.origin);
    if (out.ops.size() % (pause_after + 1) == pause_after) append(plain_operation(pause), o.origin);
  }
  append(plain_operation(stop), {});
  for (const RowId row : list.live) {
    if (layout.has(row)) out.live.push_back(layout.offset(row));
  }
  std::ranges::sort(out.live);
  return out;
}

/// Appends the word `next` to a link, if it is one more of the same kind at the same distance.
bool join(StateLink& link, const StateLink& next) {
  const bool alike = link.memory == next.memory && link.form == next.form &&
                     link.float_result == next.float_result && link.plus_zero == next.plus_zero &&
                     link.fresh == next.fresh && link.scratch == next.scratch &&
                     link.carried == next.carried;
  const std::uint32_t last_row = link.row + (link.count - 1) * link.row_step;
  const std::uint32_t last_lanes = link.lanes + (link.count - 1) * link.lane_step;
  const std::uint32_t row_step = next.row - last_row, lane_step = next.lanes - last_lanes;
  if (!alike || next.row <= last_row || next.lanes <= last_lanes) return false;
  if (link.count > 1 && (row_step != link.row_step || lane_step != link.lane_step)) return false;
  if (link.form != Form::Short && next.tail != link.tail + link.count * lane_step) return false;
  link.row_step = row_step;
  link.lane_step = lane_step;
  ++link.count;
  return true;
}

std::vector<StateLink> placed(const std::vector<RowLink>& links, const RowLayout& layout) {
  std::vector<StateLink> out;
  for (const RowLink& l : links) {
    StateLink link = l.link;
    const LanePlace place = layout.place(l.rows);
    link.lanes = place.lanes;
    link.tail = place.tail;
    if (out.empty() || !join(out.back(), link)) out.push_back(link);
  }
  return out;
}

/// Rows that an iteration overwrites and needs as they were.
std::vector<std::uint32_t> checkpoint(const MaskedLists& lists, const RowLayout& layout) {
  std::set<RowId> rows;
  for (const RowOp& o : lists.last.ops) {
    for (std::uint32_t k = 0; o.out.used && k < o.op.elements; ++k) {
      rows.insert(row_at(o.out, k));
      if (o.out.has_tail) rows.insert(row_at(o.out, k, true));
    }
  }
  std::vector<std::uint32_t> offsets;
  for (const RowId row : rows) {
    if (lists.carried.count(row) != 0) offsets.push_back(layout.offset(row));
  }
  return offsets;
}

}  // namespace

bool meet(const RowSpan& a, std::uint32_t a_elements, const RowSpan& b, std::uint32_t b_elements) {
  if (!a.used || !b.used) return false;
  const auto rows_meet = [&](RowId x, RowId y) {
    return x.kind == y.kind && x.number <= y.number + b.stride * (b_elements - 1) &&
           y.number <= x.number + a.stride * (a_elements - 1);
  };
  return rows_meet(a.lanes, b.lanes) || (a.has_tail && rows_meet(a.tail, b.lanes)) ||
         (b.has_tail && rows_meet(a.lanes, b.tail)) ||
         (a.has_tail && b.has_tail && rows_meet(a.tail, b.tail));
}

RowSpan constant_row(std::vector<ConstantRow>& constants, std::uint64_t bits,
                     ConstantRow::Kind kind) {
  const auto found = std::ranges::find_if(
      constants, [&](const ConstantRow& c) { return c.bits == bits && c.kind == kind; });
  const auto n = static_cast<std::uint32_t>(found - constants.begin());
  if (found == constants.end()) constants.push_back({0, bits, kind});
  return {{RowKind::Constant, n}, {}, false, 0};
}

RowProgram::RowProgram(const RowSection& words, const WordNumbers& numbers,
                       const std::vector<bool>& results)
    : constants(words.constants),
      imports(links(words, numbers, true, results)),
      exports(links(words, numbers, false, results)) {}

DoublesSection lay_out(RowProgram program, const DoublesKernels& kernels, std::uint32_t lanes) {
  DoublesSection out;
  RowLayout layout;
  if (program.fused) hoist_tests(program, kernels);
  MaskedLists lists = mask_lanes(program, kernels);
  for (auto* list : {&lists.before, &lists.iteration, &lists.last, &lists.after})
    simplify_accumulations(list->ops, kernels);
  for (const auto* list :
       {&lists.before, &lists.enter, &lists.iteration, &lists.last, &lists.after}) {
    for (const RowOp& o : list->ops) {
      for (const RowSpan* span : o.spans()) layout.use(*span, o.op.elements);
    }
  }
  for (const auto* list : {&program.imports, &program.exports}) {
    for (const RowLink& l : *list) layout.use(l.rows, 1);
  }
  out.row_lanes = lanes;
  out.frame_bytes = layout.assign(lanes * static_cast<std::uint32_t>(sizeof(double)));
  out.before = placed(lists.before, layout);
  out.enter = placed(lists.enter, layout);
  out.iteration = placed(lists.iteration, layout);
  out.last = placed(lists.last, layout);
  out.after = placed(lists.after, layout);
  out.resumable = program.repeats && !program.fused;
  out.checkpoint = checkpoint(lists, layout);
  for (RowLink& l : program.exports) {
    l.link.carried = lists.carried.count(l.rows.lanes) != 0 ||
                     (l.rows.has_tail && lists.carried.count(l.rows.tail) != 0);
  }
  out.imports = placed(program.imports, layout);
  out.exports = placed(program.exports, layout);
  for (const StateLink& link : out.exports) {
    const bool is_long = link.memory != StateMemory::Masks && link.form != Form::Short;
    out.deferred_longs += is_long && !link.fresh ? link.count : 0;
  }
  for (std::uint32_t n = 0; n < program.constants.size(); ++n) {
    const RowId row{RowKind::Constant, n};
    if (!layout.has(row)) continue;
    out.constants.push_back(program.constants[n]);
    out.constants.back().lanes = layout.offset(row);
  }
  static std::atomic<std::uint64_t> sections = 0;
  out.number = ++sections;
  out.usable = true;
  return out;
}

}  // namespace gdr
