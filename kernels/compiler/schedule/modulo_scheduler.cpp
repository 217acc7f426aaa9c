// The modulo scheduler: iterative modulo scheduling with ejection (B. R. Rau, "Iterative modulo
// scheduling", 1994), with the choice of storage classes inside of the search.
//
// Operations are placed in the order of their slack, and in the direction that shortens lifetimes
// (R. A. Huff, "Lifetime-sensitive modulo scheduling", 1993). Where a row has too few ports, or T
// or the register file are full, the values concerned change their storage class; this includes
// spilling to local memory. If no time is free, the operations in the way are ejected and placed
// again. An operation that is ejected often becomes expensive to eject (a tabu search over partial
// schedules: I. Bloechliger and N. Zufferey, "A graph coloring heuristic using partial solutions
// and a reactive tabu scheme", 2008).
#include <algorithm>
#include <utility>

#include "kernels/compiler/schedule/dependences.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"

namespace gdr::kc {
namespace {

/// A fixed sequence that breaks ties, the same on all hosts (xorshift64*).
class TieBreaker {
 public:
  explicit TieBreaker(std::uint64_t sequence) : state_(0x9e3779b97f4a7c15ULL * (sequence + 1)) {}
  std::size_t below(std::size_t n) noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>(((state_ * 0x2545f4914f6cdd1dULL) >> 16) % n);
  }

 private:
  std::uint64_t state_;
};

/// Steps during which an ejected operation does not return to its row.
constexpr std::size_t tabu_steps = 12;
/// Steps without progress after which some rows are cleared, besides half the number of operations.
constexpr std::uint64_t patience = 40;
/// Complete schedules that are rejected, for other reasons than registers, before an attempt ends.
constexpr unsigned most_rejected = 8;
/// Shorts of the register file that an attempt leaves free at most.
constexpr int most_reserved = 12;
/// Issue times tried, of those that eject least.
constexpr std::size_t most_tried = 6;
/// Issue times without excess in issue slots at which other storage classes are tried.
constexpr std::size_t most_repaired = 6;

class ModuloScheduler {
 public:
  ModuloScheduler(const Problem& problem, const AttemptLimits& limits)
      : problem_(problem),
        loop_(*problem.loop),
        limits_(limits),
        dependences_(problem, limits.ii),
        paths_(dependences_),
        s_(problem, limits.ii),
        ii_(static_cast<int>(limits.ii)),
        horizon_(static_cast<int>(std::min(limits.length, limits.ii * problem.max_stages))),
        random_(limits.sequence),
        weight_(s_.op_count(), 1),
        tabu_until_(s_.op_count() * limits.ii, 0) {
    for (std::size_t v = 0; v < loop_.values.size(); ++v) {
      const MachineValue& value = loop_.values[v];
      const auto id = static_cast<ValueId>(v);
      if (value.origin == Origin::Computed && !value.in_t && value.uses.size() == 1 &&
          !value.defs.empty())
        s_.set_placement(id, {.storage = StorageClass::TUpper});
      if (value.origin == Origin::Field && s_.block_of(id) != none) fields_.push_back(id);
    }
    if (limits.start != nullptr) begin_with(*limits.start);
    for (std::size_t op = 0; op < s_.op_count(); ++op)
      if (s_.is_active(op) && !s_.is_scheduled(op)) waiting_.push_back(op);
  }

  ScheduleAttempt run(const Judge& judge) {
    ScheduleAttempt attempt;
    if (s_.violations() == 0) attempt.found = search(judge);
    attempt.changes = s_.changes();
    attempt.waiting = least_waiting_;
    attempt.rejected = rejected_;
    return attempt;
  }

