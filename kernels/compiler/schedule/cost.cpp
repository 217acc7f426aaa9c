#include "kernels/compiler/schedule/cost.hpp"

#include <algorithm>

#include "emulator/isa/table.hpp"

namespace gdr::kc {
namespace {

// What a violation costs. Only their ratios matter: an operand that is not ready has to move by as
// many instructions as it is early, a short too many in the register file is a small thing.
constexpr int late_operand = 12, unit_taken = 8, predicate_conflict = 8, port_taken = 4,
              t_taken = 4, register_short = 1, outside = 12;

/// The kinds of an access, in the low bits of its code: what has the same code counts once.
enum AccessKind : std::uint32_t { reads_home = 0, reads_t = 1, writes_home = 4, writes_t = 8 };

constexpr std::uint32_t code_of(ValueId value, int stage, std::uint32_t kind) {
  return (static_cast<std::uint32_t>(value) << 12) |
         ((static_cast<std::uint32_t>(stage) & 255U) << 4) | kind;
}

unsigned slot_kind(const MachineOp& op) {
  const Unit unit = info(op.op).unit;
  return unit == Unit::Multiplier ? 0 : unit == Unit::Transfer ? 2 : 1;
}

}  // namespace

ScheduleCost::ScheduleCost(const Problem& problem, unsigned interval)
    : problem_(problem), loop_(*problem.loop), interval_(static_cast<int>(interval)) {
  const std::size_t ops = loop_.ops.size();
  op_count_ = ops + problem.blocks.size();
  now_.interval = interval;
  now_.time.assign(op_count_, 0);
  now_.active.assign(op_count_, true);
  now_.place.assign(loop_.values.size(), {});
  info_.resize(op_count_);
  choosable_.assign(loop_.values.size(), false);
  block_of_.assign(loop_.values.size(), none);
  block_members_.assign(problem.blocks.size(), 0);
  steps_.resize(interval);
  slots_.resize(std::size_t{4} * interval);
  for (std::size_t t = 0; t < slots_.size(); ++t)
    slots_[t] = static_cast<std::uint16_t>(t % interval);
  t_used_[0].assign(interval, 0);
  t_used_[1].assign(interval, 0);
  registers_used_.assign(interval, 0);
  orders_of_.resize(op_count_);

  for (std::size_t i = 0; i < ops; ++i) {
    const MachineOp& op = loop_.ops[i];
    OpFacts& facts = info_[i];
    facts.slot = static_cast<std::uint8_t>(slot_kind(op));
    facts.loads = op.field != none;
    auto add = [&](ValueId v) {
      if (v != none &&
          std::find(facts.touched.begin(), facts.touched.end(), v) == facts.touched.end())
        facts.touched.push_back(v);
    };
    add(op.out);
    for (const Ref& r : op.in)
      if (r.kind == Ref::Kind::Value) add(r.value);
  }
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    OpFacts& facts = info_[ops + b];
    facts.slot = 2;
    facts.loads = true;
    facts.touched = problem.blocks[b].fields;
    for (const ValueId v : problem.blocks[b].fields)
      block_of_[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(b);
  }
  all_orders_ = loop_.orders;
  const int longest = interval_ * static_cast<int>(problem.copies);
  for (const MachineMask& m : loop_.masks)
    for (const OpId use : m.uses)
      if (use != m.defs.front()) all_orders_.push_back({use, m.defs.front(), -longest});
  // Where a list's next entry goes is read before the next source changes it.
  for (const MachineValue& value : loop_.values)
    if (value.origin == Origin::Accumulator)
      for (const OpId use : value.uses)
        all_orders_.push_back({use, value.defs.front(), -interval_});
  for (std::size_t k = 0; k < all_orders_.size(); ++k) {
    orders_of_[static_cast<std::size_t>(all_orders_[k].first)].push_back(
        static_cast<std::int32_t>(k));
    orders_of_[static_cast<std::size_t>(all_orders_[k].second)].push_back(
        static_cast<std::int32_t>(k));
  }
  // A first schedule: as soon as operands allow; a value read once waits in a register.
  for (std::size_t v = 0; v < loop_.values.size(); ++v) {
    const MachineValue& value = loop_.values[v];
    Placement& place = now_.place[v];
    switch (value.origin) {
      case Origin::Computed:
        choosable_[v] = !value.in_t && !value.defs.empty();
        if (value.in_t) place.home = Home::TUpper;
        break;
      case Origin::Field:
        choosable_[v] = true;
        if (block_of_[v] != none) {
          place.home = Home::Block;
          ++block_members_[static_cast<std::size_t>(block_of_[v])];
        }
        break;
      case Origin::Resident:
        place.home = Home::Local;
        choosable_[v] = true;
        break;
      case Origin::Accumulator:
        break;
    }
  }
  for (std::size_t v = 0; v < loop_.values.size(); ++v) {
    if (loop_.values[v].origin == Origin::Field && now_.place[v].home == Home::Block)
      for (const OpId d : loop_.values[v].defs) now_.active[static_cast<std::size_t>(d)] = false;
  }
  for (std::size_t b = 0; b < problem.blocks.size(); ++b)
    now_.active[ops + b] = block_members_[b] > 0;
  first_times();
  for (std::size_t i = 0; i < ops; ++i) add_op(i, 1);
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) add_block(b, 1);
  for (std::size_t v = 0; v < loop_.values.size(); ++v) add_value(static_cast<ValueId>(v), 1);
  for (std::size_t k = 0; k < all_orders_.size(); ++k) {
    const auto& o = all_orders_[k];
    const int missing = now_.time[static_cast<std::size_t>(o.first)] + o.distance -
                        now_.time[static_cast<std::size_t>(o.second)];
    if (missing > 0) cost_ += late_operand * missing;
  }
  settle();
}

