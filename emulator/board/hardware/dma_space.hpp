// Host memory that a board may access: the areas that the host has mapped for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdr {

struct DmaArea {
  std::byte* memory = nullptr;  ///< address in this process
  std::uint64_t bus = 0;        ///< address on the board's bus
  std::uint64_t bytes = 0;
};

class DmaSpace {
 public:
  void add(const DmaArea& area) { areas_.push_back(area); }
  /// Removes the area at a bus address; null memory if there is none.
  DmaArea remove(std::uint64_t bus) noexcept;

  /// Words at a bus address; null where not all of them lie in one area, or the address is not a
  /// multiple of eight. Zero words are valid at any address.
  std::uint64_t* words(std::uint64_t bus, std::uint64_t count) const noexcept;

 private:
  std::vector<DmaArea> areas_;
};

}  // namespace gdr