 private:
  /// Take over the storage classes of another schedule, and the order of its instructions without
  /// those that are too many.
  void begin_with(const Schedule& start) {
    const int old_ii = static_cast<int>(start.ii);
    std::vector<bool> removed(start.ii, false);
    for (int left = old_ii - ii_; left > 0;) {
      const std::size_t row = random_.below(start.ii);
      if (!removed[row]) --left;
      removed[row] = true;
    }
    std::vector<int> new_row;
    for (int rows = 0; const bool r : removed) new_row.push_back(r ? none : rows++);
    for (std::size_t v = 0; v < loop_.values.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      const Placement& now = s_.placement(id);
      const Placement& then = start.placement[v];
      if (now == then) continue;
      if ((now.storage == StorageClass::Block) != (then.storage == StorageClass::Block))
        s_.set_in_block(id, then);
      else
        s_.set_placement(id, then);
    }
    std::vector<std::size_t> order;
    for (std::size_t op = 0; op < s_.op_count(); ++op)
      if (s_.is_active(op) && new_row[index(start.time[op] % old_ii)] != none) order.push_back(op);
    std::ranges::stable_sort(order, {}, [&](std::size_t op) { return start.time[op]; });
    for (const std::size_t op : order) {
      const int row = new_row[index(start.time[op] % old_ii)];
      const int time = start.time[op] / old_ii * ii_ + row;
      const Window w = window(op);
      if (time < w.from || time > w.to || !s_.may_enter(op, index(row)) ||
          accumulator_too_close(op, time))
        continue;
      s_.place(op, time);
      if (s_.violations() > 0) s_.remove(op);
    }
  }

  bool search(const Judge& judge) {
    while (s_.changes() < limits_.changes) {
      ++steps_;
      if (steps_ % 64 == 0) throw_if_stopped(problem_.stop);
      if (waiting_.empty()) {
        compact();
        switch (judge(complete_schedule())) {
          case Verdict::Accepted:
            return true;
          case Verdict::Fragmented:
            leave_registers_free();
            break;
          case Verdict::Rejected:
            if (++rejected_ == most_rejected) return false;
            perturb();
        }
        continue;
      }
      const std::size_t next = select();
      const std::size_t op = waiting_[next];
      waiting_[next] = waiting_.back();
      waiting_.pop_back();
      if (!place_free(op)) place_with_ejection(op);
      if (stuck_) return false;
      leave_local_memory(s_.time(op));
      least_waiting_ = std::min(least_waiting_, waiting_.size());
      if (waiting_.size() < fewest_) {
        fewest_ = waiting_.size();
        last_progress_ = steps_;
      } else if (steps_ - last_progress_ > patience + s_.op_count() / 2) {
        last_progress_ = steps_;
        fewest_ = waiting_.size() + 1;
        diversify();
      }
    }
    return false;
  }

  Schedule complete_schedule() const {
    Schedule s = s_.schedule();
    for (std::size_t op = 0; op < s.time.size(); ++op)
      if (!s.active[op]) s.time[op] = 0;
    return s;
  }

  struct Window {
    int from, to;
    int slack() const noexcept { return to - from; }
  };
  struct Candidate {
    int cost, time;
  };
  struct Change {
    bool is_time;
    std::int32_t id;
    int time;
    Placement placement;
  };

  bool is_load(std::size_t op) const {
    return op >= loop_.ops.size() || loop_.ops[op].field != none;
  }
  int last_time(std::size_t op) const {
    if (is_load(op)) return ii_ - 1;
    return horizon_ - 1 - dependences_.tail(op);
  }

  /// Visit the fields that an operation loads.
  template <class Action>
  void for_fields(std::size_t load, const Action& action) const {
    if (load < loop_.ops.size()) return action(loop_.ops[load].field);
    for (const ValueId v : problem_.blocks[load - loop_.ops.size()].fields)
      if (s_.placement(v).storage == StorageClass::Block) action(v);
  }

  /// Visit the scheduled operations before `op` with the time from which it may issue.
  template <class Action>
  void for_scheduled_before(std::size_t op, const Action& action) const {
    if (op >= loop_.ops.size()) return;
    for (const DependenceGraph::Edge& e : dependences_.before(op))
      if (e.op != op && s_.is_scheduled(e.op)) action(e.op, s_.time(e.op) + e.latency);
    for (const Ref& r : loop_.ops[op].in) {
      if (r.kind != Ref::Kind::Value || loop_.value(r.value).origin != Origin::Field) continue;
      const std::size_t load = s_.load_of(r.value);
      if (s_.is_scheduled(load)) action(load, s_.time(load) + s_.latency_of(r.value));
    }
  }

