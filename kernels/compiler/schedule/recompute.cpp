#include "kernels/compiler/schedule/recompute.hpp"

#include <algorithm>

namespace gdr::kc {
namespace {

/// Operations that working a value out again may take, and how deep they may stand.
constexpr std::size_t most_again = 4;
constexpr unsigned most_depth = 3;
/// What many others are worked out from may live on for the first of them: so often at most, two
/// values at a time.
constexpr unsigned most_loans = 16, most_lent = 2;
constexpr std::size_t shared_by = 3;

/// The instant at which a value appears and that of its last reader, as places in the order.
struct Life {
  int from = 0, to = 0;
  bool spans(int at) const noexcept { return from <= at && at < to; }
};

/// What could be done about one value: the operations that work it out, operands first, and the
/// first reader that is to have the new one.
struct Plan {
  ValueId value = none;
  std::vector<OpId> ops;
  OpId before = none;
  int hole = 0;        ///< places during which nothing needs the value
  bool moved = false;  ///< nothing reads it before: it is only worked out later

  /// Long holes for few operations; what costs none first.
  bool better_than(const Plan& other) const noexcept {
    if (other.value == none || moved != other.moved) return other.value == none || moved;
    return hole * static_cast<int>(other.ops.size()) > other.hole * static_cast<int>(ops.size());
  }
};

class Shortener {
 public:
  Shortener(MachineLoop& loop, unsigned room) : loop_(loop), room_(static_cast<int>(room)) {
    sort();
  }

  unsigned run() {
    unsigned done = 0, loans = 0;
    const std::size_t most = loop_.ops.size();  // more would double the work
    while (done < most) {
      find_lives();
      const auto worst = std::max_element(demand_.begin(), demand_.end());
      if (worst == demand_.end() || *worst <= room_) break;
      const int at = static_cast<int>(worst - demand_.begin());
      Plan plan = best_plan(at, 0);
      if (plan.value == none && loans < most_loans) {
        plan = best_plan(at, most_lent);
        ++loans;
      }
      if (plan.value == none) break;
      carry_out(plan);
      ++done;
    }
    return done;
  }

 private:
  MachineValue& value(ValueId v) { return loop_.values[static_cast<std::size_t>(v)]; }
  const MachineOp& op(OpId o) const { return loop_.ops[static_cast<std::size_t>(o)]; }
  const Life& life(ValueId v) const { return lives_[static_cast<std::size_t>(v)]; }

  int shorts_of(const MachineValue& v) const {
    return static_cast<int>(shorts_in(v.width) * (v.scalar ? 1 : loop_.elements));
  }

  void sort() {
    std::vector<OpId> order;
    for (const std::size_t i : in_order(loop_)) order.push_back(static_cast<OpId>(i));
    rebuild(order);
  }

  /// The same operations in another order; `order` has their present numbers.
  void rebuild(const std::vector<OpId>& order) {
    std::vector<OpId> to(loop_.ops.size(), none);
    std::vector<MachineOp> ops;
    for (const OpId o : order) {
      to[static_cast<std::size_t>(o)] = static_cast<OpId>(ops.size());
      ops.push_back(std::move(loop_.ops[static_cast<std::size_t>(o)]));
    }
    loop_.ops = std::move(ops);
    const auto renumber = [&](OpId& o) { o = to[static_cast<std::size_t>(o)]; };
    for (MachineValue& v : loop_.values) {
      std::for_each(v.defs.begin(), v.defs.end(), renumber);
      std::for_each(v.uses.begin(), v.uses.end(), renumber);
      std::sort(v.uses.begin(), v.uses.end());
    }
    for (MachineMask& m : loop_.masks) {
      std::for_each(m.defs.begin(), m.defs.end(), renumber);
      std::for_each(m.uses.begin(), m.uses.end(), renumber);
    }
    for (MachineLoop::Order& o : loop_.orders) {
      renumber(o.first);
      renumber(o.second);
    }
  }

  void find_lives() {
    lives_.assign(loop_.values.size(), {});
    demand_.assign(loop_.ops.size(), 0);
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const MachineValue& v = loop_.values[i];
      const bool passing = v.origin == Origin::Computed || v.origin == Origin::Field;
      if (!passing || v.defs.empty() || v.in_t) continue;
      Life& l = lives_[i];
      l = {v.defs.front(), v.defs.back()};
      for (const OpId u : v.uses) l.to = std::max(l.to, static_cast<int>(u));
      for (int at = l.from; at < l.to; ++at) demand_[static_cast<std::size_t>(at)] += shorts_of(v);
    }
  }

  /// Whether an operation may be done twice, or later: it depends on its operands only.
  bool is_plain(const MachineValue& v) const {
    if (v.origin != Origin::Computed || v.defs.size() != 1 || v.in_t) return false;
    const MachineOp& o = op(v.defs.front());
    return o.predicate == none && o.sets == none && o.table == none && o.list == none &&
           o.field == none;
  }

  bool has_order(OpId id) const {
    return std::any_of(loop_.orders.begin(), loop_.orders.end(),
                       [id](const auto& order) { return order.first == id || order.second == id; });
  }

  /// What may be lengthened for a plan: so many shorts of what lives at the crowded place anyway,
  /// and so many values that others share.
  struct Allowance {
    int shorts = 0;
    unsigned lent = 0;
  };

