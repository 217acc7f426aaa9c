// Host memory as a board reaches it: addresses on its bus, read and written by DMA.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/board/hardware/checksum.hpp"

namespace gdr {

/// Transfers between a board and its host. Addresses are bus addresses and multiples of eight; zero
/// words may be transferred at any address.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  virtual ~HostMemory() = default;

  /// Whether a transfer of `count` words at `bus` may be tried. Where an IOMMU decides, only a
  /// transfer shows whether the memory is mapped.
  virtual bool contains(std::uint64_t bus, std::uint64_t count) const noexcept = 0;
  /// Reads words, and returns their checksum; nothing if the memory is not mapped: `to` is
  /// undefined then.
  virtual std::optional<std::uint64_t> read(std::uint64_t bus,
                                            std::span<std::uint64_t> to) noexcept = 0;
  /// Writes words, and returns their checksum; nothing if the memory is not mapped: any of the
  /// words may have been written then.
  virtual std::optional<std::uint64_t> write(std::uint64_t bus,
                                             std::span<const std::uint64_t> from) noexcept = 0;
  /// Writes a word that the host sees only after all earlier writes. False if it is not mapped.
  virtual bool publish(std::uint64_t bus, std::uint64_t word) noexcept = 0;
};

struct DmaArea {
  std::byte* memory = nullptr;  ///< address in this process
  std::uint64_t bus = 0;        ///< address on the board's bus
  std::uint64_t bytes = 0;
};

/// Memory that is shared with this process: the areas that the host has mapped for the board.
class DmaSpace final : public HostMemory {
 public:
  void add(const DmaArea& area) { areas_.push_back(area); }
  /// Removes the area at a bus address; null memory if there is none.
  DmaArea remove(std::uint64_t bus) noexcept {
    const auto found = std::ranges::find(areas_, bus, &DmaArea::bus);
    if (found == areas_.end()) return {};
    const DmaArea area = *found;
    areas_.erase(found);
    return area;
  }

  /// Words at a bus address; null if they are not inside one area, or the address is not a multiple
  /// of eight.
  std::uint64_t* words(std::uint64_t bus, std::uint64_t count) const noexcept {
    static std::uint64_t none;
    if (count == 0) return &none;
    if (bus % word_bytes != 0) return nullptr;
    for (const DmaArea& area : areas_) {
      if (bus < area.bus || bus - area.bus >= area.bytes) continue;
      const std::uint64_t available = (area.bytes - (bus - area.bus)) / word_bytes;
      if (count > available) return nullptr;
      return reinterpret_cast<std::uint64_t*>(area.memory + (bus - area.bus));
    }
    return nullptr;
  }

  bool contains(std::uint64_t bus, std::uint64_t count) const noexcept override {
    return words(bus, count) != nullptr;
  }
  std::optional<std::uint64_t> read(std::uint64_t bus,
                                    std::span<std::uint64_t> to) noexcept override {
    const std::uint64_t* const from = words(bus, to.size());
    if (from == nullptr) return {};
    return copy_and_sum(from, to.data(), to.size());
  }
  std::optional<std::uint64_t> write(std::uint64_t bus,
                                     std::span<const std::uint64_t> from) noexcept override {
    std::uint64_t* const to = words(bus, from.size());
    if (to == nullptr) return {};
    return copy_and_sum(from.data(), to, from.size());
  }
  bool publish(std::uint64_t bus, std::uint64_t word) noexcept override {
    std::uint64_t* const to = words(bus, 1);
    if (to == nullptr) return false;
    std::atomic_ref(*to).store(word, std::memory_order_release);
    return true;
  }

 private:
  std::vector<DmaArea> areas_;
};

}  // namespace gdr
