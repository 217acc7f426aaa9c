// Modulo schedules: issue times of operations and storage classes of values.
//
// The loop is software-pipelined: a new item starts every II instructions (initiation interval),
// and every item executes the same operations at the same times after its start (B. R. Rau,
// "Iterative modulo scheduling", 1996). An instruction takes one clock per element, so with four
// elements the next instruction can read a result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/ports.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/ir/machine_ir.hpp"

namespace gdr::kc {

/// Storage classes. A long in T occupies both halves.
enum class StorageClass : std::uint8_t {
  Register,  ///< vector in the register file
  Local,     ///< vector in local memory
  TUpper,    ///< T, or its upper half
  TLower,    ///< lower half of T
  Block,     ///< Field: scalar register of its block, loaded with its neighbours
  Scalar,    ///< Field: scalar register, loaded separately
};

/// Whether the storage is T or a half of it.
constexpr bool in_t(StorageClass storage) noexcept {
  return storage == StorageClass::TUpper || storage == StorageClass::TLower;
}

/// The ports of reads and writes.
constexpr Port read_port(StorageClass storage) noexcept {
  return in_t(storage)                    ? Port::TRead
         : storage == StorageClass::Local ? Port::LocalAccess
                                          : Port::RegisterRead;
}
constexpr Port write_port(StorageClass storage) noexcept {
  return in_t(storage)                    ? Port::TWrite
         : storage == StorageClass::Local ? Port::LocalAccess
                                          : Port::RegisterWrite;
}

/// Storage of a value. A computed value may also be written to T, for its first readers.
struct Placement {
  StorageClass storage = StorageClass::Register;
  bool has_t_copy = false;  ///< whether it is also stored in T
  StorageClass t_copy_storage = StorageClass::TUpper;
  std::uint32_t t_copy_readers = 0;  ///< number of readers of the copy in T, the first ones
  friend bool operator==(const Placement&, const Placement&) = default;
};

/// A group of neighbouring long words of the item that one transfer loads into registers.
struct Block {
  unsigned first_word = 0;      ///< first long word in the item
  std::vector<ValueId> fields;  ///< fields in these words
};

/// A scheduling problem.
struct Problem {
  const MachineLoop* loop = nullptr;
  unsigned latency = 1;           ///< instructions from a result to its reader
  unsigned register_shorts = 64;  ///< size of the register file
  unsigned local_shorts = 512;    ///< size of local memory
  unsigned unroll = 2;            ///< maximum unroll factor: a value may live `unroll` times the II
  unsigned max_stages = 3;        ///< maximum duration of an item, in multiples of the II
  std::vector<Block> blocks;
  std::vector<std::uint32_t> field_word;  ///< long word of each field in the item
  std::vector<int> field_half;            ///< 1 for fields in the lower half of that word
  /// Operations that cannot share an instruction with others, because the prologue suppresses them
  /// for nonexistent items (see prologue.hpp).
  std::vector<bool> prologue_predicated;
  std::stop_token stop;  ///< cancellation
};

struct Schedule {
  unsigned ii = 0;  ///< initiation interval in instructions
  std::vector<int>
      time;  ///< issue time of each operation after its item's start, then of each block load
  std::vector<bool> active;          ///< false for loads that the storage classes make redundant
  std::vector<Placement> placement;  ///< placements by value

  const int& time_of(OpId op) const { return time[index(op)]; }
  const Placement& placement_of(ValueId value) const { return placement[index(value)]; }
};

/// Throws Error (Device) if a stop was requested.
inline void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorCategory::Device, "compilation was cancelled");
}

/// Limits of one attempt to find a schedule.
struct AttemptLimits {
  unsigned ii = 1;             ///< initiation interval in instructions
  unsigned length = 0;         ///< maximum duration of an item, besides that of the problem
  std::uint64_t changes = 0;   ///< maximum number of changes of the partial schedule
  std::uint64_t sequence = 0;  ///< number of the sequence that breaks ties
  /// A schedule of the same problem with a larger interval to begin with, or null: some of its
  /// instructions are removed, and their operations placed again.
  const Schedule* start = nullptr;
};
struct ScheduleAttempt {
  bool found = false;         ///< whether a schedule was accepted
  std::size_t waiting = 0;    ///< fewest operations that were left unscheduled
  unsigned rejected = 0;      ///< complete schedules that were rejected, except for registers
  std::uint64_t changes = 0;  ///< number of changes made
};

/// What the caller says of a complete schedule.
enum class Verdict : std::uint8_t {
  Accepted,
  Fragmented,  ///< lifetimes cannot be assigned to addresses of the register file
  Rejected     ///< rejected for another reason
};
using Judge = std::function<Verdict(const Schedule&)>;

/// Searches for a schedule by iterative modulo scheduling. `judge` is called with every schedule
/// found, until it accepts one. The result is the same on any host.
ScheduleAttempt find_schedule(const Problem& problem, const AttemptLimits& limits,
                              const Judge& judge);

/// Fallback scheduler: list scheduling of one item at a time, with spilling. Values with short
/// lifetimes stay in registers, the others are spilled to local memory. The loop is rewritten so
/// that no instruction accesses local memory twice (operands and results go through T). Operations
/// issue as early as ports allow, without overlapping items. Port limits hold; capacities are
/// checked by the allocation.
Schedule list_schedule(MachineLoop& loop, unsigned register_shorts);

/// Recompute values instead of keeping them where memory is short: reduces the number of live
/// shorts of an item, to `capacity` if possible. Values with late uses only are computed later;
/// values with early and late uses are computed twice if a few operations on available values
/// suffice. The operations end up in an order of short lifetimes.
struct Rematerialization {
  unsigned values = 0;  ///< number of values that are moved or duplicated
  bool fits = false;    ///< the live shorts are within the capacity
};
Rematerialization rematerialize(MachineLoop& loop, unsigned capacity);

/// Keep conditions as integers, in registers or local memory, where more than `capacity` masks are
/// live at a time in the order of the operations: they are stored when they are known, and tested
/// again before they are read. Returns the number of conditions that are stored.
unsigned store_conditions(MachineLoop& loop, unsigned capacity);

/// Conversion of issue times to rows and stages of the unrolled body.
struct BodyTimes {
  int body_length = 0;  ///< instructions of the body: II times unroll factor
  int ii = 0;
  int position(int time, int copy) const noexcept { return (time + copy * ii) % body_length; }
  /// Pipeline stage in iterations of the body: how many iterations after its item's start an
  /// operation executes.
  int stage(int time, int copy) const noexcept { return (time + copy * ii) / body_length; }
};

/// Number of pipeline stages, in iterations of the body.
int stage_count(const MachineLoop& loop, const Schedule& schedule, const BodyTimes& times);

/// Whether operations of items "before the first" leave all results unchanged, if all live values
/// start as zero and all masks as off. Instructions with a `predicated` operation (none if empty)
/// do not execute for these items.
bool prologue_is_neutral(const MachineLoop& loop, const Schedule& schedule, const BodyTimes& times,
                         unsigned unroll, const std::vector<bool>& predicated);

/// Whether an item whose values are all zero leaves all results unchanged. Its operations then need
/// no predicate in the prologue.
bool is_missing_item_neutral(const MachineLoop& loop);

/// A field (item variable) that makes a copy of any source contribute nothing if it is zero; `none`
/// if there is none.
ValueId neutral_field(const MachineLoop& loop);

}  // namespace gdr::kc
