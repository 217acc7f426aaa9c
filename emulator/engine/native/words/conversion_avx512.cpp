#include "emulator/engine/native/words/conversion_avx512.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/words/group_conversion.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::native {

#if defined(__x86_64__)

#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

namespace {

GDR_AVX512 __m512i all(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t least_normal = std::uint64_t{1} << 52;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);

/// For zero-masked forms: GCC warns about undefined vectors inside the plain ones.
constexpr __mmask8 every = 0xff;

GDR_AVX512 __m512i up(__m512i x, unsigned n) { return _mm512_maskz_slli_epi64(every, x, n); }
GDR_AVX512 __m512i down(__m512i x, unsigned n) { return _mm512_maskz_srli_epi64(every, x, n); }
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

/// port::canonical.
GDR_AVX512 __m512i canonical(__m512i bits) {
  const __m512i magnitude = _mm512_and_epi64(bits, all(~sign_bit));
  const __mmask8 zero = _mm512_cmplt_epu64_mask(magnitude, all(least_normal));
  const __mmask8 nan = _mm512_cmpgt_epu64_mask(magnitude, all(infinity));
  bits = _mm512_mask_and_epi64(bits, zero, bits, all(sign_bit));
  return _mm512_mask_mov_epi64(bits, nan, all(quiet_nan));
}

GDR_AVX512 __m512i lane_of(WordType type, __m512i upper, __m512i lower) {
  if (is_long(type)) return long_to_double(upper, lower);
  return type == WordType::Mask ? lower : up(lower, short_shift);
}

/// The only short of a word, or of a long the upper one.
GDR_AVX512 __m512i upper_of(WordType type, __m512i lane) {
  if (type == WordType::Mask) return lane;
  if (type == WordType::Short) {
    const __m512i odd = _mm512_and_epi64(down(lane, short_shift), all(1));
    lane = add(add(lane, all((std::uint64_t{1} << (short_shift - 1)) - 1)), odd);
  }
  return down(lane, short_shift);
}

/// Lanes of the PEs from `first` on, at most eight.
__mmask8 live_lanes(std::size_t first, std::size_t live) {
  return live - first >= 8 ? every : static_cast<__mmask8>((1U << (live - first)) - 1);
}

GDR_AVX512 __m512i load(const std::array<std::uint64_t, 8>& words) {
  return _mm512_loadu_si512(words.data());
}

/// port::int_to_short, at the top of 64 bits.
GDR_AVX512 __m512i short_integer(__m512i value) {
  constexpr std::int64_t most = (std::int64_t{1} << 35) - 1;
  value = _mm512_maskz_min_epi64(every, value, _mm512_set1_epi64(most));
  value = _mm512_maskz_max_epi64(every, value, _mm512_set1_epi64(-most - 1));
  return up(value, short_shift);
}

/// Doubles rounded to floats, in the lanes of a mask; the others are zero and raise no exception.
GDR_AVX512 __m256i to_floats(__mmask8 lanes, __m512i doubles) {
  return _mm256_castps_si256(_mm512_maskz_cvtpd_ps(lanes, _mm512_castsi512_pd(doubles)));
}

/// What doubles have beyond the floats next to them, as floats, in the lanes of a mask.
GDR_AVX512 __m256i rests_to_floats(__mmask8 lanes, __m512i doubles, __m256i floats) {
  const __m512d near = _mm512_maskz_cvtps_pd(lanes, _mm256_castsi256_ps(floats));
  const __m512d rest = _mm512_maskz_sub_pd(lanes, _mm512_castsi512_pd(doubles), near);
  return to_floats(lanes, _mm512_castpd_si512(rest));
}

/// The lanes of a mask whose integers exceed 32 bits.
GDR_AVX512 __mmask8 long_integers(__mmask8 lanes, __m512i integers) {
  const __m512i wide =
      _mm512_maskz_cvtepi32_epi64(every, _mm512_maskz_cvtepi64_epi32(every, integers));
  return _mm512_mask_cmpneq_epi64_mask(lanes, wide, integers);
}

/// A permutation of words to eight lanes at a time.
class GroupLanes final : public GroupConversion {
 public:
  explicit GroupLanes(const GroupLayout& layout);
  bool convert(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept override;

 private:
  /// Eight consecutive words of the records.
  struct Part {
    std::uint32_t first = 0;
    std::uint8_t valid = 0;  ///< mask of valid words
    std::uint8_t lanes = 0;  ///< mask of lanes read from them
    std::array<std::uint64_t, 8> index{};
  };
  /// Eight lanes.
  struct Chunk {
    std::uint32_t first = 0;
    std::uint8_t lanes = 0, integers = 0, rests = 0;
    /// Constants for rounding to shorts: half of the last place, the bit of that place, and the
    /// mask of kept bits; neutral in other lanes.
    std::array<std::uint64_t, 8> half{}, odd{}, keep{};
    bool rounds = false;  ///< whether a constant is not neutral
    /// Of lanes of doubles without rounding: words stay as they are, integers after a shift, unless
    /// they are not zero and (word & compared) + offset is greater than `greatest`.
    std::array<std::uint64_t, 8> compared{}, offset{}, greatest{}, shift{};
    std::vector<Part> parts;

    /// Whether move_chunk may convert it.
    bool moves() const noexcept { return !rounds && parts.size() <= 2; }
    bool is_whole() const noexcept {
      return lanes == every && parts.front().valid == every && parts.back().valid == every;
    }
  };

  /// Words 8 to 15 of the permutation are those of the second part.
  GDR_AVX512 static __m512i index_of_two(const Part& first, const Part& second) {
    return _mm512_mask_add_epi64(load(first.index), second.lanes, load(second.index), all(8));
  }
  template <typename Lane>
  bool convert_chunks(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept;
  template <bool all_lanes>
  bool move_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                  std::byte* to) const noexcept;
  template <unsigned count, bool rounds, typename Lane>
  bool convert_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                     std::byte* to) const noexcept;

