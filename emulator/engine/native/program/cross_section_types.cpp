#include "emulator/engine/native/program/cross_section_types.hpp"

#include <algorithm>

#include "emulator/numeric/float.hpp"

namespace gdr::native {
namespace {

constexpr const char* integers_as_number = "a long made by integer operations is used as a number";
constexpr const char* number_as_bits = "the bits of the lower half of a long number are read";
constexpr const char* rounded_long = "a long is rounded by adding and subtracting a constant";

constexpr unsigned section_bit(Section s) { return 1U << index_of(s); }

/// Marks the cells that an element of an instruction without a predicate writes.
void mark_written(const Instruction& i, unsigned k, const CellMap& map, std::vector<bool>& cells) {
  const auto writes = [&](std::uint32_t cell, Width width) {
    for (std::uint32_t n = 0; n < shorts_in(width); ++n) cells[cell + n] = true;
  };
  for (const Arithmetic* slot : {&i.alu, &i.mul}) {
    if (!slot->used()) continue;
    if (is_fixed_in_pe(slot->dst)) writes(map.cell(slot->dst, k), slot->width);
    if (slot->t != TTarget::None && slot->width == Width::Long) writes(map.t + k * 2, Width::Long);
    if (slot->t != TTarget::None && slot->width == Width::Short)
      cells[map.t + k * 2 + (slot->t == TTarget::Lower ? 1 : 0)] = true;
  }
  if (i.move.op == Op::Bget && is_fixed_in_pe(i.move.pe))
    writes(map.cell(i.move.pe, k), i.move.pe.width);
}

}  // namespace

CrossSectionTypes::CrossSectionTypes(const Program& program, const Geometry& geometry,
                                     const SectionModels& models) {
  for (std::size_t s = 0; s < section_count; ++s) {
    written_[s] = models[s] ? longs_written_by(*models[s])
                            : longs_written_by(program, Section(s), CellMap(geometry));
  }
  for (bool found = true; found;) {
    found = false;
    for (std::size_t s = 0; s < section_count; ++s)
      if (models[s]) found = find_integers(*models[s], Section(s)) || found;
  }
}

/// Adds longs made by integer operations that the section computes or moves. True if there are new
/// ones.
bool CrossSectionTypes::find_integers(const SectionModel& model, Section section) {
  bool found = false;
  const auto ask = [&](NodeOp space, std::uint32_t place) {
    return holds_integers(section, space, place);
  };
  WrittenLongs& written = written_[index_of(section)];
  for (const std::uint32_t cell : model.written) {
    const std::uint32_t upper = cell & ~1U;
    if (!written.integers.contains(upper) &&
        model.cells.made_of_integers(model.state[upper], model.state[upper + 1], ask)) {
      found = written.integers.insert(upper).second;
    }
  }
  for (const BmStore& put : model.bm_stores) {
    if (put.width == Width::Long && !written.stored_integers.contains(put.address) &&
        model.cells.made_of_integers(put.upper, put.lower, ask)) {
      found = written.stored_integers.insert(put.address).second;
    }
  }
  return found;
}

// --- who writes a word

/// A written word reaches the next section that reads it; words of End pass Start if that does not
/// overwrite them.
template <typename Test>
CrossSectionTypes::Sections CrossSectionTypes::writers_of(Section reader, std::uint32_t cell,
                                                          Test test) const {
  Sections sections = 0;
  for (const Section s : {Section::Init, Section::Start, Section::Body, Section::End}) {
    if (s == Section::End && reader != Section::Start &&
        written_[index_of(Section::Start)].cells[cell])
      continue;
    if (test(written_[index_of(s)])) sections |= section_bit(s);
  }
  return sections;
}

CrossSectionTypes::Sections CrossSectionTypes::number_writers_of(Section reader,
                                                                 std::uint32_t upper) const {
  return writers_of(reader, upper,
                    [&](const WrittenLongs& w) { return w.numbers.contains(upper); });
}

CrossSectionTypes::Sections CrossSectionTypes::sections_that_add(Section reader,
                                                                 std::uint32_t upper,
                                                                 double constant) const {
  return writers_of(reader, upper, [&](const WrittenLongs& w) {
    const auto found = w.added.find(upper);
    return found != w.added.end() &&
           std::ranges::find(found->second, constant) != found->second.end();
  });
}

bool CrossSectionTypes::holds_integers(Section reader, NodeOp space, std::uint32_t place) const {
  if (space == NodeOp::Source) return false;
  if (space == NodeOp::Uniform) {
    return std::ranges::any_of(
        written_, [&](const WrittenLongs& w) { return w.stored_integers.contains(place); });
  }
  return writers_of(reader, place,
                    [&](const WrittenLongs& w) { return w.integers.contains(place); }) != 0;
}

// --- readers that are compiled

std::optional<TypeConflict> CrossSectionTypes::check(Section reader, const SectionModel& model,
                                                     const Liveness& liveness) const {
  for (std::uint32_t n = 0; n < liveness.of_node.size(); ++n) {
    if (!liveness.of_node[n]) continue;
    if (auto found = check_node(reader, model.graph, model.graph[ref_to(n)])) return found;
  }
  return std::nullopt;
}

std::optional<TypeConflict> CrossSectionTypes::check_node(Section reader, const Graph& g,
                                                          const Node& node) const {
  if (is_leaf(node.op)) {
    const LeafKey key = LeafKey::unpack(node.bits);
    if (node.op != NodeOp::Constant && key.type == WordType::Long &&
        holds_integers(reader, node.op, key.place))
      return TypeConflict{section_bit(reader), integers_as_number};
    return std::nullopt;
  }
  if (const Sections s = writers_of_subtracted(reader, g, node); s != 0)
    return TypeConflict{s | section_bit(reader), rounded_long};
  // Bits that are only moved, also under a mask, may be anything.
  if (node.op == NodeOp::Select) return std::nullopt;
  for (const Ref r : node.operands())
    if (const Sections s = writers_of_bits(reader, g, r); s != 0)
      return TypeConflict{s | section_bit(reader), number_as_bits};
  return std::nullopt;
}

/// The sections that write a lower half that is read as bits.
CrossSectionTypes::Sections CrossSectionTypes::writers_of_bits(Section reader, const Graph& g,
                                                               Ref r) const {
  const Node& node = g[r];
  if (node.op == NodeOp::Select)
    return writers_of_bits(reader, g, node.b) | writers_of_bits(reader, g, node.c);
  if (node.op != NodeOp::Input) return 0;
  const LeafKey key = LeafKey::unpack(node.bits);
  if (key.type != WordType::Bits || key.place % 2 == 0) return 0;
  return number_writers_of(reader, key.place - 1);
}

/// The sections that add the constant that a node subtracts from a long.
CrossSectionTypes::Sections CrossSectionTypes::writers_of_subtracted(Section reader, const Graph& g,
                                                                     const Node& node) const {
  const auto taken = constant_added(g, node);
  if (!taken || *taken == 0) return 0;
  const Node& number = g[g.is_constant(node.a) ? node.b : node.a];
  const LeafKey key = LeafKey::unpack(number.bits);
  if (number.op != NodeOp::Input || key.type != WordType::Long) return 0;
  // c - x subtracts c where x contains c.
  const bool turned = node.op == NodeOp::Sub && g.is_constant(node.a);
  return sections_that_add(reader, key.place, turned ? *taken : -*taken);
}

// --- readers on the exact engine

std::optional<TypeConflict> CrossSectionTypes::check(Section reader, const Program& program,
                                                     const CellMap& map) const {
  std::vector<bool> own(map.count);  // cells that the section has written so far
  for (const Instruction& i : program.section(reader)) {
    if (auto found = check_reads(reader, i, map, own)) return found;
    if (i.predicate.used) continue;
    for (unsigned k = 0; k < i.vlen; ++k) mark_written(i, k, map, own);
  }
  return std::nullopt;
}

std::optional<TypeConflict> CrossSectionTypes::check_reads(Section reader, const Instruction& i,
                                                           const CellMap& map,
                                                           const std::vector<bool>& own) const {
  for (unsigned k = 0; k < i.vlen; ++k) {
    for (const Arithmetic* slot : {&i.alu, &i.mul}) {
      if (!slot->used()) continue;
      for (const Operand* x : {&slot->a, &slot->b}) {
        if (!is_fixed_in_pe(*x)) continue;
        const std::uint32_t cell = map.cell(*x, k);
        if (own[cell + shorts_in(x->width) - 1]) continue;
        if (auto found = check_operand(reader, *slot, *x, cell)) return found;
      }
    }
  }
  return std::nullopt;
}

/// Checks an operand of an exact operation that was written before the section.
std::optional<TypeConflict> CrossSectionTypes::check_operand(Section reader, const Arithmetic& slot,
                                                             const Operand& x,
                                                             std::uint32_t cell) const {
  if (makes_integers(slot) && (x.width == Width::Long || cell % 2 != 0)) {
    if (const Sections s = number_writers_of(reader, cell & ~1U); s != 0)
      return TypeConflict{s, number_as_bits};
  }
  const Operand& constant = slot.a.space == Space::Immediate ? slot.a : slot.b;
  const bool adds = slot.op == Op::Fadd || slot.op == Op::Fsub;
  if (!adds || constant.space != Space::Immediate || x.width != Width::Long) return std::nullopt;
  Flags ignored = no_flags;
  const bool wide = constant.width == Width::Long;
  const double c =
      double_from_long(wide ? slot.immediate : widen_float(lower_half(slot.immediate)), ignored);
  const Sections s = sections_that_add(reader, cell, slot.op == Op::Fsub ? c : -c);
  if (s == 0 || c == 0) return std::nullopt;
  return TypeConflict{s, rounded_long};
}

}  // namespace gdr::native
