#include "kernels/compiler/schedule/partial_schedule.hpp"

#include <algorithm>
#include <utility>

namespace gdr::kc {
namespace {

/// Beyond all issue times and paths.
constexpr std::int16_t time_limit = 10000;

}  // namespace

PartialSchedule::PartialSchedule(const Problem& problem, unsigned ii)
    : problem_(problem),
      loop_(*problem.loop),
      ii_(static_cast<int>(ii)),
      longest_lifetime_(ii_ * static_cast<int>(problem.unroll)),
      register_limit_(static_cast<int>(problem.register_shorts)),
      op_count_(loop_.ops.size() + problem.blocks.size()) {
  const std::size_t ops = loop_.ops.size();
  schedule_.ii = ii;
  schedule_.time.assign(op_count_, unscheduled);
  schedule_.active.assign(op_count_, true);
  schedule_.placement.assign(loop_.values.size(), {});
  info_.resize(op_count_);
  times_or_low_.assign(op_count_, -time_limit);
  times_or_high_.assign(op_count_, time_limit);
  block_of_.assign(loop_.values.size(), none);
  rows_.resize(ii);
  for (Row& row : rows_)
    for (std::size_t p = 0; p < port_count; ++p)
      row.limit[p] = static_cast<std::int8_t>(port_limits[p]);
  lives_.resize(loop_.values.size());
  for (unsigned t = 0; t < 4 * ii; ++t) {
    row_of_time_.push_back(static_cast<std::uint16_t>(t % ii));
    stage_of_time_.push_back(static_cast<std::uint16_t>(t / ii));
  }
  for (std::vector<std::int16_t>& half : t_used_) half.assign(ii, 0);
  registers_used_.assign(ii, 0);

  for (std::size_t i = 0; i < ops; ++i) {
    const MachineOp& op = loop_.ops[i];
    OpData& data = info_[i];
    data.slot = op.slot();
    data.dmul = op.dmul();
    data.local = op.table != none || op.list != none;
    data.out = op.out;
    data.predicated = op.predicate != none || is_prologue_predicated(i);
    const auto add = [&](ValueId v) {
      if (v != none && std::ranges::count(data.values, v) == 0) data.values.push_back(v);
    };
    add(op.out);
    if (op.out != none) ++data.min_accesses;
    if (data.local) ++data.min_accesses;
    for (const Ref& r : op.in) {
      if (r.kind != Ref::Kind::Value) continue;
      add(r.value);
      data.updates = data.updates || r.value == op.out;
      const bool again = &r == &op.in[1] && op.in[0].kind == r.kind && op.in[0].value == r.value;
      if (!again && loop_.value(r.value).uses.size() == 1) ++data.min_accesses;
    }
  }
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    info_[ops + b].slot = 2;
    info_[ops + b].values = problem.blocks[b].fields;
    for (const ValueId v : problem.blocks[b].fields)
      block_of_[index(v)] = static_cast<std::int32_t>(b);
  }
  for (const MachineValue& v : loop_.values)
    values_.push_back({.origin = v.origin,
                       .width = v.width,
                       .shorts = static_cast<int>(v.origin == Origin::Invariant
                                                      ? loop_.shorts(v)
                                                      : shorts_in(v.width) * loop_.elements),
                       .defs = v.defs,
                       .uses = v.uses});
  for (std::size_t v = 0; v < loop_.values.size(); ++v) {
    const MachineValue& value = loop_.values[v];
    Placement& place = schedule_.placement[v];
    if (value.origin == Origin::Computed && value.in_t) place.storage = StorageClass::TUpper;
    if (value.origin == Origin::Invariant)
      place.storage = fits_local(value) ? StorageClass::Local : StorageClass::Register;
    if (place.storage == StorageClass::Local && value.origin == Origin::Invariant)
      local_used_ += values_[v].shorts;
    if (value.origin != Origin::Field) continue;
    place.storage = block_of_[v] != none ? StorageClass::Block : StorageClass::Scalar;
    if (block_of_[v] == none) continue;
    for (const OpId d : value.defs) schedule_.active[index(d)] = false;
  }
  for (std::size_t v = 0; v < loop_.values.size(); ++v) apply(static_cast<ValueId>(v), 1);
  for (const ValueData& v : values_)
    if (v.origin == Origin::Accumulator) occupy_registers(0, ii_, v.shorts, 1);
}

