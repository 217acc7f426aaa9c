// Storage classes of values while operations are placed: where something is used in excess, the
// values concerned change theirs.
#pragma once

#include <utility>
#include <vector>

#include "kernels/compiler/schedule/change_log.hpp"
#include "kernels/compiler/schedule/issue_windows.hpp"
#include "kernels/compiler/schedule/partial_schedule.hpp"

namespace gdr::kc {

class StorageChoice {
 public:
  StorageChoice(const MachineLoop& loop, PartialSchedule& schedule, ChangeLog& log)
      : loop_(loop), s_(schedule), log_(log) {}

  /// Choose other storage classes for the values that a scheduled operation and its neighbours in
  /// the row access, until nothing is used in excess. False if that fails.
  bool repair(std::size_t op);
  /// Local memory has one access per clock, the scarcest of the ports: move the values of an
  /// instruction from there to T or the register file where these have room. Not logged.
  void leave_local_memory(int time);

 private:
  bool improve(ValueId v);
  bool spill();

  const MachineLoop& loop_;
  PartialSchedule& s_;
  ChangeLog& log_;
  // Scratch space.
  std::vector<ValueId> values_;
  std::vector<std::pair<int, ValueId>> spillable_;
};

/// Reduce the use of registers in a complete schedule, by other storage classes and issue times.
void reduce_register_load(const MachineLoop& loop, const IssueWindows& windows,
                          PartialSchedule& schedule);

}  // namespace gdr::kc
