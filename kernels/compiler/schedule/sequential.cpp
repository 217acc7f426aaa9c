#include "kernels/compiler/schedule/sequential.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"

namespace gdr::kc {
namespace {

/// Decides which values stay in registers: the short-lived ones, as far as there is room.
std::vector<Home> choose_homes(const MachineLoop& loop, const std::vector<std::size_t>& order,
                               int register_shorts) {
  std::vector<int> when(loop.ops.size(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) when[order[k]] = static_cast<int>(k);
  std::vector<Home> homes(loop.values.size(), Home::Local);
  // What goes to a list cannot come from local memory in the same instruction.
  std::vector<bool> appended(loop.values.size(), false);
  for (const MachineOp& op : loop.ops)
    if (op.list != none && op.in[1].kind == Ref::Kind::Value)
      appended[static_cast<std::size_t>(op.in[1].value)] = true;
  struct Life {
    std::size_t value;
    int from, to, shorts;
  };
  std::vector<Life> lives;
  int room = register_shorts;
  for (std::size_t v = 0; v < loop.values.size(); ++v) {
    const MachineValue& value = loop.values[v];
    const int shorts = static_cast<int>(shorts_in(value.width) * loop.elements);
    if (value.origin == Origin::Accumulator) {
      homes[v] = Home::Register;
      room -= shorts;
    }
    if (value.in_t) homes[v] = Home::TUpper;
    if (appended[v]) {
      homes[v] = Home::Register;
      room -= value.scalar && value.origin != Origin::Field ? 1 : shorts;
      continue;
    }
    if (value.origin != Origin::Computed || value.defs.empty() || value.in_t) continue;
    Life life{v, when[static_cast<std::size_t>(value.defs.front())], 0, shorts};
    for (const OpId d : value.defs)
      life.from = std::min(life.from, when[static_cast<std::size_t>(d)]);
    for (const OpId d : value.defs) life.to = std::max(life.to, when[static_cast<std::size_t>(d)]);
    for (const OpId u : value.uses) life.to = std::max(life.to, when[static_cast<std::size_t>(u)]);
    lives.push_back(life);
  }
  // Vectors of two sizes in one file leave gaps: a quarter is left for them.
  room -= room / 4;
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Life& a, const Life& b) { return a.to - a.from < b.to - b.from; });
  std::vector<int> used(order.size() + 1, 0);
  for (const Life& life : lives) {
    const auto begin = used.begin() + life.from, end = used.begin() + life.to + 1;
    if (*std::max_element(begin, end) + life.shorts > room) continue;
    std::for_each(begin, end, [&](int& n) { n += life.shorts; });
    homes[life.value] = Home::Register;
  }
  return homes;
}

class Sequence {
 public:
  Sequence(MachineLoop& loop, int register_shorts)
      : old_(loop), made_(loop), order_(in_order(loop)) {
    home_ = choose_homes(loop, order_, register_shorts);
    made_.ops.clear();
    made_.orders.clear();
    for (MachineValue& v : made_.values) {
      v.defs.clear();
      v.uses.clear();
    }
    for (MachineMask& m : made_.masks) {
      m.defs.clear();
      m.uses.clear();
    }
  }

  Schedule run() {
    for (const std::size_t i : order_) rewrite(old_.ops[i]);
    Schedule s;
    pack(s);
    s.active.assign(made_.ops.size(), true);
    for (const Home h : home_) {
      Placement p;
      p.home = h;
      s.place.push_back(p);
    }
    old_ = std::move(made_);
    return s;
  }

 private:
  bool local(const Ref& r) const {
    return r.kind == Ref::Kind::Value && home_[static_cast<std::size_t>(r.value)] == Home::Local;
  }

  void push(const MachineOp& op, bool with_next) {
    const auto id = static_cast<OpId>(made_.ops.size());
    for (const Ref& r : op.in) {
      if (r.kind != Ref::Kind::Value) continue;
      MachineValue& v = made_.values[static_cast<std::size_t>(r.value)];
      if (v.origin == Origin::Accumulator) continue;
      if (v.uses.empty() || v.uses.back() != id) v.uses.push_back(id);
    }
    if (op.out != none) made_.values[static_cast<std::size_t>(op.out)].defs.push_back(id);
    if (op.sets != none) made_.masks[static_cast<std::size_t>(op.sets)].defs.push_back(id);
    if (op.predicate != none)
      made_.masks[static_cast<std::size_t>(op.predicate)].uses.push_back(id);
    made_.ops.push_back(op);
    with_next_.push_back(with_next);
  }