std::size_t PartialSchedule::load_of(ValueId field) const {
  return placement(field).storage == StorageClass::Block
             ? loop_.ops.size() + index(block_of_[index(field)])
             : index(loop_.value(field).defs.front());
}

void PartialSchedule::count_access(int time, Port port, int delta) {
  Row& row = rows_[row_of(time)];
  const auto p = static_cast<std::size_t>(port);
  violations_ += delta > 0 ? row.used[p] >= row.limit[p] : -(row.used[p] > row.limit[p]);
  row.used[p] = static_cast<std::int8_t>(row.used[p] + delta);
}

/// A short in one half of T, or a long in both.
void PartialSchedule::occupy_t(Width width, StorageClass storage, int from, int to, int delta) {
  for (const StorageClass half : {StorageClass::TUpper, StorageClass::TLower}) {
    if (width == Width::Short && storage != half) continue;
    std::vector<std::int16_t>& used = t_used_[half == StorageClass::TUpper ? 0 : 1];
    std::size_t row = row_of(from);
    for (int t = from; t < to; ++t) {
      std::int16_t& n = used[row];
      if (delta > 0 ? n >= 1 : n >= 2) violations_ += delta;
      n = static_cast<std::int16_t>(n + delta);
      if (++row == used.size()) row = 0;
    }
  }
}

void PartialSchedule::occupy_registers(int from, int to, int shorts, int delta) {
  const auto limit = static_cast<std::int16_t>(register_limit_);
  const auto change = static_cast<std::int16_t>(delta * shorts);
  int excess = 0;
  // Rows from `row` on, and, behind the last one, from the first on.
  std::size_t row = row_of(from);
  for (std::size_t left = index(std::max(0, to - from)); left > 0; row = 0) {
    const std::size_t n = std::min(left, registers_used_.size() - row);
    std::int16_t* used = &registers_used_[row];
    for (std::size_t k = 0; k < n; ++k) {
      const std::int16_t before = used[k];
      const auto after = static_cast<std::int16_t>(before + change);
      used[k] = after;
      excess += std::max(after, limit) - std::max(before, limit);
    }
    left -= n;
  }
  register_excess_ += excess;
  violations_ += excess;
}

void PartialSchedule::reserve_registers(int shorts) {
  register_limit_ -= shorts;
  int excess = 0;
  for (const std::int16_t n : registers_used_) excess += std::max(0, n - register_limit_);
  violations_ += excess - register_excess_;
  register_excess_ = excess;
}

std::int64_t PartialSchedule::register_load() const noexcept {
  std::int64_t load = 0;
  for (const std::int16_t n : registers_used_) load += std::int64_t{n} * n;
  return load;
}

/// A lifetime outside of T.
void PartialSchedule::count_lifetime(int length, int delta) {
  if (length > longest_lifetime_) violations_ += delta * (length - longest_lifetime_);
}

/// Whether two operations at these times share one access of the value: they are in the same
/// instruction, and in the case of a value of one item concern the same item.
bool PartialSchedule::same_access(const ValueData& value, int a, int b) const {
  return a == b || (is_permanent(value) && row_of(a) == row_of(b));
}

/// The reads of all scheduled readers of a value, those that share an access once.
void PartialSchedule::count_reads(const ValueData& value, Port port, int delta) {
  constexpr std::size_t few = 8;
  if (value.uses.size() > few) return count_many_reads(value, port, delta);
  for (std::size_t k = 0; k < value.uses.size(); ++k) {
    const int t = schedule_.time_of(value.uses[k]);
    if (t == unscheduled) continue;
    const bool shared = std::ranges::any_of(value.uses.first(k), [&](OpId other) {
      return is_scheduled(index(other)) && same_access(value, schedule_.time_of(other), t);
    });
    if (!shared) count_access(t, port, delta);
  }
}

