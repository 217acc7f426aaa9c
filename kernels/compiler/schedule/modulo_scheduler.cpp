// The modulo scheduler: iterative modulo scheduling with ejection (B. R. Rau, "Iterative modulo
// scheduling", 1994), with the choice of storage classes inside of the search.
//
// Operations are placed in the order of their slack, and in the direction that shortens lifetimes
// (R. A. Huff, "Lifetime-sensitive modulo scheduling", 1993). Where a row has too few ports, or T
// or the register file are full, the values concerned change their storage class; this includes
// spilling to local memory. If no time is free, the operations in the way are ejected and placed
// again.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/compiler/schedule/change_log.hpp"
#include "kernels/compiler/schedule/ejection.hpp"
#include "kernels/compiler/schedule/issue_windows.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"
#include "kernels/compiler/schedule/storage_choice.hpp"
#include "kernels/compiler/schedule/tie_breaker.hpp"

namespace gdr::kc {
namespace {

/// Steps without progress after which some rows are cleared, besides half the number of operations.
constexpr std::uint64_t patience = 40;
/// Complete schedules that are rejected, for other reasons than registers, before an attempt ends.
constexpr unsigned max_rejected = 8;
/// Shorts of the register file that an attempt leaves free at most.
constexpr int max_reserved = 12;
/// Issue times without excess in issue slots at which other storage classes are tried.
constexpr std::size_t max_repaired = 6;

class ModuloScheduler {
 public:
  ModuloScheduler(const Problem& problem, const AttemptLimits& limits)
      : problem_(problem),
        loop_(*problem.loop),
        limits_(limits),
        ii_(static_cast<int>(limits.ii)),
        random_(limits.sequence),
        s_(problem, limits.ii),
        log_(s_),
        windows_(problem, s_, limits.length),
        storage_(loop_, s_, log_),
        ejection_(loop_, s_, windows_, storage_, log_, random_) {
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
    attempt.waiting = min_waiting_;
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
      const Window w = windows_.window(op);
      if (time < w.from || time > w.to || !s_.may_enter(op, index(row)) ||
          windows_.accumulator_too_close(op, time))
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
        reduce_register_load(loop_, windows_, s_);
        switch (judge(complete_schedule())) {
          case Verdict::Accepted:
            return true;
          case Verdict::Fragmented:
            if (!leave_registers_free()) return false;
            break;
          case Verdict::Rejected:
            if (++rejected_ == max_rejected) return false;
            perturb();
        }
        continue;
      }
      const std::size_t next = select();
      const std::size_t op = waiting_[next];
      waiting_[next] = waiting_.back();
      waiting_.pop_back();
      if (!place_free(op) && !ejection_.place(op, steps_, waiting_)) return false;
      storage_.leave_local_memory(s_.time(op));
      min_waiting_ = std::min(min_waiting_, waiting_.size());
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

  struct Candidate {
    int cost, time;
  };
  /// The waiting operation with the least slack; often ejected ones first.
  std::size_t select() const {
    std::size_t best = 0;
    int best_key = 0;
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
      const std::size_t op = waiting_[k];
      const int key =
          std::min(windows_.window(op).slack(), 4 * ii_) + (windows_.is_load(op) ? ii_ : 0);
      if (k == 0 || key < best_key) {
        best = k;
        best_key = key;
      }
    }
    return best;
  }

  /// Place an operation without ejecting another one, in the order of preference, else where other
  /// storage classes help.
  bool place_free(std::size_t op) {
    windows_.candidate_times(op, windows_.window(op), times_);
    log_.clear();
    free_.clear();
    for (const int t : times_) {
      if (!s_.may_enter(op, s_.row_of(t)) || windows_.accumulator_too_close(op, t)) continue;
      log_.place(op, t);
      if (s_.violations() == 0) return true;
      free_.push_back({s_.violations(), t});
      log_.roll_back();
    }
    std::ranges::stable_sort(free_, {}, &Candidate::cost);
    for (std::size_t k = 0; k < free_.size() && k < max_repaired; ++k) {
      log_.place(op, free_[k].time);
      if (storage_.repair(op)) return true;
      log_.roll_back();
    }
    return false;
  }

  void eject(std::size_t op) {
    if (!s_.is_scheduled(op)) return;
    ejection_.eject(op, steps_ + 6 + random_.below(8), waiting_);
  }

  /// After a complete schedule whose lifetimes fit in the register file, but find no addresses:
  /// look for one that leaves more registers free. False if an operation exceeds them on its own.
  bool leave_registers_free() {
    const int step = static_cast<int>(loop_.elements);
    if (reserved_ + step <= max_reserved) {
      reserved_ += step;
      s_.reserve_registers(step);
    }
    perturb();
    while (s_.violations() > 0) {
      const std::size_t op = ejection_.worst_neighbour(s_.op_count());
      if (op == s_.op_count()) return false;
      eject(op);
    }
    return true;
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
  int ii_;
  TieBreaker random_;
  PartialSchedule s_;
  ChangeLog log_;  ///< changes by the operation that is placed
  IssueWindows windows_;
  StorageChoice storage_;
  Ejection ejection_;
  std::vector<std::size_t> waiting_;
  unsigned rejected_ = 0;
  int reserved_ = 0;  ///< shorts of the register file that stay free
  std::uint64_t steps_ = 0, last_progress_ = 0;
  std::size_t fewest_ = std::numeric_limits<std::size_t>::max();
  std::size_t min_waiting_ = std::numeric_limits<std::size_t>::max();
  std::vector<ValueId> fields_;
  // Scratch space.
  std::vector<int> times_;
  std::vector<Candidate> free_;
};

}  // namespace

ScheduleAttempt find_schedule(const Problem& problem, const AttemptLimits& limits,
                              const Judge& judge) {
  ModuloScheduler search(problem, limits);
  return search.run(judge);
}

}  // namespace gdr::kc
