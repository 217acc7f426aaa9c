#include "kernels/compiler/ir/capacity.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gdr::kc {

void check_instruction_count(const Graph& graph, const Geometry& geometry) {
  const std::uint64_t have = geometry.instruction_words;
  const auto require_at_most = [&](std::uint64_t operations, const char* unit,
                                   const SourceRange& where) {
    if (operations <= have) return;
    throw CompileError{capacity_error(
        Code::TooManyInstructions, where, "the instruction memory is full",
        fmt::format("from here on the {} has more operations than the {} available instructions",
                    unit, have))};
  };
  std::uint64_t additions = 0, products = 0;
  const std::vector<bool> needed = needed_nodes(graph);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const Node& n = graph.nodes[i];
    const auto constant = [&](NodeId id) {
      return id == no_node || graph.node(id).fn == Fn::Constant;
    };
    if (!needed[i]) continue;
    if (n.fn == Fn::Add || n.fn == Fn::Sub || n.fn == Fn::Min || n.fn == Fn::Max)
      require_at_most(++additions, "adder", n.where);
    if (n.fn == Fn::Mul && !constant(n.a) && !constant(n.b))
      require_at_most(++products, "multiplier", n.where);
  }
  for (const Contribution& c : graph.contributions) require_at_most(++additions, "adder", c.where);
}

std::optional<Diagnostic> exceeded_memory(const Graph& graph, const MachineLoop& loop,
                                          const Geometry& geometry) {
  const unsigned registers = 2 * geometry.register_words, local = 2 * geometry.local_words;
  unsigned results = 0, ranked = 0, invariants = 0;
  std::int32_t outside = none, last_input = none, last_result = none, last_ranked = none;
  for (const MachineValue& v : loop.values) {
    if (v.origin == Origin::Accumulator && v.in_local) {
      ranked += loop.shorts(v);
      if (v.variable != none) last_ranked = v.variable;
    } else if (v.origin == Origin::Accumulator) {
      results += loop.shorts(v);
      if (v.variable != none) last_result = v.variable;
      if (results > registers && outside == none) outside = last_result;
    }
    if (v.origin == Origin::Invariant) {
      invariants += loop.shorts(v);
      if (v.variable != none) last_input = v.variable;
    }
  }
  const auto error = [&](std::int32_t variable, std::string amount) {
    return capacity_error(Code::NoLocalMemory, graph.variable(variable).where,
                          "the local memory is full", std::move(amount));
  };
  if (outside != none)
    return capacity_error(
        Code::NoRegisters, graph.variable(outside).where, "the register file is full",
        fmt::format("the results need {} shorts, {} are available", results, registers));
  for (const MachineTable& t : loop.tables)
    if (t.end() > local)
      return error(t.variable,
                   fmt::format("the tables up to this one need {} shorts, {} are available",
                               t.end(), local));
  if (loop.local_end() + ranked > local)
    return error(last_ranked, fmt::format("the smallest and largest values need {} shorts, {} are "
                                          "available",
                                          ranked, local - std::min(local, loop.local_end())));
  const unsigned staying = loop.local_end() + ranked + invariants + results;
  if (staying > registers + local && last_input != none)
    return error(last_input, fmt::format("targets, parameters and results need {} shorts; "
                                         "register file and local memory have {}",
                                         staying, registers + local));
  // Lists may leave too little memory for loop invariants, so that a search is pointless. About
  // half of the registers that results leave can hold invariants.
  if (loop.lists.empty()) return std::nullopt;
  const unsigned lists = loop.lists.back().end();
  if (lists + invariants <= local + (registers - results) / 2) return std::nullopt;
  return error(loop.lists.back().variable,
               fmt::format("the lists need {} shorts, {} are available", lists, local));
}

unsigned capacity_for_items(const MachineLoop& loop, const Geometry& geometry) {
  const unsigned registers = 2 * geometry.register_words, local = 2 * geometry.local_words;
  unsigned taken = registers / 4 + local / 16;
  for (const MachineTable& t : loop.tables) taken += t.end() - t.address;
  for (const MachineList& l : loop.lists) taken += l.end() - l.address;
  for (const MachineValue& v : loop.values)
    if (v.permanent()) taken += loop.shorts(v);
  return registers + local - std::min(taken, registers + local);
}

}  // namespace gdr::kc
