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
    if (lane == 0) chunks_.push_back({w, 0, 0, 0, {}});
    Chunk& chunk = chunks_.back();
    chunk.lanes |= bit;
    if (words[w].way == WordWay::Short) chunk.shorts |= bit;
    if (words[w].way == WordWay::Integer) chunk.integers |= bit;
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

/// port::canonical, of the lanes in `numbers`.
GDR_AVX512 __m512i canonical(__m512i bits, __mmask8 numbers) {
  const __m512i magnitude = _mm512_and_epi64(bits, all(~sign_bit));
  const __mmask8 zero =
      _mm512_mask_cmplt_epu64_mask(numbers, magnitude, all(std::uint64_t{1} << 52));
  const __mmask8 nan = _mm512_mask_cmpgt_epu64_mask(numbers, magnitude, all(infinity));
  bits = _mm512_mask_and_epi64(bits, zero, bits, all(sign_bit));
  return _mm512_mask_mov_epi64(bits, nan, all(quiet_nan));
}

/// port::double_to_short, at the top of 64 bits.
GDR_AVX512 __m512i rounded(__m512i bits) {
  const __m512i odd = _mm512_and_epi64(_mm512_maskz_srli_epi64(every, bits, short_shift), all(1));
  const __m512i half = all((std::uint64_t{1} << (short_shift - 1)) - 1);
  return _mm512_and_epi64(_mm512_add_epi64(_mm512_add_epi64(bits, half), odd), all(short_mask));
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
  // Copies: a store to the lanes might change the chunk, for all that the compiler knows.
  __m512i index[count];
  __mmask8 there[count], taken[count];
  const std::uint64_t* in[count];
  for (unsigned p = 0; p < count; ++p) {
    const Part& part = chunk.parts[p];
    index[p] = _mm512_loadu_si512(part.index.data());
    there[p] = part.there;
    taken[p] = part.taken;
    in[p] = from + part.first;
  }
  const __mmask8 lanes = chunk.lanes, shorts = chunk.shorts, integers = chunk.integers;
  const auto numbers = static_cast<__mmask8>(lanes & ~integers);
  const bool others = chunk.parts.size() > count;
  const std::size_t step = from_words_, to_step = to_words_;
  to += chunk.first;
  for (std::size_t g = 0; g < n; ++g, to += to_step) {
    __m512i raw = _mm512_setzero_si512();
    for (unsigned p = 0; p < count; ++p)
      raw = _mm512_mask_permutexvar_epi64(raw, taken[p], index[p],
                                          _mm512_maskz_loadu_epi64(there[p], in[p] + g * step));
    if (others) {
      for (std::size_t p = count; p < chunk.parts.size(); ++p) {
        const Part& part = chunk.parts[p];
        raw = _mm512_mask_permutexvar_epi64(
            raw, part.taken, _mm512_loadu_si512(part.index.data()),
            _mm512_maskz_loadu_epi64(part.there, from + g * step + part.first));
      }
    }
    __m512i lane = canonical(raw, numbers);
    if (shorts != 0) lane = _mm512_mask_mov_epi64(lane, shorts, rounded(lane));
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
