// Nodes as operations of the IR.
#pragma once

#include <map>
#include <utility>

#include "emulator/engine/native/codegen/mask_lowering.hpp"

namespace gdr::native {

/// Selects the operations of a node that is no leaf. Throws Unsupported for nodes that the host has
/// no instructions for.
class NodeLowering {
 public:
  using ValueId = jit::ValueId;

  explicit NodeLowering(SegmentValues& values) : v_(values), g_(values.graph), masks_(values) {}

  ValueId lower(std::uint32_t n);

 private:
  ValueId plain(const Node& node);
  ValueId under_mask(const MaskedOperation& masked);
  ValueId select(const Node& node);
  ValueId extremum(const Node& node);
  ValueId round_to_short(const Node& node);
  ValueId shift(const Node& node);
  ValueId shift_by_constant(const Node& node);
  ValueId to_int(const Node& node);
  ValueId truncated(ValueId x, std::uint8_t towards);
  bool is_at_most(Ref r, double limit) const;
  ValueId lookup(const Node& node);
  ValueId extremum_of_integers(const Node& node);
  ValueId append(const Node& node);
  bool is_zero(Ref r) const { return g_.is_constant(r) && g_[r].bits == 0; }

  SegmentValues& v_;
  const Graph& g_;
  MaskLowering masks_;
  std::map<std::pair<ValueId, std::uint8_t>, ValueId>
      truncated_;  ///< integers by number and direction
};

}  // namespace gdr::native
