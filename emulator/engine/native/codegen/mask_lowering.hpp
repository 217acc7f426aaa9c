// Nodes that are masks, as operations of the IR.
#pragma once

#include "emulator/engine/native/codegen/segment_values.hpp"

namespace gdr::native {

/// Lowers comparisons and what joins masks.
class MaskLowering {
 public:
  using ValueId = jit::ValueId;

  explicit MaskLowering(SegmentValues& values) : v_(values), g_(values.graph) {}

  /// A comparison or its complement, perhaps under a mask (hosts with mask registers).
  ValueId comparison(const Node& node, bool inverted, ValueId mask = jit::no_value);
  ValueId both(const Node& node);

 private:
  ValueId comparison_of_integers(const Node& node, bool inverted);

  SegmentValues& v_;
  const Graph& g_;
};

}  // namespace gdr::native
