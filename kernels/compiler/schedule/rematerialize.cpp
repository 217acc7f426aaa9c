// Rematerialization.
#include <algorithm>
#include <numeric>

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Limits of rematerialization: number of operations per value, and depth.
constexpr std::size_t max_duplicated_ops = 4;
constexpr unsigned max_depth = 3;
/// Values with many users may be extended to the first rematerialized one: number of rounds, and of
/// values at a time.
constexpr unsigned max_extension_rounds = 16, max_extended = 2;
constexpr std::size_t shared_by = 3;

/// Definition and last use of a value, as positions in the order.
struct LiveSpan {
  int from = 0, to = 0;
  bool spans(int at) const noexcept { return from <= at && at < to; }
};

/// Definition and last use of a value as operations. `shorts` is 0 for values that are always or
/// never live.
struct Ends {
  OpId def = none, last = none;
  int shorts = 0;
};

/// A rematerialization: the operations that recompute a value, operands first, and the first reader
/// of the new one.
struct Plan {
  ValueId value = none;
  std::vector<OpId> ops;
  OpId before = none;
  int gap = 0;         ///< positions without a use of the value
  bool moved = false;  ///< no earlier use: the value is only computed later

  /// Prefer moves, then long gaps for few operations. `count` is the number of operations, or 1, an
  /// upper bound of the merit, before they are known.
  bool better_than(const Plan& other, std::size_t count) const noexcept {
    if (other.value == none || moved != other.moved) return other.value == none || moved;
    return gap * static_cast<int>(other.ops.size()) > other.gap * static_cast<int>(count);
  }
};

/// Operations and values keep their numbers while operations move and new ones are added: the order
/// is a separate list, so that a step takes a time linear in their number.
class Rematerializer {
  auto by_position() const {
    return [this](OpId o) { return position(o); };
  }

 public:
  Rematerializer(MachineLoop& loop, unsigned capacity)
      : loop_(loop), capacity_(static_cast<int>(capacity)) {
    for (const std::size_t i : topological_order(loop_)) order_.push_back(static_cast<OpId>(i));
    position_.resize(order_.size());
    number_from(0);
    for (MachineValue& v : loop_.values) std::ranges::sort(v.uses, {}, by_position());
    ends_.resize(loop_.values.size());
    for (std::size_t v = 0; v < ends_.size(); ++v) find_ends(static_cast<ValueId>(v));
    has_dependence_.assign(loop_.ops.size(), false);
    for (const MachineLoop::Dependence& o : loop_.dependences)
      has_dependence_[index(o.first)] = has_dependence_[index(o.second)] = true;
  }

  Rematerialization run() {
    Rematerialization done;
    unsigned extensions = 0;
    const std::size_t limit = loop_.ops.size();  // more would double the work
    while (done.values < limit) {
      compute_pressure();
      const auto worst = std::max_element(pressure_.begin(), pressure_.end());
      done.fits = worst == pressure_.end() || *worst <= capacity_;
      if (done.fits) break;
      const int at = static_cast<int>(worst - pressure_.begin());
      Plan plan = best_plan(at, 0);
      if (plan.value == none && extensions < max_extension_rounds) {
        plan = best_plan(at, max_extended);
        ++extensions;
      }
      if (plan.value == none) break;
      if (plan.moved)
        move(plan.ops.front(), plan.before);
      else
        duplicate(plan);
      ++done.values;
    }
    reorder(loop_, order_);
    return done;
  }

 private:
  LiveSpan lifetime(ValueId v) const {
    const Ends& e = ends_[index(v)];
    return e.shorts == 0 ? LiveSpan{} : LiveSpan{position(e.def), position(e.last)};
  }
  /// Position of an operation in the order.
  int position(OpId o) const { return position_[index(o)]; }

  int shorts_of(const MachineValue& v) const { return static_cast<int>(loop_.shorts(v)); }

  void number_from(std::size_t first) {
    for (std::size_t k = first; k < order_.size(); ++k)
      position_[index(order_[k])] = static_cast<int>(k);
  }

