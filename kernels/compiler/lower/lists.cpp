// Lists: an append stores to local memory at the address in T.
#include <algorithm>
#include <bit>

#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {

/// End of tables and lists in local memory, in shorts.
unsigned Builder::local_end() const {
  unsigned end = 0;
  for (const MachineTable& t : loop_.tables)
    end = std::max(end, t.address + t.padded * shorts_in(t.width));
  for (const MachineList& l : loop_.lists) end = std::max(end, l.end());
  return end;
}

void Builder::make_list(std::size_t variable, const std::vector<const Contribution*>& mine) {
  const GraphVariable& result = graph_.variables[variable];
  MachineList list;
  list.variable = static_cast<std::int32_t>(variable);
  list.address = local_end();
  list.accumulator = new_accumulator(list.variable, Width::Short, true);
  list.capacity = result.list_size;
  list.stride = std::bit_ceil(loop_.elements);
  const auto index = static_cast<std::int32_t>(loop_.lists.size());
  loop_.lists.push_back(list);
  OpId before = none;
  for (const Contribution* c : mine) before = append(index, *c, before);
}

/// The next entry is one stride after the last one. Appends to a full list store to the overflow
/// slot behind it, shared by all elements. `before` stored the previous entry of this source, if
/// any; returns the store.
OpId Builder::append(std::int32_t index, const Contribution& c, OpId before) {
  const MachineList list = loop_.lists[static_cast<std::size_t>(index)];
  const Ref entry = integer(c.value);
  const Ref last = Ref::of(list.accumulator);

  MachineOp advance;
  advance.op = Op::Iadd;
  advance.width = Width::Short;
  advance.in = {last, bits(list.stride)};
  advance.out = list.accumulator;
  advance.where = c.where;
  const OpId advanced = accumulate(advance, c.condition);

  MachineOp limit;
  limit.op = Op::Imin;
  limit.width = Width::Long;
  limit.in = {last, bits(list.overflow_slot())};
  limit.where = c.where;
  const Ref at = append_op(limit);
  MachineValue& address = loop_.value(at.value);
  address.integer = address.in_t = true;
  const OpId limited = address.defs.front();

  MachineOp store;
  store.op = Op::Upass;
  store.width = Width::Short;
  store.in = {at, entry};
  store.list = index;
  store.where = c.where;
  const OpId stored = accumulate(store, c.condition);

  // The address is read between this advance and the next one, of this source or the next.
  loop_.dependences.push_back({advanced, limited, loop_.latency()});
  if (before != none) loop_.dependences.push_back({before, advanced, 0});
  return stored;
}

}  // namespace gdr::kc
