// Host memory that a board may reach: areas that the host has lent to it, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdr {

struct DmaArea {
  std::byte* memory = nullptr;  ///< where it lies in this process
  std::uint64_t bus = 0;        ///< and on the board's bus
  std::uint64_t bytes = 0;
};

class DmaSpace {
 public:
  void add(const DmaArea& area) { areas_.push_back(area); }
  /// Forgets the area at a bus address; null memory if there is none.
  DmaArea remove(std::uint64_t bus) noexcept;

  /// Words at a bus address; null where not all of them lie in one area, or the address is not a
  /// multiple of eight. No words lie anywhere.
  std::uint64_t* words(std::uint64_t bus, std::uint64_t count) const noexcept;

 private:
  std::vector<DmaArea> areas_;
};

}  // namespace gdr