  std::vector<Chunk> chunks_;
  std::uint32_t from_words_, to_words_;
  Precision precision_;
};

GroupLanes::GroupLanes(const GroupLayout& layout)
    : from_words_(layout.from_words),
      to_words_(static_cast<std::uint32_t>(layout.words.size())),
      precision_(layout.precision) {
  const std::span<const GroupWord> words = layout.words;
  for (std::uint32_t w = 0; w < words.size(); ++w) {
    const std::uint32_t lane = w % 8, part_first = words[w].from / 8 * 8;
    const auto bit = static_cast<std::uint8_t>(1U << lane);
    if (lane == 0) {
      chunks_.emplace_back().first = w;
      chunks_.back().keep.fill(~std::uint64_t{0});
    }
    Chunk& chunk = chunks_.back();
    chunk.lanes |= bit;
    chunk.compared[lane] = ~sign_bit;
    chunk.offset[lane] = -least_normal;
    chunk.greatest[lane] = infinity - least_normal;
    if (words[w].conversion == WordConversion::Integer) {
      constexpr std::uint64_t half = std::uint64_t{1} << 35;
      chunk.integers |= bit;
      chunk.compared[lane] = ~std::uint64_t{0};
      chunk.offset[lane] = half;
      chunk.greatest[lane] = 2 * half - 1;
      chunk.shift[lane] = short_shift;
    }
    if (words[w].conversion == WordConversion::Rest) {
      chunk.rests |= bit;
      if (precision_ == Precision::Double) {
        chunk.keep[lane] = 0;
        chunk.rounds = true;
      }
    }
    if (words[w].conversion == WordConversion::Short) {
      chunk.half[lane] = (std::uint64_t{1} << (short_shift - 1)) - 1;
      chunk.odd[lane] = 1;
      chunk.keep[lane] = short_mask;
      chunk.rounds = true;
    }
    auto part = std::ranges::find(chunk.parts, part_first, &Part::first);
    if (part == chunk.parts.end()) {
      const std::uint32_t count = std::min(8U, from_words_ - part_first);
      part = chunk.parts.insert(part,
                                {part_first, static_cast<std::uint8_t>((1U << count) - 1), 0, {}});
    }
    part->lanes |= bit;
    part->index[lane] = words[w].from - part_first;
  }
}

/// Lanes of doubles of a chunk with at most two parts and without rounding. False if a word changes
/// by more than the shift: a subnormal, NaN, or an integer beyond the range of shorts. `all_lanes`:
/// all words of the parts are valid, and all lanes of the chunk are stored.
template <bool all_lanes>
GDR_AVX512 bool GroupLanes::move_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                                       std::byte* to) const noexcept {
  const Part &first = chunk.parts.front(), &second = chunk.parts.back();
  const __m512i index = index_of_two(first, second);
  const __m512i compared = load(chunk.compared), offset = load(chunk.offset);
  const __m512i greatest = load(chunk.greatest), shift = load(chunk.shift);
  // Copies, because the compiler assumes that a store to the lanes may change the chunk.
  const std::uint64_t *in = from + first.first, *in_second = from + second.first;
  const __mmask8 valid = first.valid, valid_second = second.valid, lanes = chunk.lanes;
  const std::size_t step = from_words_, to_step = to_words_ * sizeof(double);
  __mmask8 changed = 0;
  to += chunk.first * sizeof(double);
  for (std::size_t g = 0; g < n; ++g, in += step, in_second += step, to += to_step) {
    const __m512i words = _mm512_permutex2var_epi64(
        _mm512_maskz_loadu_epi64(all_lanes ? every : valid, in), index,
        _mm512_maskz_loadu_epi64(all_lanes ? every : valid_second, in_second));
    const __m512i bits = _mm512_and_epi64(words, compared);
    const __mmask8 not_zero = _mm512_test_epi64_mask(bits, bits);
    changed =
        _kor_mask8(changed, _mm512_mask_cmpgt_epu64_mask(not_zero, add(bits, offset), greatest));
    const __m512i lane = _mm512_maskz_sllv_epi64(every, words, shift);
    _mm512_mask_storeu_epi64(to, all_lanes ? every : lanes, lane);
  }
  return (changed & lanes) == 0;
}

