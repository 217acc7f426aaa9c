// Checksums of transfers: 64 bits, of 64-bit words.
#pragma once

#include <cstdint>
#include <span>

namespace gdr {

/// Four lanes take every fourth word: h = rotate(h xor word, 29) times an odd constant, which is
/// one to one in the word and in h. So any change within one word, or of one word alone, always
/// changes the sum; other damage goes unseen once in 2^64. The construction is this project's own,
/// chosen because it costs no more than the copy that it accompanies.
std::uint64_t checksum(std::span<const std::uint64_t> words) noexcept;

/// Copies words and returns the checksum of what was copied: each is read once, so that memory
/// which somebody else writes meanwhile cannot make the two differ.
std::uint64_t copy_and_sum(const std::uint64_t* from, std::uint64_t* to,
                           std::size_t words) noexcept;

/// The checksum of two transfers that belong together.
std::uint64_t join_checksums(std::uint64_t first, std::uint64_t second) noexcept;

}  // namespace gdr
