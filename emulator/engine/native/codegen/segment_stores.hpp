// The stores of a segment among its operations.
#pragma once

#include <map>
#include <vector>

#include "emulator/engine/native/codegen/segment_values.hpp"
#include "emulator/engine/native/codegen/to_ir.hpp"

namespace gdr::native {

/// Collects stores, and adds them to the code after it is scheduled: each follows the defining
/// operation, or goes to the end if no operation defines the value or others still read the
/// location.
class SegmentStores {
 public:
  SegmentStores(SegmentValues& values, CarriedStores carried) : v_(values), carried_(carried) {}

  void add(const Store& store);
  void weave_into_code();

 private:
  SegmentValues& v_;
  CarriedStores carried_;
  std::map<jit::ValueId, std::vector<jit::Operation>>
      after_;  ///< stores after the definition of a value
  std::vector<jit::Operation> at_end_;
};

}  // namespace gdr::native
