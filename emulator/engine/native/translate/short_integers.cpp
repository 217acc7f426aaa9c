#include "emulator/engine/native/translate/integer_operations.hpp"

namespace gdr::native {

SlotResult ShortIntegers::result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  const MaskFlag wanted = slot.mask.flag;
  const CellValue zero = c_.constant(0);
  if (slot.op == Op::Ipass || slot.op == Op::Upass) {
    const bool tests = wanted == MaskFlag::Negative || wanted == MaskFlag::Zero;
    const Ref word = tests ? c_.bits(a.lower) : no_ref;
    return {{zero, a.lower}, integers_.flag(wanted, word, word, integers_.never())};
  }
  const Ref x = c_.bits(a.lower);
  const Ref y = slot.op == Op::Inot ? integers_.all_ones() : c_.bits(b.lower);
  const NodeOp op = integer_node(slot.op);
  Ref result = integers_.op(op, x, y);
  if (op == NodeOp::ShiftRight || op == NodeOp::ShiftArith)
    result = integers_.op(NodeOp::And, result, integers_.all_ones());
  return {{zero, c_.value(result)},
          integers_.flag(wanted, result, result, carry(slot, x, y, result))};
}

Ref ShortIntegers::carry(const Arithmetic& slot, Ref a, Ref b, Ref result) {
  if (slot.mask.flag != MaskFlag::Carry) return no_ref;
  if (slot.op == Op::Iadd) return complement(integers_.test(NodeOp::BitsAtLeast, result, a));
  return slot.op == Op::Isub ? integers_.test(NodeOp::BitsAtLeast, a, b) : integers_.never();
}

}  // namespace gdr::native
