// Nodes of the integer unit: bits of shorts, and the flags of integer results.
#pragma once

#include "emulator/engine/native/translate/symbolic_word.hpp"
#include "emulator/isa/instruction.hpp"

namespace gdr::native {

/// The position of a short's sign among its bits.
constexpr std::uint64_t short_sign_bit = Short::bit_count - 1;

/// The node of an integer operation on shorts. Inot: Xor, whose second operand is all ones.
NodeOp integer_node(Op op);

/// Creates nodes on the bits of shorts.
class IntegerNodes {
 public:
  IntegerNodes(Graph& graph, MemoryModel& cells) : g_(graph), c_(cells) {}

  /// A short with these bits.
  Ref constant(std::uint64_t value) { return g_.constant(Kind::Bits, value << short_shift); }
  Ref all_ones() { return g_.constant(Kind::Bits, short_mask); }
  Ref op(NodeOp op, Ref a, Ref b) { return g_.op(op, Kind::Bits, a, b); }
  Ref test(NodeOp op, Ref a, Ref b = no_ref) { return g_.op(op, Kind::Mask, a, b); }
  /// The mask that is never set.
  Ref never() const { return complement(g_.always()); }
  /// All bits of a short are its sign.
  Ref sign_of(Ref short_bits);

  /// The flag of a result, from the bits of its halves (of a short twice the same); no_ref if the
  /// operation sets none.
  Ref flag(MaskFlag wanted, Ref upper, Ref lower, Ref carry);
  /// The flag of a result without a carry.
  Ref flag_of(MaskFlag wanted, SymbolicWord word);

 private:
  Graph& g_;
  MemoryModel& c_;
};

}  // namespace gdr::native
