#include "emulator/engine/native/cross_section_types.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"
#include "emulator/numeric/float.hpp"

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

constexpr const char* integers_as_number = "a long made by integer operations is used as a number";
constexpr const char* number_as_bits = "the bits of the lower half of a long number are read";
constexpr const char* rounded_long = "a long is rounded by adding and subtracting a constant";

/// Whether an operand is a fixed location in the PE.
bool in_pe(const Operand& x) {
  return x.space == Space::Register || x.space == Space::Local || x.space == Space::T;
}

/// Whether an operation computes bits in the integer unit.
bool makes_integers(const Arithmetic& slot) {
  return slot.used() && info(slot.op).unit == Unit::Integer && slot.op != Op::Ipass &&
         slot.op != Op::Upass;
}

/// Whether it computes bits in the lower half of a long.
bool makes_long_integers(const Arithmetic& slot) {
  if (!makes_integers(slot)) return false;
  return slot.width == Width::Long || slot.dst.address % 2 != 0 || slot.t == TTarget::Lower;
}

}  // namespace

CrossSectionTypes::CrossSectionTypes(const Program& program, const Geometry& geometry,
                                     const Models& models) {
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

CrossSectionTypes::Left CrossSectionTypes::of_model(const SectionModel& model) const {
  Left left;
  left.written.resize(model.map.count);
  for (const std::uint32_t cell : model.written) {
    left.written[cell] = true;
    const CellValue lower = model.state[cell | 1];
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

/// For an unsupported section: if it computes long integers at all, every word written by the
/// integer unit or moved may be one.
CrossSectionTypes::Left CrossSectionTypes::of_instructions(const Program& program, Section section,
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
    if (!in_pe(x)) return;
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
      if (i.move.op == Op::Bput) left.stored_integers.insert(i.move.bm.at(k));
    }
  }
  return left;
}

/// A written word reaches the next section that reads it; words of End pass Start if that does not
/// overwrite them.
template <typename Test>
std::set<unsigned> CrossSectionTypes::writers_of(unsigned reader, std::uint32_t cell,
                                                 Test test) const {
  std::set<unsigned> sections;
  for (unsigned s = 0; s < section_count; ++s) {
    if (s == end && reader != start && left_[start].written[cell]) continue;
    if (test(left_[s])) sections.insert(s);
  }
  return sections;
}

std::set<unsigned> CrossSectionTypes::number_writers_of(unsigned reader,
                                                        std::uint32_t upper) const {
  return writers_of(reader, upper, [&](const Left& l) { return l.numbers.count(upper) != 0; });
}

std::set<unsigned> CrossSectionTypes::added_in(unsigned reader, std::uint32_t upper,
                                               double constant) const {
  return writers_of(reader, upper, [&](const Left& left) {
    const auto found = left.added.find(upper);
    return found != left.added.end() &&
           std::find(found->second.begin(), found->second.end(), constant) != found->second.end();
  });
}

bool CrossSectionTypes::holds_integers(unsigned reader, NodeOp space, std::uint32_t place) const {
  if (space == NodeOp::Source) return false;
  if (space == NodeOp::Uniform) {
    return std::any_of(left_.begin(), left_.end(),
                       [&](const Left& left) { return left.stored_integers.count(place) != 0; });
  }
  return !writers_of(reader, place, [&](const Left& l) {
            return l.integers.count(place) != 0;
          }).empty();
}

/// Longs that the section computes or moves.
bool CrossSectionTypes::find_integers(const SectionModel& model, unsigned section) {
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
  for (const BmStore& put : model.bm_stores) {
    if (put.width == Width::Long && left.stored_integers.count(put.address) == 0 &&
        model.cells.made_of_integers(put.upper, put.lower, ask)) {
      found = left.stored_integers.insert(put.address).second;
    }
  }
  return found;
}

/// Bits that are only moved, also under a mask, may be anything.
std::set<unsigned> CrossSectionTypes::bits_read(unsigned reader, const Graph& g, Ref r) const {
  const Node& node = g[r];
  if (node.op == NodeOp::Select) {
    std::set<unsigned> sections = bits_read(reader, g, node.b);
    sections.merge(bits_read(reader, g, node.c));
    return sections;
  }
  if (node.op != NodeOp::Input) return {};
  const LeafKey key = LeafKey::unpack(node.bits);
  if (key.take != Take::Bits || key.place % 2 == 0) return {};
  return number_writers_of(reader, key.place - 1);
}

std::set<unsigned> CrossSectionTypes::constant_subtracted(unsigned reader, const Graph& g,
                                                          const Node& node) const {
  const auto taken = constant_added(g, node);
  if (!taken) return {};
  const Node& number = g[g.is_constant(node.a) ? node.b : node.a];
  if (number.op != NodeOp::Input) return {};
  const LeafKey key = LeafKey::unpack(number.bits);
  if (key.take != Take::Long) return {};
  // c - x subtracts c where x contains c.
  const bool turned = node.op == NodeOp::Sub && g.is_constant(node.a);
  return added_in(reader, key.place, turned ? *taken : -*taken);
}

std::optional<CrossSectionTypes::TypeConflict> CrossSectionTypes::check(
    Section section, const SectionModel& model, const Liveness& demand) const {
  const auto reader = static_cast<unsigned>(section);
  const Graph& g = model.graph;
  const auto spoiled = [&](std::set<unsigned> sections, const char* reason) {
    sections.insert(reader);
    return TypeConflict{std::move(sections), reason};
  };
  for (std::uint32_t n = 0; n < demand.of_node.size(); ++n) {
    if (!demand.of_node[n]) continue;
    const Node& node = g[ref_to(n)];
    if (is_leaf(node.op)) {
      const LeafKey key = LeafKey::unpack(node.bits);
      if (node.op != NodeOp::Constant && key.take == Take::Long &&
          holds_integers(reader, node.op, key.place)) {
        return spoiled({}, integers_as_number);
      }
      continue;
    }
    if (auto s = constant_subtracted(reader, g, node); !s.empty()) return spoiled(s, rounded_long);
    if (node.op == NodeOp::Select) continue;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r == no_ref) continue;
      if (auto s = bits_read(reader, g, r); !s.empty()) return spoiled(s, number_as_bits);
    }
  }
  return std::nullopt;
}