/// The same in a time that does not grow with the square of the number of readers.
void PartialSchedule::count_many_reads(const ValueData& value, Port port, int delta) {
  const bool permanent = is_permanent(value);
  read_times_.clear();
  for (const OpId u : value.uses)
    if (const int t = schedule_.time_of(u); t != unscheduled)
      read_times_.push_back(permanent ? static_cast<int>(row_of(t)) : t);
  std::ranges::sort(read_times_);
  // Not std::ranges::unique, which the library of Emscripten's clang 14 lacks.
  const auto end = std::unique(read_times_.begin(), read_times_.end());
  for (auto t = read_times_.begin(); t != end; ++t) count_access(*t, port, delta);
}

/// Whether every access of the value goes through the port of its storage class, whatever the issue
/// times are. Readers of a copy in T change when the order of the readers does.
bool PartialSchedule::has_fixed_ports(ValueId v) const {
  return !placement(v).has_t_copy && placement(v).storage != StorageClass::Block;
}

/// The accesses of a value by one scheduled operation, except those that others share.
void PartialSchedule::count_accesses_of(ValueId v, std::size_t op, int delta) {
  const ValueData& value = values_[index(v)];
  const StorageClass storage = placement(v).storage;
  const int t = schedule_.time[op];
  const bool writes = info_[op].out == v;
  bool reads = info_[op].updates && writes, shared = false;
  for (const OpId u : value.uses) {
    if (index(u) == op)
      reads = true;
    else if (is_scheduled(index(u)) && same_access(value, schedule_.time_of(u), t))
      shared = true;
  }
  if (reads && !shared) count_access(t, read_port(storage), delta);
  if (writes) count_access(t, write_port(storage), delta);
}

/// From the first write of a value, or its first read while no write is scheduled, to its last
/// read. Permanent values have no lifetime.
PartialSchedule::Lifetime PartialSchedule::find_lifetime(ValueId v) const {
  const ValueData& value = values_[index(v)];
  if (value.origin != Origin::Computed && value.origin != Origin::Field) return {};
  int first = unscheduled, last = unscheduled;
  for (const OpId d : value.defs) {
    const int t = schedule_.time_of(d);
    if (t == unscheduled) continue;
    first = first == unscheduled ? t : std::min(first, t);
    last = std::max(last, t + 1);
  }
  const bool written = first != unscheduled;
  for (const OpId u : value.uses) {
    const int t = schedule_.time_of(u);
    if (t == unscheduled) continue;
    last = std::max(last, t);
    if (!written) first = first == unscheduled ? t : std::min(first, t);
  }
  if (first == unscheduled) return {};
  return {first, last};
}

/// The storage of a value that has no copy and no block. A scalar register is loaded one row
/// earlier and free one row later.
void PartialSchedule::occupy(ValueId v, int from, int to, int delta) {
  const ValueData& value = values_[index(v)];
  switch (const StorageClass storage = placement(v).storage) {
    case StorageClass::TUpper:
    case StorageClass::TLower:
      return occupy_t(value.width, storage, from, to, delta);
    case StorageClass::Register:
      return occupy_registers(from, to, value.shorts, delta);
    case StorageClass::Scalar:
      return occupy_registers(from, to, static_cast<int>(shorts_in(value.width)), delta);
    case StorageClass::Local:
    case StorageClass::Block:
      return;
  }
}

void PartialSchedule::change_lifetime(ValueId v, const Lifetime& before, const Lifetime& after) {
  const auto is_empty = [](const Lifetime& i) { return i.from == 0 && i.to == 0; };
  if (before.from == after.from && before.to == after.to) return;
  const StorageClass storage = placement(v).storage;
  if (!in_t(storage)) {
    count_lifetime(before.to - before.from, -1);
    count_lifetime(after.to - after.from, 1);
  }
  const int margin = storage == StorageClass::Scalar ? 1 : 0;
  const bool overlap =
      !is_empty(before) && !is_empty(after) && before.to >= after.from && after.to >= before.from;
  if (!overlap) {
    if (!is_empty(before)) occupy(v, before.from - margin, before.to + margin, -1);
    if (!is_empty(after)) occupy(v, after.from - margin, after.to + margin, 1);
    return;
  }
  const auto move = [&](int from, int to, int sign) {
    if (from < to) occupy(v, from, to, sign);
    if (to < from) occupy(v, to, from, -sign);
  };
  move(before.from - margin, after.from - margin, -1);
  move(before.to + margin, after.to + margin, 1);
}