/// Each operation as soon as its operands allow; in a long loop, where the search would take long
/// to part those that could all be first, where its unit is free, too.
void ScheduleCost::first_times() {
  std::vector<std::array<bool, 3>> taken(static_cast<std::size_t>(interval_));
  for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
    const OpFacts& facts = info_[i];
    int& time = now_.time[i];
    time = facts.loads ? 0 : std::max(0, earliest(i));
    if (interval_ <= long_interval || facts.loads) continue;
    const auto busy = [&](int t) -> bool& {
      return taken[static_cast<std::size_t>(t % interval_)][facts.slot];
    };
    for (int waited = 0; busy(time) && waited < interval_; ++waited) ++time;
    busy(time) = true;
  }
}

std::size_t ScheduleCost::slot_of(int time) const noexcept {
  if (time >= 0 && static_cast<std::size_t>(time) < slots_.size())
    return slots_[static_cast<std::size_t>(time)];
  const int slot = time % interval_;
  return static_cast<std::size_t>(slot < 0 ? slot + interval_ : slot);
}

void ScheduleCost::mark(std::size_t slot) {
  if (steps_[slot].dirty) return;
  steps_[slot].dirty = true;
  dirty_.push_back(slot);
}

void ScheduleCost::touch(int time, std::uint32_t code, Port port, int delta) {
  const std::size_t slot = slot_of(time);
  mark(slot);
  std::vector<Touch>& touches = steps_[slot].touches;
  for (Touch& t : touches) {
    if (t.code != code || t.port != port) continue;
    t.count = static_cast<std::uint16_t>(t.count + delta);
    if (t.count == 0) {
      t = touches.back();
      touches.pop_back();
    }
    return;
  }
  touches.push_back({code, port, 1});
}

void ScheduleCost::occupy_t(int half, int from, int to, int delta) {
  std::vector<int>& used = t_used_[static_cast<std::size_t>(half)];
  std::size_t slot = slot_of(from);
  for (int t = from; t < to; ++t) {
    int& n = used[slot];
    if (delta > 0 ? n >= 1 : n >= 2) cost_ += delta * t_taken;
    n += delta;
    if (++slot == used.size()) slot = 0;
  }
}

void ScheduleCost::occupy_registers(int from, int to, int shorts, int delta) {
  const int limit = static_cast<int>(problem_.register_shorts);
  const int change = delta * shorts;
  std::size_t slot = slot_of(from);
  for (int t = from; t < to; ++t) {
    int& n = registers_used_[slot];
    const int before = std::max(0, n - limit);
    n += change;
    cost_ += register_short * (std::max(0, n - limit) - before);
    if (++slot == registers_used_.size()) slot = 0;
  }
}

