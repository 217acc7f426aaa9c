// What is wrong with a schedule, as a number that changes in a step are cheap to follow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/isa/ports.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// From here on a loop has more operations than a search of its kind spreads by itself.
constexpr int long_interval = 96;

/// Keeps times and places of a problem together with the sum of all violations: operands that are
/// not ready, slots and ports taken twice, T or registers overfull, predicates in the wrong
/// company. Zero means that the schedule is right.
class ScheduleCost {
 public:
  ScheduleCost(const Problem& problem, unsigned interval);

  int cost() const noexcept { return cost_; }
  const Schedule& schedule() const noexcept { return now_; }
  const Problem& problem() const noexcept { return problem_; }
  std::size_t op_count() const noexcept { return op_count_; }  ///< with the block loads

  void set_time(std::size_t op, int time);
  void set_place(ValueId value, const Placement& place);

  /// Earliest time that the operands of `op` allow, latest that its readers allow (may be below).
  int earliest(std::size_t op) const;
  int latest(std::size_t op) const;
  bool loads_item(std::size_t op) const { return info_[op].loads; }

  /// Whether the value has a choice of places at all.
  bool choosable(ValueId value) const { return choosable_[static_cast<std::size_t>(value)]; }

 private:
  struct OpFacts {
    std::uint8_t slot = 0;         ///< 0 multiplier, 1 adder, 2 transfer
    bool loads = false;            ///< reads the item: must be in the first interval
    std::vector<ValueId> touched;  ///< values whose accesses depend on its time
  };
  struct Touch {
    std::uint32_t code;
    Port port;
    std::uint16_t count;
  };
  struct Step {
    std::array<std::int16_t, 3> units{};
    std::int16_t dmuls = 0;
    std::vector<Touch> touches;
    std::vector<std::int32_t> ops;
    std::int32_t penalty = 0;
    bool dirty = false;
  };

  void first_times();
  std::size_t slot_of(int time) const noexcept;
  void touch(int time, std::uint32_t code, Port port, int delta);
  void occupy_t(int half, int from, int to, int delta);
  void occupy_registers(int from, int to, int shorts, int delta);
  void add_value(ValueId value, int delta);
  void add_computed(ValueId value, int delta);
  void add_field(ValueId value, int delta);
  void add_block(std::size_t block, int delta);
  void add_op(std::size_t op, int delta);
  void add_reads(ValueId value, Home home, const int* times, int count, int delta);
  int definition_end(ValueId value) const;
  void add_orders(std::size_t op, int delta);
  void settle();
  int step_penalty(const Step& step) const;
  int predicate_conflicts(const Step& step) const;
  void mark(std::size_t slot);

  const Problem& problem_;
  const MachineLoop& loop_;
  int interval_;
  std::size_t op_count_;
  Schedule now_;
  int cost_ = 0;
  std::vector<OpFacts> info_;
  std::vector<bool> choosable_;
  std::vector<std::int32_t> block_of_;        ///< of each value, or none
  std::vector<std::uint16_t> block_members_;  ///< fields of a block that live in it
  std::vector<Step> steps_;
  std::vector<std::uint16_t> slots_;  ///< time modulo the interval, for the times that occur
  std::vector<std::size_t> dirty_;
  std::array<std::vector<int>, 2> t_used_;
  std::vector<int> registers_used_;
  std::vector<std::vector<std::int32_t>> orders_of_;  ///< of each op, indices into all_orders_
  std::vector<MachineLoop::Order> all_orders_;
};

}  // namespace gdr::kc
