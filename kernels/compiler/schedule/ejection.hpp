// Placing an operation that does not fit: what is in its way is ejected and placed again later.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/compiler/schedule/change_log.hpp"
#include "kernels/compiler/schedule/issue_windows.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"
#include "kernels/compiler/schedule/storage_choice.hpp"
#include "kernels/compiler/schedule/tie_breaker.hpp"

namespace gdr::kc {

/// An operation that is ejected often becomes expensive to eject, and does not return to its row
/// for some steps (a tabu search over partial schedules: I. Bloechliger and N. Zufferey, "A graph
/// coloring heuristic using partial solutions and a reactive tabu scheme", 2008).
class Ejection {
 public:
  Ejection(const MachineLoop& loop, PartialSchedule& schedule, const IssueWindows& windows,
           StorageChoice& storage, ChangeLog& log, TieBreaker& random);

  /// Place an operation; those that are ejected are added to `waiting`. `step` is the number of the
  /// current step. False if the operation exceeds the resources on its own.
  bool place(std::size_t op, std::uint64_t step, std::vector<std::size_t>& waiting);
  /// Take an operation out of the schedule, and keep it out of its row until a step.
  void eject(std::size_t op, std::uint64_t until_step, std::vector<std::size_t>& waiting);
  /// The operation other than `op` whose removal reduces the violations most, relative to its
  /// weight; the number of operations if there is none.
  std::size_t worst_neighbour(std::size_t op);

 private:
  struct Candidate {
    int cost, time;
  };

  int obstacles(std::size_t op, int time, std::vector<std::size_t>& out) const;
  void find_candidates(std::size_t op, std::uint64_t step);
  int force(std::size_t op, int time, int limit);
  std::uint64_t& tabu_until(std::size_t op, int time) {
    return tabu_until_[op * static_cast<std::size_t>(s_.ii()) + s_.row_of(time)];
  }

  const MachineLoop& loop_;
  PartialSchedule& s_;
  const IssueWindows& windows_;
  StorageChoice& storage_;
  ChangeLog& log_;
  TieBreaker& random_;
  std::vector<int> weight_;
  std::vector<std::uint64_t> tabu_until_;
  bool stuck_ = false;
  // Scratch space.
  std::vector<Change> best_;  ///< the changes of the best issue time tried
  mutable std::vector<std::size_t> close_;
  std::vector<std::size_t> ejected_, neighbours_;
  std::vector<Candidate> candidates_;
};

}  // namespace gdr::kc
