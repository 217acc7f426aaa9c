#include "kernels/compiler/schedule/cost.hpp"

#include <algorithm>

namespace gdr::kc {
namespace {

// Penalties; only ratios matter. A latency violation has to be moved by as many instructions as it
// is early; an excess short in the register file is minor.
constexpr int latency_violation = 12, unit_conflict = 8, predicate_conflict = 8, port_conflict = 4,
              t_conflict = 4, register_excess = 1, range_violation = 12;

/// Kinds of access, in the low bits of an access code. Accesses with equal codes count once.
enum AccessKind : std::uint32_t {
  reads_storage = 0,
  reads_t = 1,
  writes_storage = 4,
  writes_t = 8
};

constexpr std::uint32_t code_of(ValueId value, int stage, std::uint32_t kind) {
  return (static_cast<std::uint32_t>(value) << 12) |
         ((static_cast<std::uint32_t>(stage) & 255U) << 4) | kind;
}

}  // namespace

ScheduleCost::ScheduleCost(const Problem& problem, unsigned ii)
    : problem_(problem), loop_(*problem.loop), ii_(static_cast<int>(ii)) {
  const std::size_t ops = loop_.ops.size();
  op_count_ = ops + problem.blocks.size();
  schedule_.ii = ii;
  schedule_.time.assign(op_count_, 0);
  schedule_.active.assign(op_count_, true);
  schedule_.placement.assign(loop_.values.size(), {});
  info_.resize(op_count_);
  choosable_.assign(loop_.values.size(), false);
  block_of_.assign(loop_.values.size(), none);
  block_members_.assign(problem.blocks.size(), 0);
  reservation_table_.resize(ii);
  row_of_time_.resize(std::size_t{4} * ii);
  for (std::size_t t = 0; t < row_of_time_.size(); ++t)
    row_of_time_[t] = static_cast<std::uint16_t>(t % ii);
  t_used_[0].assign(ii, 0);
  t_used_[1].assign(ii, 0);
  registers_used_.assign(ii, 0);
  dependences_of_.resize(op_count_);

  for (std::size_t i = 0; i < ops; ++i) {
    const MachineOp& op = loop_.ops[i];
    OpData& data = info_[i];
    data.slot = op.slot();
    data.loads = op.field != none;
    auto add = [&](ValueId v) {
      if (v != none && std::ranges::count(data.values, v) == 0) data.values.push_back(v);
    };
    add(op.out);
    for (const Ref& r : op.in)
      if (r.kind == Ref::Kind::Value) add(r.value);
  }
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    OpData& data = info_[ops + b];
    data.slot = 2;
    data.loads = true;
    data.values = problem.blocks[b].fields;
    for (const ValueId v : problem.blocks[b].fields)
      block_of_[index(v)] = static_cast<std::int32_t>(b);
  }
  all_dependences_ = loop_.dependences;
  const int longest = ii_ * static_cast<int>(problem.unroll);
  for (const MachineMask& m : loop_.masks)
    for (const OpId use : m.uses)
      if (use != m.defs.front()) all_dependences_.push_back({use, m.defs.front(), -longest});
  // The address of a list's next entry is read before the next source advances it.
  for (const MachineValue& value : loop_.values)
    if (value.origin == Origin::Accumulator)
      for (const OpId use : value.uses) all_dependences_.push_back({use, value.defs.front(), -ii_});
  for (std::size_t k = 0; k < all_dependences_.size(); ++k)
    for (const OpId op : {all_dependences_[k].first, all_dependences_[k].second})
      dependences_of_[index(op)].push_back(static_cast<std::int32_t>(k));
  // Initial schedule: as soon as operands are ready, values in registers, fields in their blocks.
  for (std::size_t v = 0; v < loop_.values.size(); ++v) {
    const MachineValue& value = loop_.values[v];
    Placement& place = schedule_.placement[v];
    const bool computed = value.origin == Origin::Computed;
    choosable_[v] =
        computed ? !value.in_t && !value.defs.empty() : value.origin != Origin::Accumulator;
    if (computed && value.in_t) place.storage = StorageClass::TUpper;
    if (value.origin == Origin::Invariant) place.storage = StorageClass::Local;
    if (value.origin != Origin::Field || block_of_[v] == none) continue;
    place.storage = StorageClass::Block;
    ++block_members_[index(block_of_[v])];
    for (const OpId d : value.defs) schedule_.active[index(d)] = false;
  }
  for (std::size_t b = 0; b < problem.blocks.size(); ++b)
    schedule_.active[ops + b] = block_members_[b] > 0;
  first_times();
  for (std::size_t i = 0; i < ops; ++i) add_op(i, 1);
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) add_block(b, 1);
  for (std::size_t v = 0; v < loop_.values.size(); ++v) add_value(static_cast<ValueId>(v), 1);
  for (const MachineLoop::Dependence& o : all_dependences_) cost_ += violation(o);
  settle();
}

