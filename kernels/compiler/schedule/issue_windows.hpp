// The issue times that an operation may have beside those that are scheduled already.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/compiler/schedule/dependences.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"

namespace gdr::kc {

/// Issue times from the first to the last; none if the last is smaller.
struct Window {
  int from, to;
  int slack() const noexcept { return to - from; }
};

class IssueWindows {
 public:
  /// `length` is the maximum duration of an item. The schedule is observed while it changes.
  IssueWindows(const Problem& problem, const PartialSchedule& schedule, unsigned length);

  /// Whether the operation loads fields.
  bool is_load(std::size_t op) const {
    return op >= loop_.ops.size() || loop_.ops[op].field != none;
  }
  /// First and last issue time of an operation, whatever is scheduled.
  int first_time(std::size_t op) const {
    return op < loop_.ops.size() ? dependences_.earliest(op) : 0;
  }
  int last_time(std::size_t op) const {
    return is_load(op) ? s_.ii() - 1 : horizon_ - 1 - dependences_.tail(op);
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
  Window window(std::size_t op) const;
  /// Up to II issue times of a window in the order of preference.
  void candidate_times(std::size_t op, const Window& w, std::vector<int>& out) const;
  /// Whether another sum into the same result is in a row less than a latency away: it would be
  /// read before the previous sum is written. `others`, if it is not null, receives these sums.
  bool accumulator_too_close(std::size_t op, int time,
                             std::vector<std::size_t>* others = nullptr) const;

 private:
  /// Visit the fields that an operation loads.
  template <class Action>
  void for_fields(std::size_t load, const Action& action) const {
    if (load < loop_.ops.size()) return action(loop_.ops[load].field);
    for (const ValueId v : problem_.blocks[load - loop_.ops.size()].fields)
      if (s_.placement(v).storage == StorageClass::Block) action(v);
  }
  bool prefers_early(std::size_t op) const;

  const Problem& problem_;
  const MachineLoop& loop_;
  const PartialSchedule& s_;
  DependenceGraph dependences_;
  LongestPaths paths_;
  int horizon_;
};

}  // namespace gdr::kc
