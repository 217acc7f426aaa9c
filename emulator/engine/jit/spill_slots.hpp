// Slots of the spill area, and the values in them.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/jit/allocate.hpp"

namespace gdr::jit {

/// Slots of one vector each. A slot of a value that is dead is used again.
class SpillSlots {
 public:
  /// `area`: gets the number of slots.
  SpillSlots(SpillArea& area, VectorTarget target, std::size_t values)
      : area_(area), vector_bytes_(target.vector_bytes), slot_(values, none) {}

  bool has(ValueId v) const { return slot_[v] != none; }
  /// The place of a value's slot, which it gets if it has none.
  Place place(ValueId v);
  void release(ValueId v);

 private:
  static constexpr std::int32_t none = -1;

  SpillArea& area_;
  std::size_t vector_bytes_;
  std::vector<std::int32_t> slot_;  ///< number of the slot, by value
  std::vector<std::int32_t> free_;  ///< slots that were released
  std::uint32_t slots_ = 0;         ///< number of slots so far
};

}  // namespace gdr::jit
