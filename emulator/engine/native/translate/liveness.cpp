#include "emulator/engine/native/translate/liveness.hpp"

#include <algorithm>
#include <iterator>

namespace gdr::native {
namespace {

bool holds(const Condition& condition, Ref mask) {
  return std::ranges::binary_search(condition, mask);
}

class Finder {
 public:
  Finder(SectionModel& model, bool loop) : m_(model), g_(model.graph), loop_(loop) {}

  Liveness run(const LiveOut& needs) {
    add_roots(needs);
    for (const Root& root : d_.roots) mark_live(root.value, root.condition);
    for (const Ref append : m_.appends) mark_live(append, {});
    do {
      changed_ = false;
      for (std::uint32_t n = static_cast<std::uint32_t>(g_.size()); n-- > 0;) {
        if (n < d_.of_node.size() && d_.of_node[n]) visit(n);
      }
    } while (changed_);
    d_.of_node.resize(g_.size());
    if (loop_) collect_carried();
    return std::move(d_);
  }

 private:
  void add_roots(const LiveOut& needs) {
    const auto needed = [&](std::uint32_t cell) { return needs.cells[cell].has_value(); };
    std::uint32_t done = 0;  // cells below this one have their roots
    for (const std::uint32_t cell : m_.written) {
      const std::uint32_t even = cell & ~std::uint32_t{1};
      if (cell < done || !needed(cell) || m_.cells.holds_input(m_.state[cell], cell)) continue;
      const CellValue upper = m_.state[even];
      const CellValue lower = m_.state[even + 1];
      // A lower half that nothing reads may be left of another number.
      if ((m_.cells.holds_half(lower) && (needed(even + 1) || m_.cells.holds_half(upper))) ||
          (m_.cells.holds_half(upper) && needed(even + 1) &&
           !m_.cells.holds_input(lower, even + 1) && !m_.cells.prefers_number(lower))) {
        add_root({WordType::Long, even, 0}, needs);
        done = even + 2;
        continue;
      }
      const bool number = m_.cells.prefers_number(m_.state[cell]);
      add_root({number ? WordType::Short : WordType::Bits, cell, 0}, needs);
    }
    for (std::uint32_t mask = 0; mask < CellMap::masks; ++mask) {
      const Ref own = g_.leaf(NodeOp::Input, {WordType::Mask, mask, 0});
      if (needs.masks[mask] && m_.masks[mask] != own) add_root({WordType::Mask, mask, 0}, needs);
    }
    add_bm_stores();
  }

  /// Conditions on masks by place, as they are when the section ends.
  Condition at_end(const Condition& by_place) const {
    Condition out;
    for (const Ref place : by_place) {
      const Ref mask = m_.masks[place >> 1];
      out = assuming(g_, negated(place) ? complement(mask) : mask, std::move(out));
    }
    return out;
  }

  void add_root(LeafKey key, const LiveOut& needs) {
    Condition condition;
    if (key.type == WordType::Mask) {
      condition = at_end(*needs.masks[key.place]);
    } else {
      const auto& first = needs.cells[key.place];
      const auto& second = key.type == WordType::Long ? needs.cells[key.place + 1] : first;
      Live by_place = first;
      if (second) join(by_place, *second);
      condition = at_end(*by_place);
    }
    d_.roots.push_back({key, m_.final_value(key), condition, false});
  }

  void add_bm_stores() {
    const auto add = [&](WordType type, std::uint32_t put, BmStorePart part, Ref value) {
      d_.roots.push_back({{type, put, static_cast<std::uint32_t>(part)}, value, {}, false});
    };
    for (std::uint32_t n = 0; n < m_.bm_stores.size(); ++n) {
      const BmStore& put = m_.bm_stores[n];
      add(WordType::Mask, n, BmStorePart::Enabled, put.enabled);
      const bool wide = put.width == Width::Long;
      if (wide && m_.cells.holds_half(put.upper) && m_.cells.holds_half(put.lower)) {
        add(WordType::Long, n, BmStorePart::Word, m_.cells.long_number(put.upper, put.lower));
        continue;
      }
      const auto add_short = [&](CellValue cell, BmStorePart part) {
        const bool number = m_.cells.prefers_number(cell);
        add(number ? WordType::Short : WordType::Bits, n, part,
            number ? m_.cells.short_number(cell) : m_.cells.bits(cell));
      };
      if (wide) add_short(put.upper, BmStorePart::Upper);
      add_short(put.lower, BmStorePart::Lower);
    }
  }

  void mark_live(Ref r, const Condition& condition) {
    const std::uint32_t n = node_of(r);
    if (n >= d_.of_node.size()) d_.of_node.resize(g_.size());
    changed_ = join(d_.of_node[n], condition) || changed_;
  }

