// Machine IR: the loop body as machine operations, before scheduling and allocation.
//
// A MachineLoop describes the processing of one j-item. Values have one word per element (vectors)
// unless they are scalar; masks are separate, since several operations may set one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/instruction.hpp"
#include "emulator/isa/program.hpp"
#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

using ValueId = std::int32_t;
using OpId = std::int32_t;
using MaskId = std::int32_t;
constexpr std::int32_t none = -1;
/// Number of masks for which predicate compatibility is tracked. A loop with more is too long for
/// software pipelining anyway.
constexpr MaskId max_tracked_masks = 64;

/// The width of a word of this type.
constexpr Width width_for(Type type) noexcept {
  return type == Type::Long ? Width::Long : Width::Short;
}

/// Origin of a value.
enum class Origin : std::uint8_t {
  Computed,     ///< computed in the body
  Field,        ///< variable of the j-item: scalar in a block of registers, or loaded separately
  Invariant,    ///< set before the loop: targets, parameters and values that depend on them alone
  Accumulator,  ///< result, updated in place; of a list the address of its last entry
};

struct MachineValue {
  std::string name = {};
  Origin origin = Origin::Computed;
  Width width = Width::Short;
  bool scalar = false;  ///< one word for all elements (Invariant: a parameter)
  bool integer = false;
  bool in_t = false;             ///< Computed: index that must be in T
  bool in_local = false;         ///< Accumulator: in local memory, of a loop without pipelining
  bool finishing = false;        ///< Computed after the loop, from accumulators
  std::int32_t variable = none;  ///< Field, Invariant, Accumulator: index into Graph::variables
  /// Computed: the operations that write it, in order. The last one may be predicated; where its
  /// mask is off, the previous value remains.
  std::vector<OpId> defs = {};
  /// Readers, each once. Of an Accumulator only readers that do not write it (of the next address
  /// of a list, of the least key and its index).
  std::vector<OpId> uses = {};

  /// Whether it is live during the whole loop.
  bool permanent() const noexcept {
    return origin == Origin::Invariant || origin == Origin::Accumulator;
  }
};

/// An operand of an operation.
struct Ref {
  enum class Kind : std::uint8_t { None, Value, Immediate } kind = Kind::None;
  ValueId value = none;
  Width width = Width::Short;  ///< Immediate: width of the constant
  u128 bits = 0;               ///< Immediate
  static Ref of(ValueId v) { return {.kind = Kind::Value, .value = v}; }
  static Ref immediate(u128 bits, Width width) {
    return {.kind = Kind::Immediate, .width = width, .bits = bits};
  }
};

struct MachineOp {
  Op op = Op::None;
  Width width = Width::Short;
  std::array<Ref, 2> in = {};
  ValueId out = none;  ///< Computed value or Accumulator; `none` if only a mask is set
  MaskId sets = none;
  MaskFlag flag = MaskFlag::None;
  MaskId predicate = none;
  bool predicate_value = true;
  /// Masks under whose predicate the operation may issue, because its result is unused where they
  /// are off: bit m for predicate [m], and for [!m], of the first `max_tracked_masks`.
  std::uint64_t compatible_if_set = 0, compatible_if_clear = 0;
  ValueId field = none;       ///< Bget of one j-variable: the Field (its `out`)
  std::int32_t word = none;   ///< Bget of a constant: index into MachineLoop::words
  std::int32_t table = none;  ///< table read at the index in T, the first operand
  std::int32_t list =
      none;  ///< list to which the second operand is stored, at the address in T (the first)
  SourceRange where = {};  ///< source range
  std::string text = {};   ///< source text, shortened, for comments

  bool dmul() const noexcept { return op == Op::Dmul; }
  /// The slot of its unit in an instruction: 0 multiplier, 1 adder or integer unit, 2 transfer.
  std::uint8_t slot() const noexcept;
};

/// A mask: the operations that set it, in order, and those predicated on it.
struct MachineMask {
  std::vector<OpId> defs;
  std::vector<OpId> uses;  ///< including predicated ones among `defs`
  /// The value that suppresses predicated contributions and writes.
  bool off = true;
};

