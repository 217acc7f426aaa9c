#include "emulator/engine/jit/spill_slots.hpp"

#include <algorithm>

namespace gdr::jit {

Place SpillSlots::place(ValueId v) {
  if (slot_[v] == none) {
    if (free_.empty()) {
      slot_[v] = static_cast<std::int32_t>(slots_++);
      area_.slots = std::max(area_.slots, slots_);
    } else {
      slot_[v] = free_.back();
      free_.pop_back();
    }
  }
  const auto bytes = static_cast<std::int32_t>(vector_bytes_);
  return {area_.base, false, area_.first + slot_[v] * bytes};
}

void SpillSlots::release(ValueId v) {
  if (slot_[v] == none) return;
  free_.push_back(slot_[v]);
  slot_[v] = none;
}

}  // namespace gdr::jit
