// The lowered IR: straight-line code on vectors, nearly one host instruction to an operation.
//
// Values are in SSA form and abstract from registers only: memory operands, constants and spill
// slots are places relative to a few base pointers. Code for several vectors side by side is one
// block, with its operations interleaved.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "emulator/engine/jit/vector_target.hpp"

namespace gdr::jit {

/// An operand of type Mask is in a mask register (VectorTarget::mask_registers), or a vector whose
/// lanes are all ones or zero.
enum class Type : std::uint8_t { Vector, Mask };

/// makes_mask and the latencies (order.cpp) depend on the order.
enum class Op : std::uint8_t {
  Load,   ///< load from `place`, at this point of the code; a mask as it was stored
  Store,  ///< store to `place`
  // numbers; those up to Fma may have a rounding of their own (AVX-512)
  Add,
  Sub,
  Mul,
  Fma,  ///< a * b + c; detail: FmaSign
  Divide,
  Sqrt,
  RsqrtEstimate,  ///< the host's: its accuracy depends on the target
  RecipEstimate,
  RsqrtStep,  ///< (3 - a * b) / 2 (VectorTarget::newton_steps)
  RecipStep,  ///< 2 - a * b (also these)
  Max,        ///< a > b ? a : b
  Min,
  Scale,            ///< a 2^b, for an integer b (AVX-512)
  LargerMagnitude,  ///< the one of a and b that has it (AVX-512, doubles)
  // bits
  And,
  AndNot,  ///< ~a & b
  Or,
  Xor,
  Ternary,  ///< detail: truth table of a, b, c (AVX-512)
  IntAdd,
  IntSub,
  ShiftLeft,    ///< shift by `detail` bits
  ShiftRight,   ///< from here to DoubleToInt: lanes of 64 bits only, but for signed extrema
  ShiftArith,   ///< AVX-512
  ShiftLeftBy,  ///< shift by the lanes of b
  ShiftRightBy,
  ShiftArithBy,  ///< AVX-512
  SignedMax,     ///< this and the next three: AVX-512
  SignedMin,
  UnsignedMax,
  UnsignedMin,
  IntToDouble,  ///< AVX-512, as is the next
  DoubleToInt,  ///< truncated
  IntToFloat,   ///< this and the next: lanes of 32 bits only
  FloatToInt,   ///< truncated; the least integer, if there is none
  Truncate,     ///< a number to an integer; detail: towards zero, to the nearest, down
  /// The lanes of memory at `place` whose numbers are the integers in a.
  Gather,
  // masks to vectors and back
  Select,       ///< mask a ? b : c; bit by bit with VectorTarget::selects_bits
  MaskToLanes,  ///< ones and zeros (AVX-512)
  LanesToMask,  ///< the lanes' top bits (AVX-512)
  // masks
  Compare,          ///< numbers; detail: Predicate
  CompareSigned,    ///< integers; detail: IntPredicate (AVX2: Equal and Greater only)
  CompareUnsigned,  ///< AVX-512
  TestBits,         ///< a & b has a bit set (AVX-512, 64 bits)
  NotFinite,        ///< a is infinite or not a number (AVX-512, doubles)
  MaskAnd,          ///< this and the next three: AVX-512; on AVX2 masks are vectors
  MaskAndNot,       ///< ~a & b
  MaskOr,
  MaskNot,
  Collect,  ///< adds mask a to the set `detail` of lanes found; on AVX2 any bits of lanes
  /// In the lanes of mask a, appends integer b to the list whose ListRows are at `place`: lanes of
  /// 64 bits hold it in the upper bits. The result has no value.
  Append,
  Leave,  ///< jumps out of the code if mask a is set in any lane; the result has no value
};

/// Signs of Fma: bit 0 negates the product, bit 1 the addend.
enum FmaSign : std::uint8_t { negate_product = 1, negate_addend = 2 };

/// As the instructions encode them. The ordered ones raise flags for a quiet NaN.
enum class Predicate : std::uint8_t {
  Equal = 0x00,
  Unordered = 0x03,
  NotEqual = 0x04,
  Less = 0x11,
  LessEqual = 0x12,
  NotLess = 0x15
};
enum class IntPredicate : std::uint8_t {
  Equal = 0,
  Less = 1,
  NotEqual = 4,
  NotLess = 5,
  Greater = 6
};

/// Static rounding, which raises no exception flags. Current: the thread's mode, with flags.
enum class Rounding : std::uint8_t { Current, Nearest, Down, Up, Truncate };

/// Memory at a base pointer.
struct Place {
  std::uint8_t base = 0;   ///< index in the base registers of the function
  bool broadcast = false;  ///< one lane, for all lanes
  std::int32_t offset = 0;
  bool operator==(const Place&) const = default;
};

using ValueId = std::uint32_t;
constexpr ValueId no_value = ~ValueId{0};

struct Value {
  Type type = Type::Vector;
  bool in_memory = false;  ///< can be read from `place` wherever it is used; no operation makes it
  Place place;
};

struct Operation {
  Op op = Op::Add;
  std::uint8_t detail = 0;
  Rounding rounding = Rounding::Current;
  ValueId to = no_value;
  std::array<ValueId, 3> in{no_value, no_value, no_value};
  /// Add, Sub, Mul, Scale, Or and Fma (AVX-512): the other lanes are those of `otherwise`, or zero.
  /// Fma: `otherwise` is its c. Comparisons: the other lanes are not in the result.
  ValueId mask = no_value, otherwise = no_value;
  Place place;  ///< operand of Load, Store, Gather and Append
};

/// A value that a loop keeps in a register: `in` at the beginning of an iteration, which makes
/// `out`.
struct Carried {
  ValueId in = no_value, out = no_value;
  Place place;               ///< location of its value before and after the loop
  bool is_constant = false;  ///< `in` is `out` and in memory, to which it need not return
};

struct Block {
  std::vector<Value> values;
  std::vector<Operation> code;
  std::vector<Carried> carried;  ///< loop-carried values

