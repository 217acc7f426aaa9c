// Conversion of groups four lanes at a time, on hosts with AVX2.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/engine/native/words/group_conversion.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::native {

#if defined(__x86_64__)

#define GDR_AVX2 __attribute__((target("avx2")))

namespace {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t quiet_nan = infinity | (std::uint64_t{1} << 51);

using Quad = std::array<std::uint64_t, 4>;

GDR_AVX2 inline __m256i all(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}
GDR_AVX2 inline __m256i load(const std::uint64_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
GDR_AVX2 inline __m256i load(const Quad& quad) { return load(quad.data()); }

/// `yes` in the lanes of a mask of all ones, else `no`.
GDR_AVX2 inline __m256i choose(__m256i mask, __m256i yes, __m256i no) {
  return _mm256_blendv_epi8(no, yes, mask);
}

/// port::canonical.
GDR_AVX2 inline __m256i canonical(__m256i bits) {
  const __m256i magnitude = _mm256_and_si256(bits, all(~sign_bit));
  const __m256i zero = _mm256_cmpgt_epi64(all(std::uint64_t{1} << 52), magnitude);
  const __m256i nan = _mm256_cmpgt_epi64(magnitude, all(infinity));
  bits = choose(zero, _mm256_and_si256(bits, all(sign_bit)), bits);
  return choose(nan, all(quiet_nan), bits);
}

/// port::int_to_short, at the top of 64 bits.
GDR_AVX2 inline __m256i short_integer(__m256i value) {
  constexpr long long largest = (1LL << 35) - 1;
  const __m256i high = _mm256_set1_epi64x(largest), low = _mm256_set1_epi64x(-largest - 1);
  value = choose(_mm256_cmpgt_epi64(value, high), high, value);
  value = choose(_mm256_cmpgt_epi64(low, value), low, value);
  return _mm256_slli_epi64(value, short_shift);
}

/// The lower halves of four integers.
GDR_AVX2 inline __m128i lower_halves(__m256i value) {
  return _mm256_castsi256_si128(
      _mm256_permutevar8x32_epi32(value, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
}

class QuadLanes final : public GroupConversion {
 public:
  explicit QuadLanes(const GroupLayout& layout)
      : from_words_(layout.from_words),
        to_words_(layout.words.size()),
        precision_(layout.precision) {
    for (std::size_t w = 0; w < to_words_; ++w) {
      const std::size_t lane = w % 4;
      if (lane == 0) {
        chunks_.emplace_back().first = w;
        chunks_.back().keep.fill(~std::uint64_t{0});
      }
      Chunk& chunk = chunks_.back();
      const GroupWord& word = layout.words[w];
      chunk.from[lane] = word.from;
      chunk.lanes[lane] = ~std::uint64_t{0};
      if (word.conversion == WordConversion::Integer) chunk.integers[lane] = ~std::uint64_t{0};
      if (word.conversion == WordConversion::Rest) {
        chunk.rests[lane] = ~std::uint64_t{0};
        if (precision_ == Precision::Double) {
          chunk.keep[lane] = 0;
          chunk.rounds = true;
        }
      }
      if (word.conversion == WordConversion::Short) {
        chunk.rounds = true;
        chunk.half[lane] = (std::uint64_t{1} << (short_shift - 1)) - 1;
        chunk.odd[lane] = 1;
        chunk.keep[lane] = short_mask;
      }
      chunk.whole = lane == 3;
      chunk.adjacent = chunk.whole && chunk.from[1] == chunk.from[0] + 1 &&
                       chunk.from[2] == chunk.from[0] + 2 && chunk.from[3] == chunk.from[0] + 3;
    }
  }

  bool convert(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept override {
    return precision_ == Precision::Float ? convert_chunks<float>(from, n, to)
                                          : convert_chunks<double>(from, n, to);
  }

 private:
  /// Four lanes. `half`, `odd` and `keep` round to shorts: half of the last place, the bit of that
  /// place, and the mask of kept bits; neutral in other lanes.
  struct Chunk {
    std::size_t first = 0;
    Quad from{}, lanes{}, integers{}, rests{}, half{}, odd{}, keep{};
    bool rounds = false;    ///< whether one of these is not neutral
    bool whole = false;     ///< whether there are four lanes, not fewer
    bool adjacent = false;  ///< whether they are read from adjacent words
  };

  template <typename Lane>
  bool convert_chunks(const std::uint64_t* from, std::size_t n, std::byte* to) const noexcept {
    // Some groups at a time stay in the first cache for all chunks.
    constexpr std::size_t at_once = 64;
    bool fits = true;
    for (std::size_t g = 0; g < n; g += at_once)
      for (const Chunk& chunk : chunks_) {
        const auto with = [&]<bool rounds>() {
          return convert_chunk<rounds, Lane>(chunk, from + g * from_words_,
                                             std::min(n - g, at_once),
                                             to + g * to_words_ * sizeof(Lane));
        };
        fits &= chunk.rounds ? with.template operator()<true>() : with.template operator()<false>();
      }
    return fits;
  }

  /// `rounds`: as in the chunk.
  template <bool rounds, typename Lane>
  GDR_AVX2 bool convert_chunk(const Chunk& chunk, const std::uint64_t* from, std::size_t n,
                              std::byte* to) const noexcept {
    const __m256i index = load(chunk.from), lanes = load(chunk.lanes);
    const __m256i integers = load(chunk.integers), half = load(chunk.half);
    const __m256i odd = load(chunk.odd), keep = load(chunk.keep);
    const __m256i numbers = _mm256_andnot_si256(integers, lanes);
    const bool whole = chunk.whole, adjacent = chunk.adjacent;
    const __m256i rests = load(chunk.rests);
    const bool any_integer = _mm256_testz_si256(integers, integers) == 0;
    const bool any_rest = _mm256_testz_si256(rests, rests) == 0;
    const std::size_t to_step = to_words_ * sizeof(Lane), step = from_words_;
    const std::uint64_t* const words = from + (adjacent ? chunk.from[0] : 0);
    __m256i lost = _mm256_setzero_si256();
    to += chunk.first * sizeof(Lane);
    for (std::size_t g = 0; g < n; ++g, to += to_step) {
      const __m256i raw =
          adjacent ? load(words + g * step)
                   : _mm256_i64gather_epi64(reinterpret_cast<const long long*>(words + g * step),
                                            index, sizeof(std::uint64_t));
      __m256i lane = canonical(raw);
      if constexpr (rounds) {
        const __m256i last = _mm256_and_si256(_mm256_srli_epi64(lane, short_shift), odd);
        lane = _mm256_and_si256(_mm256_add_epi64(_mm256_add_epi64(lane, half), last), keep);
      }
      if constexpr (sizeof(Lane) == sizeof(double)) {
        if (any_integer) lane = choose(integers, short_integer(raw), lane);
        if (whole)
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), lane);
        else
          _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), lanes, lane);
      } else {
        // Zeros in other lanes raise no exception.
        const __m256d wanted = _mm256_castsi256_pd(_mm256_and_si256(lane, numbers));
        __m128i narrow = _mm_castps_si128(_mm256_cvtpd_ps(wanted));
        if (any_rest) {
          const __m256d of_rests = _mm256_and_pd(wanted, _mm256_castsi256_pd(rests));
          const __m256d near = _mm256_cvtps_pd(_mm256_cvtpd_ps(of_rests));
          const __m128 rest = _mm256_cvtpd_ps(_mm256_sub_pd(of_rests, near));
          narrow = _mm_blendv_epi8(narrow, _mm_castps_si128(rest), lower_halves(rests));
        }
        if (any_integer) {
          const __m128i lower = lower_halves(raw);
          const __m256i wide = _mm256_cvtepi32_epi64(lower);
          lost = _mm256_or_si256(lost, _mm256_and_si256(integers, _mm256_xor_si256(wide, raw)));
          narrow = _mm_blendv_epi8(narrow, lower, lower_halves(integers));
        }
        if (whole)
          _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrow);
        else
          _mm_maskstore_epi32(reinterpret_cast<int*>(to), lower_halves(lanes), narrow);
      }
    }
    return _mm256_testz_si256(lost, lost) != 0;
  }

  std::vector<Chunk> chunks_;
  std::size_t from_words_, to_words_;
  Precision precision_;
};

}  // namespace

std::unique_ptr<GroupConversion> make_avx2_group_conversion(const GroupLayout& layout) {
  return std::make_unique<QuadLanes>(layout);
}

#else

std::unique_ptr<GroupConversion> make_avx2_group_conversion(const GroupLayout&) { return nullptr; }

#endif

}  // namespace gdr::native