/// The reads of a home at times of the first `count` readers.
void ScheduleCost::add_reads(ValueId value, Home home, const int* times, int count, int delta) {
  const bool resident = loop_.values[static_cast<std::size_t>(value)].origin == Origin::Resident;
  for (int i = 0; i < count; ++i) {
    const int stage = resident ? 0 : times[i] / interval_;
    if (in_t(home)) {
      touch(times[i], code_of(value, stage, reads_t), Port::TRead, delta);
    } else {
      touch(times[i], code_of(value, stage, reads_home),
            home == Home::Local ? Port::LocalAccess : Port::RegisterRead, delta);
    }
  }
}

void ScheduleCost::add_value(ValueId v, int delta) {
  const MachineValue& value = loop_.values[static_cast<std::size_t>(v)];
  switch (value.origin) {
    case Origin::Computed:
      // Lowering leaves values behind that nothing needs and nothing makes.
      if (!value.defs.empty()) add_computed(v, delta);
      return;
    case Origin::Field:
      add_field(v, delta);
      return;
    case Origin::Resident: {
      const Home home = now_.place[static_cast<std::size_t>(v)].home;
      for (const OpId u : value.uses)
        add_reads(v, home, &now_.time[static_cast<std::size_t>(u)], 1, delta);
      if (home == Home::Register) {
        const int shorts =
            static_cast<int>(shorts_in(value.width) * (value.scalar ? 1 : loop_.elements));
        occupy_registers(0, interval_, shorts, delta);
      }
      return;
    }
    case Origin::Accumulator:
      for (const OpId d : value.defs) {
        const int t = now_.time[static_cast<std::size_t>(d)];
        touch(t, code_of(v, 0, reads_home), Port::RegisterRead, delta);
        touch(t, code_of(v, 0, writes_home), Port::RegisterWrite, delta);
      }
      for (const OpId u : value.uses)
        touch(now_.time[static_cast<std::size_t>(u)], code_of(v, 0, reads_home), Port::RegisterRead,
              delta);
      occupy_registers(0, interval_, static_cast<int>(shorts_in(value.width) * loop_.elements),
                       delta);
      return;
  }
}

void ScheduleCost::add_computed(ValueId v, int delta) {
  const MachineValue& value = loop_.values[static_cast<std::size_t>(v)];
  const Placement& place = now_.place[static_cast<std::size_t>(v)];
  int reads[64];
  int count = 0;
  for (const OpId u : value.uses) {
    if (count == 64) break;
    reads[count++] = now_.time[static_cast<std::size_t>(u)];
  }
  std::sort(reads, reads + count);
  const int first = now_.time[static_cast<std::size_t>(value.defs.front())];
  const int written = now_.time[static_cast<std::size_t>(value.defs.back())];
  const int ready = written + static_cast<int>(problem_.latency);
  for (int i = 0; i < count && reads[i] < ready; ++i)
    cost_ += delta * late_operand * (ready - reads[i]);
  for (std::size_t k = 1; k < value.defs.size(); ++k) {
    const int gap = now_.time[static_cast<std::size_t>(value.defs[k - 1])] + 1 -
                    now_.time[static_cast<std::size_t>(value.defs[k])];
    if (gap > 0) cost_ += delta * late_operand * gap;
  }
  const int from = std::min(first, written);
  const int last = count > 0 ? std::max(reads[count - 1], written + 1) : written + 1;
  const bool is_long = value.width == Width::Long;
  auto live_in_t = [&](Home home, int until) {
    const int to = std::max(until, written + 1);
    if (is_long) {
      occupy_t(0, from, to, delta);
      occupy_t(1, from, to, delta);
    } else {
      occupy_t(home == Home::TLower ? 1 : 0, from, to, delta);
    }
  };
  auto write_all = [&](std::uint32_t kind, Port port) {
    for (std::size_t k = 0; k < value.defs.size(); ++k) {
      touch(now_.time[static_cast<std::size_t>(value.defs[k])],
            code_of(v, static_cast<int>(k), kind), port, delta);
    }
  };
  if (in_t(place.home)) {
    write_all(writes_t, Port::TWrite);
    add_reads(v, place.home, reads, count, delta);
    live_in_t(place.home, last);
    return;
  }
  int from_copy = 0;
  if (place.copy && count > 1) {
    from_copy = std::min<int>(place.copy_reads, count - 1);
    write_all(writes_t, Port::TWrite);
    add_reads(v, place.copy_home, reads, from_copy, delta);
    live_in_t(place.copy_home, reads[from_copy - 1]);
  }
  write_all(writes_home, place.home == Home::Local ? Port::LocalAccess : Port::RegisterWrite);
  add_reads(v, place.home, reads + from_copy, count - from_copy, delta);
  const int limit = interval_ * static_cast<int>(problem_.copies);
  if (last - from > limit) cost_ += delta * outside * (last - from - limit);
  if (place.home == Home::Register)
    occupy_registers(from, last, static_cast<int>(shorts_in(value.width) * loop_.elements), delta);
}

