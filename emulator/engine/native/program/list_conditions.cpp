#include "emulator/engine/native/program/list_conditions.hpp"

namespace gdr::native {
namespace {

/// The address before the first entry of a list, as Start sets its counter.
std::int64_t begin_of(const List& list, const SectionModel& start) {
  const CellValue counter = start.state[list.counter];
  if (!start.cells.is_constant(counter)) throw Unsupported("the beginning of a list is unknown");
  const auto bits = static_cast<std::int64_t>(start.cells.constant_bits(counter) << short_shift);
  return bits >> short_shift;
}

/// The first iteration stores nothing that an iteration before it has left.
void check_left_stores(const SectionModel& model, const SectionModel& start) {
  for (const StoreThroughT& store : model.left) {
    const Node& mask = model.graph[store.enabled];
    const Ref off =
        negated(store.enabled) ? start.graph.always() : complement(start.graph.always());
    if (mask.op != NodeOp::Input || start.masks[LeafKey::unpack(mask.bits).place] != off)
      throw Unsupported("a word is stored through T before the loop has set its address");
  }
}

void check_disjoint(const List& list, const SectionModel& model, const SectionModel& start) {
  for (const List& other : model.lists) {
    if (&other == &list || other.first > list.last || other.last < list.first) continue;
    const bool same_range = other.first == list.first && other.last == list.last;
    if (!same_range || other.stride != list.stride || other.counter == list.counter ||
        (begin_of(other, start) - begin_of(list, start)) % list.stride == 0)
      throw Unsupported("lists overlap");
  }
}

/// Whether a live value is the initial one of a cell.
template <typename Test>
bool reads_cell(const SectionModel& model, const Liveness& liveness, Test test) {
  for (std::uint32_t n = 0; n < liveness.of_node.size(); ++n) {
    const Node& node = model.graph[ref_to(n)];
    if (!liveness.of_node[n] || node.op != NodeOp::Input) continue;
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.type == WordType::PeNumber || key.type == WordType::BlockNumber ||
        key.type == WordType::Mask)
      continue;
    if (test(key.place) || (key.type == WordType::Long && test(key.place + 1))) return true;
  }
  return false;
}

}  // namespace

void check_lists(const SectionModel& model, const SectionModel* start, const Liveness& liveness,
                 const LiveOut& live, Section section) {
  if (model.lists.empty()) return;
  const bool known_start =
      (section == Section::Body || section == Section::End) && start != nullptr;
  if (!known_start) throw Unsupported("the beginning of a list is unknown");
  if (section == Section::Body) check_left_stores(model, *start);
  for (const List& list : model.lists) {
    if (begin_of(list, *start) + list.stride < list.first)
      throw Unsupported("a list begins before its range");
    if (live.cells[model.map.local + list.last])
      throw Unsupported("the word behind a list is used");
    check_disjoint(list, model, *start);
    const auto is_used = [&](std::uint32_t cell) {
      return list.holds_entry(model.map, cell) ||
             (section == Section::Body && cell == list.counter);
    };
    if (reads_cell(model, liveness, is_used)) throw Unsupported("a list is read");
  }
}

}  // namespace gdr::native
