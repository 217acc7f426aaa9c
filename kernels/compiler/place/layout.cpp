#include "kernels/compiler/place/layout.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "kernels/compiler/place/pipeline.hpp"
#include "kernels/compiler/place/tenants.hpp"
#include "kernels/compiler/refusal.hpp"

namespace gdr::kc {
namespace {

/// From the first write to the last read of a value, in instructions after its item's start.
struct Life {
  int from = 0, to = 0;
};

Life life_of(const Problem& problem, const Schedule& s, ValueId id) {
  const MachineLoop& loop = *problem.loop;
  const MachineValue& v = loop.values[static_cast<std::size_t>(id)];
  Life life;
  if (v.origin == Origin::Field && s.place[static_cast<std::size_t>(id)].home == Home::Block) {
    for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
      const auto& fields = problem.blocks[b].fields;
      if (std::find(fields.begin(), fields.end(), id) != fields.end())
        life.from = s.time[loop.ops.size() + b];
    }
    life.to = life.from + 1;
  } else {
    life.from = s.time[static_cast<std::size_t>(v.defs.front())];
    life.to = life.from + 1;
    for (const OpId d : v.defs) {
      life.from = std::min(life.from, s.time[static_cast<std::size_t>(d)]);
      life.to = std::max(life.to, s.time[static_cast<std::size_t>(d)] + 1);
    }
  }
  for (const OpId u : v.uses) life.to = std::max(life.to, s.time[static_cast<std::size_t>(u)]);
  return life;
}

Life life_of_mask(const Schedule& s, const MachineMask& m) {
  Life life{s.time[static_cast<std::size_t>(m.defs.front())], 0};
  life.to = life.from + 1;
  for (const OpId d : m.defs) life.to = std::max(life.to, s.time[static_cast<std::size_t>(d)] + 1);
  for (const OpId u : m.uses) life.to = std::max(life.to, s.time[static_cast<std::size_t>(u)]);
  return life;
}

/// Which value (or block) and copy a tenant of a memory is for.
struct Owner {
  ValueId value = none;
  int block = none, copy = 0;
};

/// The tenants of one memory.
struct Memory {
  std::vector<Tenant> tenants;
  std::vector<Owner> owners;
};

class Placer {
 public:
  Placer(const Problem& problem, const Schedule& schedule, const Geometry& geometry,
         unsigned copies, const Graph& graph)
      : problem_(problem),
        loop_(*problem.loop),
        s_(schedule),
        geometry_(geometry),
        graph_(graph),
        copies_(static_cast<int>(copies)),
        ring_(static_cast<int>(schedule.interval * copies)) {}

  std::optional<Layout> run(Diagnostic& why) {
    const auto per_copy = std::vector<int>(static_cast<std::size_t>(copies_), none);
    out_.copies = static_cast<unsigned>(copies_);
    out_.address.assign(loop_.values.size(), per_copy);
    out_.block_address.assign(problem_.blocks.size(), per_copy);
    out_.mask.assign(loop_.masks.size(), per_copy);
    out_.mask_before.assign(loop_.masks.size(),
                            std::vector<bool>(static_cast<std::size_t>(copies_), false));
    constexpr unsigned steps = 3000;
    Memory registers, local, masks;
    for (std::size_t t = 0; t < loop_.tables.size(); ++t) {
      const MachineTable& table = loop_.tables[t];
      Tenant tenant;
      tenant.span = static_cast<int>(table.padded * shorts_in(table.width));
      tenant.pieces.push_back(piece({0, ring_}, 0, tenant.span, 0));
      tenant.address = static_cast<int>(table.address);
      local.tenants.push_back(std::move(tenant));
      local.owners.push_back({});
    }
    for (const MachineList& list : loop_.lists) {
      Tenant tenant;
      tenant.span = static_cast<int>(list.end() - list.address);
      tenant.pieces.push_back(piece({0, ring_}, 0, tenant.span, 0));
      tenant.address = static_cast<int>(list.address);
      local.tenants.push_back(std::move(tenant));
      local.owners.push_back({});
      if (list.end() > 2 * geometry_.local_words) {
        why = shortage(Code::NoLocalMemory,
                       graph_.variables[static_cast<std::size_t>(list.variable)].where,
                       "there is no room in local memory",
                       fmt::format("with this one the lists need {} shorts, there are {}",
                                   list.end(), 2 * geometry_.local_words));
        return std::nullopt;
      }
    }
    const std::size_t first_unread = local.tenants.size();
    add_unread(local);
    add_values(registers, local);
    add_blocks(registers);
    add_masks(masks);
    if (!assign(registers.tenants, ring_, static_cast<int>(2 * geometry_.register_words), steps)) {
      why = too_much(Code::NoRegisters, registers, "the register file", "shorts",
                     2 * geometry_.register_words);
      return std::nullopt;
    }
    if (!assign_in_order(local.tenants, ring_, static_cast<int>(2 * geometry_.local_words))) {
      why =
          too_much(Code::NoLocalMemory, local, "local memory", "shorts", 2 * geometry_.local_words);
      return std::nullopt;
    }
    // One mask register stays free, for the guard of the pipeline.
    if (!assign(masks.tenants, ring_, static_cast<int>(mask_registers) - 1, steps)) {
      why = too_much(Code::NoMasks, masks, "the mask registers", "conditions", mask_registers - 1);
      return std::nullopt;
    }
    for (std::size_t i = 0, t = first_unread; i < out_.unread.size(); ++i)
      if (out_.unread[i] != none) out_.unread[i] = local.tenants[t++].address;
    out_.registers_used = store(registers, out_.address);
    out_.local_used = store(local, out_.address);
    out_.masks_used = store(masks, out_.mask);
    out_.free_mask = static_cast<int>(mask_registers) - 1;
    return std::move(out_);
  }