  /// Determine definition and last use of a value.
  void find_ends(ValueId id) {
    const MachineValue& v = loop_.value(id);
    Ends& e = ends_[index(id)];
    e = {};
    if (v.permanent() || v.defs.empty() || v.in_t) return;
    e = {v.defs.front(), v.defs.back(), shorts_of(v)};
    if (!v.uses.empty() && position(v.uses.back()) > position(e.last)) e.last = v.uses.back();
  }

  void compute_pressure() {
    pressure_.assign(order_.size(), 0);
    for (const Ends& e : ends_) {
      if (e.shorts == 0 || position(e.last) <= position(e.def)) continue;
      pressure_[index(position(e.def))] += e.shorts;
      pressure_[index(position(e.last))] -= e.shorts;
    }
    // Differences become totals.
    std::partial_sum(pressure_.begin(), pressure_.end(), pressure_.begin());
  }

  /// Whether an operation may be duplicated or moved: it depends on its operands only.
  bool is_plain(const MachineValue& v) const {
    if (v.origin != Origin::Computed || v.defs.size() != 1 || v.in_t) return false;
    const MachineOp& o = loop_.op(v.defs.front());
    return o.predicate == none && o.sets == none && o.table == none && o.list == none &&
           o.field == none;
  }

  /// What a plan may extend: a number of shorts of values that are live at the critical position
  /// anyway, and a number of shared values.
  struct Allowance {
    int shorts = 0;
    unsigned extended = 0;
  };

  /// Collect the operations that recompute `v` before `before`; false if that does not pay.
  bool plan_value(ValueId v, int at, OpId before, unsigned depth, Allowance& allowed,
                  std::vector<OpId>& ops) {
    if (!is_plain(loop_.value(v)) || depth > max_depth || ops.size() >= max_duplicated_ops)
      return false;
    const OpId def = loop_.value(v).defs.front();
    for (const Ref& r : loop_.op(def).in) {
      if (r.kind != Ref::Kind::Value) continue;
      const MachineValue& operand = loop_.value(r.value);
      if (operand.origin == Origin::Invariant) continue;
      if (operand.origin == Origin::Accumulator || operand.in_t) return false;
      const LiveSpan l = lifetime(r.value);
      if (l.to >= position(before)) continue;
      if (l.spans(at) && shorts_of(operand) <= allowed.shorts) {
        allowed.shorts -= shorts_of(operand);
        continue;
      }
      if (allowed.extended > 0 && operand.uses.size() >= shared_by) {
        --allowed.extended;
        continue;
      }
      if (!plan_value(r.value, at, before, depth + 1, allowed, ops)) return false;
    }
    if (std::ranges::count(ops, def) == 0) ops.push_back(def);
    return ops.size() <= max_duplicated_ops;
  }

