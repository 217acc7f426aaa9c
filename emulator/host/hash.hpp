// FNV-1a, 64 bits: compares contents, finds entries of tables. Not for untrusted input.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace gdr {

/// Running hash of what was added so far.
class Hash {
 public:
  /// Adds the number of values, then their bytes: the boundaries of two adjacent spans count.
  template <typename T>
  constexpr Hash& add(std::span<const T> values) noexcept {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
    mix(std::bit_cast<Bytes<std::uint64_t>>(std::uint64_t{values.size()}));
    for (const T& value : values) mix(std::bit_cast<Bytes<T>>(value));
    return *this;
  }
  template <typename T>
  requires(std::is_arithmetic_v<T> ||
           std::is_enum_v<T>) constexpr Hash& add(const T& value) noexcept {
    return add(std::span<const T>(&value, 1));
  }
  constexpr Hash& add(std::string_view text) noexcept { return add(std::span<const char>(text)); }

  /// Adds a word as a unit, faster than its bytes: for look-up in inner loops.
  constexpr Hash& add_word(std::uint64_t word) noexcept {
    hash_ = (hash_ ^ word) * 0x100000001b3;
    hash_ ^= hash_ >> 32;  // products carry upwards only
    return *this;
  }

  constexpr std::uint64_t value() const noexcept { return hash_; }

 private:
  template <typename T>
  using Bytes = std::array<unsigned char, sizeof(T)>;

  constexpr void mix(std::span<const unsigned char> bytes) noexcept {
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace gdr