  ValueId in_t(Width width, Home half) {
    MachineValue v;
    v.name = "t" + std::to_string(made_.values.size());
    v.width = width;
    made_.values.push_back(v);
    home_.push_back(width == Width::Long ? Home::TUpper : half);
    return static_cast<ValueId>(made_.values.size() - 1);
  }

  /// The operation, with operands and result taken through T where local memory would be touched
  /// twice in one instruction.
  void rewrite(MachineOp op) {
    const bool to_local = op.out != none && home_[static_cast<std::size_t>(op.out)] == Home::Local;
    if (op.op == Op::Bget) {
      push(op, false);
      return;
    }
    // An index goes to T right before the table is read.
    if (op.out != none && made_.values[static_cast<std::size_t>(op.out)].in_t) {
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
      MachineOp read = op;
      if (to_local) read.out = in_t(op.width, Home::TLower);
      push(read, to_local);
      if (!to_local) return;
      MachineOp store;
      store.op = Op::Upass;
      store.width = op.width;
      store.out = op.out;
      store.in = {Ref::of(read.out), {}};
      push(store, false);
      return;
    }
    const bool same = op.in[1].kind == Ref::Kind::Value && op.in[0].value == op.in[1].value;
    const int locals = (local(op.in[0]) ? 1 : 0) + (local(op.in[1]) && !same ? 1 : 0);
    if (locals == 2) {
      MachineOp copy;
      copy.op = Op::Upass;
      copy.width = made_.values[static_cast<std::size_t>(op.in[1].value)].width;
      copy.in = {op.in[1], {}};
      copy.out = in_t(copy.width, Home::TUpper);
      push(copy, true);
      op.in[1] = Ref::of(copy.out);
    }
    if (!to_local || locals == 0) {
      push(op, false);
      return;
    }
    // The result leaves T in an instruction of its own, under the operation's predicate.
    MachineOp store;
    store.op = Op::Upass;
    store.width = op.width;
    store.out = op.out;
    store.predicate = op.predicate;
    store.predicate_value = op.predicate_value;
    op.predicate = none;
    op.out = in_t(op.width, Home::TLower);
    store.in = {Ref::of(op.out), {}};
    push(op, true);
    push(store, false);
  }

  // What an instruction has of each thing already.
  struct Step {
    std::array<int, 3> units{};
    std::array<int, port_count> ports{};
    bool alone = false;  ///< predicated, or with a dmul: nothing joins it
    bool t = false;      ///< T holds something across it
  };

  std::array<int, port_count> ports_of(const MachineOp& op) const {
    std::array<int, port_count> used{};
    if (op.table != none || op.list != none) ++used[static_cast<std::size_t>(Port::LocalAccess)];
    auto count = [&](Port p) { ++used[static_cast<std::size_t>(p)]; };
    const bool same = op.in[1].kind == Ref::Kind::Value && op.in[0].value == op.in[1].value;
    for (std::size_t k = 0; k < (same ? 1U : 2U); ++k) {
      if (op.in[k].kind != Ref::Kind::Value) continue;
      switch (home_[static_cast<std::size_t>(op.in[k].value)]) {
        case Home::Local:
          count(Port::LocalAccess);
          break;
        case Home::Register:
          count(Port::RegisterRead);
          break;
        default:
          count(Port::TRead);
      }
    }
    if (op.out != none) {
      switch (home_[static_cast<std::size_t>(op.out)]) {
        case Home::Local:
          count(Port::LocalAccess);
          break;
        case Home::Register:
          count(Port::RegisterWrite);
          break;
        default:
          count(Port::TWrite);
      }
    }
    return used;
  }