/// Count the use of all resources by a value outside of blocks, or take it back.
void PartialSchedule::apply(ValueId v, int delta) {
  const ValueData& value = values_[index(v)];
  const Placement& place = placement(v);
  if (place.storage == StorageClass::Block) return;
  if (place.has_t_copy) return apply_copied(v, delta);
  const Port read = read_port(place.storage), write = write_port(place.storage);
  if (value.origin == Origin::Accumulator) {
    for (const OpId d : value.defs)
      if (is_scheduled(index(d))) count_accesses_of(v, index(d), delta);
    return;
  }
  count_reads(value, read, delta);
  if (value.origin == Origin::Invariant) {
    if (place.storage == StorageClass::Register) occupy(v, 0, ii_, delta);
    return;
  }
  for (const OpId d : value.defs)
    if (const int t = schedule_.time_of(d); t != unscheduled) count_access(t, write, delta);
  const Lifetime live = lives_[index(v)];
  change_lifetime(v, delta > 0 ? Lifetime{} : live, delta > 0 ? live : Lifetime{});
}

/// A value that is also stored in T, for its first readers.
void PartialSchedule::apply_copied(ValueId v, int delta) {
  const ValueData& value = values_[index(v)];
  const Placement& place = placement(v);
  read_times_.clear();
  for (const OpId u : value.uses) {
    const int t = schedule_.time_of(u);
    if (t == unscheduled) continue;
    // Sorted by insertion: most values have one or two readers.
    std::size_t k = read_times_.size();
    read_times_.push_back(t);
    for (; k > 0 && read_times_[k - 1] > t; --k) read_times_[k] = read_times_[k - 1];
    read_times_[k] = t;
  }
  const std::span<const int> reads = read_times_;
  const Lifetime live = lives_[index(v)];
  if (live.from == 0 && live.to == 0) return;
  bool written = false;
  for (const OpId d : value.defs) {
    const int t = schedule_.time_of(d);
    if (t == unscheduled) continue;
    written = true;
    count_access(t, Port::TWrite, delta);
    count_access(t, write_port(place.storage), delta);
  }
  const auto count_all = [&](std::span<const int> times, Port port) {
    for (std::size_t k = 0; k < times.size(); ++k)
      if (k == 0 || times[k] != times[k - 1]) count_access(times[k], port, delta);
  };
  std::size_t from_copy = 0;
  if (reads.size() > 1) {
    from_copy = std::min<std::size_t>(place.t_copy_readers, reads.size() - 1);
    count_all(reads.first(from_copy), Port::TRead);
    const int end = written ? std::max(reads[from_copy - 1], live.from + 1) : reads[from_copy - 1];
    occupy_t(value.width, place.t_copy_storage, live.from, end, delta);
  }
  count_all(reads.subspan(from_copy), read_port(place.storage));
  count_lifetime(live.to - live.from, delta);
  if (place.storage == StorageClass::Register)
    occupy_registers(live.from, live.to, value.shorts, delta);
}

/// The registers of a block, and the reads of its fields. Registers are reused in cells of one
/// vector of shorts: a cell is free after the last read of its fields.
void PartialSchedule::apply_block(std::size_t b, int delta) {
  const std::size_t load = loop_.ops.size() + b;
  const int written = schedule_.time[load];
  if (written != unscheduled) count_access(written, Port::RegisterWrite, delta);
  const int cell = static_cast<int>(loop_.elements);
  std::array<int, 2> last{written, written};
  int first = written;
  for (const ValueId v : problem_.blocks[b].fields) {
    if (placement(v).storage != StorageClass::Block) continue;
    const int offset =
        static_cast<int>(2 * (problem_.field_word[index(v)] - problem_.blocks[b].first_word));
    count_reads(values_[index(v)], Port::RegisterRead, delta);
    for (const OpId u : loop_.value(v).uses) {
      if (!is_scheduled(index(u))) continue;
      const int t = schedule_.time_of(u);
      int& end = last[offset >= cell ? 1 : 0];
      end = std::max(end, t);
      if (written == unscheduled) first = first == unscheduled ? t : std::min(first, t);
    }
  }
  if (first == unscheduled) return;
  for (const int end : last) {
    if (end == unscheduled) continue;
    count_lifetime(end - first, delta);
    occupy_registers(first - 1, end + 1, cell, delta);
  }
}