int ScheduleCost::violation(const MachineLoop::Dependence& o) const {
  const int missing = schedule_.time_of(o.first) + o.latency - schedule_.time_of(o.second);
  return latency_violation * std::max(missing, 0);
}

/// Issue times as soon as operands are ready; in a long loop, in the next free slot of the unit.
void ScheduleCost::first_times() {
  std::vector<std::array<bool, 3>> taken(index(ii_));
  for (std::size_t i = 0; i < loop_.ops.size(); ++i) {
    const OpData& data = info_[i];
    int& time = schedule_.time[i];
    time = data.loads ? 0 : std::max(0, earliest(i));
    if (ii_ <= long_loop_ii || data.loads) continue;
    const auto busy = [&](int t) -> bool& { return taken[index(t % ii_)][data.slot]; };
    for (int waited = 0; busy(time) && waited < ii_; ++waited) ++time;
    busy(time) = true;
  }
}

std::size_t ScheduleCost::row_of(int time) const noexcept {
  if (time >= 0 && index(time) < row_of_time_.size()) return row_of_time_[index(time)];
  const int slot = time % ii_;
  return index(slot < 0 ? slot + ii_ : slot);
}

void ScheduleCost::mark(std::size_t slot) {
  if (reservation_table_[slot].dirty) return;
  reservation_table_[slot].dirty = true;
  dirty_.push_back(slot);
}

void ScheduleCost::count_access(int time, std::uint32_t code, Port port, int delta) {
  const std::size_t slot = row_of(time);
  mark(slot);
  std::vector<PortAccess>& accesses = reservation_table_[slot].accesses;
  for (PortAccess& t : accesses) {
    if (t.code != code || t.port != port) continue;
    t.count = static_cast<std::uint16_t>(t.count + delta);
    if (t.count == 0) {
      t = accesses.back();
      accesses.pop_back();
    }
    return;
  }
  accesses.push_back({code, port, 1});
}

/// A short in one half of T, or a long in both.
void ScheduleCost::occupy_t(Width width, StorageClass storage, int from, int to, int delta) {
  for (const StorageClass half : {StorageClass::TUpper, StorageClass::TLower}) {
    if (width == Width::Short && storage != half) continue;
    std::vector<int>& used = t_used_[half == StorageClass::TUpper ? 0 : 1];
    std::size_t slot = row_of(from);
    for (int t = from; t < to; ++t) {
      int& n = used[slot];
      if (delta > 0 ? n >= 1 : n >= 2) cost_ += delta * t_conflict;
      n += delta;
      if (++slot == used.size()) slot = 0;
    }
  }
}

void ScheduleCost::occupy_registers(int from, int to, int shorts, int delta) {
  const int limit = static_cast<int>(problem_.register_shorts);
  const int change = delta * shorts;
  std::size_t slot = row_of(from);
  for (int t = from; t < to; ++t) {
    int& n = registers_used_[slot];
    const int before = std::max(0, n - limit);
    n += change;
    cost_ += register_excess * (std::max(0, n - limit) - before);
    if (++slot == registers_used_.size()) slot = 0;
  }
}

/// Reads from one storage class at the given times.
void ScheduleCost::add_reads(ValueId value, StorageClass storage, std::span<const int> times,
                             int delta) {
  const bool invariant = loop_.value(value).origin == Origin::Invariant;
  for (const int time : times) {
    const int stage = invariant ? 0 : time / ii_;
    count_access(time, code_of(value, stage, in_t(storage) ? reads_t : reads_storage),
                 read_port(storage), delta);
  }
}

void ScheduleCost::add_value(ValueId v, int delta) {
  const MachineValue& value = loop_.value(v);
  switch (value.origin) {
    case Origin::Computed:
      // Lowering may leave values without writer.
      if (!value.defs.empty()) add_computed(v, delta);
      return;
    case Origin::Field:
      add_field(v, delta);
      return;
    case Origin::Invariant: {
      const StorageClass storage = schedule_.placement_of(v).storage;
      for (const OpId u : value.uses) add_reads(v, storage, {&schedule_.time_of(u), 1}, delta);
      if (storage == StorageClass::Register)
        occupy_registers(0, ii_, static_cast<int>(loop_.shorts(value)), delta);
      return;
    }
    case Origin::Accumulator:
      for (const OpId d : value.defs) {
        const int t = schedule_.time_of(d);
        count_access(t, code_of(v, 0, reads_storage), Port::RegisterRead, delta);
        count_access(t, code_of(v, 0, writes_storage), Port::RegisterWrite, delta);
      }
      for (const OpId u : value.uses)
        count_access(schedule_.time_of(u), code_of(v, 0, reads_storage), Port::RegisterRead, delta);
      occupy_registers(0, ii_, static_cast<int>(shorts_in(value.width) * loop_.elements), delta);
      return;
  }
}

