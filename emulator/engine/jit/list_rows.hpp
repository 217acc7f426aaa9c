// A list that generated code appends to, in rows of lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::jit {

/// A list of each lane of a vector, in memory where a word of adjacent lanes is a row. Words are
/// shorts: 36 bits, unsigned. An append advances the lane's counter; the new counter, a signed
/// number, is the address of the entry, but at most `last`. Addresses below `first` are not
/// written.
struct ListRows {
  std::uint64_t* counters = nullptr;  ///< row of the counters
  std::uint64_t* entries = nullptr;   ///< row of address 0
  std::uint64_t row_bytes = 0;        ///< distance of rows
  std::uint64_t live = 0;             ///< bit by lane: lanes without it are not written
  std::int64_t stride = 0, first = 0, last = 0;

  static constexpr unsigned word_bits = 36;

  /// Appends a word to the list of a lane.
  void append(std::size_t lane, std::uint64_t word) const noexcept {
    constexpr std::uint64_t mask = (std::uint64_t{1} << word_bits) - 1;
    constexpr unsigned unused = 64 - word_bits;
    std::uint64_t& counter = counters[lane];
    counter = (counter + static_cast<std::uint64_t>(stride)) & mask;
    auto address = static_cast<std::int64_t>(counter << unused) >> unused;
    if (address > last) address = last;
    if (address < first) return;
    auto* const row =
        reinterpret_cast<std::byte*>(entries) + static_cast<std::uint64_t>(address) * row_bytes;
    reinterpret_cast<std::uint64_t*>(row)[lane] = word & mask;
  }
};

}  // namespace gdr::jit