 private:
  /// More is needed at a time than a memory has, or it has it in pieces that are too small.
  Diagnostic too_much(Code code, const Memory& memory, const char* name, const char* unit,
                      unsigned have) const {
    const Pressure most = highest_pressure(memory.tenants, ring_);
    const bool over = most.shorts > static_cast<int>(have);
    return shortage(code, text_at(most.at), fmt::format("there is no room in {}", name),
                    fmt::format("{} {} are in use here, there are {}{}", most.shorts, unit, have,
                                over ? "" : ", none of them free in one piece"));
  }

  /// The text that the operation at or before an instruction of the ring comes from.
  SourceRange text_at(int instruction) const {
    SourceRange where;
    int nearest = ring_;
    for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
      if (loop_.ops[i].where.line == 0) continue;
      const int before = ((instruction - s_.time[i]) % ring_ + ring_) % ring_;
      if (before < nearest) {
        nearest = before;
        where = loop_.ops[i].where;
      }
    }
    return where;
  }

  Piece piece(const Life& life, int copy, int shorts, int shape) const {
    Piece p;
    p.from = ((life.from + copy * static_cast<int>(s_.interval)) % ring_ + ring_) % ring_;
    p.length = life.to - life.from;
    p.shorts = shorts;
    p.shape = shape;
    return p;
  }

  void add(Memory& memory, const Piece& p, int align, const Owner& owner) const {
    memory.tenants.push_back({{p}, p.shorts, align, none});
    memory.owners.push_back(owner);
  }

  /// Vectors of four elements stand at multiples of their size, so that they replace one another.
  int alignment(int width, bool scalar) const {
    if (scalar || loop_.elements == 3) return width;
    return width * static_cast<int>(loop_.elements);
  }

  /// They are there before the first item, and others may take their places then.
  void add_unread(Memory& local) {
    out_.unread.assign(graph_.variables.size(), none);
    for (std::size_t i = 0; i < graph_.variables.size(); ++i) {
      if (graph_.variables[i].kind != VarKind::Target) continue;
      const bool read = std::any_of(
          loop_.values.begin(), loop_.values.end(),
          [i](const MachineValue& v) { return v.variable == static_cast<std::int32_t>(i); });
      if (read) continue;
      const int width = graph_.variables[i].type == Type::Long ? 2 : 1;
      out_.unread[i] = 0;
      add(local, piece({0, 1}, 0, width * static_cast<int>(loop_.elements), 0),
          alignment(width, false), {});
    }
  }

