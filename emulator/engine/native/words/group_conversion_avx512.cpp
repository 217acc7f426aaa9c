#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/words/group_conversion.hpp"
#include "emulator/engine/native/words/vectors_avx512.hpp"

namespace gdr::native {

#if defined(__x86_64__)

namespace {

using namespace avx512;

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
  /// Eight lanes of a group.
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

  void set_conversion(Chunk& chunk, std::uint32_t lane, WordConversion conversion) const;
  void set_source(Chunk& chunk, std::uint32_t lane, std::uint32_t from) const;
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
  for (std::uint32_t w = 0; w < layout.words.size(); ++w) {
    const std::uint32_t lane = w % 8;
    if (lane == 0) {
      chunks_.emplace_back().first = w;
      chunks_.back().keep.fill(~std::uint64_t{0});
    }
    set_conversion(chunks_.back(), lane, layout.words[w].conversion);
    set_source(chunks_.back(), lane, layout.words[w].from);
  }
}

void GroupLanes::set_conversion(Chunk& chunk, std::uint32_t lane, WordConversion conversion) const {
  const auto bit = static_cast<std::uint8_t>(1U << lane);
  chunk.lanes |= bit;
  chunk.compared[lane] = ~sign_bit;
  chunk.offset[lane] = -min_normal;
  chunk.greatest[lane] = infinity - min_normal;
  if (conversion == WordConversion::Integer) {
    constexpr std::uint64_t half = std::uint64_t{1} << 35;
    chunk.integers |= bit;
    chunk.compared[lane] = ~std::uint64_t{0};
    chunk.offset[lane] = half;
    chunk.greatest[lane] = 2 * half - 1;
    chunk.shift[lane] = short_shift;
  }
  if (conversion == WordConversion::Rest) {
    chunk.rests |= bit;
    if (precision_ == Precision::Double) {
      chunk.keep[lane] = 0;
      chunk.rounds = true;
    }
  }
  if (conversion == WordConversion::Short) {
    chunk.half[lane] = (std::uint64_t{1} << (short_shift - 1)) - 1;
    chunk.odd[lane] = 1;
    chunk.keep[lane] = short_mask;
    chunk.rounds = true;
  }
}

/// Lets a lane read a word of the records.
void GroupLanes::set_source(Chunk& chunk, std::uint32_t lane, std::uint32_t from) const {
  const std::uint32_t part_first = from / 8 * 8;
  auto part = std::ranges::find(chunk.parts, part_first, &Part::first);
  if (part == chunk.parts.end()) {
    const std::uint32_t count = std::min(8U, from_words_ - part_first);
    part =
        chunk.parts.insert(part, {part_first, static_cast<std::uint8_t>((1U << count) - 1), 0, {}});
  }
  part->lanes |= static_cast<std::uint8_t>(1U << lane);
  part->index[lane] = from - part_first;
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

}  // namespace

std::unique_ptr<GroupConversion> make_avx512_group_conversion(const GroupLayout& layout) {
  return std::make_unique<GroupLanes>(layout);
}

#else

std::unique_ptr<GroupConversion> make_avx512_group_conversion(const GroupLayout&) {
  return nullptr;
}

#endif

}  // namespace gdr::native
