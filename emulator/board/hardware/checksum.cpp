#include "emulator/board/hardware/checksum.hpp"

#include <bit>

namespace gdr {
namespace {

constexpr std::uint64_t golden_multiplier = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t word) noexcept {
  return std::rotl(h ^ word, 29) * golden_multiplier;
}

/// Every bit of the result depends on every bit of h.
constexpr std::uint64_t finish(std::uint64_t h) noexcept {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93;
  return h ^ (h >> 32);
}

template <typename Word>
std::uint64_t sum(std::size_t words, Word&& word) noexcept {
  std::uint64_t a = 1, b = 2, c = 3, d = 4;
  std::size_t i = 0;
  for (; i + 4 <= words; i += 4) {
    a = mix(a, word(i));
    b = mix(b, word(i + 1));
    c = mix(c, word(i + 2));
    d = mix(d, word(i + 3));
  }
  for (; i < words; ++i) a = mix(a, word(i));
  return finish(mix(mix(mix(mix(words, a), b), c), d));
}

}  // namespace

std::uint64_t checksum(std::span<const std::uint64_t> words) noexcept {
  return sum(words.size(), [&](std::size_t i) { return words[i]; });
}

std::uint64_t copy_and_sum(const std::uint64_t* from, std::uint64_t* to,
                           std::size_t words) noexcept {
  return sum(words, [&](std::size_t i) {
    const std::uint64_t word = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    __atomic_store_n(to + i, word, __ATOMIC_RELAXED);
    return word;
  });
}

std::uint64_t join_checksums(std::uint64_t first, std::uint64_t second) noexcept {
  return finish(mix(mix(5, first), second));
}

}  // namespace gdr