  /// The value of an input in the next iteration, or nothing if it stays the same.
  std::optional<Ref> next_of(std::uint32_t n) {
    const Node node = g_[ref_to(n)];
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.type == WordType::PeNumber || key.type == WordType::BlockNumber) return std::nullopt;
    const Ref next = m_.final_value(key);
    if (next == ref_to(n)) return std::nullopt;
    return next;
  }

  void visit(std::uint32_t n) {
    const Condition condition = *d_.of_node[n];
    const Node node = g_[ref_to(n)];
    if (node.op == NodeOp::Input) {
      if (!loop_) return;
      const std::optional<Ref> next = next_of(n);
      if (!next) return;
      // The masks that hold in the next iteration are those at the end of this one.
      Condition before;
      for (const Ref literal : condition) {
        const Node& mask = g_[literal];
        if (mask.op != NodeOp::Input) continue;
        const Ref left = m_.masks[LeafKey::unpack(mask.bits).place];
        before = assuming(g_, negated(literal) ? complement(left) : left, std::move(before));
      }
      mark_live(*next, before);
      return;
    }
    const Ref side = node.op == NodeOp::Select ? decided(node, condition) : no_ref;
    if (side != no_ref) return mark_live(side, condition);
    for_each_live_operand(g_, node, condition,
                          [this](Ref r, const Condition& where) { mark_live(r, where); });
  }

  void collect_carried() {
    for (std::uint32_t n = 0; n < d_.of_node.size(); ++n) {
      if (!d_.of_node[n] || g_[ref_to(n)].op != NodeOp::Input) continue;
      if (const auto next = next_of(n)) {
        d_.carried.push_back({ref_to(n), *next});
      }
    }
  }

  SectionModel& m_;
  Graph& g_;
  bool loop_;
  bool changed_ = false;
  Liveness d_;
};

}  // namespace

bool join(Live& live, const Condition& condition) {
  if (!live) {
    live = condition;
    return true;
  }
  Condition both;
  std::ranges::set_intersection(*live, condition, std::back_inserter(both));
  if (both.size() == live->size()) return false;
  live = std::move(both);
  return true;
}

Condition assuming(const Graph& graph, Ref mask, Condition condition) {
  const auto at = std::ranges::lower_bound(condition, mask);
  if (at != condition.end() && *at == mask) return condition;
  condition.insert(at, mask);
  const Node& node = graph[mask];
  if (negated(mask) || node.op != NodeOp::Both) return condition;
  return assuming(graph, node.b, assuming(graph, node.a, std::move(condition)));
}

Ref decided(const Node& select, const Condition& condition) {
  if (holds(condition, select.a)) return select.b;
  if (holds(condition, complement(select.a))) return select.c;
  return no_ref;
}

bool LiveOut::merge(const LiveOut& other) {
  bool changed = false;
  const auto join_all = [&](std::vector<Live>& mine, const std::vector<Live>& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (theirs[i]) changed = join(mine[i], *theirs[i]) || changed;
    }
  };
  join_all(cells, other.cells);
  join_all(masks, other.masks);
  return changed;
}

Liveness analyse_liveness(SectionModel& model, const LiveOut& needs, bool loop) {
  return Finder(model, loop).run(needs);
}

void mark_read_by_sections(const LiveOut& needs_of_sections, Liveness& liveness) {
  for (Root& root : liveness.roots) {
    const auto& needs =
        root.key.type == WordType::Mask ? needs_of_sections.masks : needs_of_sections.cells;
    // Parts of BM stores have an index instead of a location.
    root.read_by_section = root.key.delay == 0 && needs[root.key.place].has_value();
  }
}

LiveOut live_in(const SectionModel& model, const Liveness& liveness) {
  LiveOut needs(model.map);
  for (const List& list : model.lists) needs.mark_cell(list.counter);
  for (std::uint32_t n = 0; n < liveness.of_node.size(); ++n) {
    const Node& node = model.graph[ref_to(n)];
    if (!liveness.of_node[n] || node.op != NodeOp::Input) continue;
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.type == WordType::PeNumber || key.type == WordType::BlockNumber) continue;
    Condition by_place;
    for (const Ref literal : *liveness.of_node[n]) {
      const Node& mask = model.graph[literal];
      if (mask.op != NodeOp::Input) continue;
      by_place.push_back(LeafKey::unpack(mask.bits).place * 2 + (negated(literal) ? 1U : 0U));
    }
    std::sort(by_place.begin(), by_place.end());
    if (key.type == WordType::Mask) {
      join(needs.masks[key.place], by_place);
      continue;
    }
    join(needs.cells[key.place], by_place);
    if (key.type == WordType::Long) join(needs.cells[key.place + 1], by_place);
  }
  return needs;
}

}  // namespace gdr::native
