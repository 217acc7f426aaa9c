// Conversions of force kernels: a host's number to the halves of a machine word, and back; single
// words, and vectorised loops over adjacent words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/host/isa.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr {

struct WordHalves {
  std::uint64_t upper, lower;
};

namespace port {

constexpr std::uint64_t double_sign = std::uint64_t{1} << 63;
constexpr std::uint64_t double_infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t double_nan = double_infinity | (std::uint64_t{1} << 51);
/// The upper 36 bits of a double are a short; the other 28 are the top of a long's lower half.
constexpr unsigned below_short = 28;
constexpr std::uint64_t below_short_mask = (std::uint64_t{1} << below_short) - 1;
/// Bits of a long's lower half that a double lacks.
constexpr unsigned below_double = 8;

/// Subnormals are zeros of their sign, every NaN is the canonical one.
[[gnu::always_inline]] constexpr std::uint64_t canonical(std::uint64_t bits) noexcept {
  const std::uint64_t magnitude = bits & ~double_sign;
  bits = (magnitude & double_infinity) == 0 ? bits & double_sign : bits;
  return magnitude > double_infinity ? double_nan : bits;
}

[[gnu::always_inline]] constexpr WordHalves double_to_long(std::uint64_t bits) noexcept {
  bits = canonical(bits);
  return {bits >> below_short, (bits & below_short_mask) << below_double};
}

/// Rounds to nearest even: adds just under half of the last place, and one more if the last bit is
/// odd. A carry out of the fraction increments the exponent, up to infinity; infinities and the
/// canonical NaN have no bits that could carry.
[[gnu::always_inline]] constexpr WordHalves double_to_short(std::uint64_t bits) noexcept {
  bits = canonical(bits);
  const std::uint64_t odd = (bits >> below_short) & 1;
  return {(bits + (below_short_mask >> 1) + odd) >> below_short, 0};
}

/// The same for the 61 bits of a long, which a double's 53 begin.
[[gnu::always_inline]] constexpr std::uint64_t long_to_double(WordHalves w) noexcept {
  const std::uint64_t cut = (w.upper << below_short) | (w.lower >> below_double);
  const std::uint64_t rest = w.lower & ((1U << below_double) - 1);
  const std::uint64_t exponent = cut & double_infinity;
  const std::uint64_t fraction = (cut & ~(double_sign | double_infinity)) | rest;
  const std::uint64_t rounded = cut + ((rest + 127 + (cut & 1)) >> below_double);
  const std::uint64_t special = fraction != 0 ? double_nan : cut;
  const std::uint64_t some = exponent == double_infinity ? special : rounded;
  return exponent == 0 ? cut & double_sign : some;
}

/// 64 bits always fit a long, with their sign.
[[gnu::always_inline]] constexpr WordHalves int_to_long(std::uint64_t bits) noexcept {
  const auto upper =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> Short::bit_count);
  return {upper & Short::mask, bits & Short::mask};
}

/// The same for a short, at its limits where it cannot hold the number.
[[gnu::always_inline]] constexpr WordHalves int_to_short(std::uint64_t bits) noexcept {
  constexpr std::int64_t most = (std::int64_t{1} << (Short::bit_count - 1)) - 1;
  const auto value = static_cast<std::int64_t>(bits);
  const std::int64_t below = value > most ? most : value;
  const std::int64_t inside = below < -most - 1 ? -most - 1 : below;
  return {static_cast<std::uint64_t>(inside) & Short::mask, 0};
}

/// A short with its sign.
[[gnu::always_inline]] constexpr std::uint64_t short_to_int(std::uint64_t word) noexcept {
  constexpr unsigned unused = 64 - Short::bit_count;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(word << unused) >> unused);
}

}  // namespace port

/// n numbers of the host, `stride` words from one to the next, to the halves of words. Conversions
/// to shorts do not write lower halves.
using RowsToWords = void (*)(const std::uint64_t* numbers, std::size_t stride, std::size_t n,
                             std::uint64_t* upper, std::uint64_t* lower);
/// Adjacent words to adjacent numbers.
using RowsFromWords = void (*)(const std::uint64_t* upper, const std::uint64_t* lower,
                               std::size_t n, std::uint64_t* numbers);

/// For one instruction set of the host. All give the same bits.
struct PortRows {
  RowsToWords double_to_long, double_to_short, int_to_long, int_to_short;
  RowsFromWords long_to_double;
};
const PortRows& port_rows(Isa isa) noexcept;

}  // namespace gdr