  ValueId add_value(Value v) {
    values.push_back(v);
    return static_cast<ValueId>(values.size() - 1);
  }
  /// Appends an operation that makes a new value.
  ValueId add(Op op, Type type, std::array<ValueId, 3> in, std::uint8_t detail = 0) {
    Operation o;
    o.op = op;
    o.detail = detail;
    o.in = in;
    o.to = add_value({type, false, {}});
    code.push_back(o);
    return o.to;
  }
};

/// Calls `visit` for every operand, an operand that is used twice twice.
template <typename Visit>
void each_operand(const Operation& o, Visit visit) {
  for (const ValueId v : {o.mask, o.in[0], o.in[1], o.in[2], o.otherwise}) {
    if (v != no_value) visit(v);
  }
}

/// Whether the result is a mask; where masks are vectors, that also depends on the operands.
constexpr bool makes_mask(Op op) noexcept { return op >= Op::LanesToMask && op <= Op::MaskNot; }

/// Whether a op b is b op a.
constexpr bool commutes(Op op) noexcept {
  return op == Op::Add || op == Op::Mul || op == Op::And || op == Op::Or || op == Op::Xor ||
         op == Op::IntAdd;
}

/// A function's constants in memory: one lane of each for hosts with embedded broadcasts, otherwise
/// a vector of each.
class ConstantPool {
 public:
  /// `base`: base pointer of the memory that will hold the bytes.
  ConstantPool(VectorTarget target, std::uint8_t base) : target_(target), base_(base) {}

  /// The place of the constant with these bits in each lane.
  Place place(std::uint64_t lane) {
    const auto [at, is_new] = known_.try_emplace(lane, static_cast<std::int32_t>(known_.size()));
    return {base_, is_broadcast(), at->second * static_cast<std::int32_t>(stride())};
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all(known_.size() * stride());
    for (const auto& [lane, number] : known_) {
      for (std::uint32_t at = 0; at < stride(); at += target_.lane_bytes()) {
        std::memcpy(&all[static_cast<std::size_t>(number) * stride() + at], &lane,
                    target_.lane_bytes());
      }
    }
    return all;
  }

 private:
  bool is_broadcast() const { return target_.memory == MemoryOperands::Broadcasts; }
  std::uint32_t stride() const {
    return is_broadcast() ? target_.lane_bytes() : target_.vector_bytes;
  }
  VectorTarget target_;
  std::uint8_t base_;
  std::map<std::uint64_t, std::int32_t> known_;
};

}  // namespace gdr::jit