  /// Visit the scheduled operations after `op` with the time until which it may issue.
  template <class Action>
  void for_scheduled_after(std::size_t op, const Action& action) const {
    if (is_load(op)) {
      for_fields(op, [&](ValueId v) {
        for (const OpId u : loop_.value(v).uses)
          if (s_.is_scheduled(index(u))) action(index(u), s_.time(index(u)) - s_.latency_of(v));
      });
    }
    if (op >= loop_.ops.size()) return;
    for (const DependenceGraph::Edge& e : dependences_.after(op))
      if (e.op != op && s_.is_scheduled(e.op)) action(e.op, s_.time(e.op) - e.latency);
  }

  /// Issue times that respect all scheduled operations.
  Window window(std::size_t op) const {
    Window w{op < loop_.ops.size() ? dependences_.earliest(op) : 0, last_time(op)};
    for_scheduled_before(op, [&](std::size_t, int time) { w.from = std::max(w.from, time); });
    for_scheduled_after(op, [&](std::size_t, int time) { w.to = std::min(w.to, time); });
    if (op >= loop_.ops.size()) return w;
    const auto to = paths_.to(op), from = paths_.from(op);
    const auto low = s_.times_or_low(), high = s_.times_or_high();
    std::int16_t first = 0, last = std::numeric_limits<std::int16_t>::max();
    for (std::size_t k = 0; k < to.size(); ++k)
      first = std::max(first, static_cast<std::int16_t>(low[k] + to[k]));
    for (std::size_t k = 0; k < from.size(); ++k)
      last = std::min(last, static_cast<std::int16_t>(high[k] - from[k]));
    w.from = std::max<int>(w.from, first);
    w.to = std::min<int>(w.to, last);
    return w;
  }

  /// The waiting operation with the least slack; often ejected ones first.
  std::size_t select() const {
    std::size_t best = 0;
    int best_key = 0;
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
      const std::size_t op = waiting_[k];
      const int key = std::min(window(op).slack(), 4 * ii_) + (is_load(op) ? ii_ : 0);
      if (k == 0 || key < best_key) {
        best = k;
        best_key = key;
      }
    }
    return best;
  }

  /// Whether an early issue time shortens lifetimes: it ends those of operands without other
  /// readers, and begins that of the result.
  bool prefers_early(std::size_t op) const {
    if (is_load(op)) return false;
    const MachineOp& o = loop_.ops[op];
    int ended = 0;
    for (const Ref& r : o.in) {
      if (r.kind != Ref::Kind::Value) continue;
      const MachineValue& v = loop_.value(r.value);
      if (v.origin != Origin::Computed && v.origin != Origin::Field) continue;
      const bool last = std::ranges::none_of(
          v.uses, [&](OpId u) { return index(u) != op && !(s_.is_scheduled(index(u))); });
      if (last && v.origin == Origin::Computed) ended += static_cast<int>(shorts_in(v.width));
    }
    const bool begins = o.out != none && loop_.value(o.out).origin == Origin::Computed;
    const int begun = begins ? static_cast<int>(shorts_in(loop_.value(o.out).width)) : 0;
    return ended >= begun;
  }

  /// Up to II issue times of a window in the order of preference.
  void candidate_times(std::size_t op, const Window& w, std::vector<int>& out) const {
    out.clear();
    if (w.from > w.to) return;
    bool has_before = false, has_after = false;
    for_scheduled_before(op, [&](std::size_t, int) { has_before = true; });
    for_scheduled_after(op, [&](std::size_t, int) { has_after = true; });
    const bool early = has_before == has_after ? prefers_early(op) || !has_after : has_before;
    const int n = std::min(w.to - w.from + 1, ii_);
    for (int k = 0; k < n; ++k) out.push_back(early ? w.from + k : w.to - k);
  }

