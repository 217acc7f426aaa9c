// Writes to control processors' memories that are completed later: in threads, or by a reader that
// needs the words at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "emulator/port/memory.hpp"

namespace gdr {

/// Makes words of a buffer just before they are read.
struct WordFill {
  std::size_t unit = 1;  ///< words that are made together, of one source
  /// Makes words first .. first + words - 1, whole units. Several threads call it at once for
  /// disjoint ranges. May throw; the write is then undefined.
  std::function<void(std::size_t first, std::size_t words)> make;
};

/// A write that has begun (BoardMemory::begin_write) but whose words are not in the memory yet.
struct PendingWrite {
  BoardMemory* memory = nullptr;
  std::uint64_t address = 0;
  std::span<const std::uint64_t> words;
  const WordFill* fill = nullptr;  ///< null: the words are there
  std::size_t fill_first = 0;      ///< number of the first word for `fill`

  std::uint64_t end() const noexcept { return address + words.size(); }
  /// Completes the write for `count` words from an address on, as far as it concerns these: whole
  /// units of the fill. Several threads may do so for disjoint ranges.
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
