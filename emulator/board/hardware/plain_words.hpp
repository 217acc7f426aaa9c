// Plain data as the 64-bit words that a bus carries.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace gdr {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

/// A trivially copyable value as words.
template <typename T>
std::span<std::uint64_t> as_words(T& value) noexcept {
  static_assert(sizeof(T) % word_bytes == 0 && std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<std::uint64_t*>(&value), sizeof(T) / word_bytes};
}

}  // namespace gdr
