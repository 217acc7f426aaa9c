// Eight machine words at a time. The same as words.cpp, in the instructions of one host.
#include "emulator/engine/native/words.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

namespace gdr::native {
namespace {

GDR_AVX512 __m512i all(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);

/// The zero-masked forms (all lanes on): the plain ones warn of their own undefined vectors.
constexpr __mmask8 lanes = 0xff;

GDR_AVX512 __m512i up(__m512i x, unsigned n) { return _mm512_maskz_slli_epi64(lanes, x, n); }
GDR_AVX512 __m512i down(__m512i x, unsigned n) { return _mm512_maskz_srli_epi64(lanes, x, n); }
GDR_AVX512 __m512i add(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }

GDR_AVX512 __m512i long_to_double(__m512i upper, __m512i lower) {
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

GDR_AVX512 __m512i canonical(__m512i bits) {
  const __m512i magnitude = _mm512_and_epi64(bits, all(~sign_bit));
  const __mmask8 zero = _mm512_cmplt_epu64_mask(magnitude, all(std::uint64_t{1} << 52));
  const __mmask8 nan = _mm512_cmpgt_epu64_mask(magnitude, all(infinity));
  bits = _mm512_mask_and_epi64(bits, zero, bits, all(sign_bit));
  return _mm512_mask_mov_epi64(bits, nan, all(quiet_nan));
}

}  // namespace

GDR_AVX512 void eight_words_to_lanes(Take take, const std::uint64_t* upper,
                                     const std::uint64_t* lower, std::byte* to) noexcept {
  const __m512i low = _mm512_loadu_si512(lower);
  __m512i lane = low;
  if (take == Take::Long) {
    lane = long_to_double(_mm512_loadu_si512(upper), low);
  } else if (take != Take::Mask) {
    lane = up(low, short_shift);
  }
  _mm512_storeu_si512(to, lane);
}

GDR_AVX512 void eight_lanes_to_words(Take take, const std::byte* from, WordsOut to) noexcept {
  const __m512i lane = _mm512_loadu_si512(from);
  if (take == Take::Long) {
    const __m512i word = canonical(lane);
    _mm512_storeu_si512(to.upper, down(word, short_shift));
    _mm512_storeu_si512(to.lower, up(_mm512_and_epi64(word, all(~short_mask)), 8));
    return;
  }
  __m512i word = lane;
  if (take == Take::Short) {
    word = canonical(lane);
    const __m512i odd = _mm512_and_epi64(down(word, short_shift), all(1));
    word = add(add(word, all((std::uint64_t{1} << (short_shift - 1)) - 1)), odd);
  }
  _mm512_storeu_si512(to.upper, take == Take::Mask ? word : down(word, short_shift));
}

}  // namespace gdr::native

#else

namespace gdr::native {

void eight_words_to_lanes(Take take, const std::uint64_t* upper, const std::uint64_t* lower,
                          std::byte* to) noexcept {
  words_to_lanes(take, Precision::Double, {upper, lower, 1}, 8, to, 8);
}
void eight_lanes_to_words(Take take, const std::byte* from, WordsOut to) noexcept {
  lanes_to_words(take, Precision::Double, from, 8, to);
}

}  // namespace gdr::native

#endif
