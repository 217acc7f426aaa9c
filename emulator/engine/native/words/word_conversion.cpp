#include "emulator/engine/native/words/word_conversion.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

// Small functions become part of loops that are compiled for several instruction sets.
#define GDR_INLINE [[gnu::always_inline]] inline

namespace gdr::native {
namespace {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);

/// A long's upper 64 bits are a double; the other eight round it, but for infinity and NaN. A NaN
/// that has bits there alone gets one that stays.
GDR_INLINE std::uint64_t long_to_double(std::uint64_t upper, std::uint64_t lower) noexcept {
  const std::uint64_t cut = (upper << short_shift) | (lower >> 8);
  const std::uint64_t rest = lower & 255;
  const std::uint64_t up = (rest + 127 + (cut & 1)) >> 8;
  // Without branches, for the host's vector units. An infinity or a NaN is not rounded; it becomes
  // a NaN if its only set bits are among the eight.
  const std::uint64_t special = (((cut >> 52) & 2047) + 1) >> 11;
  const std::uint64_t some = (rest + 255) >> 8;
  return (cut | (special & some)) + (up & (special - 1));
}

/// Flushes subnormals to zeros of their sign, and makes every NaN the canonical one.
GDR_INLINE std::uint64_t canonical(std::uint64_t bits) noexcept {
  const std::uint64_t magnitude = bits & ~sign_bit;
  bits = magnitude < (std::uint64_t{1} << 52) ? bits & sign_bit : bits;
  return magnitude > infinity ? quiet_nan : bits;
}

/// A double's bits as a float.
GDR_INLINE float narrow(std::uint64_t bits) noexcept {
  return static_cast<float>(std::bit_cast<double>(canonical(bits)));
}

GDR_INLINE std::uint64_t round_to_short(std::uint64_t bits) noexcept {
  bits = canonical(bits);
  const std::uint64_t odd = (bits >> short_shift) & 1;
  return (bits + ((std::uint64_t{1} << (short_shift - 1)) - 1) + odd) >> short_shift;
}

/// One word as a lane; `lost` becomes nonzero if an integer exceeds 32 bits (floats).
template <WordType type, Precision precision>
GDR_INLINE auto lane_of(std::uint64_t upper, std::uint64_t lower, std::uint64_t& lost) noexcept {
  if constexpr (precision == Precision::Double) {
    if constexpr (type == WordType::LongRest) return std::uint64_t{0};
    return type == WordType::Long ? long_to_double(upper, lower)
                                  : lower << (type == WordType::Mask ? 0 : short_shift);
  } else if constexpr (type == WordType::Long) {
    return narrow(long_to_double(upper, lower));
  } else if constexpr (type == WordType::LongRest) {
    const auto number = std::bit_cast<double>(canonical(long_to_double(upper, lower)));
    return static_cast<float>(number - double{static_cast<float>(number)});
  } else if constexpr (type == WordType::Short) {
    return narrow(lower << short_shift);
  } else {
    const auto value = static_cast<std::int64_t>(lower << short_shift) >> short_shift;
    const auto narrowed = static_cast<std::int32_t>(value);
    if (type != WordType::Mask) lost |= static_cast<std::uint64_t>(value ^ std::int64_t{narrowed});
    return narrowed;
  }
}

/// A lane as the bits of a double.
template <typename Lane>
GDR_INLINE std::uint64_t number_at(const std::byte* from) noexcept {
  Lane lane;
  std::memcpy(&lane, from, sizeof lane);
  if constexpr (std::is_same_v<Lane, float>)
    return std::bit_cast<std::uint64_t>(static_cast<double>(lane));
  else
    return lane;
}

/// Kinds of words as types, so that each has a loop of its own.
template <WordType type_, Precision precision_>
struct Kind {
  static constexpr WordType type = type_;
  static constexpr Precision precision = precision_;
};
template <typename Work>
auto with_conversion(WordType type, Precision precision, Work work) {
  const auto with_type = [&]<Precision p>() {
    switch (type) {
      case WordType::Long:
        return work(Kind<WordType::Long, p>());
      case WordType::LongRest:
        return work(Kind<WordType::LongRest, p>());
      case WordType::Short:
        return work(Kind<WordType::Short, p>());
      case WordType::Mask:
        return work(Kind<WordType::Mask, p>());
      default:
        return work(Kind<WordType::Bits, p>());
    }
  };
  return precision == Precision::Float ? with_type.template operator()<Precision::Float>()
                                       : with_type.template operator()<Precision::Double>();
}

template <typename Kind>
GDR_INLINE bool convert_row_to_lanes(Kind, const std::uint64_t* upper, const std::uint64_t* lower,
                                     std::size_t n, std::byte* __restrict to) noexcept {
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto lane = lane_of<Kind::type, Kind::precision>(upper[i], lower[i], lost);
    std::memcpy(to + i * sizeof lane, &lane, sizeof lane);
  }
  return lost == 0;
}

