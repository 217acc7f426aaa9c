// A modulo schedule under construction: issue times of some operations, storage classes of all
// values, and the resources that they use in each row of the modulo reservation table.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "emulator/isa/ports.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Issue time of an operation that is not scheduled.
constexpr int unscheduled = std::numeric_limits<int>::min();

/// Issue slots of an instruction: multiplier, adder or integer unit, transfer.
constexpr std::size_t slot_count = 3;

/// Operations are numbered as in the loop, followed by the loads of blocks. An issue slot of a row
/// holds at most one operation; all other excess (ports, T, registers, lifetimes, predicates) is
/// counted in `violations()`, so that a caller can try a change, look, and take it back. Values
/// count with those of their producers and readers that are scheduled.
class PartialSchedule {
 public:
  PartialSchedule(const Problem& problem, unsigned ii);

  std::size_t op_count() const noexcept { return op_count_; }
  int ii() const noexcept { return ii_; }
  const Schedule& schedule() const noexcept { return schedule_; }
  const Problem& problem() const noexcept { return problem_; }
  /// Number of resources used in excess; 0 for a valid schedule of the scheduled operations.
  int violations() const noexcept { return violations_; }
  /// Number of changes so far, a measure of the computing time that is the same on all hosts.
  std::uint64_t changes() const noexcept { return changes_; }
  /// Shorts of the register file used in excess, summed over the rows.
  int register_excess() const noexcept { return register_excess_; }

  /// Sum of the squares of the live shorts of the register file, over the rows: the less, the
  /// easier addresses are assigned.
  std::int64_t register_load() const noexcept;

  bool is_scheduled(std::size_t op) const { return schedule_.time[op] != unscheduled; }
  int time(std::size_t op) const { return schedule_.time[op]; }
  /// Issue times of all operations; a value far below or above where one is not scheduled.
  std::span<const std::int16_t> times_or_low() const noexcept { return times_or_low_; }
  std::span<const std::int16_t> times_or_high() const noexcept { return times_or_high_; }
  std::size_t row_of(int time) const noexcept {
    if (time >= 0 && index(time) < row_of_time_.size()) return row_of_time_[index(time)];
    const int row = time % ii_;
    return index(row < 0 ? row + ii_ : row);
  }
  int stage_of(int time) const noexcept {
    if (time >= 0 && index(time) < stage_of_time_.size()) return stage_of_time_[index(time)];
    return time / ii_;
  }
  /// The operation in a slot of a row, or none.
  std::int32_t occupant(std::size_t row, std::size_t slot) const { return rows_[row].ops[slot]; }
  std::size_t slot_of(std::size_t op) const { return info_[op].slot; }
  /// Whether a row has an empty slot for the operation, and ports for it in some storage classes.
  bool may_enter(std::size_t op, std::size_t row) const noexcept {
    const Row& r = rows_[row];
    const OpData& data = info_[op];
    const int accesses = r.used[0] + r.used[1] + r.used[2] + r.used[3] + r.used[4];
    constexpr int limit = 6;  // of the register file, local memory and T together
    return r.ops[data.slot] == none &&
           accesses + data.min_accesses <= (data.dmul || r.dmuls > 0 ? 2 : 1) * limit;
  }
  /// Whether the operation has to be scheduled: false for a field's load while the field is in a
  /// block, and for a block without fields.
  bool is_active(std::size_t op) const { return schedule_.active[op]; }
  /// Values that the operation reads or writes.
  std::span<const ValueId> values_of(std::size_t op) const { return info_[op].values; }

  /// Leave some shorts of the register file free.
  void reserve_registers(int shorts);

  /// Schedule an operation in an empty slot.
  void place(std::size_t op, int time) { set_time(op, time); }
  void remove(std::size_t op) { set_time(op, unscheduled); }

  const Placement& placement(ValueId v) const { return schedule_.placement[index(v)]; }
  /// Change a storage class. A field cannot enter or leave its block.
  void set_placement(ValueId v, const Placement& place);
  /// Move a field into its block, or give it a load of its own. The loads concerned must not be
  /// scheduled.
  void set_in_block(ValueId field, const Placement& place);
  /// The block that could hold the field, or none.
  std::int32_t block_of(ValueId v) const { return block_of_[index(v)]; }
  /// The operation that loads a field.
  std::size_t load_of(ValueId field) const;
  /// Other storage classes that the value may have. Empty if there is no choice.
  void alternatives(ValueId v, std::vector<Placement>& out) const;
  /// The storage class with the fewest violations, if it has fewer than the current one.
  std::optional<Placement> better_placement(ValueId v);
  /// Instructions from the issue of the producer to the first reader of a value.
  int latency_of(ValueId v) const;
  /// Whether readers and producer of a field have their distance.
  bool keeps_latency(ValueId field) const;