int PartialSchedule::latency_of(ValueId v) const {
  const MachineValue& value = loop_.value(v);
  const int elements = static_cast<int>(loop_.elements);
  const auto instructions = [&](int clocks) { return (clocks + elements - 1) / elements; };
  const StorageClass storage = placement(v).storage;
  if (value.origin == Origin::Field && storage == StorageClass::Block) {
    const auto b = index(block_of_[index(v)]);
    return instructions(
        static_cast<int>(problem_.field_word[index(v)] - problem_.blocks[b].first_word) + 4);
  }
  if (storage == StorageClass::Scalar) return instructions(elements + 3);
  return static_cast<int>(problem_.latency);
}

bool PartialSchedule::keeps_latency(ValueId field) const {
  const std::size_t load = load_of(field);
  if (!is_scheduled(load)) return true;
  const int ready = time(load) + latency_of(field);
  return std::ranges::all_of(loop_.value(field).uses, [&](OpId u) {
    return !is_scheduled(index(u)) || schedule_.time_of(u) >= ready;
  });
}

/// Whether an operation that the predicate or the prologue suppresses may share an instruction with
/// another one.
bool PartialSchedule::compatible(std::size_t a, std::size_t b) const {
  if (b >= loop_.ops.size()) return false;
  const MachineOp& op = loop_.ops[a];
  const MachineOp& other = loop_.ops[b];
  // What concerns the same missing item may be suppressed, too.
  if (is_prologue_predicated(a))
    return is_prologue_predicated(b) ||
           (schedule_.time[a] == schedule_.time[b] && other.predicate == none);
  if (schedule_.time[a] != schedule_.time[b] || is_prologue_predicated(b)) return false;
  if (other.predicate != none)
    return other.predicate == op.predicate && other.predicate_value == op.predicate_value;
  if (op.predicate >= max_tracked_masks) return false;
  const std::uint64_t masks =
      op.predicate_value ? other.compatible_if_set : other.compatible_if_clear;
  return ((masks >> static_cast<unsigned>(op.predicate)) & 1) != 0;
}

int PartialSchedule::predicate_conflicts(const Row& row) const {
  int conflicts = 0;
  for (const std::int32_t a : row.ops) {
    if (a == none || !info_[index(a)].predicated) continue;
    for (const std::int32_t b : row.ops)
      if (b != none && b != a && !compatible(index(a), index(b))) ++conflicts;
  }
  return conflicts;
}

/// An instruction with a dmul takes two clocks per element.
void PartialSchedule::count_dmul(Row& row, int delta) {
  const auto excess = [&] {
    int sum = 0;
    for (std::size_t p = 0; p < port_count; ++p) sum += std::max(0, row.used[p] - row.limit[p]);
    return sum;
  };
  violations_ -= excess();
  row.dmuls = static_cast<std::int8_t>(row.dmuls + delta);
  for (std::size_t p = 0; p < port_count; ++p)
    row.limit[p] = static_cast<std::int8_t>(port_limits[p] * (row.dmuls > 0 ? 2 : 1));
  violations_ += excess();
}

/// After an operation entered or left a row: `delta` of those with a predicate.
void PartialSchedule::count_predicated(Row& row, int delta) {
  row.predicated = static_cast<std::int8_t>(row.predicated + delta);
  if (row.predicated == 0 && row.predicate_conflicts == 0) return;
  const int conflicts = predicate_conflicts(row);
  violations_ += conflicts - row.predicate_conflicts;
  row.predicate_conflicts = static_cast<std::int8_t>(conflicts);
}

