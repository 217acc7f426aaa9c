#include "kernels/compiler/regalloc/allocation.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "kernels/compiler/ir/capacity.hpp"
#include "kernels/compiler/regalloc/live_ranges.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Lifetime of a value from first write to last read, in instructions after the start of its item.
struct Lifetime {
  int from = 0, to = 0;
};

Lifetime lifetime_of(const Problem& problem, const Schedule& s, ValueId id) {
  const MachineLoop& loop = *problem.loop;
  const MachineValue& v = loop.value(id);
  Lifetime lifetime;
  if (v.origin == Origin::Field && s.placement_of(id).storage == StorageClass::Block) {
    for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
      const auto& fields = problem.blocks[b].fields;
      if (std::ranges::count(fields, id) > 0) lifetime.from = s.time[loop.ops.size() + b];
    }
    lifetime.to = lifetime.from + 1;
  } else {
    lifetime.from = s.time_of(v.defs.front());
    lifetime.to = lifetime.from + 1;
    for (const OpId d : v.defs) {
      lifetime.from = std::min(lifetime.from, s.time_of(d));
      lifetime.to = std::max(lifetime.to, s.time_of(d) + 1);
    }
  }
  for (const OpId u : v.uses) lifetime.to = std::max(lifetime.to, s.time_of(u));
  return lifetime;
}

Lifetime lifetime_of_mask(const Schedule& s, const MachineMask& m) {
  Lifetime lifetime{s.time_of(m.defs.front()), 0};
  lifetime.to = lifetime.from + 1;
  for (const OpId d : m.defs) lifetime.to = std::max(lifetime.to, s.time_of(d) + 1);
  for (const OpId u : m.uses) lifetime.to = std::max(lifetime.to, s.time_of(u));
  return lifetime;
}

/// The value (or block) and the copy of the body that a live range belongs to.
struct Owner {
  ValueId value = none;
  int block = none, copy = 0;
};

/// The live ranges of one memory.
struct MemoryRanges {
  std::vector<LiveRange> ranges;
  std::vector<Owner> owners;
};

class Allocator {
 public:
  Allocator(const Problem& problem, const Schedule& schedule, const Geometry& geometry,
            unsigned unroll, const Graph& graph)
      : problem_(problem),
        loop_(*problem.loop),
        s_(schedule),
        geometry_(geometry),
        graph_(graph),
        unroll_(static_cast<int>(unroll)),
        body_length_(static_cast<int>(schedule.ii * unroll)) {}

  std::optional<Allocation> run(Diagnostic& why) {
    const std::vector<int> per_copy(index(unroll_), none);
    out_.unroll = static_cast<unsigned>(unroll_);
    out_.address.assign(loop_.values.size(), per_copy);
    out_.block_address.assign(problem_.blocks.size(), per_copy);
    out_.mask.assign(loop_.masks.size(), per_copy);
    out_.mask_before.assign(loop_.masks.size(), std::vector<bool>(index(unroll_), false));
    const unsigned register_shorts = 2 * geometry_.register_words;
    const unsigned local_shorts = 2 * geometry_.local_words;
    constexpr unsigned steps = 3000;
    MemoryRanges registers, local, masks;
    for (const MachineTable& t : loop_.tables) reserve(local, t.address, t.end());
    for (const MachineList& l : loop_.lists) {
      reserve(local, l.address, l.end());
      if (l.end() > local_shorts) {
        why = capacity_error(
            Code::NoLocalMemory, graph_.variable(l.variable).where, "the local memory is full",
            fmt::format("the lists up to this one need {} shorts, {} are available", l.end(),
                        local_shorts));
        return std::nullopt;
      }
    }
    const std::size_t first_unread = local.ranges.size();
    add_unread(local);
    add_values(registers, local);
    add_blocks(registers);
    add_masks(masks);
    // One mask register stays free for the prologue predicate.
    constexpr unsigned usable_masks = mask_registers - 1;
    if (!assign_addresses(registers.ranges, body_length_, register_shorts, steps))
      why = too_much(Code::NoRegisters, registers, "register file is", "shorts", register_shorts);
    else if (!assign_first_fit(local.ranges, body_length_, local_shorts))
      why = too_much(Code::NoLocalMemory, local, "local memory is", "shorts", local_shorts);
    else if (!assign_addresses(masks.ranges, body_length_, usable_masks, steps))
      why = too_much(Code::NoMasks, masks, "mask registers are", "conditions", usable_masks);
    else if (Allocation made = stored(registers, local, masks, first_unread); finish_fits_)
      return made;
    else
      why = capacity_error(Code::NoLocalMemory, text_at(0), "the local memory is full",
                           "what follows the loop needs more");
    return std::nullopt;
  }