/// A constant word of the broadcast memory, written before a predicated write.
struct ConstantWord {
  Width width = Width::Short;
  u128 bits = 0;
  friend bool operator==(const ConstantWord&, const ConstantWord&) = default;
};

/// A table of parameters in local memory, the same in every PE. Indices are masked to a power of
/// two.
struct MachineTable {
  std::int32_t variable = none;  ///< index into Graph::variables
  Width width = Width::Short;
  unsigned size = 0;     ///< number of elements that the host sets
  unsigned padded = 0;   ///< number of elements rounded up to a power of two
  unsigned address = 0;  ///< short address, a multiple of the padded size
  unsigned end() const noexcept { return address + padded * shorts_in(width); }
};

/// A list of ints in local memory: entry k of element e at address + k*stride + e. One more short
/// behind the entries is the overflow slot for appends to a full list.
///
/// The accumulator holds the address of the last entry as if the capacity were unlimited, so it
/// gives the total number of entries. It starts one stride below the first entry.
struct MachineList {
  std::int32_t variable = none;  ///< index into Graph::variables
  ValueId accumulator = none;
  unsigned capacity = 0;
  unsigned stride = 0;   ///< shorts between entries: elements, rounded up to a power of two
  unsigned address = 0;  ///< short address of the first entry
  unsigned overflow_slot() const noexcept { return address + capacity * stride; }
  unsigned end() const noexcept { return overflow_slot() + 1; }
};

/// A word in which an accumulator starts, if it is not that of its reduction.
struct MachineStart {
  ValueId accumulator = none;
  u128 bits = 0;
};

/// A result: its accumulator, its reduction, and the final scale factor.
struct MachineResult {
  ValueId accumulator = none;
  std::int32_t variable = none;
  Op reduction = Op::Fadd;  ///< Fadd, Fmax, Fmin, or Imin for key and index in one long
  double factor = 1;        ///< final factor
  bool index = false;       ///< lower half of a long with key and index
  /// Index of a key in another accumulator: index of the key's variable into Graph::variables. It
  /// has no reduction of its own.
  std::int32_t key = none;
  /// Whether the network or the board can join the results of blocks with different sources.
  bool joined = true;
};

struct MachineLoop {
  unsigned elements = 4;
  std::vector<MachineValue> values;
  std::vector<MachineOp> ops;  ///< operands first
  std::vector<MachineMask> masks;
  std::vector<ConstantWord> words;
  std::vector<MachineTable> tables;
  std::vector<MachineList> lists;
  std::vector<MachineResult> results;
  std::vector<MachineStart> starts;
  /// Operations after the loop, one after the other, on accumulators and values that are
  /// `finishing`.
  std::vector<MachineOp> finish;
  /// Operations before the loop, which compute Invariant values from others.
  std::vector<MachineOp> setup;
  /// `first` must issue at least `latency` instructions before `second`, that of the same item or,
  /// if `next_item`, that of the next one.
  struct Dependence {
    OpId first, second;
    int latency;
    bool next_item = false;
  };
  std::vector<Dependence> dependences;

  MachineValue& value(ValueId id) { return values[index(id)]; }
  const MachineValue& value(ValueId id) const { return values[index(id)]; }
  MachineOp& op(OpId id) { return ops[index(id)]; }
  const MachineOp& op(OpId id) const { return ops[index(id)]; }
  MachineMask& mask(MaskId id) { return masks[index(id)]; }
  const MachineMask& mask(MaskId id) const { return masks[index(id)]; }
  /// Size of a value in shorts.
  unsigned shorts(const MachineValue& v) const noexcept {
    return shorts_in(v.width) * (v.scalar ? 1 : elements);
  }
  /// End of tables and lists in local memory, in shorts.
  unsigned local_end() const noexcept;
  /// Instructions from the issue of an operation to the first reader of its result.
  int latency() const noexcept { return static_cast<int>((3 + elements) / elements); }
};

/// A topological order: operands, and earlier writes of the same value, come first.
std::vector<std::size_t> topological_order(const MachineLoop& loop);

/// Renumber the operations of the body in this order, which has each of them once.
void reorder(MachineLoop& loop, const std::vector<OpId>& order);

}  // namespace gdr::kc