template <typename Kind>
GDR_INLINE void convert_lanes_to_row(Kind, const std::byte* from, std::size_t n,
                                     std::uint64_t* __restrict upper,
                                     std::uint64_t* __restrict lower) noexcept {
  constexpr bool floats = Kind::precision == Precision::Float;
  using Number = std::conditional_t<floats, float, std::uint64_t>;
  using Integer = std::conditional_t<floats, std::int32_t, std::int64_t>;
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (Kind::type == WordType::Long) {
      const std::uint64_t word = canonical(number_at<Number>(from + i * sizeof(Number)));
      upper[i] = word >> short_shift;
      lower[i] = (word & ~short_mask) << 8;
    } else if constexpr (Kind::type == WordType::Short) {
      upper[i] = round_to_short(number_at<Number>(from + i * sizeof(Number)));
    } else {
      Integer lane;
      std::memcpy(&lane, from + i * sizeof lane, sizeof lane);
      const auto word = static_cast<std::uint64_t>(std::int64_t{lane});
      const std::uint64_t wide =
          floats && Kind::type != WordType::Mask ? word << short_shift : word;
      upper[i] = Kind::type == WordType::Mask ? wide : wide >> short_shift;
    }
  }
}

/// The same loops, compiled for the instructions of a host.
#define GDR_HOST(Name, attribute)                                                                  \
  struct Name {                                                                                    \
    template <typename Kind>                                                                       \
    attribute static bool to_lanes(const std::uint64_t* upper, const std::uint64_t* lower,         \
                                   std::size_t n, std::byte* to) noexcept {                        \
      return convert_row_to_lanes(Kind(), upper, lower, n, to);                                    \
    }                                                                                              \
    template <typename Kind>                                                                       \
    attribute static void from_lanes(const std::byte* from, std::size_t n, WordsOut to) noexcept { \
      convert_lanes_to_row(Kind(), from, n, to.upper, to.lower);                                   \
    }                                                                                              \
  };
GDR_HOST(AnyHost, )
#if defined(__x86_64__)
GDR_HOST(OnAvx2, __attribute__((target("avx2"))))
GDR_HOST(OnAvx512,
         __attribute__((target("avx2,avx512f,avx512dq,avx512vl,prefer-vector-width=512"))))
#endif

template <typename Host>
RowConversion code_on(WordType type, Precision precision) noexcept {
  return with_conversion(type, precision, []<typename Kind>(Kind) {
    return RowConversion{Host::template to_lanes<Kind>, Host::template from_lanes<Kind>};
  });
}

}  // namespace

RowConversion row_conversion(Target target, WordType type) noexcept {
#if defined(__x86_64__)
  if (target.isa == Isa::Avx512) return code_on<OnAvx512>(type, target.precision);
  if (target.isa == Isa::Avx2) return code_on<OnAvx2>(type, target.precision);
#endif
  return code_on<AnyHost>(type, target.precision);
}

bool words_to_lanes(WordType type, Precision precision, WordsIn from, std::size_t n, std::byte* to,
                    std::size_t step) noexcept {
  return with_conversion(type, precision, [&]<typename Kind>(Kind) {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto lane = lane_of<Kind::type, Kind::precision>(from.upper[i * from.stride],
                                                             from.lower[i * from.stride], lost);
      std::memcpy(to + i * step, &lane, sizeof lane);
    }
    return lost == 0;
  });
}

CellRow cell_row(const CellMap& map, LeafKey key) noexcept {
  if (key.type == WordType::Mask) return {&BlockState::masks, key.place};
  if (key.place < map.local) return {&BlockState::registers, key.place};
  if (key.place < map.t) return {&BlockState::local, key.place - map.local};
  return {&BlockState::t, key.place - map.t};
}

}  // namespace gdr::native