  void place(std::size_t op, int time) {
    log_.push_back({true, static_cast<std::int32_t>(op), s_.time(op), {}});
    s_.place(op, time);
  }
  void remove(std::size_t op) {
    log_.push_back({true, static_cast<std::int32_t>(op), s_.time(op), {}});
    s_.remove(op);
  }
  void set_placement(ValueId v, const Placement& p) {
    log_.push_back({false, v, 0, s_.placement(v)});
    s_.set_placement(v, p);
  }
  /// What a change concerns, as it is now.
  Change now(const Change& c) const {
    if (c.is_time) return {true, c.id, s_.time(index(c.id)), {}};
    return {false, c.id, 0, s_.placement(c.id)};
  }
  /// Set what a change concerns to its time or storage class.
  void make(const Change& c) {
    if (!c.is_time) {
      s_.set_placement(c.id, c.placement);
    } else if (c.time == unscheduled) {
      s_.remove(index(c.id));
    } else {
      s_.place(index(c.id), c.time);
    }
  }
  void roll_back(std::size_t mark) {
    for (; log_.size() > mark; log_.pop_back()) make(log_.back());
  }

  bool place_free(std::size_t op) {
    const Window w = window(op);
    candidate_times(op, w, times_);
    log_.clear();
    free_.clear();
    for (const int t : times_) {
      if (!s_.may_enter(op, s_.row_of(t)) || accumulator_too_close(op, t)) continue;
      place(op, t);
      if (s_.violations() == 0) return true;
      free_.push_back({s_.violations(), t});
      roll_back(0);
    }
    std::ranges::stable_sort(free_, {}, &Candidate::cost);
    for (std::size_t k = 0; k < free_.size() && k < most_repaired; ++k) {
      place(op, free_[k].time);
      if (repair(op)) return true;
      roll_back(0);
    }
    return false;
  }

  /// Whether another sum into the same result is in a row less than a latency away: it would be
  /// read before the previous sum is written.
  bool accumulator_too_close(std::size_t op, int time,
                             std::vector<std::size_t>* others = nullptr) const {
    if (problem_.latency < 2 || op >= loop_.ops.size()) return false;
    const ValueId out = loop_.ops[op].out;
    if (out == none || loop_.value(out).origin != Origin::Accumulator) return false;
    bool close = false;
    for (const OpId d : loop_.value(out).defs) {
      if (index(d) == op || !s_.is_scheduled(index(d))) continue;
      const int distance = std::abs(static_cast<int>(s_.row_of(s_.time(index(d)))) -
                                    static_cast<int>(s_.row_of(time)));
      if (std::min(distance, ii_ - distance) >= static_cast<int>(problem_.latency)) continue;
      close = true;
      if (others != nullptr) others->push_back(index(d));
    }
    return close;
  }

  /// Choose other storage classes for the values that the operation and its neighbours in the row
  /// access, until nothing is used in excess.
  bool repair(std::size_t op) {
    if (s_.violations() == 0) return true;
    values_.assign(s_.values_of(op).begin(), s_.values_of(op).end());
    s_.values_in_row(s_.row_of(s_.time(op)), values_);
    for (int round = 0; round < 2; ++round) {
      bool improved = false;
      for (std::size_t k = 0; k < values_.size(); ++k) {
        improved = improve(values_[k]) || improved;
        if (s_.violations() == 0) return true;
      }
      if (s_.register_excess() > 0 && spill()) {
        improved = true;
        if (s_.violations() == 0) return true;
      }
      if (!improved) break;
    }
    return false;
  }

  /// The best other storage class of a value, if it reduces the violations.
  bool improve(ValueId v) {
    const std::optional<Placement> better = s_.better_placement(v);
    if (better) set_placement(v, *better);
    return better.has_value();
  }

  /// Local memory has one access per clock, the scarcest of the ports: move values of an
  /// instruction from there to T or the register file where these have room.
  void leave_local_memory(int time) {
    values_.clear();
    s_.values_in_row(s_.row_of(time), values_);
    for (const ValueId v : values_) {
      const MachineValue& value = loop_.value(v);
      const Placement old = s_.placement(v);
      if (old.storage != StorageClass::Local || old.has_t_copy || value.permanent()) continue;
      const auto fits = [&](StorageClass storage) {
        s_.set_placement(v, {.storage = storage});
        return s_.violations() == 0 && (value.origin == Origin::Computed || s_.keeps_latency(v));
      };
      const bool moved = fits(StorageClass::TUpper) ||
                         (value.width == Width::Short && fits(StorageClass::TLower)) ||
                         fits(StorageClass::Register);
      if (!moved) s_.set_placement(v, old);
    }
  }

