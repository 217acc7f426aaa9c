// Words and lanes in vectors of AVX-512, eight at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/engine/native/translate/graph.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

namespace gdr::native::avx512 {

GDR_AVX512 inline __m512i all(std::uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t min_normal = std::uint64_t{1} << 52;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);

/// All lanes, for zero-masked forms: GCC warns about undefined vectors inside the plain ones.
constexpr __mmask8 every = 0xff;

GDR_AVX512 inline __m512i up(__m512i x, unsigned n) { return _mm512_maskz_slli_epi64(every, x, n); }
GDR_AVX512 inline __m512i down(__m512i x, unsigned n) {
  return _mm512_maskz_srli_epi64(every, x, n);
}
GDR_AVX512 inline __m512i add(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }

GDR_AVX512 inline __m512i long_to_double(__m512i upper, __m512i lower) {
  const __m512i cut = _mm512_or_epi64(up(upper, short_shift), down(lower, 8));
  const __m512i rest = _mm512_and_epi64(lower, all(255));
  const __m512i odd = _mm512_and_epi64(cut, all(1));
  const __m512i raise = down(add(add(rest, all(127)), odd), 8);
  const __mmask8 special =
      _mm512_cmpeq_epi64_mask(_mm512_and_epi64(cut, all(infinity)), all(infinity));
  const __m512i some = down(add(rest, all(255)), 8);
  const __m512i rounded = add(cut, raise);
  return _mm512_mask_or_epi64(rounded, special, cut, some);
}

/// port::canonical.
GDR_AVX512 inline __m512i canonical(__m512i bits) {
  const __m512i magnitude = _mm512_and_epi64(bits, all(~sign_bit));
  const __mmask8 zero = _mm512_cmplt_epu64_mask(magnitude, all(min_normal));
  const __mmask8 nan = _mm512_cmpgt_epu64_mask(magnitude, all(infinity));
  bits = _mm512_mask_and_epi64(bits, zero, bits, all(sign_bit));
  return _mm512_mask_mov_epi64(bits, nan, all(quiet_nan));
}

GDR_AVX512 inline __m512i lane_of(WordType type, __m512i upper, __m512i lower) {
  if (is_long(type)) return long_to_double(upper, lower);
  return type == WordType::Mask ? lower : up(lower, short_shift);
}

/// The only short of a word, or of a long the upper one.
GDR_AVX512 inline __m512i upper_of(WordType type, __m512i lane) {
  if (type == WordType::Mask) return lane;
  if (type == WordType::Short) {
    const __m512i odd = _mm512_and_epi64(down(lane, short_shift), all(1));
    lane = add(add(lane, all((std::uint64_t{1} << (short_shift - 1)) - 1)), odd);
  }
  return down(lane, short_shift);
}

/// Lanes of the PEs from `first` on, at most eight.
inline __mmask8 live_lanes(std::size_t first, std::size_t live) {
  return live - first >= 8 ? every : static_cast<__mmask8>((1U << (live - first)) - 1);
}

GDR_AVX512 inline __m512i load(const std::array<std::uint64_t, 8>& words) {
  return _mm512_loadu_si512(words.data());
}

/// port::int_to_short, at the top of 64 bits.
GDR_AVX512 inline __m512i short_integer(__m512i value) {
  constexpr std::int64_t largest = (std::int64_t{1} << 35) - 1;
  value = _mm512_maskz_min_epi64(every, value, _mm512_set1_epi64(largest));
  value = _mm512_maskz_max_epi64(every, value, _mm512_set1_epi64(-largest - 1));
  return up(value, short_shift);
}

/// Doubles rounded to floats, in the lanes of a mask; the others are zero and raise no exception.
GDR_AVX512 inline __m256i to_floats(__mmask8 lanes, __m512i doubles) {
  return _mm256_castps_si256(_mm512_maskz_cvtpd_ps(lanes, _mm512_castsi512_pd(doubles)));
}

/// What doubles have beyond the floats next to them, as floats, in the lanes of a mask.
GDR_AVX512 inline __m256i rests_to_floats(__mmask8 lanes, __m512i doubles, __m256i floats) {
  const __m512d near = _mm512_maskz_cvtps_pd(lanes, _mm256_castsi256_ps(floats));
  const __m512d rest = _mm512_maskz_sub_pd(lanes, _mm512_castsi512_pd(doubles), near);
  return to_floats(lanes, _mm512_castpd_si512(rest));
}

/// The lanes of a mask whose integers exceed 32 bits.
GDR_AVX512 inline __mmask8 long_integers(__mmask8 lanes, __m512i integers) {
  const __m512i wide =
      _mm512_maskz_cvtepi32_epi64(every, _mm512_maskz_cvtepi64_epi32(every, integers));
  return _mm512_mask_cmpneq_epi64_mask(lanes, wide, integers);
}

}  // namespace gdr::native::avx512

#endif