  /// Values with an access in a row, each once.
  void values_in_row(std::size_t row, std::vector<ValueId>& out) const;
  /// First write and last read of a value among its scheduled operations; empty if there is none.
  struct Lifetime {
    int from = 0, to = 0;
  };
  Lifetime lifetime(ValueId v) const;
  int row_violations(std::size_t row) const;

 private:
  struct OpData {
    std::uint8_t slot = 0;
    int min_accesses = 0;  ///< accesses that no other operation shares, besides those to BM
    bool dmul = false, local = false, predicated = false;
    bool updates = false;  ///< reads the value that it writes
    ValueId out = none;
    std::vector<ValueId> values;
  };
  /// What the search needs of a MachineValue, in little memory.
  struct ValueData {
    Origin origin = Origin::Computed;
    Width width = Width::Short;
    int shorts = 0;  ///< size of a vector, or of the word of an invariant scalar
    std::span<const OpId> defs, uses;
  };
  struct Row {
    std::array<std::int32_t, slot_count> ops{none, none, none};
    std::array<std::int8_t, port_count> used{}, limit{};
    std::int8_t dmuls = 0;
    std::int8_t predicated = 0;  ///< operations with a predicate
    std::int8_t predicate_conflicts = 0;
  };

  void set_time(std::size_t op, int time);
  void enter(std::size_t op);
  void leave(std::size_t op);
  void apply(ValueId v, int delta);
  void apply_copied(ValueId v, int delta);
  void apply_block(std::size_t block, int delta);
  bool has_fixed_ports(ValueId v) const;
  static bool is_permanent(const ValueData& value) {
    return value.origin == Origin::Invariant || value.origin == Origin::Accumulator;
  }
  bool same_access(const ValueData& value, int a, int b) const;
  void count_accesses_of(ValueId v, std::size_t op, int delta);
  void count_reads(const ValueData& value, Port port, int delta);
  void count_many_reads(const ValueData& value, Port port, int delta);
  Lifetime find_lifetime(ValueId v) const;
  void change_lifetime(ValueId v, const Lifetime& before, const Lifetime& after);
  void occupy(ValueId v, int from, int to, int delta);
  void count_access(int time, Port port, int delta);
  void occupy_t(Width width, StorageClass storage, int from, int to, int delta);
  void occupy_registers(int from, int to, int shorts, int delta);
  void count_lifetime(int length, int delta);
  bool fits_local(const MachineValue& invariant) const;
  void count_dmul(Row& row, int delta);
  void count_predicated(Row& row, int delta);
  int predicate_conflicts(const Row& row) const;
  bool compatible(std::size_t a, std::size_t b) const;
  bool is_prologue_predicated(std::size_t op) const {
    return !problem_.prologue_predicated.empty() && op < problem_.prologue_predicated.size() &&
           problem_.prologue_predicated[op];
  }

  const Problem& problem_;
  const MachineLoop& loop_;
  int ii_, longest_lifetime_, register_limit_;
  std::size_t op_count_;
  Schedule schedule_;
  int violations_ = 0, register_excess_ = 0;
  std::uint64_t changes_ = 0;
  int local_used_ = 0;  ///< shorts of invariants in local memory
  std::vector<std::int16_t> times_or_low_, times_or_high_;
  std::vector<OpData> info_;
  std::vector<ValueData> values_;
  std::vector<Lifetime> lives_;  ///< lifetimes by value, empty for permanent ones
  std::vector<std::int32_t> block_of_;
  std::vector<Row> rows_;
  std::vector<std::uint16_t> row_of_time_,
      stage_of_time_;  ///< rows and stages of common issue times
  std::array<std::vector<std::int16_t>, 2> t_used_;
  std::vector<std::int16_t> registers_used_;
  // Scratch space.
  std::vector<int> read_times_;
  std::vector<Placement> alternatives_;
};

}  // namespace gdr::kc
