#include "kernels/compiler/schedule/recompute.hpp"

#include <algorithm>
#include <numeric>

namespace gdr::kc {
namespace {

/// Operations that working a value out again may take, and how deep they may stand.
constexpr std::size_t most_again = 4;
constexpr unsigned most_depth = 3;
/// What many others are worked out from may live on for the first of them: so often at most, two
/// values at a time.
constexpr unsigned most_loans = 16, most_lent = 2;
constexpr std::size_t shared_by = 3;

/// Where a value appears and where its last reader stands, as places in the order.
struct Life {
  int from = 0, to = 0;
  bool spans(int at) const noexcept { return from <= at && at < to; }
};

/// The first operation that writes a value and the last one that needs it. No shorts: the value is
/// there all the time, or never.
struct Ends {
  OpId def = none, last = none;
  int shorts = 0;
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
  /// The same before its operations are known: there will be one at least.
  bool could_be_better_than(const Plan& other) const noexcept {
    if (other.value == none || moved != other.moved) return other.value == none || moved;
    return hole * static_cast<int>(other.ops.size()) > other.hole;
  }
};

/// Compares operations by their places in the order.
struct Earlier {
  const std::vector<int>& place;
  bool operator()(OpId a, OpId b) const {
    return place[static_cast<std::size_t>(a)] < place[static_cast<std::size_t>(b)];
  }
};

/// Operations and values keep their numbers while operations move and new ones come: the order is a
/// list beside them, so that a step costs a few passes over plain numbers.
class Shortener {
 public:
  Shortener(MachineLoop& loop, unsigned room) : loop_(loop), room_(static_cast<int>(room)) {
    for (const std::size_t i : in_order(loop_)) order_.push_back(static_cast<OpId>(i));
    place_.resize(order_.size());
    place_from(0);
    for (MachineValue& v : loop_.values) std::sort(v.uses.begin(), v.uses.end(), Earlier{place_});
    ends_.resize(loop_.values.size());
    for (std::size_t v = 0; v < ends_.size(); ++v) find_ends(static_cast<ValueId>(v));
    ordered_.assign(loop_.ops.size(), false);
    for (const MachineLoop::Order& o : loop_.orders)
      ordered_[static_cast<std::size_t>(o.first)] = ordered_[static_cast<std::size_t>(o.second)] =
          true;
  }

  unsigned run() {
    unsigned done = 0, loans = 0;
    const std::size_t most = loop_.ops.size();  // more would double the work
    while (done < most) {
      find_demand();
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
    renumber();
    return done;
  }

 private:
  MachineValue& value(ValueId v) { return loop_.values[static_cast<std::size_t>(v)]; }
  const MachineOp& op(OpId o) const { return loop_.ops[static_cast<std::size_t>(o)]; }
  Life life(ValueId v) const {
    const Ends& e = ends_[static_cast<std::size_t>(v)];
    return e.shorts == 0 ? Life{} : Life{place(e.def), place(e.last)};
  }
  /// Where an operation stands in the order.
  int place(OpId o) const { return place_[static_cast<std::size_t>(o)]; }

  int shorts_of(const MachineValue& v) const {
    return static_cast<int>(shorts_in(v.width) * (v.scalar ? 1 : loop_.elements));
  }

  void place_from(std::size_t first) {
    for (std::size_t k = first; k < order_.size(); ++k)
      place_[static_cast<std::size_t>(order_[k])] = static_cast<int>(k);
  }

  /// Gives the operations the numbers of their places.
  void renumber() {
    std::vector<MachineOp> ops;
    ops.reserve(order_.size());
    for (const OpId o : order_) ops.push_back(std::move(loop_.ops[static_cast<std::size_t>(o)]));
    loop_.ops = std::move(ops);
    const auto to_place = [&](OpId& o) { o = place(o); };
    for (MachineValue& v : loop_.values) {
      std::for_each(v.defs.begin(), v.defs.end(), to_place);
      std::for_each(v.uses.begin(), v.uses.end(), to_place);
    }
    for (MachineMask& m : loop_.masks) {
      std::for_each(m.defs.begin(), m.defs.end(), to_place);
      std::for_each(m.uses.begin(), m.uses.end(), to_place);
    }
    for (MachineLoop::Order& o : loop_.orders) {
      to_place(o.first);
      to_place(o.second);
    }
  }

  /// Looks up between which operations a value lives.
  void find_ends(ValueId id) {
    const MachineValue& v = value(id);
    const bool passing = v.origin == Origin::Computed || v.origin == Origin::Field;
    Ends& e = ends_[static_cast<std::size_t>(id)];
    e = {};
    if (!passing || v.defs.empty() || v.in_t) return;
    e = {v.defs.front(), v.defs.back(), shorts_of(v)};
    if (!v.uses.empty() && place(v.uses.back()) > place(e.last)) e.last = v.uses.back();
  }

  void find_demand() {
    demand_.assign(order_.size(), 0);
    for (const Ends& e : ends_) {
      if (e.shorts == 0 || place(e.last) <= place(e.def)) continue;
      demand_[static_cast<std::size_t>(place(e.def))] += e.shorts;
      demand_[static_cast<std::size_t>(place(e.last))] -= e.shorts;
    }
    // So far by how much the demand changes from place to place.
    std::partial_sum(demand_.begin(), demand_.end(), demand_.begin());
  }

  /// Whether an operation may be done twice, or later: it depends on its operands only.
  bool is_plain(const MachineValue& v) const {
    if (v.origin != Origin::Computed || v.defs.size() != 1 || v.in_t) return false;
    const MachineOp& o = op(v.defs.front());
    return o.predicate == none && o.sets == none && o.table == none && o.list == none &&
           o.field == none;
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
      const Life l = life(r.value);
      if (l.to >= place(before)) continue;
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
      const auto late = std::upper_bound(v.uses.begin(), v.uses.end(), at,
                                         [this](int p, OpId use) { return p < place(use); });
      if (late == v.uses.end()) continue;
      const bool moved = late == v.uses.begin();
      const int last = place(moved ? v.defs.front() : *(late - 1));
      if (last == at && !moved) continue;  // in use there
      Plan plan{id, {}, *late, place(*late) - last, moved};
      if (plan.hole < 2 || !plan.could_be_better_than(best)) continue;
      Allowance allowed{shorts_of(v), lent};
      if (!plan_value(id, at, plan.before, 0, allowed, plan.ops)) continue;
      // To work out later what then needs other things to be worked out again is no gain.
      if (moved && (plan.ops.size() > 1 || ordered_[static_cast<std::size_t>(plan.ops.front())] ||
                    saved(plan) <= 0))
        continue;
      if (plan.better_than(best)) best = plan;
    }
    return best;
  }

