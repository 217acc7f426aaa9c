// The loop body as operations of the machine, before anything has a time or a place.
//
// One MachineLoop describes what happens to one j-item. Values are per element of the i-vector
// (vectors) unless they are marked scalar; masks are values of their own kind, because several
// operations may build one up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/isa/instruction.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::kc {

using ValueId = std::int32_t;
using OpId = std::int32_t;
using MaskId = std::int32_t;
constexpr std::int32_t none = -1;
/// Masks of which operations know whether they may stand beside what is predicated on them. A loop
/// with more is far too long for operations of several items at a time anyway.
constexpr MaskId tolerable_masks = 64;

/// Where a value comes from.
enum class Origin : std::uint8_t {
  Computed,     ///< operations of the body
  Field,        ///< a variable of the j-item: scalar in a block of registers, or loaded on its own
  Resident,     ///< set before the loop: targets, parameters, whatever depends on them alone
  Accumulator,  ///< a result, read and written in place; of a list where its last entry stands
};

struct MachineValue {
  std::string name;
  Origin origin = Origin::Computed;
  Width width = Width::Short;
  bool scalar = false;  ///< one word for all elements (Resident: a parameter)
  bool integer = false;
  bool in_t = false;             ///< Computed: an index that has to be in T
  std::int32_t variable = none;  ///< Field, Resident, Accumulator: index into Graph::variables
  /// Computed: what writes it, in this order. The last one may be predicated; where its mask says
  /// no the value of the one before stays.
  std::vector<OpId> defs;
  /// Without repetition. Of an Accumulator only those that do not write it: what reads where a
  /// list's next entry goes.
  std::vector<OpId> uses;
};

/// An operand of an operation.
struct Ref {
  enum class Kind : std::uint8_t { None, Value, Immediate } kind = Kind::None;
  ValueId value = none;
  Width width = Width::Short;  ///< Immediate: of the constant
  u128 bits = 0;               ///< Immediate
  static Ref of(ValueId v) { return {Kind::Value, v, Width::Short, 0}; }
};

struct MachineOp {
  Op op = Op::None;
  Width width = Width::Short;
  std::array<Ref, 2> in;
  ValueId out = none;  ///< Computed value or Accumulator; none if only a mask is set
  MaskId sets = none;
  MaskFlag flag = MaskFlag::None;
  MaskId predicate = none;
  bool predicate_value = true;
  /// Predicates that do no harm to it, because nothing needs its result where they say no: bit m
  /// for mask m as [m], and as [!m], of the first `tolerable_masks`.
  std::uint64_t tolerates_set = 0, tolerates_clear = 0;
  ValueId field = none;       ///< Bget of a j-variable on its own: the Field (whose `out` it is)
  std::int32_t word = none;   ///< Bget of a constant: index into MachineLoop::words
  std::int32_t table = none;  ///< reads this table at the index in T, which is its first operand
  std::int32_t list = none;   ///< writes its second operand to this list, where T says (the first)
  SourceRange where;          ///< the text that it comes from
  std::string text;           ///< that text, shortened, for comments

  bool dmul() const noexcept { return op == Op::Dmul; }
};

/// A mask: the operations that set it, first to last, and those that are predicated on it.
struct MachineMask {
  std::vector<OpId> defs;
  std::vector<OpId> uses;  ///< also the predicated ones among `defs`
  /// The value that makes a predicated contribution or write not happen.
  bool off = true;
};

/// A word of the broadcast memory with a constant: bits that clear a place before a predicated
/// write.
struct ConstantWord {
  Width width = Width::Short;
  u128 bits = 0;
};

/// A table of parameters in local memory, the same in every PE. Indices are cut to a power of two.
struct MachineTable {
  std::int32_t variable = none;  ///< index into Graph::variables
  Width width = Width::Short;
  unsigned size = 0;     ///< elements that the host sets
  unsigned padded = 0;   ///< the next power of two
  unsigned address = 0;  ///< in shorts, a multiple of the padded size
};

/// A list of ints in local memory: entry k of element e at address + k*stride + e. One more short
/// behind them takes what is appended to a full list.
///
/// The accumulator holds where the last entry stands, as if there were always room; so the number
/// of entries is known in the end. It begins one stride below the address of the first entry.
struct MachineList {
  std::int32_t variable = none;  ///< index into Graph::variables
  ValueId accumulator = none;
  unsigned capacity = 0;
  unsigned stride = 0;   ///< in shorts: elements, as a power of two
  unsigned address = 0;  ///< in shorts
  unsigned spare() const noexcept { return address + capacity * stride; }
  unsigned end() const noexcept { return spare() + 1; }
};

/// A result: its accumulator, how to begin, and what to multiply it with at the end.
struct MachineResult {
  ValueId accumulator = none;
  std::int32_t variable = none;
  Op join = Op::Fadd;  ///< Fadd, Fmax, Fmin, or Imin for key and index in one long
  double factor = 1;   ///< applied at the end
  bool index = false;  ///< the lower half of a long that holds key and index
};

struct MachineLoop {
  unsigned elements = 4;
  std::vector<MachineValue> values;
  std::vector<MachineOp> ops;  ///< operands come first
  std::vector<MachineMask> masks;
  std::vector<ConstantWord> words;
  std::vector<MachineTable> tables;
  std::vector<MachineList> lists;
  std::vector<MachineResult> results;
  /// Operations before the loop: they work out Resident values from others.
  std::vector<MachineOp> setup;
  /// `first` must issue at least `distance` instructions before `second` (writes in order).
  struct Order {
    OpId first, second;
    int distance;
  };
  std::vector<Order> orders;
};

/// Indices of the operations such that operands, and earlier writes of the same value, come first.
std::vector<std::size_t> in_order(const MachineLoop& loop);

}  // namespace gdr::kc
