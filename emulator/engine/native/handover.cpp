#include "emulator/engine/native/handover.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr::native {
namespace {

constexpr auto start = static_cast<unsigned>(Section::Start);
constexpr auto end = static_cast<unsigned>(Section::End);

/// The constant that a sum adds, with its sign: of x - c it is -c, of c - x it is c.
std::optional<double> constant_added(const Graph& g, const Node& node) {
  if (node.op != NodeOp::Add && node.op != NodeOp::Sub) return std::nullopt;
  const auto value = [&](Ref r) { return std::bit_cast<double>(g[r].bits); };
  if (g.is_constant(node.a)) return value(node.a);
  if (!g.is_constant(node.b)) return std::nullopt;
  return node.op == NodeOp::Add ? value(node.b) : -value(node.b);
}

/// Does an operation of the integer unit make new bits in the lower half of a long?
bool makes_long_integers(const Arithmetic& slot) {
  if (!slot.used() || info(slot.op).unit != Unit::Integer) return false;
  if (slot.op == Op::Ipass || slot.op == Op::Upass) return false;
  return slot.width == Width::Long || slot.dst.address % 2 != 0 || slot.t == TTarget::Lower;
}

}  // namespace

Handover::Handover(const Program& program, const Geometry& geometry, const Models& models) {
  for (unsigned s = 0; s < section_count; ++s) {
    left_[s] = models[s] ? of_model(*models[s])
                         : of_instructions(program, static_cast<Section>(s), CellMap(geometry));
  }
  for (bool found = true; found;) {
    found = false;
    for (unsigned s = 0; s < section_count; ++s) {
      if (models[s]) found = find_integers(*models[s], s) || found;
    }
  }
}

Handover::Left Handover::of_model(const SectionModel& model) const {
  Left left;
  left.written.resize(model.map.count);
  for (const std::uint32_t cell : model.written) {
    left.written[cell] = true;
    const CellRef lower = model.state[cell | 1];
    if (!model.cells.holds_half(lower)) continue;
    left.numbers.insert(cell & ~1U);
    if (!model.cells.is_half_of_number(lower)) continue;
    const Ref number = model.cells.number_of_half(lower);
    if (const auto added = constant_added(model.graph, model.graph[number])) {
      left.added[cell & ~1U].push_back(*added);
    }
  }
  return left;
}

/// Of a section that host numbers cannot follow: if it makes integers as longs at all, everything
/// that the integer unit wrote or that was moved may be one.
Handover::Left Handover::of_instructions(const Program& program, Section section,
                                         const CellMap& map) const {
  Left left;
  left.written.resize(map.count);  // nothing surely
  const auto& instructions = program.section(section);
  const bool integers =
      std::any_of(instructions.begin(), instructions.end(), [](const Instruction& i) {
        return makes_long_integers(i.alu) || makes_long_integers(i.mul);
      });
  if (!integers) return left;
  const auto add = [&](const Operand& x, unsigned k) {
    if (x.space != Space::Register && x.space != Space::Local && x.space != Space::T) return;
    left.integers.insert(map.cell(x, k) & ~1U);
  };
  for (const Instruction& i : instructions) {
    if (uses_t_address(i)) {
      for (std::uint32_t cell = map.local; cell < map.t; cell += 2) left.integers.insert(cell);
    }
    for (unsigned k = 0; k < i.vlen; ++k) {
      for (const Arithmetic* slot : {&i.alu, &i.mul}) {
        if (!slot->used() || info(slot->op).unit != Unit::Integer) continue;
        if (slot->dst.used()) add(slot->dst, k);
        if (slot->t != TTarget::None) left.integers.insert(map.t + k * 2);
      }
      if (i.move.op == Op::Bget) add(i.move.pe, k);
      if (i.move.op == Op::Bput) left.put_integers.insert(i.move.bm.at(k));
    }
  }
  return left;
}