  /// Times: each chain of operations that are tied by T goes, instruction after instruction, where
  /// its operands are ready and ports are free.
  void pack(Schedule& s) {
    const auto n = made_.ops.size();
    s.time.assign(n, 0);
    std::vector<Step> steps;
    std::vector<int> ready(made_.values.size(), 0), mask_ready(made_.masks.size(), 0);
    std::vector<int> written(made_.values.size(), -1), place_read(made_.values.size(), -1);
    std::vector<int> mask_used(made_.masks.size(), -1);
    const int latency = static_cast<int>((3 + made_.elements) / made_.elements);
    int floor = 0;
    for (std::size_t i = 0; i < n;) {
      std::size_t end = i;
      while (with_next_[end]) ++end;
      ++end;
      int at = floor;
      for (std::size_t k = i; k < end; ++k) {
        const MachineOp& op = made_.ops[k];
        const int offset = static_cast<int>(k - i) * latency;
        auto after = [&](int time) { at = std::max(at, time - offset); };
        for (const Ref& r : op.in)
          if (r.kind == Ref::Kind::Value && !chained(r.value))
            after(ready[static_cast<std::size_t>(r.value)]);
        if (op.out != none && !chained(op.out)) {
          after(written[static_cast<std::size_t>(op.out)] + 1);
          if (accumulator(op.out)) after(place_read[static_cast<std::size_t>(op.out)]);
        }
        if (op.predicate != none) after(mask_ready[static_cast<std::size_t>(op.predicate)]);
        if (op.sets != none) {
          after(mask_used[static_cast<std::size_t>(op.sets)] + 1);
          after(mask_ready[static_cast<std::size_t>(op.sets)] - latency + 1);
        }
      }
      while (!fits(steps, i, end, at, latency)) ++at;
      for (std::size_t k = i; k < end; ++k) {
        const MachineOp& op = made_.ops[k];
        const int time = at + static_cast<int>(k - i) * latency;
        s.time[k] = time;
        Step& step = steps[static_cast<std::size_t>(time)];
        const std::array<int, port_count> used = ports_of(op);
        for (std::size_t p = 0; p < port_count; ++p) step.ports[p] += used[p];
        ++step.units[unit(op)];
        step.alone = step.alone || alone(op);
        // Where a list's next entry goes is read before what comes behind changes it.
        for (const Ref& r : op.in)
          if (r.kind == Ref::Kind::Value && r.value != op.out)
            place_read[static_cast<std::size_t>(r.value)] =
                std::max(place_read[static_cast<std::size_t>(r.value)], time);
        if (op.out != none) {
          ready[static_cast<std::size_t>(op.out)] = time + latency;
          written[static_cast<std::size_t>(op.out)] = time;
        }
        if (op.sets != none) mask_ready[static_cast<std::size_t>(op.sets)] = time + latency;
        if (op.predicate != none)
          mask_used[static_cast<std::size_t>(op.predicate)] =
              std::max(mask_used[static_cast<std::size_t>(op.predicate)], time);
      }
      if (end - i > 1)
        for (int t = at; t <= at + static_cast<int>(end - i - 1) * latency; ++t)
          steps[static_cast<std::size_t>(t)].t = true;
      ready.resize(made_.values.size(), 0);
      // Values must not live much longer than in the order that homes were chosen for.
      floor = std::max(floor, at - 8);
      i = end;
    }
    s.interval = static_cast<unsigned>(std::max<std::size_t>(steps.size(), 1));
  }

  bool accumulator(ValueId v) const {
    return made_.values[static_cast<std::size_t>(v)].origin == Origin::Accumulator;
  }
  bool chained(ValueId v) const {
    return kc::in_t(home_[static_cast<std::size_t>(v)]);  // not the member of this name
  }
  static std::size_t unit(const MachineOp& op) {
    const Unit u = info(op.op).unit;
    return u == Unit::Multiplier ? 0 : u == Unit::Transfer ? 2 : 1;
  }
  static bool alone(const MachineOp& op) { return op.predicate != none || op.dmul(); }

  bool fits(std::vector<Step>& steps, std::size_t i, std::size_t end, int at, int latency) const {
    const int last = at + static_cast<int>(end - i - 1) * latency;
    if (steps.size() <= static_cast<std::size_t>(last))
      steps.resize(static_cast<std::size_t>(last) + 1);
    if (end - i > 1)
      for (int t = at; t <= last; ++t)
        if (steps[static_cast<std::size_t>(t)].t) return false;
    for (std::size_t k = i; k < end; ++k) {
      const MachineOp& op = made_.ops[k];
      const Step& step = steps[static_cast<std::size_t>(at + static_cast<int>(k - i) * latency)];
      const bool occupied = step.units[0] + step.units[1] + step.units[2] > 0;
      if (step.alone || (occupied && alone(op)) || step.units[unit(op)] > 0) return false;
      const std::array<int, port_count> used = ports_of(op);
      for (std::size_t p = 0; p < port_count; ++p)
        if (step.ports[p] + used[p] > port_limits[p]) return false;
    }
    return true;
  }

  MachineLoop& old_;
  MachineLoop made_;
  std::vector<std::size_t> order_;
  std::vector<Home> home_;
  std::vector<bool> with_next_;
  std::map<ValueId, MachineOp> indices_;  ///< what works out the index of a table's reader
};

}  // namespace

Schedule schedule_in_order(MachineLoop& loop, unsigned register_shorts) {
  return Sequence(loop, static_cast<int>(register_shorts)).run();
}

}  // namespace gdr::kc
