// Compilation of a program: liveness and type checks across its sections.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/translate/list_appends.hpp"
#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"
#include "emulator/numeric/float.hpp"

namespace gdr::native {
namespace {

constexpr std::size_t index(Section s) { return static_cast<std::size_t>(s); }
constexpr unsigned bit(Section s) { return 1U << index(s); }

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
  return makes_integers(slot) &&
         (slot.width == Width::Long || slot.dst.address % 2 != 0 || slot.t == TTarget::Lower);
}

/// A bit for each section.
using Sections = unsigned;

/// Sections that have to run on the exact engine, and the reason.
struct TypeConflict {
  Sections sections;
  const char* reason;
};

using Models = std::array<std::unique_ptr<SectionModel>, section_count>;

/// Longs pass between sections as 72 bits, but a compiled section reads 53 bits of a number. Within
/// a section the graph records the origin of a long, and unsupported uses are rejected there
/// (MemoryModel, NumberOperations, LongIntegers). This class rejects the same uses between sections, or passes of the
/// loop:
/// - a long assembled by integer operations that is used as a number,
/// - a computed long number whose lower half is used as bits,
/// - a constant that one section adds to a long and another one subtracts: that rounds.
class CrossSectionTypes {
 public:
  /// Sections without a model run on the exact engine.
  CrossSectionTypes(const Program& program, const Geometry& geometry, const Models& models) {
    for (std::size_t s = 0; s < section_count; ++s) {
      written_[s] = models[s] ? of_model(*models[s])
                              : of_instructions(program, Section(s), CellMap(geometry));
    }
    for (bool found = true; found;) {
      found = false;
      for (std::size_t s = 0; s < section_count; ++s) {
        if (models[s]) found = find_integers(*models[s], Section(s)) || found;
      }
    }
  }

  /// Checks the longs that a compiled section reads.
  std::optional<TypeConflict> check(Section reader, const SectionModel& model,
                                    const Liveness& liveness) const {
    const Graph& g = model.graph;
    for (std::uint32_t n = 0; n < liveness.of_node.size(); ++n) {
      if (!liveness.of_node[n]) continue;
      const Node& node = g[ref_to(n)];
      if (is_leaf(node.op)) {
        const LeafKey key = LeafKey::unpack(node.bits);
        if (node.op != NodeOp::Constant && key.type == WordType::Long &&
            holds_integers(reader, node.op, key.place)) {
          return TypeConflict{bit(reader), integers_as_number};
        }
        continue;
      }
      if (const Sections s = constant_subtracted(reader, g, node); s != 0)
        return TypeConflict{s | bit(reader), rounded_long};
      // Bits that are only moved, also under a mask, may be anything.
      if (node.op == NodeOp::Select) continue;
      for (const Ref r : node.operands()) {
        if (const Sections s = bits_read(reader, g, r); s != 0)
          return TypeConflict{s | bit(reader), number_as_bits};
      }
    }
    return std::nullopt;
  }