  /// Move values with long lifetimes out of the register file while it is too full.
  bool spill() {
    spillable_.clear();
    for (std::size_t v = 0; v < loop_.values.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      const MachineValue& value = loop_.values[v];
      if (s_.placement(id).storage != StorageClass::Register || value.origin == Origin::Accumulator)
        continue;
      const bool always = value.origin == Origin::Invariant;
      const PartialSchedule::Interval live = s_.lifetime(id);
      const int length = always ? ii_ : live.to - live.from;
      if (length > 0) spillable_.push_back({length, id});
    }
    std::ranges::sort(spillable_, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    bool any = false;
    for (const auto& [length, v] : spillable_) {
      if (s_.register_excess() == 0) break;
      any = improve(v) || any;
    }
    return any;
  }

  /// Weight of the operations that have to go for `op` to issue at `time`, found by slots and
  /// dependences alone.
  int obstacles(std::size_t op, int time, std::vector<std::size_t>& out) const {
    out.clear();
    const auto add = [&](std::size_t other) {
      if (std::ranges::count(out, other) == 0) out.push_back(other);
    };
    const std::int32_t occupant = s_.occupant(s_.row_of(time), s_.slot_of(op));
    if (occupant != none) add(index(occupant));
    for_scheduled_before(op, [&](std::size_t other, int from) {
      if (time < from) add(other);
    });
    for_scheduled_after(op, [&](std::size_t other, int to) {
      if (time > to) add(other);
    });
    close_.clear();
    if (accumulator_too_close(op, time, &close_))
      for (const std::size_t other : close_) add(other);
    int sum = 0;
    for (const std::size_t other : out) sum += weight_[other];
    return sum;
  }

  std::uint64_t& tabu_until(std::size_t op, int time) {
    return tabu_until_[op * static_cast<std::size_t>(ii_) + s_.row_of(time)];
  }

  void place_with_ejection(std::size_t op) {
    const int first = op < loop_.ops.size() ? dependences_.earliest(op) : 0;
    const int last = last_time(op);
    Window w = window(op);
    if (w.from > w.to) std::swap(w.from, w.to);
    const int margin = std::max(2, ii_ / 20);
    const int from = std::clamp(w.from - margin, first, std::max(first, last));
    const int to = std::clamp(std::min(w.to + margin, from + 2 * ii_), from, std::max(from, last));
    candidates_.clear();
    for (int t = from; t <= to; ++t) {
      if (tabu_until(op, t) > steps_) continue;
      const int cost = obstacles(op, t, ejected_);
      const int outside = t < w.from ? w.from - t : t > w.to ? t - w.to : 0;
      candidates_.push_back({16 * cost + outside + static_cast<int>(random_.below(8)), t});
    }
    if (candidates_.empty())
      candidates_.push_back({0, from + static_cast<int>(random_.below(index(to - from + 1)))});
    std::ranges::sort(candidates_, {}, &Candidate::cost);
    int best_cost = std::numeric_limits<int>::max();
    for (std::size_t k = 0; k < candidates_.size() && k < most_tried; ++k) {
      const Candidate& c = candidates_[k];
      if (c.cost >= best_cost) break;
      log_.clear();
      const int cost = 16 * force(op, c.time, best_cost / 16) + c.cost % 16;
      if (cost < best_cost) {
        best_cost = cost;
        best_.clear();
        for (const Change& change : log_) best_.push_back(now(change));
      }
      if (stuck_) return;
      roll_back(0);
    }
    log_.clear();
    for (const Change& c : best_) {
      if (c.is_time) log_.push_back({true, c.id, s_.time(index(c.id)), {}});
      make(c);
    }
    for (const Change& c : log_) {
      const std::size_t other = index(c.id);
      if (!c.is_time || other == op || s_.is_scheduled(other)) continue;
      ++weight_[other];
      tabu_until(other, c.time) =
          steps_ + tabu_steps + random_.below(tabu_steps / 2) + waiting_.size();
      waiting_.push_back(other);
    }
  }

  /// Place the operation at `time`, and eject what is in the way, until the weight of these
  /// operations exceeds `limit`; returns that weight.
  int force(std::size_t op, int time, int limit) {
    int sum = obstacles(op, time, ejected_);
    for (const std::size_t other : ejected_) remove(other);
    place(op, time);
    while (sum <= limit && !repair(op)) {
      const std::size_t other = worst_neighbour(op);
      if (other == s_.op_count()) {
        stuck_ = true;
        return sum;
      }
      sum += weight_[other];
      remove(other);
    }
    return sum;
  }

  /// The operation other than `op` whose removal reduces the violations most, relative to its
  /// weight.
  std::size_t worst_neighbour(std::size_t op) {
    neighbours_.clear();
    const auto add = [&](std::size_t other) {
      if (other != op && s_.is_scheduled(other) && std::ranges::count(neighbours_, other) == 0)
        neighbours_.push_back(other);
    };
    for (std::size_t row = 0; row < index(ii_); ++row) {
      if (s_.row_violations(row) == 0) continue;
      for (std::size_t slot = 0; slot < slot_count; ++slot)
        if (const std::int32_t other = s_.occupant(row, slot); other != none) add(index(other));
    }
    const auto values = op < s_.op_count() ? s_.values_of(op) : std::span<const ValueId>{};
    for (const ValueId v : values) {
      for (const OpId d : loop_.value(v).defs) add(index(d));
      for (const OpId u : loop_.value(v).uses) add(index(u));
      if (loop_.value(v).origin == Origin::Field) add(s_.load_of(v));
    }
    const int before = s_.violations();
    std::size_t best = s_.op_count();
    double best_gain = 0;
    const auto weigh = [&](std::size_t other) {
      // Not even without all violations would this one be better.
      if (best != s_.op_count() && before <= best_gain * weight_[other]) return;
      const int t = s_.time(other);
      s_.remove(other);
      const double gain = (before - s_.violations()) / static_cast<double>(weight_[other]);
      s_.place(other, t);
      if (best == s_.op_count() || gain > best_gain) {
        best = other;
        best_gain = gain;
      }
    };
    for (const std::size_t other : neighbours_) weigh(other);
    if (best == s_.op_count() || best_gain <= 0)
      for (std::size_t other = 0; other < s_.op_count(); ++other)
        if (other != op && s_.is_scheduled(other)) weigh(other);
    return best;
  }

  /// Reduce the use of registers in a complete schedule, by other storage classes and issue times.
  void compact() {
    constexpr int rounds = 3;
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t before = s_.register_load();
      for (std::size_t v = 0; v < loop_.values.size(); ++v) {
        const auto id = static_cast<ValueId>(v);
        const bool counts = s_.placement(id).storage == StorageClass::Register ||
                            s_.placement(id).storage == StorageClass::Scalar;
        if (!counts || loop_.values[v].permanent()) continue;
        s_.alternatives(id, alternatives_);
        for (const Placement& p : alternatives_) {
          const Placement old = s_.placement(id);
          const std::int64_t load = s_.register_load();
          s_.set_placement(id, p);
          const bool valid = loop_.values[v].origin != Origin::Field || s_.keeps_latency(id);
          if (!valid || s_.violations() > 0 || s_.register_load() >= load)
            s_.set_placement(id, old);
        }
      }
      for (std::size_t op = 0; op < s_.op_count(); ++op) {
        if (!s_.is_active(op)) continue;
        const int old = s_.time(op);
        const std::int64_t load = s_.register_load();
        s_.remove(op);
        candidate_times(op, window(op), times_);
        int best_time = old;
        std::int64_t best = load;
        for (const int t : times_) {
          if (!s_.may_enter(op, s_.row_of(t)) || accumulator_too_close(op, t)) continue;
          s_.place(op, t);
          if (s_.violations() == 0 && s_.register_load() < best) {
            best = s_.register_load();
            best_time = t;
          }
          s_.remove(op);
        }
        s_.place(op, best_time);
      }
      if (s_.register_load() == before) break;
    }
  }