/// Add a scheduled operation to its row.
void PartialSchedule::enter(std::size_t op) {
  const int t = schedule_.time[op];
  Row& row = rows_[row_of(t)];
  const OpData& data = info_[op];
  row.ops[data.slot] = static_cast<std::int32_t>(op);
  if (data.dmul) count_dmul(row, 1);
  if (data.local) count_access(t, Port::LocalAccess, 1);
  count_predicated(row, data.predicated ? 1 : 0);
}

void PartialSchedule::leave(std::size_t op) {
  const int t = schedule_.time[op];
  Row& row = rows_[row_of(t)];
  const OpData& data = info_[op];
  row.ops[data.slot] = none;
  if (data.dmul) count_dmul(row, -1);
  if (data.local) count_access(t, Port::LocalAccess, -1);
  count_predicated(row, data.predicated ? -1 : 0);
}

void PartialSchedule::set_time(std::size_t op, int time) {
  ++changes_;
  const OpData& data = info_[op];
  const bool is_block = op >= loop_.ops.size();
  const auto apply_blocks_and_copies = [&](int delta) {
    if (is_block) return apply_block(op - loop_.ops.size(), delta);
    std::int32_t done = none;  // last block that was updated
    for (const ValueId v : data.values) {
      if (has_fixed_ports(v)) continue;
      if (placement(v).storage != StorageClass::Block) {
        apply_copied(v, delta);
      } else if (const std::int32_t b = block_of_[index(v)]; b != done) {
        apply_block(index(b), delta);
        done = b;
      }
    }
  };
  const bool was_scheduled = is_scheduled(op), scheduled = time != unscheduled;
  apply_blocks_and_copies(-1);
  if (was_scheduled) {
    if (!is_block)
      for (const ValueId v : data.values)
        if (has_fixed_ports(v)) count_accesses_of(v, op, -1);
    leave(op);
  }
  schedule_.time[op] = time;
  times_or_low_[op] = scheduled ? static_cast<std::int16_t>(time) : -time_limit;
  times_or_high_[op] = scheduled ? static_cast<std::int16_t>(time) : time_limit;
  if (scheduled) enter(op);
  if (!is_block) {
    for (const ValueId v : data.values) {
      const bool fixed = has_fixed_ports(v);
      if (fixed && scheduled) count_accesses_of(v, op, 1);
      const Lifetime before = std::exchange(lives_[index(v)], find_lifetime(v));
      if (fixed) change_lifetime(v, before, lives_[index(v)]);
    }
  }
  apply_blocks_and_copies(1);
}

void PartialSchedule::set_placement(ValueId v, const Placement& place) {
  ++changes_;
  apply(v, -1);
  if (values_[index(v)].origin == Origin::Invariant && place.storage != placement(v).storage)
    local_used_ +=
        place.storage == StorageClass::Local ? values_[index(v)].shorts : -values_[index(v)].shorts;
  schedule_.placement[index(v)] = place;
  apply(v, 1);
}

/// Whether local memory can hold one more invariant, beside tables, lists and some temporaries.
bool PartialSchedule::fits_local(const MachineValue& invariant) const {
  const int temporaries = 4 * static_cast<int>(loop_.elements);
  return static_cast<int>(loop_.local_end()) + local_used_ + temporaries +
             static_cast<int>(loop_.shorts(invariant)) <=
         static_cast<int>(problem_.local_shorts);
}

void PartialSchedule::set_in_block(ValueId field, const Placement& place) {
  const auto b = index(block_of_[index(field)]);
  const std::size_t load = index(loop_.value(field).defs.front());
  apply_block(b, -1);
  apply(field, -1);
  schedule_.placement[index(field)] = place;
  apply(field, 1);
  apply_block(b, 1);
  schedule_.active[load] = place.storage != StorageClass::Block;
  schedule_.active[loop_.ops.size() + b] =
      std::ranges::any_of(problem_.blocks[b].fields,
                          [&](ValueId v) { return placement(v).storage == StorageClass::Block; });
}

