#include "emulator/engine/native/words.hpp"

#include <bit>
#include <cstring>

namespace gdr::native {
namespace {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);

/// A long's upper 64 bits are a double; the other eight round it, but for infinity and NaN. A NaN
/// that has bits there alone gets one that stays.
std::uint64_t long_to_double(std::uint64_t upper, std::uint64_t lower) noexcept {
  const std::uint64_t cut = (upper << short_shift) | (lower >> 8);
  const std::uint64_t rest = lower & 255;
  const std::uint64_t up = (rest + 127 + (cut & 1)) >> 8;
  // Without branches, for the host's vector units. An infinity or a NaN is not rounded; it becomes
  // a NaN if its only set bits are among the eight.
  const std::uint64_t special = (((cut >> 52) & 2047) + 1) >> 11;
  const std::uint64_t some = (rest + 255) >> 8;
  return (cut | (special & some)) + (up & (special - 1));
}

/// Subnormals are zeros of their sign, every NaN is the canonical one.
std::uint64_t canonical(std::uint64_t bits) noexcept {
  const std::uint64_t magnitude = bits & ~sign_bit;
  bits = magnitude < (std::uint64_t{1} << 52) ? bits & sign_bit : bits;
  return magnitude > infinity ? quiet_nan : bits;
}

std::uint64_t number_bits(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }

/// A float of a double's bits; what is too small for a float becomes a zero of its sign.
float narrow(std::uint64_t bits) noexcept {
  return static_cast<float>(std::bit_cast<double>(canonical(bits)));
}

template <typename Lane, typename Convert>
void load(WordsIn from, std::size_t n, std::byte* to, std::size_t step, Convert convert) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const Lane lane = convert(from.upper[i * from.stride], from.lower[i * from.stride]);
    std::memcpy(to + i * step, &lane, sizeof lane);
  }
}

void load_doubles(Take take, WordsIn from, std::size_t n, std::byte* to,
                  std::size_t step) noexcept {
  if (take == Take::Long) return load<std::uint64_t>(from, n, to, step, long_to_double);
  if (take == Take::Mask) {
    return load<std::uint64_t>(from, n, to, step,
                               [](std::uint64_t word, std::uint64_t) { return word; });
  }
  load<std::uint64_t>(from, n, to, step,
                      [](std::uint64_t, std::uint64_t word) { return word << short_shift; });
}

bool load_floats(Take take, WordsIn from, std::size_t n, std::byte* to, std::size_t step) noexcept {
  if (take == Take::Long) {
    load<float>(from, n, to, step, [](std::uint64_t upper, std::uint64_t lower) {
      return narrow(long_to_double(upper, lower));
    });
    return true;
  }
  if (take == Take::Short) {
    load<float>(from, n, to, step,
                [](std::uint64_t, std::uint64_t word) { return narrow(word << short_shift); });
    return true;
  }
  bool fits = true;
  load<std::int32_t>(from, n, to, step, [&](std::uint64_t, std::uint64_t word) {
    const auto value = static_cast<std::int64_t>(word << short_shift) >> short_shift;
    fits = fits && value == static_cast<std::int32_t>(value);
    return static_cast<std::int32_t>(value);
  });
  return take == Take::Mask || fits;
}

std::uint64_t round_to_short(std::uint64_t bits) noexcept {
  bits = canonical(bits);
  const std::uint64_t odd = (bits >> short_shift) & 1;
  return (bits + ((std::uint64_t{1} << (short_shift - 1)) - 1) + odd) >> short_shift;
}

template <typename Lane>
Lane lane_at(const std::byte* from, std::size_t i) noexcept {
  Lane lane;
  std::memcpy(&lane, from + i * sizeof lane, sizeof lane);
  return lane;
}

template <typename Bits>
void store_numbers(Take take, std::size_t n, WordsOut to, Bits bits) noexcept {
  if (take == Take::Short) {
    for (std::size_t i = 0; i < n; ++i) to.upper[i] = round_to_short(bits(i));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t word = canonical(bits(i));
    to.upper[i] = word >> short_shift;
    to.lower[i] = (word & ~short_mask) << 8;
  }
}

}  // namespace

bool words_to_lanes(Take take, Precision precision, WordsIn from, std::size_t n, std::byte* to,
                    std::size_t step) noexcept {
  if (precision == Precision::Float) return load_floats(take, from, n, to, step);
  load_doubles(take, from, n, to, step);
  return true;
}

void lanes_to_words(Take take, Precision precision, const std::byte* from, std::size_t n,
                    WordsOut to) noexcept {
  const bool floats = precision == Precision::Float;
  if (take == Take::Long || take == Take::Short) {
    if (floats) {
      store_numbers(take, n, to, [&](std::size_t i) {
        return number_bits(static_cast<double>(lane_at<float>(from, i)));
      });
    } else {
      store_numbers(take, n, to, [&](std::size_t i) { return lane_at<std::uint64_t>(from, i); });
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t word =
        floats ? static_cast<std::uint64_t>(std::int64_t{lane_at<std::int32_t>(from, i)})
                     << (take == Take::Mask ? 0 : short_shift)
               : lane_at<std::uint64_t>(from, i);
    to.upper[i] = take == Take::Mask ? word : word >> short_shift;
  }
}

CellRow cell_row(const CellMap& map, LeafKey key) noexcept {
  if (key.take == Take::Mask) return {&BlockState::masks, key.place};
  if (key.place < map.local) return {&BlockState::registers, key.place};
  if (key.place < map.t) return {&BlockState::local, key.place - map.local};
  return {&BlockState::t, key.place - map.t};
}

}  // namespace gdr::native