/// A variable of the item: part of a block of registers, or a value that its own transfer brings.
void ScheduleCost::add_field(ValueId v, int delta) {
  const MachineValue& value = loop_.values[static_cast<std::size_t>(v)];
  const Placement& place = now_.place[static_cast<std::size_t>(v)];
  const bool block = place.home == Home::Block;
  const std::size_t load =
      block ? loop_.ops.size() + static_cast<std::size_t>(block_of_[static_cast<std::size_t>(v)])
            : static_cast<std::size_t>(value.defs.front());
  const int written = now_.time[load];
  int last = written + 1;
  for (const OpId u : value.uses) {
    const int t = now_.time[static_cast<std::size_t>(u)];
    last = std::max(last, t);
    const int early = definition_end(v) - t;
    if (early > 0) cost_ += delta * late_operand * early;
    add_reads(v, block || place.home == Home::Scalar ? Home::Register : place.home, &t, 1, delta);
  }
  const int shorts = static_cast<int>(shorts_in(value.width));
  if (!block) {
    const Port port = in_t(place.home)            ? Port::TWrite
                      : place.home == Home::Local ? Port::LocalAccess
                                                  : Port::RegisterWrite;
    touch(written, code_of(v, 0, in_t(place.home) ? writes_t : writes_home), port, delta);
  }
  if (in_t(place.home)) {
    if (value.width == Width::Long || place.home == Home::TUpper) occupy_t(0, written, last, delta);
    if (value.width == Width::Long || place.home == Home::TLower) occupy_t(1, written, last, delta);
    return;
  }
  const int limit = interval_ * static_cast<int>(problem_.copies);
  if (last - written > limit) cost_ += delta * outside * (last - written - limit);
  if (place.home == Home::Register)
    occupy_registers(written, last, shorts * static_cast<int>(loop_.elements), delta);
  if (place.home == Home::Scalar) occupy_registers(written - 1, last + 1, shorts, delta);
}

int ScheduleCost::definition_end(ValueId v) const {
  const MachineValue& value = loop_.values[static_cast<std::size_t>(v)];
  const Placement& place = now_.place[static_cast<std::size_t>(v)];
  const int elements = static_cast<int>(loop_.elements);
  auto steps = [&](int clocks) { return (clocks + elements - 1) / elements; };
  if (value.origin == Origin::Field) {
    if (place.home == Home::Block) {
      const auto b = static_cast<std::size_t>(block_of_[static_cast<std::size_t>(v)]);
      const int word = static_cast<int>(problem_.field_word[static_cast<std::size_t>(v)] -
                                        problem_.blocks[b].first_word);
      return now_.time[loop_.ops.size() + b] + steps(word + 4);
    }
    const int t = now_.time[static_cast<std::size_t>(value.defs.front())];
    return place.home == Home::Scalar ? t + steps(elements + 3)
                                      : t + static_cast<int>(problem_.latency);
  }
  return now_.time[static_cast<std::size_t>(value.defs.back())] +
         static_cast<int>(problem_.latency);
}

/// A block's transfer: the slot, the port, and that it overwrites all its registers.
void ScheduleCost::add_block(std::size_t b, int delta) {
  if (block_members_[b] == 0) return;
  const std::size_t op = loop_.ops.size() + b;
  add_op(op, delta);
  const int t = now_.time[op];
  touch(t, code_of(static_cast<ValueId>(loop_.values.size() + b), 0, writes_home),
        Port::RegisterWrite, delta);
  // Vectors of shorts stand in cells of that size: a cell is free when its last field is read.
  const int cell = static_cast<int>(loop_.elements);
  for (int from = 0; from < 2 * cell; from += cell) {
    int last = t;
    for (const ValueId v : problem_.blocks[b].fields) {
      const auto at = static_cast<std::size_t>(v);
      if (now_.place[at].home != Home::Block) continue;
      const int offset =
          static_cast<int>(2 * (problem_.field_word[at] - problem_.blocks[b].first_word));
      if (offset < from || offset >= from + cell) continue;
      for (const OpId u : loop_.values[at].uses)
        last = std::max(last, now_.time[static_cast<std::size_t>(u)]);
    }
    occupy_registers(t - 1, last + 1, cell, delta);
  }
}