/// `count`: number of parts of the chunk whose indices stay in registers. `rounds`: as in the
/// chunk.
template <unsigned count, bool rounds, typename Lane>
GDR_AVX512 bool GroupLanes::convert_chunk(const Chunk& chunk, const std::uint64_t* from,
                                          std::size_t n, std::byte* to) const noexcept {
  static_assert(count == 1 || count == 2);
  const Part& first = chunk.parts[0];
  const Part& second = chunk.parts[count - 1];
  const bool others = chunk.parts.size() > count;
  const __m512i index = count == 1 ? load(first.index) : index_of_two(first, second);
  const __m512i half = load(chunk.half), odd = load(chunk.odd), keep = load(chunk.keep);
  // Copies, because the compiler assumes that a store to the lanes may change the chunk.
  const std::uint64_t *in = from + first.first, *in_second = from + second.first;
  const __mmask8 valid = first.valid, valid_second = second.valid;
  const __mmask8 lanes = chunk.lanes, integers = chunk.integers, rests = chunk.rests;
  const std::size_t step = from_words_, to_step = to_words_ * sizeof(Lane);
  const auto numbers = static_cast<__mmask8>(lanes & ~integers);
  __mmask8 lost = 0;
  to += chunk.first * sizeof(Lane);
  for (std::size_t g = 0; g < n; ++g, in += step, in_second += step, to += to_step) {
    const __m512i words = _mm512_maskz_loadu_epi64(valid, in);
    __m512i raw = count == 1 ? _mm512_maskz_permutexvar_epi64(every, index, words)
                             : _mm512_permutex2var_epi64(
                                   words, index, _mm512_maskz_loadu_epi64(valid_second, in_second));
    if (others) {
      for (std::size_t p = count; p < chunk.parts.size(); ++p) {
        const Part& part = chunk.parts[p];
        raw = _mm512_mask_permutexvar_epi64(
            raw, part.lanes, load(part.index),
            _mm512_maskz_loadu_epi64(part.valid, from + g * step + part.first));
      }
    }
    // port::double_to_short, at the top of 64 bits, where lanes are shorts.
    __m512i lane = canonical(raw);
    if constexpr (rounds) {
      const __m512i last = _mm512_and_epi64(down(lane, short_shift), odd);
      lane = _mm512_and_epi64(_mm512_add_epi64(_mm512_add_epi64(lane, half), last), keep);
    }
    if constexpr (sizeof(Lane) == sizeof(double)) {
      if (integers != 0) lane = _mm512_mask_mov_epi64(lane, integers, short_integer(raw));
      _mm512_mask_storeu_epi64(to, lanes, lane);
    } else {
      __m256i narrow = to_floats(numbers, lane);
      if (rests != 0)
        narrow = _mm256_mask_mov_epi32(narrow, rests, rests_to_floats(rests, lane, narrow));
      if (integers != 0) {
        narrow = _mm256_mask_mov_epi32(narrow, integers, _mm512_maskz_cvtepi64_epi32(every, raw));
        lost |= long_integers(integers, raw);
      }
      _mm256_mask_storeu_epi32(to, lanes, narrow);
    }
  }
  return lost == 0;
}

template <typename Lane>
bool GroupLanes::convert_chunks(const std::uint64_t* from, std::size_t n,
                                std::byte* to) const noexcept {
  // Some groups at a time stay in the first cache for all chunks.
  constexpr std::size_t at_once = 64;
  bool fits = true;
  for (; n > 0; n -= std::min(n, at_once), from += at_once * from_words_,
                to += at_once * to_words_ * sizeof(Lane)) {
    const std::size_t some = std::min(n, at_once);
    for (const Chunk& chunk : chunks_) {
      if (sizeof(Lane) == sizeof(double) && chunk.moves()) {
        const bool moved = chunk.is_whole() ? move_chunk<true>(chunk, from, some, to)
                                            : move_chunk<false>(chunk, from, some, to);
        if (moved) continue;
      }
      const auto with = [&]<bool rounds>() {
        return chunk.parts.size() == 1 ? convert_chunk<1, rounds, Lane>(chunk, from, some, to)
                                       : convert_chunk<2, rounds, Lane>(chunk, from, some, to);
      };
      fits &= chunk.rounds ? with.template operator()<true>() : with.template operator()<false>();
    }
  }
  return fits;
}

bool GroupLanes::convert(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept {
  return precision_ == Precision::Float ? convert_chunks<float>(from, n, to)
                                        : convert_chunks<double>(from, n, to);
}

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

std::unique_ptr<GroupConversion> make_avx512_group_conversion(const GroupLayout& layout) {
  return std::make_unique<GroupLanes>(layout);
}

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

std::unique_ptr<GroupConversion> make_avx512_group_conversion(const GroupLayout&) {
  return nullptr;
}
bool rows_to_lanes_avx512(std::span<const RowTransfer>, Precision, const BlockState&,
                          const WorkItems&) noexcept {
  return false;
}
void lanes_to_rows_avx512(std::span<const RowTransfer>, Precision, const WorkItems&,
                          BlockState&) noexcept {}

#endif

}  // namespace gdr::native