  void eject(std::size_t op) {
    if (!s_.is_scheduled(op)) return;
    tabu_until(op, s_.time(op)) = steps_ + 6 + random_.below(8);
    s_.remove(op);
    waiting_.push_back(op);
  }

  /// After a complete schedule whose lifetimes fit in the register file, but find no addresses:
  /// look for one that leaves more registers free.
  void leave_registers_free() {
    const int step = static_cast<int>(loop_.elements);
    if (reserved_ + step <= most_reserved) {
      reserved_ += step;
      s_.reserve_registers(step);
    }
    perturb();
    while (s_.violations() > 0) {
      const std::size_t op = worst_neighbour(s_.op_count());
      if (op == s_.op_count()) {
        stuck_ = true;
        return;
      }
      eject(op);
    }
  }

  /// After a complete schedule was rejected: place some operations again.
  void perturb() {
    const std::size_t n = 3 + s_.op_count() / 8;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t op = random_.below(s_.op_count());
      if (s_.is_active(op)) eject(op);
    }
    fewest_ = s_.op_count();
    last_progress_ = steps_;
  }

  /// Without progress: move a field into or out of its block, and clear some rows.
  void diversify() {
    if (!fields_.empty() && random_.below(2) == 0) flip(fields_[random_.below(fields_.size())]);
    const std::size_t row = random_.below(index(ii_));
    for (std::size_t k = 0; k < 1 + index(ii_) / 10; ++k)
      for (std::size_t slot = 0; slot < slot_count; ++slot)
        if (const std::int32_t op = s_.occupant((row + k) % index(ii_), slot); op != none)
          eject(index(op));
  }

  void flip(ValueId field) {
    const std::size_t block = loop_.ops.size() + index(s_.block_of(field));
    const std::size_t own = index(loop_.value(field).defs.front());
    for (const std::size_t load : {block, own}) {
      if (s_.is_scheduled(load)) s_.remove(load);
      std::erase(waiting_, load);
    }
    const bool in_block = s_.placement(field).storage == StorageClass::Block;
    s_.set_in_block(field, {.storage = in_block ? StorageClass::TUpper : StorageClass::Block});
    for (const std::size_t load : {block, own})
      if (s_.is_active(load)) waiting_.push_back(load);
    // A full T or register file: readers are placed again.
    while (s_.violations() > 0) {
      bool any = false;
      for (const OpId u : loop_.value(field).uses)
        if (s_.is_scheduled(index(u))) {
          eject(index(u));
          any = true;
          break;
        }
      if (!any) break;
    }
  }

  const Problem& problem_;
  const MachineLoop& loop_;
  AttemptLimits limits_;
  DependenceGraph dependences_;
  LongestPaths paths_;
  PartialSchedule s_;
  int ii_, horizon_;
  TieBreaker random_;
  std::vector<std::size_t> waiting_;
  std::vector<int> weight_;
  std::vector<std::uint64_t> tabu_until_;
  unsigned rejected_ = 0;
  int reserved_ = 0;    ///< shorts of the register file that stay free
  bool stuck_ = false;  ///< an operation exceeds the resources on its own
  std::uint64_t steps_ = 0, last_progress_ = 0;
  std::size_t fewest_ = std::numeric_limits<std::size_t>::max();
  std::size_t least_waiting_ = std::numeric_limits<std::size_t>::max();
  std::vector<ValueId> fields_;
  std::vector<Change> log_;   ///< what each change replaced
  std::vector<Change> best_;  ///< the changes of the best issue time tried
  // Scratch space.
  std::vector<int> times_;
  std::vector<ValueId> values_;
  std::vector<Placement> alternatives_;
  std::vector<std::pair<int, ValueId>> spillable_;
  mutable std::vector<std::size_t> close_;
  std::vector<std::size_t> ejected_, neighbours_;
  std::vector<Candidate> candidates_, free_;
};

}  // namespace

ScheduleAttempt find_schedule(const Problem& problem, const AttemptLimits& limits,
                              const Judge& judge) {
  ModuloScheduler search(problem, limits);
  return search.run(judge);
}

}  // namespace gdr::kc