/// The issue slot of an operation, and its place in the first interval if it reads the item.
void ScheduleCost::add_op(std::size_t op, int delta) {
  if (!now_.active[op]) return;
  const int t = now_.time[op];
  const std::size_t slot = slot_of(t);
  mark(slot);
  Step& step = steps_[slot];
  step.units[info_[op].slot] = static_cast<std::int16_t>(step.units[info_[op].slot] + delta);
  if (op < loop_.ops.size() && (loop_.ops[op].table != none || loop_.ops[op].list != none))
    touch(t,
          code_of(static_cast<ValueId>(loop_.values.size() + problem_.blocks.size() + op), 0,
                  reads_home),
          Port::LocalAccess, delta);
  if (op < loop_.ops.size() && loop_.ops[op].dmul())
    step.dmuls = static_cast<std::int16_t>(step.dmuls + delta);
  if (delta > 0) {
    step.ops.push_back(static_cast<std::int32_t>(op));
  } else {
    auto at = std::find(step.ops.begin(), step.ops.end(), static_cast<std::int32_t>(op));
    *at = step.ops.back();
    step.ops.pop_back();
  }
  const int end = info_[op].loads ? interval_ : interval_ * static_cast<int>(problem_.stages);
  if (t >= end) cost_ += delta * outside * (t - end + 1);
  if (t < 0) cost_ += delta * outside * -t;
}

void ScheduleCost::add_orders(std::size_t op, int delta) {
  for (const std::int32_t k : orders_of_[op]) {
    const auto& o = all_orders_[static_cast<std::size_t>(k)];
    const int missing = now_.time[static_cast<std::size_t>(o.first)] + o.distance -
                        now_.time[static_cast<std::size_t>(o.second)];
    if (missing > 0) cost_ += delta * late_operand * missing;
  }
}

int ScheduleCost::predicate_conflicts(const Step& step) const {
  int conflicts = 0;
  for (const std::int32_t i : step.ops) {
    const auto a = static_cast<std::size_t>(i);
    if (a >= loop_.ops.size()) continue;
    const MachineOp& op = loop_.ops[a];
    const bool guarded = !problem_.guarded.empty() && problem_.guarded[a];
    if (op.predicate == none && !guarded) continue;
    for (const std::int32_t j : step.ops) {
      if (j == i) continue;
      const auto b = static_cast<std::size_t>(j);
      bool fine = false;
      if (b < loop_.ops.size()) {
        const MachineOp& other = loop_.ops[b];
        const bool same_time = now_.time[a] == now_.time[b];
        const bool other_guarded = !problem_.guarded.empty() && problem_.guarded[b];
        if (guarded) {
          fine = other_guarded;
        } else if (same_time && !other_guarded) {
          const std::uint64_t bit = op.predicate < tolerable_masks
                                        ? std::uint64_t{1} << static_cast<unsigned>(op.predicate)
                                        : 0;
          fine = (other.predicate == op.predicate && other.predicate_value == op.predicate_value) ||
                 (other.predicate == none &&
                  ((op.predicate_value ? other.tolerates_set : other.tolerates_clear) & bit) != 0);
        }
      }
      if (!fine) ++conflicts;
    }
  }
  return conflicts;
}

int ScheduleCost::step_penalty(const Step& step) const {
  int penalty = 0;
  for (const int n : step.units)
    if (n > 1) penalty += unit_taken * (n - 1);
  std::array<int, port_count> used{};
  for (const Touch& t : step.touches) ++used[static_cast<std::size_t>(t.port)];
  const int factor = step.dmuls > 0 ? 2 : 1;
  for (std::size_t p = 0; p < port_count; ++p) {
    const int limit = factor * port_limits[p];
    if (used[p] > limit) penalty += port_taken * (used[p] - limit);
  }
  if (step.ops.size() > 1) penalty += predicate_conflict * predicate_conflicts(step);
  return penalty;
}

