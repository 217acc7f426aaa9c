// The values of a segment in the IR.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/codegen/node_selection.hpp"

namespace gdr::native {

/// A block of IR with the values of nodes: leaves and constants are created where they are first
/// used, others set by whoever lowers their nodes.
class SegmentValues {
 public:
  using ValueId = jit::ValueId;

  SegmentValues(const CodeContext& context, jit::ConstantPool& pool, const Segment& segment);

  const CodeContext& context;
  const Graph& graph;
  const jit::VectorTarget target;
  NodeSelection selection;
  jit::Block block;
  bool has_mask_registers() const noexcept { return target.mask_registers; }

  /// Keeps the first `count` loop-carried numbers in registers.
  void keep_carried(const Segment& segment, unsigned count);
  bool is_kept(std::uint32_t carried) const { return carried_in_[carried] != jit::no_value; }
  ValueId carried_in(std::uint32_t carried) const { return carried_in_[carried]; }

  /// The value of a node; of a mask perhaps its complement (NodeSelection::is_complement).
  ValueId value(Ref r);
  void set(std::uint32_t node, ValueId value) { id_[node] = value; }
  /// The value of a mask.
  ValueId mask(Ref r);
  ValueId complement_of(ValueId mask);
  ValueId constant(Kind kind, std::uint64_t bits);
  ValueId number(double x);
  /// As bits of a constant, of which lanes of floats have the lower ones of 36.
  std::uint64_t top_bit_of_lanes() const;

  ValueId operation(jit::Op op, jit::Type type, ValueId a, ValueId b = jit::no_value,
                    ValueId c = jit::no_value, std::uint8_t detail = 0) {
    return block.add(op, type, {a, b, c}, detail);
  }
  ValueId vector(jit::Op op, ValueId a, ValueId b = jit::no_value, ValueId c = jit::no_value,
                 std::uint8_t detail = 0) {
    return operation(op, jit::Type::Vector, a, b, c, detail);
  }
  /// A comparison, also under a mask.
  ValueId compared(jit::Op op, ValueId a, ValueId b, std::uint8_t predicate,
                   ValueId mask = jit::no_value);
  /// The operation that was added last.
  jit::Operation& last() { return block.code.back(); }

  static jit::Place place_at(Location l, bool broadcast = false) {
    return {l.base, broadcast, l.offset};
  }

 private:
  ValueId leaf(const Node& n);
  jit::Place constant_place(Kind kind, std::uint64_t bits);

  jit::ConstantPool& pool_;
  std::vector<ValueId> id_;  ///< value of each node
  std::map<std::int32_t, ValueId> constants_;
  std::vector<ValueId> carried_in_;  ///< values in registers, by carried number
};

}  // namespace gdr::native
