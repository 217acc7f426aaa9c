#include "emulator/board/hardware/dma_space.hpp"

#include <algorithm>

namespace gdr {

DmaArea DmaSpace::remove(std::uint64_t bus) noexcept {
  const auto found = std::ranges::find(areas_, bus, &DmaArea::bus);
  if (found == areas_.end()) return {};
  const DmaArea area = *found;
  areas_.erase(found);
  return area;
}

std::uint64_t* DmaSpace::words(std::uint64_t bus, std::uint64_t count) const noexcept {
  static std::uint64_t none;
  if (count == 0) return &none;
  if (bus % sizeof(std::uint64_t) != 0) return nullptr;
  for (const DmaArea& area : areas_) {
    if (bus < area.bus || bus - area.bus >= area.bytes) continue;
    const std::uint64_t available = (area.bytes - (bus - area.bus)) / sizeof(std::uint64_t);
    if (count > available) return nullptr;
    return reinterpret_cast<std::uint64_t*>(area.memory + (bus - area.bus));
  }
  return nullptr;
}

}  // namespace gdr
