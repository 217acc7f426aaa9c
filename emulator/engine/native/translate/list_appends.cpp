#include "emulator/engine/native/translate/list_appends.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>

namespace gdr::native {
namespace {

constexpr std::int64_t max_stride = 1024;
constexpr auto not_a_list = "a word is stored through T, and not to a list";

/// Values of the next iteration by values of this one. Values that many others use are visited
/// once.
class NextIteration {
 public:
  explicit NextIteration(SectionModel& model) : m_(model) {}

  /// Throws Unsupported if it depends on the next iteration's items.
  Ref operator()(Ref r) {
    const Ref next = of_node(node_of(r));
    return negated(r) ? complement(next) : next;
  }

 private:
  Ref of_node(std::uint32_t number) {
    if (const auto found = known_.find(number); found != known_.end()) return found->second;
    const Node node = m_.graph[ref_to(number)];
    Ref next = ref_to(number);
    if (node.op == NodeOp::Source) throw Unsupported(not_a_list);
    if (node.op == NodeOp::Input) {
      next = m_.final_value(LeafKey::unpack(node.bits));
    } else if (!is_leaf(node.op)) {
      const auto operand = [this](Ref x) { return x == no_ref ? x : (*this)(x); };
      const Ref a = operand(node.a), b = operand(node.b);
      next = m_.graph.rebuilt(node, a, b, operand(node.c));
    }
    known_.emplace(number, next);
    return next;
  }

  SectionModel& m_;
  std::unordered_map<std::uint32_t, Ref> known_;  ///< value of the next iteration for each node
};

/// Compares values of two graphs as expressions of inputs.
class ExpressionComparison {
 public:
  ExpressionComparison(const Graph& first, const Graph& second) : g_(first), h_(second) {}

  bool operator()(Ref a, Ref b) {
    if (a == no_ref || b == no_ref) return a == b;
    if (negated(a) != negated(b)) return false;
    if (!equal_.insert({node_of(a), node_of(b)}).second) return true;  // or the first visit fails
    const Node &x = g_[a], &y = h_[b];
    return x.op == y.op && x.kind == y.kind && x.detail == y.detail && x.bits == y.bits &&
           (*this)(x.a, y.a) && (*this)(x.b, y.b) && (*this)(x.c, y.c);
  }

 private:
  const Graph &g_, &h_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> equal_;  ///< nodes that were compared
};

}  // namespace

void ListAppends::store(const StoreThroughT& store) {
  if (store.enabled != complement(g_.always()) && !append(store)) m_.left.push_back(store);
}

void ListAppends::finish(Section section) {
  const bool loop = section == Section::Body;
  if (!loop && section != Section::End && !m_.left.empty()) throw Unsupported(not_a_list);
  NextIteration next(m_);
  for (StoreThroughT early : loop ? m_.left : std::vector<StoreThroughT>{}) {
    for (Ref* const r : {&early.address, &early.entry, &early.enabled}) *r = next(*r);
    if (!append(early)) throw Unsupported(not_a_list);
  }
  for (std::size_t n = 0; n < m_.lists.size(); ++n) {
    const std::uint32_t cell = m_.lists[n].counter;
    if (c_.bits(m_.state[cell]) != counts_[n]) {
      if (loop) throw Unsupported("the counter of a list is changed");
      continue;
    }
    m_.state[cell] = c_.input(cell);
    std::erase(m_.written, cell);
  }
  for (const List& list : m_.lists)
    for (const std::uint32_t cell : m_.written)
      if (list.holds_entry(m_.map, cell)) throw Unsupported("the entries of a list are changed");
}

bool ListAppends::append(const StoreThroughT& store) {
  const Node least = g_[store.address];
  List list{.element = store.element, .first = store.first, .last = store.last};
  const Ref last = g_.constant(Kind::Bits, std::uint64_t{list.last} << short_shift);
  if (least.op != NodeOp::SignedMin || (least.a != last && least.b != last)) return false;
  const Ref advanced = least.a == last ? least.b : least.a;
  const Ref before = before_advance(advanced, store.enabled, list.stride);
  if (before == no_ref) return false;
  const auto found = std::ranges::find(counts_, before);
  auto number = static_cast<std::size_t>(found - counts_.begin());
  if (found == counts_.end()) {
    const Node& counter = g_[before];
    const LeafKey key = LeafKey::unpack(counter.bits);
    if (counter.op != NodeOp::Input || key.type != WordType::Bits)
      throw Unsupported("the counter of a list is not in a register");
    list.counter = key.place;
    m_.lists.push_back(list);
    counts_.push_back(advanced);
  } else {
    const List& known = m_.lists[number];
    if (known.element != store.element || known.stride != list.stride ||
        known.first != list.first || known.last != list.last)
      throw Unsupported("a list has several ranges");
    counts_[number] = advanced;
  }
  const AppendKey key{static_cast<std::uint32_t>(number),
                      static_cast<std::uint32_t>(m_.appends.size())};
  m_.appends.push_back(g_.append(store.enabled, store.entry, key));
  return true;
}

/// The value of a counter of a list before it was advanced under a condition; else no_ref.
Ref ListAppends::before_advance(Ref advanced, Ref enabled, std::uint32_t& stride) const {
  Ref sum = advanced, before = no_ref;
  if (enabled != g_.always()) {
    const Node& select = g_[advanced];
    if (select.op != NodeOp::Select) return no_ref;
    const bool turned = select.a == complement(enabled);
    if (!turned && select.a != enabled) return no_ref;
    sum = turned ? select.c : select.b;
    before = turned ? select.b : select.c;
  }
  const Node& node = g_[sum];
  if (node.op != NodeOp::IntAdd) return no_ref;
  const bool second = g_.is_constant(node.b);
  const Ref from = second ? node.a : node.b, constant = second ? node.b : node.a;
  if (!g_.is_constant(constant) || (before != no_ref && from != before)) return no_ref;
  const auto by = static_cast<std::int64_t>(g_[constant].bits) >> short_shift;
  if (by < 1 || by > max_stride) return no_ref;
  stride = static_cast<std::uint32_t>(by);
  return from;
}

bool completes(const SectionModel& end, const SectionModel& body) {
  const auto equal_stores = [&](const StoreThroughT& a, const StoreThroughT& b) {
    ExpressionComparison equal(end.graph, body.graph);
    return a.element == b.element && a.first == b.first && a.last == b.last &&
           equal(a.address, b.address) && equal(a.entry, b.entry) && equal(a.enabled, b.enabled);
  };
  return std::ranges::equal(end.left, body.left, equal_stores);
}

}  // namespace gdr::native