/// Checks an operand of an exact operation that was written before the section.
std::optional<CrossSectionTypes::TypeConflict> CrossSectionTypes::check_operand(
    unsigned reader, const Arithmetic& slot, const Operand& x, std::uint32_t cell) const {
  if (makes_integers(slot) && (x.width == Width::Long || cell % 2 != 0)) {
    if (auto s = number_writers_of(reader, cell & ~1U); !s.empty())
      return TypeConflict{s, number_as_bits};
  }
  const Operand& constant = slot.a.space == Space::Immediate ? slot.a : slot.b;
  const bool adds = slot.op == Op::Fadd || slot.op == Op::Fsub;
  if (!adds || constant.space != Space::Immediate || x.width != Width::Long) return std::nullopt;
  Flags ignored = no_flags;
  const bool wide = constant.width == Width::Long;
  const double c =
      double_from_long(wide ? slot.immediate : widen_float(lower_half(slot.immediate)), ignored);
  auto s = added_in(reader, cell, slot.op == Op::Fsub ? c : -c);
  if (s.empty()) return std::nullopt;
  return TypeConflict{std::move(s), rounded_long};
}

std::optional<CrossSectionTypes::TypeConflict> CrossSectionTypes::check(Section section,
                                                                        const Program& program,
                                                                        const CellMap& map) const {
  const auto reader = static_cast<unsigned>(section);
  std::vector<bool> own(map.count);  // cells that the section itself has written by now
  const auto writes = [&](std::uint32_t cell, Width width) {
    for (std::uint32_t n = 0; n < shorts_in(width); ++n) own[cell + n] = true;
  };
  for (const Instruction& i : program.section(section)) {
    for (unsigned k = 0; k < i.vlen; ++k) {
      for (const Arithmetic* slot : {&i.alu, &i.mul}) {
        if (!slot->used()) continue;
        for (const Operand* x : {&slot->a, &slot->b}) {
          if (!in_pe(*x)) continue;
          const std::uint32_t cell = map.cell(*x, k);
          if (own[cell + shorts_in(x->width) - 1]) continue;
          if (auto found = check_operand(reader, *slot, *x, cell)) return found;
        }
      }
    }
    if (i.predicate.used) continue;
    for (unsigned k = 0; k < i.vlen; ++k) {
      for (const Arithmetic* slot : {&i.alu, &i.mul}) {
        if (!slot->used()) continue;
        if (in_pe(slot->dst)) writes(map.cell(slot->dst, k), slot->width);
        if (slot->t != TTarget::None && slot->width == Width::Long)
          writes(map.t + k * 2, Width::Long);
        if (slot->t != TTarget::None && slot->width == Width::Short)
          own[map.t + k * 2 + (slot->t == TTarget::Lower ? 1 : 0)] = true;
      }
      if (i.move.op == Op::Bget && in_pe(i.move.pe))
        writes(map.cell(i.move.pe, k), i.move.pe.width);
    }
  }
  return std::nullopt;
}

}  // namespace gdr::native