void ScheduleCost::add_computed(ValueId v, int delta) {
  const MachineValue& value = loop_.value(v);
  const Placement& place = schedule_.placement_of(v);
  read_times_.clear();
  for (const OpId u : value.uses) read_times_.push_back(schedule_.time_of(u));
  std::sort(read_times_.begin(), read_times_.end());
  const std::span<const int> reads = read_times_;
  const int first = schedule_.time_of(value.defs.front());
  const int written = schedule_.time_of(value.defs.back());
  const int ready = written + static_cast<int>(problem_.latency);
  for (std::size_t i = 0; i < reads.size() && reads[i] < ready; ++i)
    cost_ += delta * latency_violation * (ready - reads[i]);
  for (std::size_t k = 1; k < value.defs.size(); ++k) {
    const int gap = schedule_.time_of(value.defs[k - 1]) + 1 - schedule_.time_of(value.defs[k]);
    if (gap > 0) cost_ += delta * latency_violation * gap;
  }
  const int from = std::min(first, written);
  const int last = reads.empty() ? written + 1 : std::max(reads.back(), written + 1);
  auto live_in_t = [&](StorageClass storage, int until) {
    occupy_t(value.width, storage, from, std::max(until, written + 1), delta);
  };
  auto write_all = [&](StorageClass storage) {
    for (std::size_t k = 0; k < value.defs.size(); ++k)
      count_access(schedule_.time_of(value.defs[k]),
                   code_of(v, static_cast<int>(k), in_t(storage) ? writes_t : writes_storage),
                   write_port(storage), delta);
  };
  if (in_t(place.storage)) {
    write_all(place.storage);
    add_reads(v, place.storage, reads, delta);
    live_in_t(place.storage, last);
    return;
  }
  std::size_t from_copy = 0;
  if (place.has_t_copy && reads.size() > 1) {
    from_copy = std::min<std::size_t>(place.t_copy_readers, reads.size() - 1);
    write_all(place.t_copy_storage);
    add_reads(v, place.t_copy_storage, reads.first(from_copy), delta);
    live_in_t(place.t_copy_storage, reads[from_copy - 1]);
  }
  write_all(place.storage);
  add_reads(v, place.storage, reads.subspan(from_copy), delta);
  const int limit = ii_ * static_cast<int>(problem_.unroll);
  if (last - from > limit) cost_ += delta * range_violation * (last - from - limit);
  if (place.storage == StorageClass::Register)
    occupy_registers(from, last, static_cast<int>(shorts_in(value.width) * loop_.elements), delta);
}

/// A variable of the item: in a block of registers, or loaded by its own transfer.
void ScheduleCost::add_field(ValueId v, int delta) {
  const MachineValue& value = loop_.value(v);
  const Placement& place = schedule_.placement_of(v);
  const bool block = place.storage == StorageClass::Block;
  const std::size_t load =
      block ? loop_.ops.size() + index(block_of_[index(v)]) : index(value.defs.front());
  const int written = schedule_.time[load];
  int last = written + 1;
  for (const OpId u : value.uses) {
    const int t = schedule_.time_of(u);
    last = std::max(last, t);
    const int early = definition_end(v) - t;
    if (early > 0) cost_ += delta * latency_violation * early;
    add_reads(v, place.storage, {&t, 1}, delta);
  }
  const int shorts = static_cast<int>(shorts_in(value.width));
  if (!block)
    count_access(written, code_of(v, 0, in_t(place.storage) ? writes_t : writes_storage),
                 write_port(place.storage), delta);
  if (in_t(place.storage)) return occupy_t(value.width, place.storage, written, last, delta);
  const int limit = ii_ * static_cast<int>(problem_.unroll);
  if (last - written > limit) cost_ += delta * range_violation * (last - written - limit);
  if (place.storage == StorageClass::Register)
    occupy_registers(written, last, shorts * static_cast<int>(loop_.elements), delta);
  if (place.storage == StorageClass::Scalar) occupy_registers(written - 1, last + 1, shorts, delta);
}

