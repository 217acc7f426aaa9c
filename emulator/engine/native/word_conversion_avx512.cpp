// The conversions of word_conversion.cpp for eight words at a time, with AVX-512.
#include "emulator/engine/native/word_conversion.hpp"

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

GDR_AVX512 __m512i lane_of(Take take, __m512i upper, __m512i lower) {
  if (take == Take::Long) return long_to_double(upper, lower);
  return take == Take::Mask ? lower : up(lower, short_shift);
}

/// The only short of a word, or of a long the upper one.
GDR_AVX512 __m512i upper_of(Take take, __m512i lane) {
  if (take == Take::Mask) return lane;
  if (take == Take::Short) {
    const __m512i odd = _mm512_and_epi64(down(lane, short_shift), all(1));
    lane = add(add(lane, all((std::uint64_t{1} << (short_shift - 1)) - 1)), odd);
  }
  return down(lane, short_shift);
}

/// Lanes of the PEs from `first` on, at most eight.
__mmask8 live_lanes(std::size_t first, std::size_t live) {
  return live - first >= 8 ? lanes : static_cast<__mmask8>((1U << (live - first)) - 1);
}

}  // namespace

GDR_AVX512 void rows_to_lanes_by_eight(std::span<const RowTransfer> rows, const BlockState& block,
                                       const WorkItems& items) noexcept {
  for (const RowTransfer& t : rows) {
    if (t.elsewhere()) continue;
    const std::uint64_t* const upper = t.cell.in(block);
    const std::uint64_t* const lower = t.key.take == Take::Long ? upper + block.pes : upper;
    std::byte* to = items.place(t);
    for (std::size_t pe = 0; pe < items.live; pe += 8, to += items.bytes) {
      const __mmask8 some = live_lanes(pe, items.live);
      _mm512_storeu_si512(to, lane_of(t.key.take, _mm512_maskz_loadu_epi64(some, upper + pe),
                                      _mm512_maskz_loadu_epi64(some, lower + pe)));
    }
  }
}

GDR_AVX512 void lanes_to_rows_by_eight(std::span<const RowTransfer> rows, const WorkItems& items,
                                       BlockState& block) noexcept {
  for (const RowTransfer& t : rows) {
    if (t.elsewhere()) continue;
    std::uint64_t* const upper = t.cell.in(block);
    const std::byte* from = items.place(t);
    const bool number = t.key.take == Take::Long || t.key.take == Take::Short;
    for (std::size_t pe = 0; pe < items.live; pe += 8, from += items.bytes) {
      const __mmask8 some = live_lanes(pe, items.live);
      const __m512i raw = _mm512_loadu_si512(from);
      const __m512i lane = number ? canonical(raw) : raw;
      _mm512_mask_storeu_epi64(upper + pe, some, upper_of(t.key.take, lane));
      if (t.key.take != Take::Long) continue;
      _mm512_mask_storeu_epi64(upper + block.pes + pe, some,
                               up(_mm512_and_epi64(lane, all(~short_mask)), 8));
    }
  }
}

}  // namespace gdr::native

#else

namespace gdr::native {

void rows_to_lanes_by_eight(std::span<const RowTransfer>, const BlockState&,
                            const WorkItems&) noexcept {}
void lanes_to_rows_by_eight(std::span<const RowTransfer>, const WorkItems&, BlockState&) noexcept {}

}  // namespace gdr::native

#endif
