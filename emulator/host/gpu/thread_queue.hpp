// What a thread of the host keeps for the calls that it has queued.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdr::gpu {

/// Copies of what queued transfers read, until the queue is empty.
class KeptCopies {
 public:
  /// Bytes of a transfer, at most: a copy of more costs more than waiting.
  static constexpr std::size_t max_bytes = 65536;

  const void* keep(const void* from, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(from);
    return copies_.emplace_back(first, first + bytes).data();
  }
  void clear() { copies_.clear(); }

 private:
  std::vector<std::vector<std::byte>> copies_;
};

/// A number for an opened device, by which threads find what they keep for it. Another device may
/// get the address of one that was closed.
inline std::uint64_t next_device_number() {
  static std::atomic<std::uint64_t> numbers = 0;
  return ++numbers;
}

}  // namespace gdr::gpu