  void add_values(Memory& registers, Memory& local) const {
    const int elements = static_cast<int>(loop_.elements);
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const MachineValue& v = loop_.values[i];
      const int width = static_cast<int>(shorts_in(v.width));
      const Home home = s_.place[i].home;
      Memory& memory = home == Home::Local ? local : registers;
      if (v.origin == Origin::Resident || v.origin == Origin::Accumulator) {
        const int shorts = width * (v.scalar ? 1 : elements);
        add(v.origin == Origin::Accumulator ? registers : memory, piece({0, ring_}, 0, shorts, 0),
            alignment(width, v.scalar), {id, none, 0});
        continue;
      }
      if (in_t(home) || home == Home::Block || v.defs.empty()) continue;
      const bool scalar = home == Home::Scalar;
      for (int c = 0; c < copies_; ++c) {
        add(memory,
            piece(life_of(problem_, s_, id), c, width * (scalar ? 1 : elements),
                  scalar ? 0 : width),
            alignment(width, scalar), {id, none, c});
      }
    }
  }

  /// The transfer writes the whole block at once; its words are given up one by one.
  void add_blocks(Memory& registers) const {
    for (std::size_t b = 0; b < problem_.blocks.size(); ++b) {
      if (!s_.active[loop_.ops.size() + b]) continue;
      const int t = s_.time[loop_.ops.size() + b];
      for (int c = 0; c < copies_; ++c) {
        Tenant tenant;
        tenant.span = 2 * static_cast<int>(loop_.elements);
        tenant.align = 2;
        tenant.pieces.push_back(piece({t, t + 1}, c, tenant.span, 0));
        for (const ValueId f : problem_.blocks[b].fields) {
          const auto at = static_cast<std::size_t>(f);
          if (s_.place[at].home != Home::Block) continue;
          Piece p = piece(life_of(problem_, s_, f), c,
                          static_cast<int>(shorts_in(loop_.values[at].width)), 0);
          p.offset = offset_in_block(f, problem_.blocks[b]);
          tenant.pieces.push_back(p);
        }
        registers.tenants.push_back(std::move(tenant));
        registers.owners.push_back({none, static_cast<int>(b), c});
      }
    }
  }

  int offset_in_block(ValueId field, const Block& block) const {
    const auto at = static_cast<std::size_t>(field);
    return static_cast<int>(2 * (problem_.field_word[at] - block.first_word)) +
           problem_.field_half[at];
  }

  void add_masks(Memory& masks) {
    for (std::size_t m = 0; m < loop_.masks.size(); ++m) {
      if (loop_.masks[m].defs.empty()) continue;
      for (int c = 0; c < copies_; ++c) {
        const MaskLife mask = life_with_start(loop_.masks[m], c);
        out_.mask_before[m][static_cast<std::size_t>(c)] = mask.before;
        add(masks, piece(mask.life, c, 1, 1), 1, {static_cast<ValueId>(m), none, c});
      }
    }
  }

  /// The life of a mask of one copy, with the part of the first pass in which it has to stay as the
  /// loop finds it, if there is one.
  struct MaskLife {
    Life life;
    bool before = false;
  };
  MaskLife life_with_start(const MachineMask& m, int copy) const {
    Life life = life_of_mask(s_, m);
    const RingTimes times{ring_, static_cast<int>(s_.interval)};
    int last = life.from;
    for (const auto* ops : {&m.defs, &m.uses})
      for (const OpId i : *ops) last = std::max(last, s_.time[static_cast<std::size_t>(i)]);
    const int first_pass = times.pass(life.from, copy);
    const bool before = first_pass != times.pass(last, copy);
    if (problem_.guarded.empty()) return {life, before};
    // What is read where the ring begins would share its register with one that is held from there.
    if (times.position(life.to, copy) == 0) ++life.to;
    if (first_pass == 0) return {life, before};
    // A guard holds back what sets it first: it stays as it was from the beginning of the ring on.
    life.from = first_pass * times.ring - copy * times.interval;
    return {life, true};
  }

  /// Write the addresses where the layout has them; returns how far the memory is used.
  unsigned store(const Memory& memory, std::vector<std::vector<int>>& where) {
    int used = 0;
    for (std::size_t i = 0; i < memory.tenants.size(); ++i) {
      const Tenant& t = memory.tenants[i];
      const Owner& o = memory.owners[i];
      const auto copy = static_cast<std::size_t>(o.copy);
      used = std::max(used, t.address + t.span);
      if (o.value == none && o.block == none) continue;  // a table, a list or unread
      if (o.block != none) {
        const Block& block = problem_.blocks[static_cast<std::size_t>(o.block)];
        out_.block_address[static_cast<std::size_t>(o.block)][copy] = t.address;
        for (const ValueId f : block.fields)
          if (s_.place[static_cast<std::size_t>(f)].home == Home::Block)
            where[static_cast<std::size_t>(f)][copy] = t.address + offset_in_block(f, block);
        continue;
      }
      std::vector<int>& mine = where[static_cast<std::size_t>(o.value)];
      const bool shared = &where == &out_.address && permanent(o.value);
      if (shared) {
        std::fill(mine.begin(), mine.end(), t.address);
      } else {
        mine[copy] = t.address;
      }
    }
    return static_cast<unsigned>(used);
  }

  bool permanent(ValueId id) const {
    const Origin origin = loop_.values[static_cast<std::size_t>(id)].origin;
    return origin == Origin::Resident || origin == Origin::Accumulator;
  }

  const Problem& problem_;
  const MachineLoop& loop_;
  const Schedule& s_;
  const Geometry& geometry_;
  const Graph& graph_;
  int copies_, ring_;
  Layout out_;
};

}  // namespace

unsigned copies_needed(const Problem& problem, const Schedule& s) {
  const MachineLoop& loop = *problem.loop;
  int longest = 1;
  for (std::size_t i = 0; i < loop.values.size(); ++i) {
    const MachineValue& v = loop.values[i];
    if (v.origin != Origin::Computed && v.origin != Origin::Field) continue;
    if (v.defs.empty() || in_t(s.place[i].home)) continue;
    const Life life = life_of(problem, s, static_cast<ValueId>(i));
    longest = std::max(longest, life.to - life.from);
  }
  for (const MachineMask& m : loop.masks) {
    if (m.defs.empty()) continue;
    const Life life = life_of_mask(s, m);
    longest = std::max(longest, life.to - life.from);
  }
  const int interval = static_cast<int>(s.interval);
  return static_cast<unsigned>((longest + interval - 1) / interval);
}

std::optional<Layout> place(const Problem& problem, const Schedule& schedule,
                            const Geometry& geometry, unsigned copies, const Graph& graph,
                            Diagnostic& why) {
  return Placer(problem, schedule, geometry, copies, graph).run(why);
}

}  // namespace gdr::kc
