#include "emulator/engine/native/program/section_contents.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/native/words/word_conversion.hpp"

namespace gdr::native {
namespace {

/// A constant as a machine word.
ConstantRoot constant_root(const Root& root, const Node& constant, bool complemented) {
  ConstantRoot made{root.key};
  const std::uint64_t bits = complemented ? ~constant.bits : constant.bits;
  row_conversion({}, root.key.type)
      .from_lanes(reinterpret_cast<const std::byte*>(&bits), 1, {&made.upper, &made.lower});
  return made;
}

/// A constant of a cell is known to the last bit.
void restore_last_bits(const SectionModel& model, ConstantRoot& constant) {
  const LeafKey key = constant.key;
  if (key.delay != 0 || key.type == WordType::Mask) return;
  const auto exact = [&](std::uint32_t cell, std::uint64_t& word) {
    const CellValue held = model.state[cell];
    if (model.cells.is_constant(held)) word = model.cells.constant_bits(held);
  };
  exact(key.place, constant.upper);
  if (key.type == WordType::Long) exact(key.place + 1, constant.lower);
}

/// The uniform words between which and other values selects decide, directly or carried from the
/// previous iteration.
std::uint64_t selected_uniforms(const Kernel& kernel, const WordTable& uniform) {
  std::uint64_t selected = 0;
  std::vector<Ref> next(kernel.inputs.size(), no_ref);
  for (const KernelCarried& c : kernel.carried) next[c.slot] = c.next;
  for (const Node& node : kernel.graph.nodes()) {
    if (node.op != NodeOp::Select) continue;
    for (Ref side : {node.b, node.c}) {
      const Node& input = kernel.graph[side];
      if (input.op == NodeOp::Input) side = next[LeafKey::unpack(input.bits).place];
      if (side == no_ref || kernel.graph[side].op != NodeOp::Uniform) continue;
      const std::uint32_t number = uniform.number(LeafKey::unpack(kernel.graph[side].bits));
      if (number < 64) selected |= std::uint64_t{1} << number;
    }
  }
  return selected;
}

}  // namespace

SectionContents contents_of(const SectionModel& model, const Liveness& liveness,
                            std::vector<std::vector<TableShort>> table_shorts, bool loops) {
  SplitSection pieces = split(model, liveness);
  SectionContents made{.map = model.map,
                       .loops = loops,
                       .kernels = std::move(pieces.kernels),
                       .constants = {},
                       .moves = std::move(pieces.moves),
                       .bm_stores = model.bm_stores,
                       .tables = model.tables,
                       .table_shorts = std::move(table_shorts),
                       .words = {}};
  for (const auto& [number, value] : pieces.constants) {
    made.constants.push_back(
        constant_root(liveness.roots[number], model.graph[value], negated(value)));
    restore_last_bits(model, made.constants.back());
  }
  return made;
}

void collect_words(const std::vector<Kernel>& kernels, const std::vector<Table>& tables,
                   SectionWords& words) {
  for (const Kernel& kernel : kernels) {
    for (const Node& node : kernel.graph.nodes()) {
      const LeafKey key = LeafKey::unpack(node.bits);
      if (node.op == NodeOp::Lookup) words.lookups.add(key, tables[table_of(key)].size());
      if (node.op == NodeOp::Source) words.source.add(key);
      if (node.op == NodeOp::Uniform) words.uniform.add(key);
    }
  }
  for (const Kernel& kernel : kernels)
    words.zero_candidates |= selected_uniforms(kernel, words.uniform);
}

std::vector<LeafKey> compared_words(const std::vector<Kernel>& kernels) {
  std::vector<LeafKey> words;
  for (const Kernel& kernel : kernels)
    for (const Node& node : kernel.graph.nodes()) {
      if (node.op != NodeOp::BitsEqual) continue;
      for (const Ref r : {node.a, node.b}) {
        if (kernel.graph[r].op != NodeOp::Source) continue;
        LeafKey word = LeafKey::unpack(kernel.graph[r].bits);
        word.delay = 0;
        if (std::ranges::find(words, word) == words.end()) words.push_back(word);
      }
    }
  return words;
}

}  // namespace gdr::native
