// Transfers of plain data as 64-bit words, and their 64-bit checksums.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "emulator/board/command.hpp"

namespace gdr {

/// A trivially copyable value as words.
template <typename T>
std::span<std::uint64_t> as_words(T& value) noexcept {
  static_assert(sizeof(T) % word_bytes == 0 && std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<std::uint64_t*>(&value), sizeof(T) / word_bytes};
}

/// Each of four lanes sums every fourth word: h = rotate(h xor word, 29) times an odd constant,
/// which is a bijection in the word and in h. Any change of a single word therefore changes the
/// sum; other corruption is missed with probability 2^-64. The construction is this project's own,
/// chosen because it costs no more than the copy that it accompanies.
std::uint64_t checksum(std::span<const std::uint64_t> words) noexcept;

/// Copies words and returns the checksum of the copy. Each word is read once, so concurrent writes
/// to the source cannot make copy and checksum differ.
std::uint64_t copy_and_sum(const std::uint64_t* from, std::uint64_t* to,
                           std::size_t words) noexcept;

/// Combines the checksums of two transfers.
std::uint64_t join_checksums(std::uint64_t first, std::uint64_t second) noexcept;

}  // namespace gdr
