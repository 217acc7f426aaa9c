#include "kernels/compiler/schedule/bounds.hpp"

#include <algorithm>
#include <span>

#include "kernels/compiler/schedule/dependences.hpp"

namespace gdr::kc {
namespace {

unsigned quotient(std::size_t a, std::size_t b) { return static_cast<unsigned>((a + b - 1) / b); }

bool takes(const MachineOp& op, ValueId value) {
  return std::ranges::any_of(
      op.in, [&](const Ref& r) { return r.kind == Ref::Kind::Value && r.value == value; });
}

/// Transfers: the constants, at least one for the fields of each block, and one for every other
/// field.
std::size_t transfers(const Problem& problem) {
  const MachineLoop& loop = *problem.loop;
  std::size_t count = problem.blocks.size();
  for (const MachineOp& op : loop.ops) {
    if (op.slot() != 2) continue;
    const bool in_block = std::ranges::any_of(problem.blocks, [&](const Block& b) {
      return op.field != none && std::ranges::count(b.fields, op.field) > 0;
    });
    if (!in_block) ++count;
  }
  return count;
}

/// The bound by the ports: register file (two reads, one write), local memory (one access), T (one
/// read, one write).
unsigned bound_by_ports(const Problem& problem, std::size_t dmuls) {
  const MachineLoop& loop = *problem.loop;
  std::size_t reads = 0, writes = 0, register_reads = 0, register_writes = 0, local = 0;
  for (const MachineValue& v : loop.values) {
    if (v.origin == Origin::Accumulator) {
      const auto id = static_cast<ValueId>(&v - loop.values.data());
      register_reads += v.uses.size();
      for (const OpId d : v.defs) register_reads += takes(loop.op(d), id) ? 1 : 0;
      register_writes += v.defs.size();
      continue;
    }
    // A product and a sum in one instruction share a read.
    std::size_t by_unit[3] = {0, 0, 0};
    for (const OpId u : v.uses) ++by_unit[loop.op(u).slot()];
    reads += std::max({by_unit[0], by_unit[1], by_unit[2]});
    const bool in_block = std::ranges::any_of(problem.blocks, [&](const Block& block) {
      return std::ranges::count(block.fields, static_cast<ValueId>(&v - loop.values.data())) > 0;
    });
    if (!in_block) writes += v.defs.size();
  }
  register_writes += problem.blocks.size();
  for (const MachineOp& op : loop.ops) local += op.table != none || op.list != none ? 1 : 0;
  reads += register_reads;
  writes += register_writes;
  const unsigned clocks = std::max({quotient(reads + writes + local, 6), quotient(reads + local, 4),
                                    quotient(writes + local, 3), quotient(register_reads, 2),
                                    quotient(register_writes, 1), quotient(local, 1)});
  return clocks - std::min(clocks, static_cast<unsigned>(dmuls));
}

unsigned bound_by_recurrences(const Problem& problem, const DependenceGraph& dependences) {
  const MachineLoop& loop = *problem.loop;
  unsigned bound = 1;
  const auto raise = [&](std::size_t distance, std::size_t iterations) {
    bound = std::max(bound, quotient(distance, iterations));
  };
  const auto path = [&](std::span<const OpId> first, std::span<const OpId> last) {
    return index(std::max(0, dependences.longest_path(first, last)));
  };
  for (const MachineValue& v : loop.values) {
    // Sums into one result wait for each other.
    if (v.origin == Origin::Accumulator) {
      raise(v.defs.size() * problem.latency, 1);
      if (!v.defs.empty()) raise(path(std::span(v.defs).first(1), v.uses), 1);
    }
    // A field lives from its load, before all readers, to the last of them.
    if (v.origin == Origin::Field && !v.uses.empty())
      raise(problem.latency + path(v.uses, v.uses), problem.unroll);
    if (v.origin == Origin::Computed && !v.defs.empty())
      raise(path(std::span(v.defs).first(1), v.uses), problem.unroll);
  }
  for (const MachineLoop::Dependence& d : loop.dependences)
    if (d.next_item)
      raise(index(d.latency) + path(std::span(&d.second, 1), std::span(&d.first, 1)), 1);
  for (const MachineMask& m : loop.masks)
    if (!m.defs.empty()) raise(path(std::span(m.defs).first(1), m.uses), problem.unroll);
  return bound;
}

}  // namespace

std::string_view name_of(Limit limit) noexcept {
  constexpr std::array<std::string_view, limit_count> names{"multiplier",  "adder and integer unit",
                                                            "transfers",   "ports",
                                                            "recurrences", "length of an item"};
  return names[static_cast<std::size_t>(limit)];
}

unsigned LowerBounds::least() const noexcept { return std::max(1U, *std::ranges::max_element(ii)); }

Limit LowerBounds::limiting() const noexcept {
  return static_cast<Limit>(std::ranges::max_element(ii) - ii.begin());
}

LowerBounds lower_bounds(const Problem& problem) {
  const MachineLoop& loop = *problem.loop;
  const DependenceGraph dependences(problem, 1);
  std::size_t units[3] = {0, 0, 0}, dmuls = 0;
  int length = 0;
  for (std::size_t i = 0; i < loop.ops.size(); ++i) {
    ++units[loop.ops[i].slot()];
    if (loop.ops[i].dmul()) ++dmuls;
    length = std::max(length, dependences.earliest(i) + 1);
  }
  LowerBounds bounds;
  bounds.item_length = static_cast<unsigned>(length);
  const auto set = [&](Limit limit, unsigned ii) {
    bounds.ii[static_cast<std::size_t>(limit)] = ii;
  };
  set(Limit::Multiplier, static_cast<unsigned>(units[0]));
  set(Limit::Adder, static_cast<unsigned>(units[1]));
  set(Limit::Transfer, static_cast<unsigned>(transfers(problem)));
  set(Limit::Ports, bound_by_ports(problem, dmuls));
  set(Limit::Recurrences, bound_by_recurrences(problem, dependences));
  set(Limit::Length, quotient(index(length), problem.max_stages));
  return bounds;
}

}  // namespace gdr::kc
