#include "emulator/engine/native/group_lanes.hpp"

#include <algorithm>

#include "emulator/engine/native/graph.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::native {

GroupLanes::GroupLanes(std::span<const GroupWord> words, std::uint32_t from_words)
    : from_words_(from_words), to_words_(static_cast<std::uint32_t>(words.size())) {
  for (std::uint32_t w = 0; w < words.size(); ++w) {
    const std::uint32_t lane = w % 8, part_first = words[w].from / 8 * 8;
    const auto bit = static_cast<std::uint8_t>(1U << lane);
    if (lane == 0) {
      chunks_.emplace_back().first = w;
      chunks_.back().keep.fill(~std::uint64_t{0});
    }
    Chunk& chunk = chunks_.back();
    chunk.lanes |= bit;
    if (words[w].conversion == WordConversion::Integer) chunk.integers |= bit;
    if (words[w].conversion == WordConversion::Short) {
      chunk.half[lane] = (std::uint64_t{1} << (short_shift - 1)) - 1;
      chunk.odd[lane] = 1;
      chunk.keep[lane] = short_mask;
    }
    auto part = std::ranges::find(chunk.parts, part_first, &Part::first);
    if (part == chunk.parts.end()) {
      const std::uint32_t count = std::min(8U, from_words - part_first);
      part = chunk.parts.insert(part,
                                {part_first, static_cast<std::uint8_t>((1U << count) - 1), 0, {}});
    }
    part->taken |= bit;
    part->index[lane] = words[w].from - part_first;
  }
}

#if defined(__x86_64__)

#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

namespace {

GDR_AVX512 __m512i all(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);
constexpr __mmask8 every = 0xff;

/// port::canonical.
GDR_AVX512 __m512i canonical(__m512i bits) {
  const __m512i magnitude = _mm512_and_epi64(bits, all(~sign_bit));
  const __mmask8 zero = _mm512_cmplt_epu64_mask(magnitude, all(std::uint64_t{1} << 52));
  const __mmask8 nan = _mm512_cmpgt_epu64_mask(magnitude, all(infinity));
  bits = _mm512_mask_and_epi64(bits, zero, bits, all(sign_bit));
  return _mm512_mask_mov_epi64(bits, nan, all(quiet_nan));
}

GDR_AVX512 __m512i load(const std::array<std::uint64_t, 8>& words) {
  return _mm512_loadu_si512(words.data());
}

/// port::int_to_short, likewise.
GDR_AVX512 __m512i short_integer(__m512i value) {
  constexpr std::int64_t most = (std::int64_t{1} << 35) - 1;
  value = _mm512_maskz_min_epi64(every, value, _mm512_set1_epi64(most));
  value = _mm512_maskz_max_epi64(every, value, _mm512_set1_epi64(-most - 1));
  return _mm512_maskz_slli_epi64(every, value, short_shift);
}

}  // namespace

/// `count`: parts of the chunk that stay in registers; the others, where there are any, do not.
template <unsigned count>
GDR_AVX512 void GroupLanes::convert_chunk(const Chunk& chunk, const std::uint64_t* from,
                                          std::size_t n, std::uint64_t* to) const noexcept {
  static_assert(count == 1 || count == 2);
  const Part& first = chunk.parts[0];
  const Part& second = chunk.parts[count - 1];
  const bool others = chunk.parts.size() > count;
  // Of two parts, words 8 to 15 are the second one's.
  const __m512i from_first = load(first.index);
  const __m512i index =
      count == 1 ? from_first
                 : _mm512_mask_add_epi64(from_first, second.taken, load(second.index), all(8));
  const __m512i half = load(chunk.half), odd = load(chunk.odd), keep = load(chunk.keep);
  // Copies: a store to the lanes might change the chunk, for all that the compiler knows.
  const std::uint64_t *in = from + first.first, *in_second = from + second.first;
  const __mmask8 there = first.there, there_second = second.there;
  const __mmask8 lanes = chunk.lanes, integers = chunk.integers;
  const std::size_t step = from_words_, to_step = to_words_;
  to += chunk.first;
  for (std::size_t g = 0; g < n; ++g, in += step, in_second += step, to += to_step) {
    const __m512i words = _mm512_maskz_loadu_epi64(there, in);
    __m512i raw = count == 1 ? _mm512_maskz_permutexvar_epi64(every, index, words)
                             : _mm512_permutex2var_epi64(
                                   words, index, _mm512_maskz_loadu_epi64(there_second, in_second));
    if (others) {
      for (std::size_t p = count; p < chunk.parts.size(); ++p) {
        const Part& part = chunk.parts[p];
        raw = _mm512_mask_permutexvar_epi64(
            raw, part.taken, load(part.index),
            _mm512_maskz_loadu_epi64(part.there, from + g * step + part.first));
      }
    }
    // port::double_to_short, at the top of 64 bits, where lanes are shorts.
    const __m512i number = canonical(raw);
    const __m512i last = _mm512_and_epi64(_mm512_maskz_srli_epi64(every, number, short_shift), odd);
    __m512i lane = _mm512_and_epi64(_mm512_add_epi64(_mm512_add_epi64(number, half), last), keep);
    if (integers != 0) lane = _mm512_mask_mov_epi64(lane, integers, short_integer(raw));
    _mm512_mask_storeu_epi64(to, lanes, lane);
  }
}

void GroupLanes::convert(const std::uint64_t* from, std::size_t n,
                         std::uint64_t* to) const noexcept {
  // Some groups at a time stay in the first cache for all chunks.
  constexpr std::size_t at_once = 64;
  for (; n > 0;
       n -= std::min(n, at_once), from += at_once * from_words_, to += at_once * to_words_) {
    for (const Chunk& chunk : chunks_) {
      const std::size_t some = std::min(n, at_once);
      if (chunk.parts.size() == 1)
        convert_chunk<1>(chunk, from, some, to);
      else
        convert_chunk<2>(chunk, from, some, to);
    }
  }
}

#else

void GroupLanes::convert(const std::uint64_t*, std::size_t, std::uint64_t*) const noexcept {}

#endif

}  // namespace gdr::native