int ScheduleCost::definition_end(ValueId v) const {
  const MachineValue& value = loop_.value(v);
  const Placement& place = schedule_.placement_of(v);
  const int elements = static_cast<int>(loop_.elements);
  auto instructions = [&](int clocks) { return (clocks + elements - 1) / elements; };
  if (value.origin == Origin::Field) {
    if (place.storage == StorageClass::Block) {
      const auto b = index(block_of_[index(v)]);
      const int word =
          static_cast<int>(problem_.field_word[index(v)] - problem_.blocks[b].first_word);
      return schedule_.time[loop_.ops.size() + b] + instructions(word + 4);
    }
    const int t = schedule_.time_of(value.defs.front());
    return place.storage == StorageClass::Scalar ? t + instructions(elements + 3)
                                                 : t + static_cast<int>(problem_.latency);
  }
  return schedule_.time_of(value.defs.back()) + static_cast<int>(problem_.latency);
}

/// The transfer of a block: issue slot, port, and the lifetimes of its registers.
void ScheduleCost::add_block(std::size_t b, int delta) {
  if (block_members_[b] == 0) return;
  const std::size_t op = loop_.ops.size() + b;
  add_op(op, delta);
  const int t = schedule_.time[op];
  count_access(t, code_of(static_cast<ValueId>(loop_.values.size() + b), 0, writes_storage),
               Port::RegisterWrite, delta);
  // Registers are reused in cells of one vector of shorts: a cell is free after the last read of
  // its fields.
  const int cell = static_cast<int>(loop_.elements);
  for (int from = 0; from < 2 * cell; from += cell) {
    int last = t;
    for (const ValueId v : problem_.blocks[b].fields) {
      const auto at = index(v);
      if (schedule_.placement[at].storage != StorageClass::Block) continue;
      const int offset =
          static_cast<int>(2 * (problem_.field_word[at] - problem_.blocks[b].first_word));
      if (offset < from || offset >= from + cell) continue;
      for (const OpId u : loop_.values[at].uses) last = std::max(last, schedule_.time_of(u));
    }
    occupy_registers(t - 1, last + 1, cell, delta);
  }
}

