#include "emulator/engine/native/liveness.hpp"

#include <algorithm>
#include <iterator>

namespace gdr::native {
namespace {

Condition intersection(const Condition& a, const Condition& b) {
  Condition both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

bool holds(const Condition& condition, Ref mask) {
  return std::binary_search(condition.begin(), condition.end(), mask);
}

class Finder {
 public:
  Finder(SectionModel& model, bool loop) : m_(model), g_(model.graph), loop_(loop) {}

  Liveness run(const LiveOut& needs) {
    add_roots(needs);
    for (const Root& root : d_.roots) demand(root.value, root.condition);
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
  void add_roots(const LiveOut& needs);
  void add_root(LeafKey key, const LiveOut& needs);
  void add_bm_stores();
  Condition at_end(const Condition& by_place) const;
  void visit(std::uint32_t n);
  void demand(Ref r, const Condition& condition);
  void collect_carried();
  /// The value in the next pass of an input, or nothing where it stays the same.
  std::optional<Ref> next_of(std::uint32_t n);

  SectionModel& m_;
  Graph& g_;
  bool loop_;
  bool changed_ = false;
  Liveness d_;
};

/// Conditions on masks by place, as they are when the section ends.
Condition Finder::at_end(const Condition& by_place) const {
  Condition out;
  for (const Ref place : by_place) {
    const Ref mask = m_.masks[place >> 1];
    assume(g_, negated(place) ? complement(mask) : mask, out);
  }
  return out;
}

void Finder::add_root(LeafKey key, const LiveOut& needs) {
  Condition condition;
  if (key.take == Take::Mask) {
    condition = at_end(*needs.masks[key.place]);
  } else {
    const auto& first = needs.cells[key.place];
    const auto& second = key.take == Take::Long ? needs.cells[key.place + 1] : first;
    const Condition by_place = first && second ? intersection(*first, *second)
                               : first         ? *first
                                               : *second;
    condition = at_end(by_place);
  }
  d_.roots.push_back({key, m_.final_value(key), condition, false});
}

void Finder::add_roots(const LiveOut& needs) {
  const auto needed = [&](std::uint32_t cell) { return needs.cells[cell].has_value(); };
  std::uint32_t done = 0;  // cells below are dealt with
  for (const std::uint32_t cell : m_.written) {
    const std::uint32_t even = cell & ~std::uint32_t{1};
    if (cell < done || !needed(cell) || m_.cells.holds_input(m_.state[cell], cell)) continue;
    const CellValue upper = m_.state[even];
    const CellValue lower = m_.state[even + 1];
    if (m_.cells.holds_half(lower) ||
        (m_.cells.holds_half(upper) && needed(even + 1) && !m_.cells.holds_input(lower, even + 1) &&
         !m_.cells.prefers_number(lower))) {
      add_root({Take::Long, even, 0}, needs);
      done = even + 2;
      continue;
    }
    const bool number = m_.cells.prefers_number(m_.state[cell]);
    add_root({number ? Take::Short : Take::Bits, cell, 0}, needs);
  }
  for (std::uint32_t mask = 0; mask < CellMap::masks; ++mask) {
    const Ref own = g_.leaf(NodeOp::Input, {Take::Mask, mask, 0});
    if (needs.masks[mask] && m_.masks[mask] != own) add_root({Take::Mask, mask, 0}, needs);
  }
  add_bm_stores();
}

void Finder::add_bm_stores() {
  const auto add = [&](Take take, std::uint32_t put, BmStorePart part, Ref value) {
    d_.roots.push_back({{take, put, static_cast<std::uint32_t>(part)}, value, {}, false});
  };
  for (std::uint32_t n = 0; n < m_.bm_stores.size(); ++n) {
    const BmStore& put = m_.bm_stores[n];
    add(Take::Mask, n, BmStorePart::Enabled, put.enabled);
    const bool wide = put.width == Width::Long;
    if (wide && m_.cells.holds_half(put.upper) && m_.cells.holds_half(put.lower)) {
      add(Take::Long, n, BmStorePart::Word, m_.cells.long_number(put.upper, put.lower));
      continue;
    }
    const auto add_short = [&](CellValue cell, BmStorePart part) {
      const bool number = m_.cells.prefers_number(cell);
      add(number ? Take::Short : Take::Bits, n, part,
          number ? m_.cells.short_number(cell) : m_.cells.bits(cell));
    };
    if (wide) add_short(put.upper, BmStorePart::Upper);
    add_short(put.lower, BmStorePart::Lower);
  }
}

void Finder::demand(Ref r, const Condition& condition) {
  const std::uint32_t n = node_of(r);
  if (n >= d_.of_node.size()) d_.of_node.resize(std::max<std::size_t>(g_.size(), n + 1));
  auto& known = d_.of_node[n];
  if (!known) {
    known = condition;
    changed_ = true;
    return;
  }
  if (known->empty()) return;
  Condition both = intersection(*known, condition);
  if (both.size() == known->size()) return;
  known = std::move(both);
  changed_ = true;
}

std::optional<Ref> Finder::next_of(std::uint32_t n) {
  const Node node = g_[ref_to(n)];
  const LeafKey key = LeafKey::unpack(node.bits);
  if (key.take == Take::PeNumber || key.take == Take::BlockNumber) return std::nullopt;
  const Ref next = m_.final_value(key);
  if (next == ref_to(n)) return std::nullopt;
  return next;
}

void Finder::visit(std::uint32_t n) {
  const Condition condition = *d_.of_node[n];
  const Node node = g_[ref_to(n)];
  if (node.op == NodeOp::Input) {
    if (!loop_) return;
    const std::optional<Ref> next = next_of(n);
    if (!next) return;
    // The masks that hold in the next pass, as this pass leaves them.
    Condition before;
    for (const Ref literal : condition) {
      const Node& mask = g_[literal];
      if (mask.op != NodeOp::Input) continue;
      const Ref left = m_.masks[LeafKey::unpack(mask.bits).place];
      assume(g_, negated(literal) ? complement(left) : left, before);
    }
    demand(*next, before);
    return;
  }
  if (node.op == NodeOp::Select) {
    if (const Ref side = decided(node, condition); side != no_ref) {
      demand(side, condition);
      return;
    }
    demand(node.a, condition);
    Condition yes = condition;
    assume(g_, node.a, yes);
    demand(node.b, yes);
    Condition no = condition;
    assume(g_, complement(node.a), no);
    demand(node.c, no);
    return;
  }
  for (const Ref r : {node.a, node.b, node.c}) {
    if (r != no_ref) demand(r, condition);
  }
}

void Finder::collect_carried() {
  for (std::uint32_t n = 0; n < d_.of_node.size(); ++n) {
    if (!d_.of_node[n] || g_[ref_to(n)].op != NodeOp::Input) continue;
    if (const auto next = next_of(n)) {
      d_.carried.push_back({LeafKey::unpack(g_[ref_to(n)].bits), ref_to(n), *next});
    }
  }
}

}  // namespace

void assume(const Graph& graph, Ref mask, Condition& condition) {
  const auto at = std::lower_bound(condition.begin(), condition.end(), mask);
  if (at != condition.end() && *at == mask) return;
  condition.insert(at, mask);
  const Node& node = graph[mask];
  if (negated(mask) || node.op != NodeOp::Both) return;
  assume(graph, node.a, condition);
  assume(graph, node.b, condition);
}

Ref decided(const Node& select, const Condition& condition) {
  if (holds(condition, select.a)) return select.b;
  if (holds(condition, complement(select.a))) return select.c;
  return no_ref;
}

void LiveOut::mark_all() {
  for (auto* list : {&cells, &masks}) {
    for (auto& need : *list) need = Condition{};
  }
}

bool LiveOut::merge(const LiveOut& other) {
  bool changed = false;
  const auto join = [&](auto& mine, const auto& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (!theirs[i]) continue;
      Condition joined = mine[i] ? intersection(*mine[i], *theirs[i]) : *theirs[i];
      if (mine[i] && joined.size() == mine[i]->size()) continue;
      mine[i] = std::move(joined);
      changed = true;
    }
  };
  join(cells, other.cells);
  join(masks, other.masks);
  return changed;
}

Liveness analyse_liveness(SectionModel& model, const LiveOut& needs, bool loop) {
  return Finder(model, loop).run(needs);
}

void mark_read_by_sections(const LiveOut& needs_of_sections, Liveness& demand) {
  for (Root& root : demand.roots) {
    const auto& needs =
        root.key.take == Take::Mask ? needs_of_sections.masks : needs_of_sections.cells;
    // Parts of BM stores have an index instead of a location.
    root.read_by_section = root.key.delay == 0 && needs[root.key.place].has_value();
  }
}

LiveOut live_in(const SectionModel& model, const Liveness& demand) {
  LiveOut needs(model.map);
  const auto add = [](std::optional<Condition>& need, const Condition& condition) {
    need = need ? intersection(*need, condition) : condition;
  };
  for (std::uint32_t n = 0; n < demand.of_node.size(); ++n) {
    const Node& node = model.graph[ref_to(n)];
    if (!demand.of_node[n] || node.op != NodeOp::Input) continue;
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.take == Take::PeNumber || key.take == Take::BlockNumber) continue;
    Condition by_place;
    for (const Ref literal : *demand.of_node[n]) {
      const Node& mask = model.graph[literal];
      if (mask.op != NodeOp::Input) continue;
      by_place.push_back(LeafKey::unpack(mask.bits).place * 2 + (negated(literal) ? 1U : 0U));
    }
    std::sort(by_place.begin(), by_place.end());
    if (key.take == Take::Mask) {
      add(needs.masks[key.place], by_place);
      continue;
    }
    add(needs.cells[key.place], by_place);
    if (key.take == Take::Long) add(needs.cells[key.place + 1], by_place);
  }
  return needs;
}

}  // namespace gdr::native