  /// Checks the longs that a section on the exact engine reads: those that compiled sections write
  /// need not be exact.
  std::optional<TypeConflict> check(Section reader, const Program& program,
                                    const CellMap& map) const {
    std::vector<bool> own(map.count);  // cells that the section has written so far
    const auto writes = [&](std::uint32_t cell, Width width) {
      for (std::uint32_t n = 0; n < shorts_in(width); ++n) own[cell + n] = true;
    };
    for (const Instruction& i : program.section(reader)) {
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

 private:
  /// Longs that a section writes, by their upper cells or addresses in the broadcast memory.
  struct Written {
    std::vector<bool> cells;                            ///< all written cells
    std::set<std::uint32_t> integers, stored_integers;  ///< longs made by integer operations
    std::set<std::uint32_t> numbers;                    ///< computed long numbers
    /// Constants added to numbers, with their sign.
    std::map<std::uint32_t, std::vector<double>> added;
  };

  static Written of_model(const SectionModel& model) {
    Written left;
    left.cells.resize(model.map.count);
    for (const List& list : model.lists)
      for (std::uint32_t at = list.first; at <= list.last; ++at)
        left.integers.insert((model.map.local + at) & ~1U);
    for (const std::uint32_t cell : model.written) {
      left.cells[cell] = true;
      const CellValue lower = model.state[cell | 1];
      if (!model.cells.holds_half(lower)) continue;
      left.numbers.insert(cell & ~1U);
      if (!model.cells.is_half_of_number(lower)) continue;
      const Ref number = model.cells.number_of_half(lower);
      if (model.longs_are_doubles) continue;
      if (const auto added = constant_added(model.graph, model.graph[number])) {
        left.added[cell & ~1U].push_back(*added);
      }
    }
    return left;
  }

  /// For an unsupported section: if it computes long integers at all, every word written by the
  /// integer unit or moved may be one.
  static Written of_instructions(const Program& program, Section section, const CellMap& map) {
    Written left;
    left.cells.resize(map.count);  // none for certain
    const auto& instructions = program.section(section);
    if (std::ranges::none_of(instructions, [](const Instruction& i) {
          return makes_long_integers(i.alu) || makes_long_integers(i.mul);
        })) {
      return left;
    }
    const auto add = [&](const Operand& x, unsigned k) {
      if (in_pe(x)) left.integers.insert(map.cell(x, k) & ~1U);
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

  /// A written word reaches the next section that reads it; words of End pass Start if that does
  /// not overwrite them.
  template <typename Test>
  Sections writers_of(Section reader, std::uint32_t cell, Test test) const {
    Sections sections = 0;
    for (const Section s : {Section::Init, Section::Start, Section::Body, Section::End}) {
      if (s == Section::End && reader != Section::Start &&
          written_[index(Section::Start)].cells[cell])
        continue;
      if (test(written_[index(s)])) sections |= bit(s);
    }
    return sections;
  }

  Sections number_writers_of(Section reader, std::uint32_t upper) const {
    return writers_of(reader, upper, [&](const Written& w) { return w.numbers.contains(upper); });
  }

  Sections added_in(Section reader, std::uint32_t upper, double constant) const {
    return writers_of(reader, upper, [&](const Written& w) {
      const auto found = w.added.find(upper);
      return found != w.added.end() &&
             std::ranges::find(found->second, constant) != found->second.end();
    });
  }

  bool holds_integers(Section reader, NodeOp space, std::uint32_t place) const {
    if (space == NodeOp::Source) return false;
    if (space == NodeOp::Uniform) {
      return std::ranges::any_of(
          written_, [&](const Written& w) { return w.stored_integers.contains(place); });
    }
    return writers_of(reader, place,
                      [&](const Written& w) { return w.integers.contains(place); }) != 0;
  }

  /// Adds longs made by integer operations that the section computes or moves. True if there are
  /// new ones.
  bool find_integers(const SectionModel& model, Section section) {
    bool found = false;
    const auto ask = [&](NodeOp space, std::uint32_t place) {
      return holds_integers(section, space, place);
    };
    Written& left = written_[index(section)];
    for (const std::uint32_t cell : model.written) {
      const std::uint32_t upper = cell & ~1U;
      if (!left.integers.contains(upper) &&
          model.cells.made_of_integers(model.state[upper], model.state[upper + 1], ask)) {
        found = left.integers.insert(upper).second;
      }
    }
    for (const BmStore& put : model.bm_stores) {
      if (put.width == Width::Long && !left.stored_integers.contains(put.address) &&
          model.cells.made_of_integers(put.upper, put.lower, ask)) {
        found = left.stored_integers.insert(put.address).second;
      }
    }
    return found;
  }

  /// The sections that write a lower half that is read as bits.
  Sections bits_read(Section reader, const Graph& g, Ref r) const {
    const Node& node = g[r];
    if (node.op == NodeOp::Select)
      return bits_read(reader, g, node.b) | bits_read(reader, g, node.c);
    if (node.op != NodeOp::Input) return 0;
    const LeafKey key = LeafKey::unpack(node.bits);
    if (key.type != WordType::Bits || key.place % 2 == 0) return 0;
    return number_writers_of(reader, key.place - 1);
  }

  Sections constant_subtracted(Section reader, const Graph& g, const Node& node) const {
    const auto taken = constant_added(g, node);
    if (!taken || *taken == 0) return 0;
    const Node& number = g[g.is_constant(node.a) ? node.b : node.a];
    const LeafKey key = LeafKey::unpack(number.bits);
    if (number.op != NodeOp::Input || key.type != WordType::Long) return 0;
    // c - x subtracts c where x contains c.
    const bool turned = node.op == NodeOp::Sub && g.is_constant(node.a);
    return added_in(reader, key.place, turned ? *taken : -*taken);
  }

  /// Checks an operand of an exact operation that was written before the section.
  std::optional<TypeConflict> check_operand(Section reader, const Arithmetic& slot,
                                            const Operand& x, std::uint32_t cell) const {
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
    const Sections s = added_in(reader, cell, slot.op == Op::Fsub ? c : -c);
    if (s == 0 || c == 0) return std::nullopt;
    return TypeConflict{s, rounded_long};
  }

  std::array<Written, section_count> written_;  ///< by section
};

/// Words that the host reads: the declared results, or the whole state if there are none.
LiveOut needs_of_host(const Program& program, const CellMap& map) {
  LiveOut needs(map);
  bool declared = false;
  for (const Variable& v : program.variables) {
    if (v.kind == VarKind::Output) declared = true;
    if (v.kind != VarKind::Result) continue;
    declared = true;
    for (unsigned e = 0; e < program.elements; ++e) {
      const std::uint32_t cell = map.cell(v.location, e);
      needs.mark_cell(cell);
      if (v.location.width == Width::Long) needs.mark_cell(cell + 1);
    }
  }
  if (!declared) {
    for (auto* list : {&needs.cells, &needs.masks}) std::ranges::fill(*list, Live(Condition{}));
  }
  return needs;
}

/// Everything that a section on the exact engine may read.
void add_exact_needs(const Program& program, Section section, const Geometry& geometry,
                     const CellMap& map, LiveOut& needs) {
  std::vector<Access> accesses;
  for (const Instruction& i : program.section(section)) {
    for (unsigned k = 0; k < i.vlen; ++k) {
      accesses.clear();
      accesses_of_element(i, k, geometry, accesses);
      for (const Access& a : accesses) {
        if (a.what == Access::What::Mask) {
          needs.masks[a.address * max_elements + k] = Condition{};
          continue;
        }
        std::uint32_t base = 0;
        if (a.what == Access::What::Local) base = map.local;
        if (a.what == Access::What::T) base = map.t + k * 2;
        if (port_of(a) == Port::BmAccess) continue;
        // Including words that it writes, since a mask may keep the old value.
        for (std::uint32_t n = 0; n < a.shorts; ++n) needs.mark_cell(base + a.address + n);
      }
    }
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

/// Appends of one vector of PEs and one element are executed for all passes before those of others,
/// so the lists must be disjoint, and nothing else may use them in their section. Throws
/// Unsupported.
void check_lists(const SectionModel& model, const SectionModel* start, const Liveness& liveness,
                 const LiveOut& needs, Section section) {
  if (model.lists.empty()) return;
  const bool known_start =
      (section == Section::Body || section == Section::End) && start != nullptr;
  if (!known_start) throw Unsupported("the beginning of a list is unknown");
  const auto begin = [&](const List& list) {
    const CellValue held = start->state[list.counter];
    if (!start->cells.is_constant(held)) throw Unsupported("the beginning of a list is unknown");
    const auto bits = static_cast<std::int64_t>(start->cells.constant_bits(held) << short_shift);
    return bits >> short_shift;
  };
  if (section == Section::Body) {
    // The first pass stores nothing that a pass before it has left.
    for (const StoreThroughT& store : model.left) {
      const Node& mask = model.graph[store.enabled];
      const Ref off =
          negated(store.enabled) ? start->graph.always() : complement(start->graph.always());
      if (mask.op != NodeOp::Input || start->masks[LeafKey::unpack(mask.bits).place] != off)
        throw Unsupported("a word is stored through T before the loop has set its address");
    }
  }
  for (const List& list : model.lists) {
    if (begin(list) + list.stride < list.first) throw Unsupported("a list begins before its range");
    if (needs.cells[model.map.local + list.last])
      throw Unsupported("the word behind a list is used");
    for (const List& other : model.lists) {
      if (&other == &list || other.first > list.last || other.last < list.first) continue;
      const bool same_range = other.first == list.first && other.last == list.last;
      if (!same_range || other.stride != list.stride || other.counter == list.counter ||
          (begin(other) - begin(list)) % list.stride == 0)
        throw Unsupported("lists overlap");
    }
    const auto is_used = [&](std::uint32_t cell) {
      return list.holds_entry(model.map, cell) ||
             (section == Section::Body && cell == list.counter);
    };
    if (reads_cell(model, liveness, is_used)) throw Unsupported("a list is read");
  }
}

}  // namespace

CompiledProgram::CompiledProgram(const Program& program, const Geometry& geometry, Target wanted,
                                 Gpus wanted_gpus)
    : map(geometry), target(wanted), gpus(std::move(wanted_gpus)) {
  Models models;
  std::array<Liveness, section_count> liveness;
  LiveOut needs = needs_of_host(program, map);
  LiveOut of_sections(map);
  const auto give_up_one = [&](unsigned s, const Unsupported& e) {
    parts[s].reason = e.what();
    models[s].reset();
    add_exact_needs(program, static_cast<Section>(s), geometry, map, of_sections);
    needs.merge(of_sections);
  };
  const auto give_up = [&](unsigned s, const Unsupported& e) {
    give_up_one(s, e);
    const unsigned end = index(Section::End);
    if (s == index(Section::Body) && models[end] && !models[end]->left.empty()) give_up_one(end, e);
  };
  for (unsigned s = 0; s < section_count; ++s) {
    models[s] = std::make_unique<SectionModel>(geometry, target.longs_are_doubles);
    try {
      translate(program, static_cast<Section>(s), *models[s]);
      if (static_cast<Section>(s) == Section::Body && !models[s]->bm_stores.empty()) {
        throw Unsupported("the loop stores words to the broadcast memory");
      }
    } catch (const Unsupported& e) {
      give_up(s, e);
    }
  }
  std::array<std::vector<std::vector<TableShort>>, section_count> contents;
  for (unsigned s = 0; s < section_count; ++s) {
    if (!models[s]) continue;
    try {
      for (const Table& table : models[s]->tables) {
        if (s != index(Section::Body) && s != index(Section::End))
          throw Unsupported("local memory is read through T outside of the loop");
        contents[s].push_back(table_contents(program, models[index(Section::Start)].get(), table));
      }
    } catch (const Unsupported& e) {
      give_up(s, e);
    }
  }
  const auto& body_model = models[index(Section::Body)];
  const auto& end_model = models[index(Section::End)];
  if (body_model && !body_model->left.empty() &&
      (!end_model || !completes(*end_model, *body_model)))
    give_up(index(Section::Body), Unsupported("a word is stored through T, and not to a list"));
  if (!body_model && end_model && !end_model->left.empty())
    give_up(index(Section::End), Unsupported("a word is stored through T, and not to a list"));
  const CrossSectionTypes types(program, geometry, models);
  const auto give_up_all = [&](const TypeConflict& spoiled) {
    bool some = false;
    for (unsigned s = 0; s < section_count; ++s) {
      if ((spoiled.sections >> s & 1) == 0 || !models[s]) continue;
      some = true;
      give_up(s, Unsupported(spoiled.reason));
    }
    return some;
  };
  // Live-in words of one section are live-out in others: iterate to a fixed point.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned s = 0; s < section_count; ++s) {
      if (!models[s]) {
        const auto found = types.check(static_cast<Section>(s), program, map);
        if (found) changed = give_up_all(*found) || changed;
        continue;
      }
      try {
        liveness[s] = analyse_liveness(*models[s], needs, static_cast<Section>(s) == Section::Body);
        check_lists(*models[s], models[index(Section::Start)].get(), liveness[s], needs,
                    static_cast<Section>(s));
        if (const auto found = types.check(static_cast<Section>(s), *models[s], liveness[s])) {
          give_up_all(*found);
          changed = true;
          continue;
        }
        const LiveOut own = live_in(*models[s], liveness[s]);
        of_sections.merge(own);
        changed = needs.merge(own) || changed;
      } catch (const Unsupported& e) {
        give_up(s, e);
        changed = true;
      }
    }
  }
  for (unsigned s = 0; s < section_count; ++s) {
    if (!models[s]) continue;
    mark_read_by_sections(of_sections, liveness[s]);
    parts[s].section = std::make_unique<CompiledSection>(
        *models[s], liveness[s], std::move(contents[s]), static_cast<Section>(s) == Section::Body,
        target, models[index(Section::Start)].get());
  }
  const CompiledSection* const start = section(Section::Start);
  fusable = start != nullptr && section(Section::Body) != nullptr &&
            section(Section::End) != nullptr && start->kernels().empty() &&
            uses_fixed_words_only(program, Section::Start) &&
            uses_fixed_words_only(program, Section::End);
  if (fusable) parts[static_cast<unsigned>(Section::Body)].section->follow(*start);
}

}  // namespace gdr::native