/// The issue slot of an operation, and the time range of its item.
void ScheduleCost::add_op(std::size_t op, int delta) {
  if (!schedule_.active[op]) return;
  const int t = schedule_.time[op];
  const std::size_t slot = row_of(t);
  mark(slot);
  ReservationRow& step = reservation_table_[slot];
  step.units[info_[op].slot] = static_cast<std::int16_t>(step.units[info_[op].slot] + delta);
  if (op < loop_.ops.size() && (loop_.ops[op].table != none || loop_.ops[op].list != none))
    count_access(t,
                 code_of(static_cast<ValueId>(loop_.values.size() + problem_.blocks.size() + op), 0,
                         reads_storage),
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
  const int end = info_[op].loads ? ii_ : ii_ * static_cast<int>(problem_.max_stages);
  if (t >= end) cost_ += delta * range_violation * (t - end + 1);
  if (t < 0) cost_ += delta * range_violation * -t;
}

void ScheduleCost::add_dependences(std::size_t op, int delta) {
  for (const std::int32_t k : dependences_of_[op])
    cost_ += delta * violation(all_dependences_[index(k)]);
}

/// Whether an operation that the predicate or the prologue suppresses may share an instruction with
/// another one.
bool ScheduleCost::compatible(std::size_t a, std::size_t b) const {
  if (b >= loop_.ops.size()) return false;
  const MachineOp& op = loop_.ops[a];
  const MachineOp& other = loop_.ops[b];
  if (is_prologue_predicated(a)) return is_prologue_predicated(b);
  if (schedule_.time[a] != schedule_.time[b] || is_prologue_predicated(b)) return false;
  if (other.predicate != none)
    return other.predicate == op.predicate && other.predicate_value == op.predicate_value;
  if (op.predicate >= max_tracked_masks) return false;
  const std::uint64_t masks =
      op.predicate_value ? other.compatible_if_set : other.compatible_if_clear;
  return ((masks >> static_cast<unsigned>(op.predicate)) & 1) != 0;
}

int ScheduleCost::predicate_conflicts(const ReservationRow& step) const {
  int conflicts = 0;
  for (const std::int32_t i : step.ops) {
    const std::size_t a = index(i);
    if (a >= loop_.ops.size()) continue;
    if (loop_.ops[a].predicate == none && !is_prologue_predicated(a)) continue;
    for (const std::int32_t j : step.ops)
      if (j != i && !compatible(a, index(j))) ++conflicts;
  }
  return conflicts;
}

int ScheduleCost::row_penalty(const ReservationRow& step) const {
  int penalty = 0;
  for (const int n : step.units)
    if (n > 1) penalty += unit_conflict * (n - 1);
  std::array<int, port_count> used{};
  for (const PortAccess& t : step.accesses) ++used[static_cast<std::size_t>(t.port)];
  const int factor = step.dmuls > 0 ? 2 : 1;
  for (std::size_t p = 0; p < port_count; ++p) {
    const int limit = factor * port_limits[p];
    if (used[p] > limit) penalty += port_conflict * (used[p] - limit);
  }
  if (step.ops.size() > 1) penalty += predicate_conflict * predicate_conflicts(step);
  return penalty;
}

void ScheduleCost::settle() {
  for (const std::size_t slot : dirty_) {
    ReservationRow& step = reservation_table_[slot];
    step.dirty = false;
    const int penalty = row_penalty(step);
    cost_ += penalty - step.penalty;
    step.penalty = penalty;
  }
  dirty_.clear();
}

void ScheduleCost::set_time(std::size_t op, int time) {
  if (schedule_.time[op] == time) return;
  const bool block = op >= loop_.ops.size();
  auto all = [&](int delta) {
    for (const ValueId v : info_[op].values) {
      if (block && schedule_.placement_of(v).storage != StorageClass::Block) continue;
      add_value(v, delta);
    }
    if (block) {
      add_block(op - loop_.ops.size(), delta);
    } else {
      add_op(op, delta);
      std::int32_t done = none;  // last block whose lifetimes were updated
      for (const ValueId v : info_[op].values) {
        const std::int32_t b = block_of_[index(v)];
        if (b == none || b == done || schedule_.placement_of(v).storage != StorageClass::Block)
          continue;
        add_block(index(b), delta);
        done = b;
      }
    }
    add_dependences(op, delta);
  };
  all(-1);
  schedule_.time[op] = time;
  all(1);
  settle();
}

void ScheduleCost::set_placement(ValueId v, const Placement& place) {
  const auto at = index(v);
  const MachineValue& value = loop_.values[at];
  if (value.origin != Origin::Field) {
    add_value(v, -1);
    schedule_.placement[at] = place;
    add_value(v, 1);
    settle();
    return;
  }
  const auto load = index(value.defs.front());
  const bool was = schedule_.placement[at].storage == StorageClass::Block,
             is = place.storage == StorageClass::Block;
  const auto b = index(block_of_[at]);
  add_value(v, -1);
  if (was != is) {
    add_block(b, -1);
    add_op(load, -1);
    block_members_[b] = static_cast<std::uint16_t>(block_members_[b] + (is ? 1 : -1));
    schedule_.active[load] = !is;
    schedule_.active[loop_.ops.size() + b] = block_members_[b] > 0;
  }
  schedule_.placement[at] = place;
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
      const Origin origin = loop_.value(r.value).origin;
      if (origin == Origin::Computed || origin == Origin::Field)
        time = std::max(time, definition_end(r.value));
    }
  }
  for (const std::int32_t k : dependences_of_[op]) {
    const auto& o = all_dependences_[index(k)];
    if (index(o.second) == op) time = std::max(time, schedule_.time_of(o.first) + o.latency);
  }
  return time;
}

int ScheduleCost::latest(std::size_t op) const {
  int time = ii_ * static_cast<int>(info_[op].loads ? 1 : problem_.max_stages) - 1;
  auto before_readers = [&](ValueId v) {
    const int wait = definition_end(v);
    const MachineValue& value = loop_.value(v);
    const std::size_t writer = op >= loop_.ops.size() ? op : index(value.defs.back());
    if (writer != op) return;
    const int lag = wait - schedule_.time[op];
    for (const OpId u : value.uses) time = std::min(time, schedule_.time_of(u) - lag);
  };
  if (op >= loop_.ops.size()) {
    for (const ValueId v : info_[op].values)
      if (schedule_.placement_of(v).storage == StorageClass::Block) before_readers(v);
  } else if (const ValueId v = loop_.ops[op].out;
             v != none && loop_.value(v).origin != Origin::Accumulator) {
    before_readers(v);
  }
  for (const std::int32_t k : dependences_of_[op]) {
    const auto& o = all_dependences_[index(k)];
    if (index(o.first) == op && o.latency > 0)
      time = std::min(time, schedule_.time_of(o.second) - o.latency);
  }
  return time;
}

}  // namespace gdr::kc