 private:
  Allocation stored(const MemoryRanges& registers, const MemoryRanges& local,
                    const MemoryRanges& masks, std::size_t first_unread) {
    for (std::size_t i = 0, t = first_unread; i < out_.unread.size(); ++i)
      if (out_.unread[i] != none) out_.unread[i] = local.ranges[t++].address;
    out_.registers_used = store(registers, out_.address);
    out_.local_used = store(local, out_.address);
    place_finish(local);
    out_.masks_used = store(masks, out_.mask);
    out_.free_mask = static_cast<int>(mask_registers) - 1;
    return std::move(out_);
  }

  /// Places of the values that are computed after the loop: in local memory, which then only holds
  /// what is there during the whole loop.
  void place_finish(const MemoryRanges& local) {
    std::vector<bool> taken(2 * geometry_.local_words, false);
    const auto mark = [&](int address, int shorts, bool now) {
      std::fill_n(taken.begin() + address, shorts, now);
    };
    for (std::size_t i = 0; i < local.ranges.size(); ++i) {
      const Owner& owner = local.owners[i];
      const bool stays = owner.value == none || loop_.value(owner.value).permanent();
      if (stays) mark(local.ranges[i].address, local.ranges[i].span, true);
    }
    const std::vector<MachineOp>& ops = loop_.finish;
    const auto last_use = [&](ValueId value) {
      std::size_t last = 0;
      for (std::size_t k = 0; k < ops.size(); ++k)
        for (const Ref& r : ops[k].in)
          if (r.kind == Ref::Kind::Value && r.value == value) last = k;
      return last;
    };
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const ValueId made = ops[k].out;
      if (made != none && loop_.value(made).finishing && out_.address[index(made)][0] == none) {
        const auto shorts = static_cast<int>(loop_.shorts(loop_.value(made)));
        const int align = alignment(static_cast<int>(shorts_in(loop_.value(made).width)), false);
        int at = 0;
        const auto is_free = [&] {
          return std::find(taken.begin() + at, taken.begin() + at + shorts, true) ==
                 taken.begin() + at + shorts;
        };
        while (at + shorts <= static_cast<int>(taken.size()) && !is_free()) at += align;
        if (at + shorts > static_cast<int>(taken.size())) {
          finish_fits_ = false;
          return;
        }
        mark(at, shorts, true);
        std::ranges::fill(out_.address[index(made)], at);
      }
      for (const Ref& r : ops[k].in) {
        if (r.kind != Ref::Kind::Value || !loop_.value(r.value).finishing) continue;
        if (last_use(r.value) == k)
          mark(out_.address[index(r.value)][0],
               static_cast<int>(loop_.shorts(loop_.value(r.value))), false);
      }
    }
    // The masks that no operation of the loop sets: two are live at a time at most.
    for (std::size_t m = 0; m < loop_.masks.size(); ++m)
      if (loop_.masks[m].defs.empty())
        std::ranges::fill(out_.mask[m], static_cast<int>(m % mask_registers));
  }

  /// Reserve local memory for a table or a list.
  void reserve(MemoryRanges& local, unsigned address, unsigned end) const {
    const int shorts = static_cast<int>(end - address);
    add(local, segment({0, body_length_}, 0, shorts, 0), 1, {});
    local.ranges.back().address = static_cast<int>(address);
  }

  /// Error for a memory that is too small or too fragmented.
  Diagnostic too_much(Code code, const MemoryRanges& memory, const char* name, const char* unit,
                      unsigned have) const {
    const Pressure most = max_pressure(memory.ranges, body_length_);
    const bool over = most.shorts > static_cast<int>(have);
    return capacity_error(code, text_at(most.at), fmt::format("the {} full", name),
                          fmt::format("{} {} are live here, {} are available{}", most.shorts, unit,
                                      have, over ? "" : ", but fragmented"));
  }

  /// Source range of the operation at or before an instruction of the body.
  SourceRange text_at(int instruction) const {
    SourceRange where;
    int nearest = body_length_;
    for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
      if (loop_.ops[i].where.line == 0) continue;
      const int before = ((instruction - s_.time[i]) % body_length_ + body_length_) % body_length_;
      if (before < nearest) {
        nearest = before;
        where = loop_.ops[i].where;
      }
    }
    return where;
  }

  Segment segment(const Lifetime& lifetime, int copy, int shorts, int shape) const {
    Segment p;
    p.from = ((lifetime.from + copy * static_cast<int>(s_.ii)) % body_length_ + body_length_) %
             body_length_;
    p.length = lifetime.to - lifetime.from;
    p.shorts = shorts;
    p.shape = shape;
    return p;
  }

  void add(MemoryRanges& memory, const Segment& p, int align, const Owner& owner) const {
    memory.ranges.push_back({{p}, p.shorts, align});
    memory.owners.push_back(owner);
  }

  /// Vectors of four elements are aligned to their size, so that they can reuse each other's space.
  int alignment(int width, bool scalar) const {
    if (scalar || loop_.elements == 3) return width;
    return width * static_cast<int>(loop_.elements);
  }

  /// Unread targets: written before the first item, so their space can be reused later.
  void add_unread(MemoryRanges& local) {
    out_.unread.assign(graph_.variables.size(), none);
    for (std::size_t i = 0; i < graph_.variables.size(); ++i) {
      if (graph_.variables[i].kind != VarKind::Target) continue;
      if (std::ranges::count(loop_.values, static_cast<std::int32_t>(i), &MachineValue::variable) >
          0)
        continue;
      const int width = graph_.variables[i].type == Type::Long ? 2 : 1;
      out_.unread[i] = 0;
      add(local, segment({0, 1}, 0, width * static_cast<int>(loop_.elements), 0),
          alignment(width, false), {});
    }
  }

  void add_values(MemoryRanges& registers, MemoryRanges& local) const {
    const int elements = static_cast<int>(loop_.elements);
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const MachineValue& v = loop_.values[i];
      const int width = static_cast<int>(shorts_in(v.width));
      const StorageClass storage = s_.placement[i].storage;
      MemoryRanges& memory = storage == StorageClass::Local ? local : registers;
      if (v.permanent()) {
        const int shorts = static_cast<int>(loop_.shorts(v));
        add(v.origin != Origin::Accumulator ? memory
            : v.in_local                    ? local
                                            : registers,
            segment({0, body_length_}, 0, shorts, 0), alignment(width, v.scalar), {id, none, 0});
        continue;
      }
      if (in_t(storage) || storage == StorageClass::Block || v.defs.empty()) continue;
      const bool scalar = storage == StorageClass::Scalar;
      for (int c = 0; c < unroll_; ++c) {
        add(memory,
            segment(lifetime_of(problem_, s_, id), c, width * (scalar ? 1 : elements),
                    scalar ? 0 : width),
            alignment(width, scalar), {id, none, c});
      }
    }
  }

  /// The transfer writes the whole block at once; its words are released one by one.
  void add_blocks(MemoryRanges& registers) const {
    for (std::size_t b = 0; b < problem_.blocks.size(); ++b) {
      if (!s_.active[loop_.ops.size() + b]) continue;
      const int t = s_.time[loop_.ops.size() + b];
      for (int c = 0; c < unroll_; ++c) {
        LiveRange range;
        range.span = 2 * static_cast<int>(loop_.elements);
        range.align = 2;
        range.segments.push_back(segment({t, t + 1}, c, range.span, 0));
        for (const ValueId f : problem_.blocks[b].fields) {
          const auto at = index(f);
          if (s_.placement[at].storage != StorageClass::Block) continue;
          Segment p = segment(lifetime_of(problem_, s_, f), c,
                              static_cast<int>(shorts_in(loop_.values[at].width)), 0);
          p.offset = offset_in_block(f, problem_.blocks[b]);
          range.segments.push_back(p);
        }
        registers.ranges.push_back(std::move(range));
        registers.owners.push_back({none, static_cast<int>(b), c});
      }
    }
  }

  int offset_in_block(ValueId field, const Block& block) const {
    const auto at = index(field);
    return static_cast<int>(2 * (problem_.field_word[at] - block.first_word)) +
           problem_.field_half[at];
  }

  void add_masks(MemoryRanges& masks) {
    for (std::size_t m = 0; m < loop_.masks.size(); ++m) {
      if (loop_.masks[m].defs.empty()) continue;
      for (int c = 0; c < unroll_; ++c) {
        const MaskLifetime mask = mask_lifetime(loop_.masks[m], c);
        out_.mask_before[m][index(c)] = mask.before;
        add(masks, segment(mask.lifetime, c, 1, 1), 1, {static_cast<ValueId>(m), none, c});
      }
    }
  }

  /// The lifetime of a mask of one copy, extended over the part of the first iteration in which it
  /// must keep its initial value.
  struct MaskLifetime {
    Lifetime lifetime;
    bool before = false;
  };
  MaskLifetime mask_lifetime(const MachineMask& m, int copy) const {
    Lifetime lifetime = lifetime_of_mask(s_, m);
    const BodyTimes times{body_length_, static_cast<int>(s_.ii)};
    int last = lifetime.from;
    for (const auto* ops : {&m.defs, &m.uses})
      for (const OpId i : *ops) last = std::max(last, s_.time_of(i));
    const int first_stage = times.stage(lifetime.from, copy);
    const bool before = first_stage != times.stage(last, copy);
    if (problem_.prologue_predicated.empty()) return {lifetime, before};
    // A mask read in the first row would share its register with one that is live from there.
    if (times.position(lifetime.to, copy) == 0) ++lifetime.to;
    if (first_stage == 0) return {lifetime, before};
    // The prologue predicate suppresses its first write: the initial value is live from the start.
    lifetime.from = first_stage * times.body_length - copy * times.ii;
    return {lifetime, true};
  }

  /// Store the addresses in the allocation; returns the used size of the memory.
  unsigned store(const MemoryRanges& memory, std::vector<std::vector<int>>& where) {
    int used = 0;
    for (std::size_t i = 0; i < memory.ranges.size(); ++i) {
      const LiveRange& t = memory.ranges[i];
      const Owner& o = memory.owners[i];
      const auto copy = index(o.copy);
      used = std::max(used, t.address + t.span);
      if (o.value == none && o.block == none) continue;  // a table, a list or an unread target
      if (o.block != none) {
        const Block& block = problem_.blocks[index(o.block)];
        out_.block_address[index(o.block)][copy] = t.address;
        for (const ValueId f : block.fields)
          if (s_.placement_of(f).storage == StorageClass::Block)
            where[index(f)][copy] = t.address + offset_in_block(f, block);
        continue;
      }
      std::vector<int>& mine = where[index(o.value)];
      if (&where == &out_.address && loop_.value(o.value).permanent())
        std::ranges::fill(mine, t.address);
      else
        mine[copy] = t.address;
    }
    return static_cast<unsigned>(used);
  }

  const Problem& problem_;
  const MachineLoop& loop_;
  const Schedule& s_;
  const Geometry& geometry_;
  const Graph& graph_;
  int unroll_, body_length_;
  bool finish_fits_ = true;
  Allocation out_;
};

}  // namespace

unsigned required_unroll(const Problem& problem, const Schedule& s) {
  const MachineLoop& loop = *problem.loop;
  int longest = 1;
  for (std::size_t i = 0; i < loop.values.size(); ++i) {
    const MachineValue& v = loop.values[i];
    if (v.permanent() || v.defs.empty() || in_t(s.placement[i].storage)) continue;
    const Lifetime lifetime = lifetime_of(problem, s, static_cast<ValueId>(i));
    longest = std::max(longest, lifetime.to - lifetime.from);
  }
  for (const MachineMask& m : loop.masks) {
    if (m.defs.empty()) continue;
    const Lifetime lifetime = lifetime_of_mask(s, m);
    longest = std::max(longest, lifetime.to - lifetime.from);
  }
  const int ii = static_cast<int>(s.ii);
  return static_cast<unsigned>((longest + ii - 1) / ii);
}

std::optional<Allocation> allocate(const Problem& problem, const Schedule& schedule,
                                   const Geometry& geometry, unsigned unroll, const Graph& graph,
                                   Diagnostic& why) {
  return Allocator(problem, schedule, geometry, unroll, graph).run(why);
}

}  // namespace gdr::kc