  Plan best_plan(int at, unsigned extended) {
    Plan best;
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const MachineValue& v = loop_.values[i];
      if (!lifetime(id).spans(at) || !is_plain(v)) continue;
      const auto late = std::ranges::upper_bound(v.uses, at, {}, by_position());
      if (late == v.uses.end()) continue;
      const bool moved = late == v.uses.begin();
      const int last = position(moved ? v.defs.front() : *(late - 1));
      if (last == at && !moved) continue;  // used there
      Plan plan{id, {}, *late, position(*late) - last, moved};
      if (plan.gap < 2 || !plan.better_than(best, 1)) continue;
      Allowance allowed{shorts_of(v), extended};
      if (!plan_value(id, at, plan.before, 0, allowed, plan.ops)) continue;
      // Computing a value later does not pay if it requires further rematerialization.
      if (moved &&
          (plan.ops.size() > 1 || has_dependence_[index(plan.ops.front())] || saved(plan) <= 0))
        continue;
      if (plan.better_than(best, plan.ops.size())) best = plan;
    }
    return best;
  }

  /// Reduction of the sum of all lifetimes if an operation moves (shorts times positions).
  /// Operations in between move one position earlier. The moved value's lifetime shrinks by the
  /// whole distance; values defined in between and used later live one position longer, and those
  /// that end in between one position shorter. Values live before `before` are those defined in
  /// between, those live after the moved operation, and the value itself; so two pressures give the
  /// sums.
  int saved(const Plan& plan) const {
    const OpId moving = plan.ops.front();
    const int from = position(moving), before = position(plan.before);
    const int own = shorts_of(loop_.value(plan.value));
    int sum = own * (before - 1 - from) + pressure_[index(from)] - pressure_[index(before - 1)];
    for (const Ref& r : loop_.op(moving).in) {
      if (r.kind != Ref::Kind::Value || lifetime(r.value).to != from) continue;
      sum -= shorts_of(loop_.value(r.value)) * (before - 1 - from);
    }
    return sum;
  }

  /// Move an operation directly before a later one.
  void move(OpId moving, OpId before) {
    std::vector<ValueId> operands;
    for (const Ref& r : loop_.op(moving).in)
      if (r.kind == Ref::Kind::Value && std::erase(loop_.value(r.value).uses, moving) > 0)
        operands.push_back(r.value);
    const auto first = order_.begin() + position(moving), last = order_.begin() + position(before);
    std::rotate(first, first + 1, last);
    for (auto k = first; k != last; ++k)
      position_[index(*k)] = static_cast<int>(k - order_.begin());
    for (const ValueId v : operands) {
      add_use(v, moving);
      find_ends(v);
    }
  }

  /// Insert a reader of a value at its position in the order.
  void add_use(ValueId v, OpId reader) {
    std::vector<OpId>& uses = loop_.value(v).uses;
    const auto at = std::ranges::lower_bound(uses, position(reader), {}, by_position());
    if (at == uses.end() || *at != reader) uses.insert(at, reader);
  }

  /// Duplicate operations before the late readers and redirect these to the new result.
  void duplicate(const Plan& plan) {
    std::vector<std::pair<ValueId, ValueId>> made;
    std::vector<OpId> ops;
    for (const OpId old : plan.ops) {
      MachineOp copy = loop_.op(old);
      for (Ref& r : copy.in) {
        if (r.kind != Ref::Kind::Value) continue;
        for (const auto& [from, to] : made)
          if (r.value == from) r.value = to;
      }
      ops.push_back(static_cast<OpId>(loop_.ops.size()));
      MachineValue result = loop_.value(copy.out);
      result.defs = {ops.back()};
      result.uses.clear();
      made.emplace_back(copy.out, static_cast<ValueId>(loop_.values.size()));
      copy.out = made.back().second;
      loop_.values.push_back(std::move(result));
      loop_.ops.push_back(std::move(copy));
      has_dependence_.push_back(false);
    }
    const int first = position(plan.before);
    order_.insert(order_.begin() + first, ops.begin(), ops.end());
    position_.resize(order_.size());
    number_from(index(first));
    for (const OpId o : ops)
      for (const Ref& r : loop_.op(o).in)
        if (r.kind == Ref::Kind::Value) add_use(r.value, o);
    redirect_uses(plan, made.back().second);
    ends_.resize(loop_.values.size());
    find_ends(plan.value);
    for (const OpId o : ops) {
      find_ends(loop_.op(o).out);
      for (const Ref& r : loop_.op(o).in)
        if (r.kind == Ref::Kind::Value) find_ends(r.value);
    }
  }

  /// Readers from `plan.before` on use the new value.
  void redirect_uses(const Plan& plan, ValueId to) {
    std::vector<OpId>& uses = loop_.value(plan.value).uses;
    const auto first = std::find(uses.begin(), uses.end(), plan.before);
    for (auto u = first; u != uses.end(); ++u) {
      for (Ref& r : loop_.op(*u).in)
        if (r.kind == Ref::Kind::Value && r.value == plan.value) r.value = to;
      loop_.value(to).uses.push_back(*u);
    }
    uses.erase(first, uses.end());
  }

  MachineLoop& loop_;
  int capacity_;
  std::vector<OpId> order_;
  std::vector<int> position_;         ///< position of each operation in the order
  std::vector<bool> has_dependence_;  ///< operations with explicit dependences
  std::vector<Ends> ends_;            ///< ends by value
  std::vector<int> pressure_;         ///< live shorts after each position of the order
};

}  // namespace

Rematerialization rematerialize(MachineLoop& loop, unsigned capacity) {
  return Rematerializer(loop, capacity).run();
}

}  // namespace gdr::kc
