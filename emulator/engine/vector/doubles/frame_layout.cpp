#include "emulator/engine/vector/doubles/frame_layout.hpp"

#include <algorithm>
#include <atomic>

#include "emulator/engine/vector/doubles/accumulations.hpp"
#include "emulator/engine/vector/doubles/bm_store.hpp"
#include "emulator/engine/vector/doubles/hoisted_tests.hpp"
#include "emulator/engine/vector/doubles/masked_lanes.hpp"

namespace gdr {
namespace {

/// Memory and row of a word in the state.
std::pair<StateMemory, std::uint32_t> state_row(const WordNumbers& numbers, std::uint32_t w) {
  if (w >= numbers.first_t()) return {StateMemory::T, 2 * (w - numbers.first_t())};
  if (w >= numbers.registers) return {StateMemory::Local, 2 * (w - numbers.registers)};
  return {StateMemory::Registers, 2 * w};
}

/// Properties of exported words; null for imports.
struct Export {
  const Halves& imported;
  const std::vector<bool>& kept;
};

std::vector<RowLink> links(const WordNumbers& numbers, const Exchange& e, const Export* out) {
  std::vector<RowLink> list;
  for (std::uint32_t w = 0; w < e.words.size(); ++w) {
    if (!e.chosen[w][0] && !e.chosen[w][1]) continue;
    const WordState& word = e.words[w];
    const auto [memory, row] = state_row(numbers, w);
    const bool import = out == nullptr;
    const bool fresh = !import && !out->imported[w][0] && !out->imported[w][1];
    const bool scratch = !import && !out->kept[w];
    if (word.rep == Rep::Long) {
      list.push_back({{memory, row, word.head ? Form::Head : Form::Pair, 0, 0, false,
                       import && word.plus_zero, fresh, scratch},
                      long_rows(w, 0)});
      continue;
    }
    for (unsigned half = 0; half < 2; ++half) {
      if (!e.chosen[w][half]) continue;
      list.push_back(
          {{memory, row + half, Form::Short, 0, 0, word.floats[half], false, fresh, scratch},
           short_rows(numbers, {w, half}, 0)});
    }
  }
  for (std::uint32_t m = 0; m < e.masks.size(); ++m) {
    if (e.masks[m]) {
      list.push_back({{StateMemory::Masks, m, Form::Short, 0, 0, false, false, false, false},
                      mask_rows(0, m)});
    }
  }
  return list;
}

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

}  // namespace

std::vector<RowLink> import_links(const WordNumbers& numbers, const Exchange& e) {
  return links(numbers, e, nullptr);
}
std::vector<RowLink> export_links(const WordNumbers& numbers, const Exchange& e,
                                  const Halves& imported, const std::vector<bool>& kept) {
  const Export out{imported, kept};
  return links(numbers, e, &out);
}

/// Rows that a pass overwrites and needs as they were.
std::vector<std::uint32_t> checkpoint(const MaskedLists& lists, const RowLayout& layout) {
  std::set<RowId> rows;
  for (const RowOp& o : lists.last.ops) {
    for (std::uint32_t k = 0; o.out.used && k < o.op.elements; ++k) {
      const std::uint32_t up = k * o.out.stride;
      rows.insert({o.out.lanes.kind, o.out.lanes.number + up});
      if (o.out.has_tail) rows.insert({o.out.tail.kind, o.out.tail.number + up});
    }
  }
  std::vector<std::uint32_t> offsets;
  for (const RowId row : rows) {
    if (lists.carried.count(row) != 0) offsets.push_back(layout.offset(row));
  }
  return offsets;
}

DoublesSection lay_out(RowProgram program, const DoublesKernels& kernels, std::uint32_t lanes) {
  DoublesSection out;
  RowLayout layout;
  if (program.fused) hoist_tests(program, kernels);
  MaskedLists lists = mask_lanes(program, kernels);
  for (auto* list : {&lists.before, &lists.pass, &lists.last, &lists.after})
    simplify_accumulations(list->ops, kernels);
  for (const auto* list : {&lists.before, &lists.enter, &lists.pass, &lists.last, &lists.after}) {
    for (const RowOp& o : list->ops) {
      for (const RowSpan* span : {&o.a, &o.b, &o.out, &o.mask, &o.old})
        layout.use(*span, o.op.elements);
    }
  }
  for (const auto* list : {&program.imports, &program.exports}) {
    for (const RowLink& l : *list) layout.use(l.rows, 1);
  }
  out.row_lanes = lanes;
  out.frame_bytes = layout.assign(lanes * static_cast<std::uint32_t>(sizeof(double)));
  out.before = placed(lists.before, layout);
  out.enter = placed(lists.enter, layout);
  out.pass = placed(lists.pass, layout);
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