/// What a section leaves reaches the next one that reads it; what End leaves comes past Start, if
/// that does not write there.
template <typename Test>
bool Handover::some_left(unsigned reader, std::uint32_t cell, Test test) const {
  for (unsigned s = 0; s < section_count; ++s) {
    if (s == end && reader != start && left_[start].written[cell]) continue;
    if (test(left_[s])) return true;
  }
  return false;
}

bool Handover::holds_integers(unsigned reader, NodeOp space, std::uint32_t place) const {
  if (space == NodeOp::Source) return false;
  if (space == NodeOp::Uniform) {
    return std::any_of(left_.begin(), left_.end(),
                       [&](const Left& left) { return left.put_integers.count(place) != 0; });
  }
  return some_left(reader, place, [&](const Left& l) { return l.integers.count(place) != 0; });
}

/// Those that the section makes, and those that it moves.
bool Handover::find_integers(const SectionModel& model, unsigned section) {
  bool found = false;
  const auto ask = [&](NodeOp space, std::uint32_t place) {
    return holds_integers(section, space, place);
  };
  Left& left = left_[section];
  for (const std::uint32_t cell : model.written) {
    const std::uint32_t upper = cell & ~1U;
    if (left.integers.count(upper) == 0 &&
        model.cells.made_of_integers(model.state[upper], model.state[upper + 1], ask)) {
      found = left.integers.insert(upper).second;
    }
  }
  for (const PutWord& put : model.puts) {
    if (put.width == Width::Long && left.put_integers.count(put.address) == 0 &&
        model.cells.made_of_integers(put.upper, put.lower, ask)) {
      found = left.put_integers.insert(put.address).second;
    }
  }
  return found;
}

/// Bits that are only moved, also under a mask, may be anything.
void Handover::check_bits(unsigned reader, const Graph& g, Ref r) const {
  const Node& node = g[r];
  if (node.op == NodeOp::Select) {
    check_bits(reader, g, node.b);
    check_bits(reader, g, node.c);
    return;
  }
  if (node.op != NodeOp::Input) return;
  const LeafKey key = LeafKey::unpack(node.bits);
  if (key.take != Take::Bits || key.place % 2 == 0) return;
  const std::uint32_t upper = key.place - 1;
  if (some_left(reader, key.place, [&](const Left& l) { return l.numbers.count(upper) != 0; })) {
    throw Unsupported("the bits of the lower half of a long number are read");
  }
}

void Handover::check_sum(unsigned reader, const Graph& g, const Node& node) const {
  const auto taken = constant_added(g, node);
  if (!taken) return;
  const Node& number = g[g.is_constant(node.a) ? node.b : node.a];
  if (number.op != NodeOp::Input) return;
  const LeafKey key = LeafKey::unpack(number.bits);
  // c - x takes c away where x has c in it.
  const double wanted = node.op == NodeOp::Sub && g.is_constant(node.a) ? *taken : -*taken;
  const auto adds = [&](const Left& left) {
    const auto found = left.added.find(key.place);
    return found != left.added.end() &&
           std::find(found->second.begin(), found->second.end(), wanted) != found->second.end();
  };
  if (key.take == Take::Long && some_left(reader, key.place, adds)) {
    throw Unsupported("a long is rounded by adding a constant and taking it away");
  }
}

void Handover::check(Section section, const SectionModel& model, const Demand& demand) const {
  const auto reader = static_cast<unsigned>(section);
  const Graph& g = model.graph;
  for (std::uint32_t n = 0; n < demand.of_node.size(); ++n) {
    if (!demand.of_node[n]) continue;
    const Node& node = g[ref_to(n)];
    if (is_leaf(node.op)) {
      const LeafKey key = LeafKey::unpack(node.bits);
      if (node.op != NodeOp::Constant && key.take == Take::Long &&
          holds_integers(reader, node.op, key.place)) {
        throw Unsupported("a long made by integer operations is used as a number");
      }
      continue;
    }
    check_sum(reader, g, node);
    if (node.op == NodeOp::Select) continue;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) check_bits(reader, g, r);
    }
  }
}

}  // namespace gdr::native
