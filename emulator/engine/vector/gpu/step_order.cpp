#include "emulator/engine/vector/gpu/step_order.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gdr::codegen {

bool may_branch(const TracedLoop& loop, StepId n) {
  return loop.step(n).kind == Step::Kind::RoundedSum || loop.accumulator_of[n] != TracedLoop::none;
}

namespace {

/// With more values that wait at a time, loops whose sums share branches spill registers.
constexpr std::size_t max_waiting_values = 40;

/// Steps as lists in the order of the text: sums that may branch, which share a branch, after all
/// that they depend on; and the steps between them. Few branches, but more values wait in
/// registers.
StepLists with_sums_together(const TracedLoop& loop, const std::vector<StepId>& steps) {
  std::vector<unsigned> branches(loop.trace.steps.size(), 0);  // that a step depends on
  StepLists lists;
  for (const StepId n : steps) {
    unsigned before = 0;
    for (const StepId in : loop.step(n).in)
      if (in != no_step) before = std::max(before, branches[in]);
    branches[n] = before + (loop.step(n).kind == Step::Kind::RoundedSum ? 1 : 0);
    const std::size_t list = 2 * std::size_t{before} + (may_branch(loop, n) ? 1 : 0);
    if (lists.size() <= list) lists.resize(list + 1);
    lists[list].push_back(n);
  }
  return lists;
}

/// The same in nearly the order of the trace, for long loops: rounded sums share a branch where
/// they are close together, and the terms of accumulators take part in the next one.
StepLists in_traced_order(const TracedLoop& loop, const std::vector<StepId>& steps) {
  constexpr std::size_t close = 48;
  std::vector<bool> waits(loop.trace.steps.size(), false);
  for (const StepId n : steps) waits[n] = true;
  const auto is_ready = [&](StepId n) {
    return std::ranges::none_of(loop.step(n).in,
                                [&](StepId in) { return in != no_step && waits[in]; });
  };
  StepLists lists(1);
  std::vector<StepId> terms;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const StepId n = steps[k];
    if (!waits[n]) continue;
    if (loop.accumulator_of[n] != TracedLoop::none) {
      terms.push_back(n);
    } else if (!may_branch(loop, n)) {
      lists.back().push_back(n);
      waits[n] = false;
    } else {
      std::vector<StepId> sums;
      for (std::size_t m = k; m < std::min(steps.size(), k + close); ++m)
        if (loop.step(steps[m]).kind == Step::Kind::RoundedSum && waits[steps[m]] &&
            is_ready(steps[m]))
          sums.push_back(steps[m]);
      for (const StepId sum : sums) waits[sum] = false;
      sums.insert(sums.end(), terms.begin(), terms.end());
      terms.clear();
      lists.push_back(std::move(sums));
      lists.emplace_back();
    }
  }
  lists.push_back(std::move(terms));
  return lists;
}

/// The most results of steps that are used later, at a time.
std::size_t waiting_values(const TracedLoop& loop, const StepLists& lists) {
  std::vector<unsigned> uses(loop.trace.steps.size(), 0);
  for (const std::vector<StepId>& list : lists)
    for (const StepId n : list)
      for (const StepId in : loop.step(n).in)
        if (in != no_step) ++uses[in];
  for (const CarriedRow& row : loop.carried) ++uses[row.out];
  std::vector<bool> waits(loop.trace.steps.size(), false);
  std::size_t waiting = 0, most = 0;
  for (const std::vector<StepId>& list : lists)
    for (const StepId n : list) {
      waits[n] = uses[n] != 0;
      waiting += waits[n] ? 1 : 0;
      most = std::max(most, waiting);
      for (const StepId in : loop.step(n).in)
        if (in != no_step && --uses[in] == 0 && waits[in]) --waiting;
    }
  return most;
}

}  // namespace

StepLists step_lists(const TracedLoop& loop, const std::vector<StepId>& steps) {
  StepLists lists = with_sums_together(loop, steps);
  if (waiting_values(loop, lists) > max_waiting_values) lists = in_traced_order(loop, steps);
  return lists;
}

}  // namespace gdr::codegen
