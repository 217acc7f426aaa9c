#include "emulator/engine/native/words/conversion_avx512.hpp"

#include <cstddef>
#include <cstdint>

#include "emulator/engine/native/words/vectors_avx512.hpp"

namespace gdr::native {

#if defined(__x86_64__)

namespace {

using namespace avx512;

/// A row of words to lanes of floats, 16 for each vector.
GDR_AVX512 bool row_to_floats(const RowTransfer& t, const BlockState& block,
                              const WorkItems& items) noexcept {
  const WordType type = t.key.type;
  const std::uint64_t* const upper = t.cell.in(block);
  const std::uint64_t* const lower = is_long(type) ? upper + block.pes : upper;
  std::byte* to = items.place(t);
  __mmask8 lost = 0;
  const auto eight = [&](std::size_t pe) GDR_AVX512 {
    if (pe >= items.live) return _mm256_setzero_si256();
    const __mmask8 some = live_lanes(pe, items.live);
    const __m512i high = _mm512_maskz_loadu_epi64(some, upper + pe);
    if (is_number(type)) {
      const __m512i wide =
          canonical(lane_of(type, high, _mm512_maskz_loadu_epi64(some, lower + pe)));
      const __m256i narrow = to_floats(every, wide);
      return type == WordType::LongRest ? rests_to_floats(every, wide, narrow) : narrow;
    }
    const __m512i integer = _mm512_maskz_srai_epi64(every, up(high, short_shift), short_shift);
    if (type != WordType::Mask) lost |= long_integers(some, integer);
    return _mm512_maskz_cvtepi64_epi32(every, integer);
  };
  for (std::size_t pe = 0; pe < items.live; pe += 16, to += items.bytes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), eight(pe));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, eight(pe + 8));
  }
  return lost == 0;
}

/// Eight lanes of doubles to the words of PEs from `pe` on.
GDR_AVX512 void store_words(const RowTransfer& t, __m512i raw, std::size_t pe, std::size_t live,
                            BlockState& block) noexcept {
  const WordType type = t.key.type;
  std::uint64_t* const upper = t.cell.in(block) + pe;
  const __mmask8 some = live_lanes(pe, live);
  const bool number = type == WordType::Long || type == WordType::Short;
  const __m512i lane = number ? canonical(raw) : raw;
  _mm512_mask_storeu_epi64(upper, some, upper_of(type, lane));
  if (type != WordType::Long) return;
  _mm512_mask_storeu_epi64(upper + block.pes, some,
                           up(_mm512_and_epi64(lane, all(~short_mask)), 8));
}

/// Eight lanes of floats as lanes of doubles.
GDR_AVX512 __m512i widen(WordType type, const std::byte* from) {
  const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  if (type == WordType::Long || type == WordType::Short)
    return _mm512_castpd_si512(_mm512_maskz_cvtps_pd(every, _mm256_castsi256_ps(narrow)));
  const __m512i integer = _mm512_maskz_cvtepi32_epi64(every, narrow);
  return type == WordType::Mask ? integer : up(integer, short_shift);
}

}  // namespace

GDR_AVX512 bool rows_to_lanes_avx512(std::span<const RowTransfer> rows, Precision precision,
                                     const BlockState& block, const WorkItems& items) noexcept {
  if (precision == Precision::Float) {
    bool fits = true;
    for (const RowTransfer& t : rows)
      if (!t.outside_state()) fits &= row_to_floats(t, block, items);
    return fits;
  }
  for (const RowTransfer& t : rows) {
    if (t.outside_state()) continue;
    const std::uint64_t* const upper = t.cell.in(block);
    const std::uint64_t* const lower = t.key.type == WordType::Long ? upper + block.pes : upper;
    std::byte* to = items.place(t);
    for (std::size_t pe = 0; pe < items.live; pe += 8, to += items.bytes) {
      if (t.key.type == WordType::LongRest) {
        _mm512_storeu_si512(to, _mm512_setzero_si512());
        continue;
      }
      const __mmask8 some = live_lanes(pe, items.live);
      _mm512_storeu_si512(to, lane_of(t.key.type, _mm512_maskz_loadu_epi64(some, upper + pe),
                                      _mm512_maskz_loadu_epi64(some, lower + pe)));
    }
  }
  return true;
}

GDR_AVX512 void lanes_to_rows_avx512(std::span<const RowTransfer> rows, Precision precision,
                                     const WorkItems& items, BlockState& block) noexcept {
  const bool floats = precision == Precision::Float;
  const std::size_t lanes = floats ? 16 : 8;
  for (const RowTransfer& t : rows) {
    if (t.outside_state()) continue;
    const std::byte* from = items.place(t);
    for (std::size_t pe = 0; pe < items.live; pe += lanes, from += items.bytes) {
      if (!floats) {
        store_words(t, _mm512_loadu_si512(from), pe, items.live, block);
        continue;
      }
      store_words(t, widen(t.key.type, from), pe, items.live, block);
      if (pe + 8 < items.live)
        store_words(t, widen(t.key.type, from + 8 * sizeof(float)), pe + 8, items.live, block);
    }
  }
}

#else

bool rows_to_lanes_avx512(std::span<const RowTransfer>, Precision, const BlockState&,
                          const WorkItems&) noexcept {
  return false;
}
void lanes_to_rows_avx512(std::span<const RowTransfer>, Precision, const WorkItems&,
                          BlockState&) noexcept {}

#endif

}  // namespace gdr::native