void ScheduleCost::settle() {
  for (const std::size_t slot : dirty_) {
    Step& step = steps_[slot];
    step.dirty = false;
    const int penalty = step_penalty(step);
    cost_ += penalty - step.penalty;
    step.penalty = penalty;
  }
  dirty_.clear();
}

void ScheduleCost::set_time(std::size_t op, int time) {
  if (now_.time[op] == time) return;
  const bool block = op >= loop_.ops.size();
  auto all = [&](int delta) {
    for (const ValueId v : info_[op].touched) {
      if (block && now_.place[static_cast<std::size_t>(v)].home != Home::Block) continue;
      add_value(v, delta);
    }
    if (block) {
      add_block(op - loop_.ops.size(), delta);
    } else {
      add_op(op, delta);
      std::int32_t done = none;  // a block's cells live as long as their readers say
      for (const ValueId v : info_[op].touched) {
        const std::int32_t b = block_of_[static_cast<std::size_t>(v)];
        if (b == none || b == done || now_.place[static_cast<std::size_t>(v)].home != Home::Block)
          continue;
        add_block(static_cast<std::size_t>(b), delta);
        done = b;
      }
    }
    add_orders(op, delta);
  };
  all(-1);
  now_.time[op] = time;
  all(1);
  settle();
}

void ScheduleCost::set_place(ValueId v, const Placement& place) {
  const auto at = static_cast<std::size_t>(v);
  const MachineValue& value = loop_.values[at];
  if (value.origin != Origin::Field) {
    add_value(v, -1);
    now_.place[at] = place;
    add_value(v, 1);
    settle();
    return;
  }
  const auto load = static_cast<std::size_t>(value.defs.front());
  const bool was = now_.place[at].home == Home::Block, is = place.home == Home::Block;
  const auto b = static_cast<std::size_t>(block_of_[at]);
  add_value(v, -1);
  if (was != is) {
    add_block(b, -1);
    add_op(load, -1);
    block_members_[b] = static_cast<std::uint16_t>(block_members_[b] + (is ? 1 : -1));
    now_.active[load] = !is;
    now_.active[loop_.ops.size() + b] = block_members_[b] > 0;
  }
  now_.place[at] = place;
  if (was != is) {
    add_op(load, 1);
    add_block(b, 1);
  }
  add_value(v, 1);
  settle();
}

int ScheduleCost::earliest(std::size_t op) const {
  int time = 0;
  if (op < loop_.ops.size()) {
    for (const Ref& r : loop_.ops[op].in) {
      if (r.kind != Ref::Kind::Value) continue;
      const Origin origin = loop_.values[static_cast<std::size_t>(r.value)].origin;
      if (origin == Origin::Computed || origin == Origin::Field)
        time = std::max(time, definition_end(r.value));
    }
  }
  for (const std::int32_t k : orders_of_[op]) {
    const auto& o = all_orders_[static_cast<std::size_t>(k)];
    if (static_cast<std::size_t>(o.second) == op)
      time = std::max(time, now_.time[static_cast<std::size_t>(o.first)] + o.distance);
  }
  return time;
}

int ScheduleCost::latest(std::size_t op) const {
  int time = interval_ * static_cast<int>(info_[op].loads ? 1 : problem_.stages) - 1;
  auto before_readers = [&](ValueId v) {
    const int wait = definition_end(v);
    const MachineValue& value = loop_.values[static_cast<std::size_t>(v)];
    const std::size_t writer =
        op >= loop_.ops.size() ? op : static_cast<std::size_t>(value.defs.back());
    if (writer != op) return;
    const int lag = wait - now_.time[op];
    for (const OpId u : value.uses)
      time = std::min(time, now_.time[static_cast<std::size_t>(u)] - lag);
  };
  if (op >= loop_.ops.size()) {
    for (const ValueId v : info_[op].touched)
      if (now_.place[static_cast<std::size_t>(v)].home == Home::Block) before_readers(v);
  } else if (const ValueId v = loop_.ops[op].out;
             v != none && loop_.values[static_cast<std::size_t>(v)].origin != Origin::Accumulator) {
    before_readers(v);
  }
  for (const std::int32_t k : orders_of_[op]) {
    const auto& o = all_orders_[static_cast<std::size_t>(k)];
    if (static_cast<std::size_t>(o.first) == op && o.distance > 0)
      time = std::min(time, now_.time[static_cast<std::size_t>(o.second)] - o.distance);
  }
  return time;
}

}  // namespace gdr::kc
