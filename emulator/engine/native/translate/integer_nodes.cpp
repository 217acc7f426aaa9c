#include "emulator/engine/native/translate/integer_nodes.hpp"

#include <algorithm>

namespace gdr::native {
namespace {

struct IntegerNode {
  Op op;
  NodeOp node;
};
constexpr IntegerNode integer_node_table[] = {
    {Op::Iadd, NodeOp::IntAdd},      {Op::Isub, NodeOp::IntSub},
    {Op::Iand, NodeOp::And},         {Op::Ior, NodeOp::Or},
    {Op::Ixor, NodeOp::Xor},         {Op::Ishl, NodeOp::ShiftLeft},
    {Op::Ishr, NodeOp::ShiftRight},  {Op::Iasr, NodeOp::ShiftArith},
    {Op::Imax, NodeOp::SignedMax},   {Op::Imin, NodeOp::SignedMin},
    {Op::Umax, NodeOp::UnsignedMax}, {Op::Umin, NodeOp::UnsignedMin},
    {Op::Inot, NodeOp::Xor}};

}  // namespace

NodeOp integer_node(Op op) {
  return std::ranges::find(integer_node_table, op, &IntegerNode::op)->node;
}

Ref IntegerNodes::sign_of(Ref short_bits) {
  const Ref sign = op(NodeOp::ShiftArith, short_bits, constant(63));
  return op(NodeOp::And, sign, all_ones());
}

Ref IntegerNodes::flag(MaskFlag wanted, Ref upper, Ref lower, Ref carry) {
  if (wanted == MaskFlag::None) return no_ref;
  if (wanted == MaskFlag::Carry) return carry;
  if (wanted == MaskFlag::Negative) return test(NodeOp::BitsNegative, upper);
  const Ref all = upper == lower ? lower : op(NodeOp::Or, upper, lower);
  // a - b is zero where a equals b; that spares the subtraction.
  const Node node = g_[all];
  if (node.op == NodeOp::IntSub) return test(NodeOp::BitsEqual, node.a, node.b);
  return test(NodeOp::BitsEqual, all, constant(0));
}

Ref IntegerNodes::flag_of(MaskFlag wanted, SymbolicWord word) {
  if (wanted == MaskFlag::None) return no_ref;
  return flag(wanted, c_.bits(word.upper), c_.bits(word.lower), never());
}

}  // namespace gdr::native
