#include "emulator/engine/native/codegen/segment_values.hpp"

#include <bit>

#include "emulator/engine/native/codegen/operation_table.hpp"
#include "emulator/engine/native/codegen/to_ir.hpp"

namespace gdr::native {

using jit::no_value;
using jit::Type;

SegmentValues::SegmentValues(const CodeContext& code_context, jit::ConstantPool& pool,
                             const Segment& segment)
    : context(code_context),
      graph(segment.graph),
      target(vector_target(context.target)),
      selection(segment, target),
      pool_(pool),
      id_(graph.size(), no_value),
      carried_in_(context.kernel.carried_slot.size(), no_value) {}

void SegmentValues::keep_carried(const Segment& segment, unsigned count) {
  for (const Store& store : segment.stores) {
    if (!store.has_place() || store.type == WordType::Mask || count == 0) continue;
    carried_in_[store.slot] = block.add_value({});
    --count;
  }
}

SegmentValues::ValueId SegmentValues::value(Ref r) {
  const std::uint32_t n = node_of(value_behind(graph, r));
  if (id_[n] == no_value && is_leaf(graph[ref_to(n)].op)) id_[n] = leaf(graph[ref_to(n)]);
  return id_[n];
}

SegmentValues::ValueId SegmentValues::leaf(const Node& n) {
  if (n.op == NodeOp::Constant && n.kind != Kind::Mask) return constant(n.kind, n.bits);
  if (n.op == NodeOp::Input) {
    const auto number = context.carried_number(LeafKey::unpack(n.bits).place);
    if (number && is_kept(*number)) return carried_in_[*number];
  }
  // A mask is in memory as lanes of ones and zeros.
  const bool lanes = n.kind == Kind::Mask && target.mask_registers;
  const Type type = n.kind == Kind::Mask && !lanes ? Type::Mask : Type::Vector;
  const jit::Place place = n.op == NodeOp::Constant
                               ? constant_place(n.kind, n.bits)
                               : place_at(context.leaf(n), !context.has_lanes(n));
  const ValueId v = block.add_value({type, true, place});
  return lanes ? operation(jit::Op::LanesToMask, Type::Mask, v) : v;
}

jit::Place SegmentValues::constant_place(Kind kind, std::uint64_t bits) {
  const Node node{NodeOp::Constant, kind, 0, no_ref, no_ref, no_ref, bits};
  return pool_.place(constant_lane(node, context.target.precision));
}

SegmentValues::ValueId SegmentValues::constant(Kind kind, std::uint64_t bits) {
  const jit::Place place = constant_place(kind, bits);
  const auto [found, is_new] = constants_.try_emplace(place.offset, no_value);
  if (is_new) found->second = block.add_value({Type::Vector, true, place});
  return found->second;
}

SegmentValues::ValueId SegmentValues::number(double x) {
  return constant(Kind::Number, std::bit_cast<std::uint64_t>(x));
}

SegmentValues::ValueId SegmentValues::mask(Ref r) {
  return selection.is_complement(r) ? complement_of(value(r)) : value(r);
}

SegmentValues::ValueId SegmentValues::complement_of(ValueId mask) {
  if (target.mask_registers) return operation(jit::Op::MaskNot, Type::Mask, mask);
  return operation(jit::Op::Xor, Type::Mask, mask, constant(Kind::Mask, ~std::uint64_t{0}));
}

SegmentValues::ValueId SegmentValues::compared(jit::Op op, ValueId a, ValueId b,
                                               std::uint8_t predicate, ValueId under) {
  const ValueId result = operation(op, Type::Mask, a, b, no_value, predicate);
  block.code.back().mask = under;
  return result;
}

std::uint64_t SegmentValues::top_bit_of_lanes() const {
  const bool floats = context.target.precision == Precision::Float;
  return std::uint64_t{1} << (floats ? 31 + short_shift : 63);
}

}  // namespace gdr::native
