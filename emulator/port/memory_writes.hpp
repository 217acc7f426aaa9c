// Writes to control processors' memories that are completed later: in threads, or by a reader that
// needs the words at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/memory.hpp"

namespace gdr {

/// A write that has begun (BoardMemory::begin_write) but whose words are not in the memory yet.
struct PendingWrite {
  BoardMemory* memory = nullptr;
  std::uint64_t address = 0;
  std::span<const std::uint64_t> words;

  std::uint64_t end() const noexcept { return address + words.size(); }
  /// Completes the write for `count` words from an address on, as far as it concerns these. Several
  /// threads may do so for disjoint ranges.
  void store(std::uint64_t first, std::uint64_t count) const;
};

/// Writes that have begun, in their order.
class MemoryWrites {
 public:
  /// Begins a write. Those before it are completed if the threads could not complete all of them in
  /// any order.
  void begin(const PendingWrite& write, unsigned threads);
  /// Completes all writes, in parallel if there are enough words.
  void finish(unsigned threads);
  std::span<const PendingWrite> all() const noexcept { return writes_; }
  /// Forgets the writes, which a reader has completed or which have failed.
  void clear() noexcept { writes_.clear(); }

 private:
  std::vector<PendingWrite> writes_;
};

}  // namespace gdr
