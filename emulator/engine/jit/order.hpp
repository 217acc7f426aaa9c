// Orders for the operations of a block.
#pragma once

#include <span>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// Orders operations for few live values: of the ready operations, the one that frees most
/// registers, among equals the first in depth-first order from the roots. The block has no memory
/// operations yet. Returns the largest number of live vectors, carried values included; masks do
/// not count.
unsigned order_for_registers(Block& block, std::span<const ValueId> roots);

/// Orders a loop's operations for few live values, one term of its sums after the other: an
/// iteration that adds terms of several sources has the values of one at a time.
void order_term_by_term(Block& block);

/// A list schedule for latencies: of the ready operations, the one with the longest critical path.
/// A store stays behind all reads of its place that precede it. `window`: number of unscheduled
/// operations, in the given order, that are considered; more overlap costs more registers.
void order_for_latency(Block& block, std::size_t window);

/// Clocks from an operation to the use of its result on current hosts.
int latency(Op op);

/// Length of the critical path, in clocks.
int longest_way(const Block& block);

/// Interleaves copies of a block, operation by operation. `place(p, copy)`: the place of a copy
/// that corresponds to p; memory at the same place for all copies is one value.
template <typename PlaceOf>
Block interleaved(const Block& block, unsigned copies, PlaceOf place) {
  Block made;
  std::vector<ValueId> ids(block.values.size() * copies);  // by value and copy
  for (ValueId v = 0; v < block.values.size(); ++v) {
    for (unsigned u = 0; u < copies; ++u) {
      Value value = block.values[v];
      if (value.in_memory) value.place = place(value.place, u);
      const bool shared = u > 0 && value.in_memory && value.place == block.values[v].place;
      ids[v * copies + u] = shared ? ids[v * copies] : made.add_value(value);
    }
  }
  const auto id = [&](ValueId v, unsigned u) { return v == no_value ? v : ids[v * copies + u]; };
  for (const Operation& o : block.code) {
    for (unsigned u = 0; u < copies; ++u) {
      Operation copy = o;
      copy.to = id(o.to, u);
      for (ValueId& in : copy.in) in = id(in, u);
      copy.mask = id(o.mask, u);
      copy.otherwise = id(o.otherwise, u);
      copy.place = place(o.place, u);
      made.code.push_back(copy);
    }
  }
  for (const Carried& c : block.carried) {
    for (unsigned u = 0; u < copies; ++u) {
      made.carried.push_back({id(c.in, u), id(c.out, u), place(c.place, u)});
    }
  }
  return made;
}

/// Two iterations of a loop as one. `later(p)`: the place of memory that one iteration later is at
/// p.
template <typename PlaceOf>
Block two_iterations(const Block& block, PlaceOf later) {
  Block made = block;
  std::vector<ValueId> ids(block.values.size());  // of the second iteration
  for (ValueId v = 0; v < ids.size(); ++v) {
    Value value = block.values[v];
    if (value.in_memory) value.place = later(value.place);
    const bool in_place = value.in_memory && value.place == block.values[v].place;
    ids[v] = in_place ? v : made.add_value(value);
  }
  for (const Carried& c : block.carried) ids[c.in] = c.out;
  const auto id = [&](ValueId v) { return v == no_value ? v : ids[v]; };
  for (Operation o : block.code) {
    o.to = id(o.to);
    for (ValueId& in : o.in) in = id(in);
    o.mask = id(o.mask);
    o.otherwise = id(o.otherwise);
    o.place = later(o.place);
    made.code.push_back(o);
  }
  for (Carried& c : made.carried) c.out = ids[c.out];
  return made;
}

}  // namespace gdr::jit