void PartialSchedule::alternatives(ValueId v, std::vector<Placement>& out) const {
  out.clear();
  const MachineValue& value = loop_.value(v);
  const Placement& now = placement(v);
  const auto offer = [&](const Placement& p) {
    if (!(p == now)) out.push_back(p);
  };
  const bool is_long = value.width == Width::Long;
  switch (value.origin) {
    case Origin::Accumulator:
      return;
    case Origin::Invariant:
      if (fits_local(value)) offer({.storage = StorageClass::Local});
      offer({.storage = StorageClass::Register});
      return;
    case Origin::Field:
      if (now.storage == StorageClass::Block) return;
      offer({.storage = StorageClass::Scalar});
      offer({.storage = StorageClass::TUpper});
      if (!is_long) offer({.storage = StorageClass::TLower});
      offer({.storage = StorageClass::Local});
      offer({.storage = StorageClass::Register});
      return;
    case Origin::Computed:
      break;
  }
  if (value.in_t || value.defs.empty()) return;
  offer({.storage = StorageClass::TUpper});
  if (!is_long) offer({.storage = StorageClass::TLower});
  offer({.storage = StorageClass::Register});
  offer({.storage = StorageClass::Local});
  if (value.defs.size() != 1 || value.uses.size() < 2 || loop_.op(value.defs[0]).op == Op::Bget)
    return;
  constexpr std::size_t max_copies = 3;
  const std::size_t most = std::min(value.uses.size() - 1, max_copies);
  for (std::uint32_t readers = 1; readers <= most; ++readers)
    for (const StorageClass storage : {StorageClass::Register, StorageClass::Local})
      for (const StorageClass half : {StorageClass::TUpper, StorageClass::TLower})
        if (!is_long || half == StorageClass::TUpper)
          offer({.storage = storage,
                 .has_t_copy = true,
                 .t_copy_storage = half,
                 .t_copy_readers = readers});
}

std::optional<Placement> PartialSchedule::better_placement(ValueId v) {
  if (loop_.value(v).origin == Origin::Accumulator || placement(v).storage == StorageClass::Block)
    return std::nullopt;
  ++changes_;
  const int before = violations_;
  const Placement old = placement(v);
  apply(v, -1);
  const int without = violations_;
  std::optional<Placement> choice;
  if (without < before) {
    alternatives(v, alternatives_);
    int fewest = before;
    for (const Placement& p : alternatives_) {
      changes_ += 1;
      schedule_.placement[index(v)] = p;
      if (loop_.value(v).origin == Origin::Field && !keeps_latency(v)) continue;
      apply(v, 1);
      if (violations_ < fewest) {
        fewest = violations_;
        choice = p;
      }
      apply(v, -1);
      if (fewest == without) break;
    }
    schedule_.placement[index(v)] = old;
  }
  apply(v, 1);
  return choice;
}

void PartialSchedule::values_in_row(std::size_t row, std::vector<ValueId>& out) const {
  const Row& r = rows_[row];
  for (const std::int32_t op : r.ops) {
    if (op == none || index(op) >= loop_.ops.size()) continue;
    for (const ValueId v : info_[index(op)].values)
      if (std::ranges::count(out, v) == 0) out.push_back(v);
  }
}

PartialSchedule::Lifetime PartialSchedule::lifetime(ValueId v) const {
  Lifetime live{unscheduled, unscheduled};
  const auto extend = [&](std::size_t op) {
    if (!is_scheduled(op)) return;
    live.from = live.from == unscheduled ? time(op) : std::min(live.from, time(op));
    live.to = std::max(live.to, time(op));
  };
  const MachineValue& value = loop_.value(v);
  for (const OpId d : value.defs) extend(index(d));
  for (const OpId u : value.uses) extend(index(u));
  return live.from == unscheduled ? Lifetime{} : live;
}

int PartialSchedule::row_violations(std::size_t row) const {
  const Row& r = rows_[row];
  int sum = r.predicate_conflicts;
  for (std::size_t p = 0; p < port_count; ++p) sum += std::max(0, r.used[p] - r.limit[p]);
  for (const std::vector<std::int16_t>& half : t_used_) sum += std::max(0, half[row] - 1);
  return sum + std::max(0, registers_used_[row] - register_limit_);
}

}  // namespace gdr::kc
