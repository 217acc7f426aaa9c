// The cost of a schedule: the sum of all violations, updated incrementally.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/isa/ports.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Above this II a loop has too many operations to spread by annealing alone.
constexpr int long_loop_ii = 96;

/// Issue times and storage classes with the sum of all violations: latency, units and ports (by a
/// modulo reservation table), overuse of T or registers, incompatible predicates. A valid schedule
/// has cost zero.
class ScheduleCost {
 public:
  ScheduleCost(const Problem& problem, unsigned ii);

  int cost() const noexcept { return cost_; }
  const Schedule& schedule() const noexcept { return schedule_; }
  const Problem& problem() const noexcept { return problem_; }
  std::size_t op_count() const noexcept { return op_count_; }  ///< including block loads

  void set_time(std::size_t op, int time);
  void set_placement(ValueId value, const Placement& place);

  /// Earliest issue time allowed by the operands of `op`, latest allowed by its readers (may be
  /// less).
  int earliest(std::size_t op) const;
  int latest(std::size_t op) const;

  /// Whether the value is a field in a block.
  bool has_block(ValueId value) const { return block_of_[index(value)] != none; }
  /// Whether the storage class of the value can be chosen.
  bool choosable(ValueId value) const { return choosable_[index(value)]; }

 private:
  struct OpData {
    std::uint8_t slot = 0;        ///< unit: 0 multiplier, 1 adder, 2 transfer
    bool loads = false;           ///< reads the item: must issue in the first stage
    std::vector<ValueId> values;  ///< values whose accesses depend on the issue time
  };
  struct PortAccess {
    std::uint32_t code;
    Port port;
    std::uint16_t count;
  };
  struct ReservationRow {
    std::array<std::int16_t, 3> units{};
    std::int16_t dmuls = 0;
    std::vector<PortAccess> accesses;
    std::vector<std::int32_t> ops;
    std::int32_t penalty = 0;
    bool dirty = false;
  };

  void first_times();
  std::size_t row_of(int time) const noexcept;
  void count_access(int time, std::uint32_t code, Port port, int delta);
  void occupy_t(Width width, StorageClass storage, int from, int to, int delta);
  void occupy_registers(int from, int to, int shorts, int delta);
  void add_value(ValueId value, int delta);
  void add_computed(ValueId value, int delta);
  void add_field(ValueId value, int delta);
  void add_block(std::size_t block, int delta);
  void add_op(std::size_t op, int delta);
  void add_reads(ValueId value, StorageClass storage, std::span<const int> times, int delta);
  int definition_end(ValueId value) const;
  int violation(const MachineLoop::Dependence& o) const;
  void add_dependences(std::size_t op, int delta);
  void settle();
  int row_penalty(const ReservationRow& step) const;
  int predicate_conflicts(const ReservationRow& step) const;
  bool compatible(std::size_t a, std::size_t b) const;
  bool is_prologue_predicated(std::size_t op) const {
    return !problem_.prologue_predicated.empty() && problem_.prologue_predicated[op];
  }
  void mark(std::size_t slot);

  const Problem& problem_;
  const MachineLoop& loop_;
  int ii_;
  std::size_t op_count_;
  Schedule schedule_;
  int cost_ = 0;
  std::vector<OpData> info_;
  std::vector<bool> choosable_;
  std::vector<std::int32_t> block_of_;        ///< block of each value, or none
  std::vector<std::uint16_t> block_members_;  ///< number of fields of each block that are in it
  std::vector<ReservationRow> reservation_table_;
  std::vector<std::uint16_t> row_of_time_;  ///< time modulo the II, for common times
  std::vector<std::size_t> dirty_;
  std::vector<int> read_times_;  ///< scratch space of add_computed
  std::array<std::vector<int>, 2> t_used_;
  std::vector<int> registers_used_;
  std::vector<std::vector<std::int32_t>>
      dependences_of_;  ///< indices into all_dependences_, by operation
  std::vector<MachineLoop::Dependence> all_dependences_;
};

}  // namespace gdr::kc