  /// Adds the operations that give `v` right before `before`; false if that is not worth it.
  bool plan_value(ValueId v, int at, OpId before, unsigned depth, Allowance& allowed,
                  std::vector<OpId>& ops) {
    if (!is_plain(value(v)) || depth > most_depth || ops.size() >= most_again) return false;
    const OpId def = value(v).defs.front();
    for (const Ref& r : op(def).in) {
      if (r.kind != Ref::Kind::Value) continue;
      const MachineValue& operand = value(r.value);
      if (operand.origin == Origin::Resident) continue;
      if (operand.origin == Origin::Accumulator || operand.in_t) return false;
      const Life& l = life(r.value);
      if (l.to >= before) continue;
      if (l.spans(at) && shorts_of(operand) <= allowed.shorts) {
        allowed.shorts -= shorts_of(operand);
        continue;
      }
      if (allowed.lent > 0 && operand.uses.size() >= shared_by) {
        --allowed.lent;
        continue;
      }
      if (!plan_value(r.value, at, before, depth + 1, allowed, ops)) return false;
    }
    if (std::find(ops.begin(), ops.end(), def) == ops.end()) ops.push_back(def);
    return ops.size() <= most_again;
  }

  Plan best_plan(int at, unsigned lent) {
    Plan best;
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const MachineValue& v = loop_.values[i];
      if (!life(id).spans(at) || !is_plain(v)) continue;
      const auto late = std::upper_bound(v.uses.begin(), v.uses.end(), at);
      if (late == v.uses.end()) continue;
      const bool moved = late == v.uses.begin();
      const int last = moved ? v.defs.front() : *(late - 1);
      if (last == at && !moved) continue;  // in use there
      Plan plan{id, {}, *late, *late - last, moved};
      Allowance allowed{shorts_of(v), lent};
      if (plan.hole < 2 || !plan_value(id, at, plan.before, 0, allowed, plan.ops)) continue;
      // To work out later what then needs other things to be worked out again is no gain.
      if (moved && (plan.ops.size() > 1 || has_order(plan.ops.front()) || saved(plan) <= 0))
        continue;
      if (plan.better_than(best)) best = plan;
    }
    return best;
  }

  /// By how much all lives together become shorter if an operation moves (in shorts and places):
  /// what stands between comes one place earlier.
  int saved(const Plan& plan) const {
    const OpId from = plan.ops.front();
    int sum = 0;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const Life& l = lives_[i];
      const int size = shorts_of(loop_.values[i]);
      const bool inside = l.from > from && l.from < plan.before;
      if (static_cast<ValueId>(i) == plan.value) {
        sum += size * (plan.before - 1 - from);
      } else if (inside && l.to >= plan.before) {
        sum -= size;
      } else if (l.from < from && l.to > from && l.to < plan.before) {
        sum += size;
      }
    }
    for (const Ref& r : op(from).in) {
      if (r.kind != Ref::Kind::Value || life(r.value).to != from) continue;
      sum -= shorts_of(loop_.values[static_cast<std::size_t>(r.value)]) * (plan.before - 1 - from);
    }
    return sum;
  }

  void carry_out(const Plan& plan) {
    std::vector<OpId> order(loop_.ops.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<OpId>(k);
    std::vector<OpId> late;
    if (plan.moved) {
      late = plan.ops;
      order.erase(std::find(order.begin(), order.end(), late.front()));
    } else {
      late = again(plan);
    }
    order.insert(std::find(order.begin(), order.end(), plan.before), late.begin(), late.end());
    rebuild(order);
  }

  /// Makes new operations, behind the others for now, and gives their result to the late readers.
  std::vector<OpId> again(const Plan& plan) {
    std::vector<std::pair<ValueId, ValueId>> made;
    std::vector<OpId> ops;
    for (const OpId old : plan.ops) {
      const auto id = static_cast<OpId>(loop_.ops.size());
      MachineOp copy = op(old);
      for (Ref& r : copy.in) {
        if (r.kind != Ref::Kind::Value) continue;
        for (const auto& [from, to] : made)
          if (r.value == from) r.value = to;
        std::vector<OpId>& uses = value(r.value).uses;
        if (std::find(uses.begin(), uses.end(), id) == uses.end()) uses.push_back(id);
      }
      MachineValue result = value(copy.out);
      result.defs = {id};
      result.uses.clear();
      made.emplace_back(copy.out, static_cast<ValueId>(loop_.values.size()));
      copy.out = made.back().second;
      loop_.values.push_back(std::move(result));
      loop_.ops.push_back(std::move(copy));
      ops.push_back(id);
    }
    hand_over(plan, made.back().second);
    return ops;
  }

  /// Readers from `plan.before` on read the new value.
  void hand_over(const Plan& plan, ValueId to) {
    std::vector<OpId>& uses = value(plan.value).uses;
    const auto first = std::find(uses.begin(), uses.end(), plan.before);
    for (auto u = first; u != uses.end(); ++u) {
      for (Ref& r : loop_.ops[static_cast<std::size_t>(*u)].in)
        if (r.kind == Ref::Kind::Value && r.value == plan.value) r.value = to;
      value(to).uses.push_back(*u);
    }
    uses.erase(first, uses.end());
  }

  MachineLoop& loop_;
  int room_;
  std::vector<Life> lives_;
  std::vector<int> demand_;  ///< shorts that live behind each operation
};

}  // namespace

unsigned recompute(MachineLoop& loop, unsigned room) { return Shortener(loop, room).run(); }

}  // namespace gdr::kc