  /// By how much all lives together become shorter if an operation moves (in shorts and places):
  /// what stands between comes one place earlier. So its own value lives shorter by the whole way,
  /// what begins in between and lives on lives a place longer, and what ends in between a place
  /// shorter. What lives before `before` is that which begins in between, that which lived behind
  /// the operation, and the value itself; hence two demands tell the sums.
  int saved(const Plan& plan) const {
    const OpId moving = plan.ops.front();
    const int from = place(moving), before = place(plan.before);
    const int own = shorts_of(loop_.values[static_cast<std::size_t>(plan.value)]);
    int sum = own * (before - 1 - from) + demand_[static_cast<std::size_t>(from)] -
              demand_[static_cast<std::size_t>(before - 1)];
    for (const Ref& r : op(moving).in) {
      if (r.kind != Ref::Kind::Value || life(r.value).to != from) continue;
      sum -= shorts_of(loop_.values[static_cast<std::size_t>(r.value)]) * (before - 1 - from);
    }
    return sum;
  }

  void carry_out(const Plan& plan) {
    if (plan.moved)
      move(plan.ops.front(), plan.before);
    else
      again(plan);
  }

  /// Puts an operation right before a later one.
  void move(OpId moving, OpId before) {
    std::vector<ValueId> operands;
    for (const Ref& r : op(moving).in)
      if (r.kind == Ref::Kind::Value && std::erase(value(r.value).uses, moving) > 0)
        operands.push_back(r.value);
    const auto first = order_.begin() + place(moving), last = order_.begin() + place(before);
    std::rotate(first, first + 1, last);
    for (auto k = first; k != last; ++k)
      place_[static_cast<std::size_t>(*k)] = static_cast<int>(k - order_.begin());
    for (const ValueId v : operands) {
      add_use(v, moving);
      find_ends(v);
    }
  }

  /// Enters a reader of a value where it belongs in the order.
  void add_use(ValueId v, OpId reader) {
    std::vector<OpId>& uses = value(v).uses;
    const auto at = std::lower_bound(uses.begin(), uses.end(), reader, Earlier{place_});
    if (at == uses.end() || *at != reader) uses.insert(at, reader);
  }

  /// Makes new operations before the late readers, and gives these their result.
  void again(const Plan& plan) {
    std::vector<std::pair<ValueId, ValueId>> made;
    std::vector<OpId> ops;
    for (const OpId old : plan.ops) {
      MachineOp copy = op(old);
      for (Ref& r : copy.in) {
        if (r.kind != Ref::Kind::Value) continue;
        for (const auto& [from, to] : made)
          if (r.value == from) r.value = to;
      }
      ops.push_back(static_cast<OpId>(loop_.ops.size()));
      MachineValue result = value(copy.out);
      result.defs = {ops.back()};
      result.uses.clear();
      made.emplace_back(copy.out, static_cast<ValueId>(loop_.values.size()));
      copy.out = made.back().second;
      loop_.values.push_back(std::move(result));
      loop_.ops.push_back(std::move(copy));
      ordered_.push_back(false);
    }
    const int first = place(plan.before);
    order_.insert(order_.begin() + first, ops.begin(), ops.end());
    place_.resize(order_.size());
    place_from(static_cast<std::size_t>(first));
    for (const OpId o : ops)
      for (const Ref& r : op(o).in)
        if (r.kind == Ref::Kind::Value) add_use(r.value, o);
    hand_over(plan, made.back().second);
    ends_.resize(loop_.values.size());
    find_ends(plan.value);
    for (const OpId o : ops) {
      find_ends(op(o).out);
      for (const Ref& r : op(o).in)
        if (r.kind == Ref::Kind::Value) find_ends(r.value);
    }
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
  std::vector<OpId> order_;
  std::vector<int> place_;     ///< of each operation in the order
  std::vector<bool> ordered_;  ///< operations that must keep their order with others
  std::vector<Ends> ends_;     ///< of each value
  std::vector<int> demand_;    ///< shorts that live behind each place of the order
};

}  // namespace

unsigned recompute(MachineLoop& loop, unsigned room) { return Shortener(loop, room).run(); }

}  // namespace gdr::kc
