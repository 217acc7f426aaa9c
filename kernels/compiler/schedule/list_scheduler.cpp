// The list scheduler.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Choose the values that stay in registers: those with the shortest lifetimes, up to the capacity.
std::vector<StorageClass> choose_storage(const MachineLoop& loop,
                                         const std::vector<std::size_t>& order,
                                         int register_shorts) {
  std::vector<int> when(loop.ops.size(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) when[order[k]] = static_cast<int>(k);
  std::vector<StorageClass> classes(loop.values.size(), StorageClass::Local);
  // A value appended to a list cannot come from local memory in the same instruction.
  std::vector<bool> appended(loop.values.size(), false);
  for (const MachineOp& op : loop.ops)
    if (op.list != none && op.in[1].kind == Ref::Kind::Value)
      appended[index(op.in[1].value)] = true;
  struct Lifetime {
    std::size_t value;
    int from, to, shorts;
  };
  std::vector<Lifetime> lifetimes;
  int capacity = register_shorts;
  for (std::size_t v = 0; v < loop.values.size(); ++v) {
    const MachineValue& value = loop.values[v];
    const int shorts = static_cast<int>(shorts_in(value.width) * loop.elements);
    if (value.origin == Origin::Accumulator && !value.in_local) {
      classes[v] = StorageClass::Register;
      capacity -= shorts;
    }
    if (value.in_t) classes[v] = StorageClass::TUpper;
    if (appended[v]) {
      classes[v] = StorageClass::Register;
      capacity -= value.scalar && value.origin != Origin::Field ? 1 : shorts;
      continue;
    }
    if (value.origin != Origin::Computed || value.defs.empty() || value.in_t) continue;
    Lifetime lifetime{v, when[index(value.defs.front())], 0, shorts};
    for (const auto* ops : {&value.defs, &value.uses})
      for (const OpId o : *ops) {
        lifetime.from = std::min(lifetime.from, when[index(o)]);
        lifetime.to = std::max(lifetime.to, when[index(o)]);
      }
    lifetimes.push_back(lifetime);
  }
  // Vectors of two widths fragment the file: a quarter is left free.
  capacity -= capacity / 4;
  std::stable_sort(lifetimes.begin(), lifetimes.end(), [](const Lifetime& a, const Lifetime& b) {
    return a.to - a.from < b.to - b.from;
  });
  std::vector<int> used(order.size() + 1, 0);
  for (const Lifetime& lifetime : lifetimes) {
    const auto begin = used.begin() + lifetime.from, end = used.begin() + lifetime.to + 1;
    if (*std::max_element(begin, end) + lifetime.shorts > capacity) continue;
    std::for_each(begin, end, [&](int& n) { n += lifetime.shorts; });
    classes[lifetime.value] = StorageClass::Register;
  }
  return classes;
}

class ListScheduler {
 public:
  ListScheduler(MachineLoop& loop, int register_shorts)
      : loop_(loop), new_(loop), order_(topological_order(loop)) {
    storage_ = choose_storage(loop, order_, register_shorts);
    new_.ops.clear();
    new_.dependences.clear();
    for (MachineValue& v : new_.values) {
      v.defs.clear();
      v.uses.clear();
    }
    for (MachineMask& m : new_.masks) {
      m.defs.clear();
      m.uses.clear();
    }
  }

  Schedule run() {
    for (const std::size_t i : order_) rewrite(loop_.ops[i]);
    Schedule s;
    pack(s);
    s.active.assign(new_.ops.size(), true);
    for (const StorageClass h : storage_) {
      Placement p;
      p.storage = h;
      s.placement.push_back(p);
    }
    loop_ = std::move(new_);
    return s;
  }

 private:
  bool local(const Ref& r) const {
    return r.kind == Ref::Kind::Value && storage_[index(r.value)] == StorageClass::Local;
  }

  static bool reads_same_twice(const MachineOp& op) {
    return op.in[1].kind == Ref::Kind::Value && op.in[0].value == op.in[1].value;
  }

  void push(const MachineOp& op, bool with_next) {
    const auto id = static_cast<OpId>(new_.ops.size());
    for (const Ref& r : op.in) {
      if (r.kind != Ref::Kind::Value) continue;
      MachineValue& v = new_.value(r.value);
      if (v.origin == Origin::Accumulator) continue;
      if (v.uses.empty() || v.uses.back() != id) v.uses.push_back(id);
    }
    if (op.out != none) new_.value(op.out).defs.push_back(id);
    if (op.sets != none) new_.mask(op.sets).defs.push_back(id);
    if (op.predicate != none) new_.mask(op.predicate).uses.push_back(id);
    new_.ops.push_back(op);
    with_next_.push_back(with_next);
  }

  ValueId in_t(Width width, StorageClass half) {
    MachineValue v;
    v.name = fmt::format("t{}", new_.values.size());
    v.width = width;
    new_.values.push_back(v);
    storage_.push_back(width == Width::Long ? StorageClass::TUpper : half);
    return static_cast<ValueId>(new_.values.size() - 1);
  }

  static MachineOp copy_of(ValueId value, Width width, ValueId out) {
    return {.op = Op::Upass, .width = width, .in = {Ref::of(value), {}}, .out = out};
  }

  /// Rewrite an operation so that operands and result go through T where an instruction would
  /// access local memory twice.
  void rewrite(MachineOp op) {
    const bool to_local = op.out != none && storage_[index(op.out)] == StorageClass::Local;
    if (op.op == Op::Bget) {
      push(op, false);
      return;
    }
    // The index is moved to T directly before the table is read.
    if (op.out != none && new_.value(op.out).in_t) {
      indices_[op.out] = op;
      return;
    }
    if (op.list != none) {
      push(indices_.at(op.in[0].value), true);
      push(op, false);
      return;
    }
    if (op.table != none) {
      push(indices_.at(op.in[0].value), true);
      if (to_local)
        push_through_t(op);
      else
        push(op, false);
      return;
    }
    const int locals =
        (local(op.in[0]) ? 1 : 0) + (local(op.in[1]) && !reads_same_twice(op) ? 1 : 0);
    if (locals == 2) {
      const Width width = new_.value(op.in[1].value).width;
      const ValueId copy = in_t(width, StorageClass::TUpper);
      push(copy_of(op.in[1].value, width, copy), true);
      op.in[1] = Ref::of(copy);
    }
    if (!to_local || locals == 0) {
      push(op, false);
      return;
    }
    push_through_t(op);
  }

  /// The result leaves T in a separate instruction, under the operation's predicate.
  void push_through_t(MachineOp op) {
    const ValueId result = in_t(op.width, StorageClass::TLower);
    MachineOp store = copy_of(result, op.width, op.out);
    store.predicate = op.predicate;
    store.predicate_value = op.predicate_value;
    op.predicate = none;
    op.out = result;
    push(op, true);
    push(store, false);
  }

  // Resources used in an instruction.
  struct InstructionSlot {
    std::array<int, 3> units{};
    std::array<int, port_count> ports{};
    bool alone = false;  ///< predicated, or contains a dmul: no other operation may join
    bool t = false;      ///< T is live across it
  };

  std::array<int, port_count> ports_of(const MachineOp& op) const {
    std::array<int, port_count> used{};
    const auto count = [&](Port p) { ++used[static_cast<std::size_t>(p)]; };
    if (op.table != none || op.list != none) count(Port::LocalAccess);
    for (std::size_t k = 0; k < (reads_same_twice(op) ? 1U : 2U); ++k)
      if (op.in[k].kind == Ref::Kind::Value) count(read_port(storage_[index(op.in[k].value)]));
    if (op.out != none) count(write_port(storage_[index(op.out)]));
    return used;
  }

  /// Assign issue times: each chain of operations linked through T issues as soon as its operands
  /// are ready and ports are free.
  void pack(Schedule& s) {
    const auto n = new_.ops.size();
    s.time.assign(n, 0);
    std::vector<InstructionSlot> rows;
    std::vector<int> ready(new_.values.size(), 0), mask_ready(new_.masks.size(), 0);
    std::vector<int> written(new_.values.size(), -1), last_read(new_.values.size(), -1);
    std::vector<int> mask_used(new_.masks.size(), -1);
    const int latency = new_.latency();
    int floor = 0;
    for (std::size_t i = 0; i < n;) {
      std::size_t end = i;
      while (with_next_[end]) ++end;
      ++end;
      int at = floor;
      for (std::size_t k = i; k < end; ++k) {
        const MachineOp& op = new_.ops[k];
        const int offset = static_cast<int>(k - i) * latency;
        auto after = [&](int time) { at = std::max(at, time - offset); };
        for (const Ref& r : op.in)
          if (r.kind == Ref::Kind::Value && !chained(r.value)) after(ready[index(r.value)]);
        if (op.out != none && !chained(op.out)) {
          after(written[index(op.out)] + 1);
          if (accumulator(op.out)) after(last_read[index(op.out)]);
        }
        if (op.predicate != none) after(mask_ready[index(op.predicate)]);
        if (op.sets != none) {
          after(mask_used[index(op.sets)] + 1);
          after(mask_ready[index(op.sets)] - latency + 1);
        }
      }
      while (!fits(rows, i, end, at, latency)) ++at;
      for (std::size_t k = i; k < end; ++k) {
        const MachineOp& op = new_.ops[k];
        const int time = at + static_cast<int>(k - i) * latency;
        s.time[k] = time;
        InstructionSlot& row = rows[index(time)];
        const std::array<int, port_count> used = ports_of(op);
        for (std::size_t p = 0; p < port_count; ++p) row.ports[p] += used[p];
        ++row.units[op.slot()];
        row.alone = row.alone || alone(op);
        // The address of a list's next entry is read before a later operation advances it.
        for (const Ref& r : op.in)
          if (r.kind == Ref::Kind::Value && r.value != op.out)
            last_read[index(r.value)] = std::max(last_read[index(r.value)], time);
        if (op.out != none) {
          ready[index(op.out)] = time + latency;
          written[index(op.out)] = time;
        }
        if (op.sets != none) mask_ready[index(op.sets)] = time + latency;
        if (op.predicate != none)
          mask_used[index(op.predicate)] = std::max(mask_used[index(op.predicate)], time);
      }
      if (end - i > 1)
        for (int t = at; t <= at + static_cast<int>(end - i - 1) * latency; ++t)
          rows[index(t)].t = true;
      ready.resize(new_.values.size(), 0);
      // Lifetimes must not grow much beyond the order for which storage was chosen.
      floor = std::max(floor, at - 8);
      i = end;
    }
    // The next item reads an accumulator after this one has written it.
    auto length = std::max<std::size_t>(rows.size(), 1);
    for (std::size_t k = 0; k < n; ++k)
      for (const Ref& r : new_.ops[k].in)
        if (r.kind == Ref::Kind::Value && accumulator(r.value) && r.value != new_.ops[k].out)
          length =
              std::max(length, index(std::max(0, written[index(r.value)] + latency - s.time[k])));
    s.ii = static_cast<unsigned>(length);
  }

  bool accumulator(ValueId v) const { return new_.value(v).origin == Origin::Accumulator; }
  bool chained(ValueId v) const {
    return kc::in_t(storage_[index(v)]);  // the free function, not the member
  }
  static bool alone(const MachineOp& op) { return op.predicate != none || op.dmul(); }

  bool fits(std::vector<InstructionSlot>& rows, std::size_t i, std::size_t end, int at,
            int latency) const {
    const int last = at + static_cast<int>(end - i - 1) * latency;
    if (rows.size() <= index(last)) rows.resize(index(last) + 1);
    if (end - i > 1)
      for (int t = at; t <= last; ++t)
        if (rows[index(t)].t) return false;
    for (std::size_t k = i; k < end; ++k) {
      const MachineOp& op = new_.ops[k];
      const InstructionSlot& row = rows[index(at + static_cast<int>(k - i) * latency)];
      const bool used_row = row.units[0] + row.units[1] + row.units[2] > 0;
      if (row.alone || (used_row && alone(op)) || row.units[op.slot()] > 0) return false;
      const std::array<int, port_count> used = ports_of(op);
      for (std::size_t p = 0; p < port_count; ++p)
        if (row.ports[p] + used[p] > port_limits[p]) return false;
    }
    return true;
  }

  MachineLoop& loop_;
  MachineLoop new_;
  std::vector<std::size_t> order_;
  std::vector<StorageClass> storage_;
  std::vector<bool> with_next_;
  std::map<ValueId, MachineOp> indices_;  ///< index computation of each table access
};

}  // namespace

Schedule list_schedule(MachineLoop& loop, unsigned register_shorts) {
  return ListScheduler(loop, static_cast<int>(register_shorts)).run();
}

}  // namespace gdr::kc
