// The two machine words: long (72 bits) and short (36 bits), and their fields.
#pragma once

#include <cstdint>

namespace gdr {

__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

/// Width of a location or of a result: a long holds two shorts, the upper one at the even address.
enum class Width : std::uint8_t { Short, Long };

/// Shorts in a word of this width; the unit of every address in the machine.
constexpr unsigned shorts_in(Width width) noexcept { return width == Width::Long ? 2 : 1; }

/// 36 bits: sign [35], exponent [34:24] (bias 1023), fraction [23:0]; or an integer.
struct Short {
  static constexpr unsigned bit_count = 36;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << bit_count) - 1;
  std::uint64_t bits = 0;  ///< the upper 28 bits are always zero
  friend constexpr bool operator==(Short, Short) = default;
};

/// 72 bits: sign [71], exponent [70:60] (bias 1023), fraction [59:0]; or an integer.
struct Long {
  static constexpr unsigned bit_count = 72;
  static constexpr u128 mask = (u128{1} << bit_count) - 1;
  u128 bits = 0;  ///< the upper 56 bits are always zero
  friend constexpr bool operator==(Long a, Long b) noexcept { return a.bits == b.bits; }
};

constexpr Short upper_half(Long w) noexcept {
  return {static_cast<std::uint64_t>(w.bits >> Short::bit_count)};
}
constexpr Short lower_half(Long w) noexcept {
  return {static_cast<std::uint64_t>(w.bits) & Short::mask};
}
constexpr Long join(Short upper, Short lower) noexcept {
  return {(u128{upper.bits} << Short::bit_count) | lower.bits};
}

/// A short float as the long float of the same value: its 36 bits become the upper half.
constexpr Long widen_float(Short w) noexcept { return join(w, Short{0}); }

/// A widened float as a location holds it: a long, or a short in the low 36 bits; and back.
constexpr Long narrow_float(Long w, Width width) noexcept {
  return width == Width::Long ? w : Long{upper_half(w).bits};
}
constexpr Long widen_float(Long w, Width width) noexcept {
  return width == Width::Long ? w : widen_float(lower_half(w));
}

/// A short integer as a long integer: it becomes the low half, with its sign if asked for.
constexpr Long widen_integer(Short w, bool with_sign) noexcept {
  const bool negative = with_sign && (w.bits >> (Short::bit_count - 1)) != 0;
  return join(Short{negative ? Short::mask : 0}, w);
}

}  // namespace gdr
