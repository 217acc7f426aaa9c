#include "libgdr/device/columns.hpp"

#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr {
namespace {

constexpr unsigned max_width = 4;

/// No check.
struct NoTest {
  template <typename Value>
  void add(const Value&) noexcept {}
  static bool all_good() noexcept { return true; }
};

/// Addresses of consecutive elements, or of those with given indices.
struct Consecutive {
  const char* first;
  std::ptrdiff_t stride;  ///< bytes
  const char* operator()(std::size_t i) const noexcept {
    return first + static_cast<std::ptrdiff_t>(i) * stride;
  }
};
struct Indexed {
  const char* first;
  std::ptrdiff_t stride;  ///< bytes
  const std::int32_t* index;
  const char* operator()(std::size_t i) const noexcept { return first + index[i] * stride; }
};

/// Without an early exit, to run at memory bandwidth.
template <typename Test, typename Bits, std::size_t Width, typename From>
bool copy_values(From from, char* to, std::size_t n, std::ptrdiff_t step) noexcept {
  Test test;
  for (std::size_t i = 0; i < n; ++i, to += step) {
    std::array<Bits, Width> bits;
    std::memcpy(bits.data(), from(i), sizeof bits);
    for (const Bits value : bits) test.add(value);
    std::memcpy(to, bits.data(), sizeof bits);
  }
  return test.all_good();
}

template <typename Test, typename Value, typename To, typename From>
bool convert_values(From from, char* to, std::size_t n, std::ptrdiff_t step) noexcept {
  Test test;
  for (std::size_t i = 0; i < n; ++i, to += step) {
    Value value;
    std::memcpy(&value, from(i), sizeof value);
    test.add(value);
    const auto converted = static_cast<To>(value);
    std::memcpy(to, &converted, sizeof converted);
  }
  return test.all_good();
}

template <typename Test, typename From>
bool copy_words(unsigned width, From from, char* to, std::size_t n, std::ptrdiff_t step) noexcept {
  static_assert(max_width == 4);
  switch (width) {
    case 1:
      return copy_values<Test, std::uint64_t, 1>(from, to, n, step);
    case 2:
      return copy_values<Test, std::uint64_t, 2>(from, to, n, step);
    case 3:
      return copy_values<Test, std::uint64_t, 3>(from, to, n, step);
    default:
      return copy_values<Test, std::uint64_t, 4>(from, to, n, step);
  }
}

#if defined(__x86_64__)

/// The test of a column: of (value & mask) + added no bit of `bad` may be set. As FiniteTest and
/// ShortIntegerTest.
struct RowTest {
  std::uint64_t mask = 0, added = 0, bad = 0;
};
constexpr std::uint64_t exponent = 0x7ff0000000000000, exponent_one = 0x0010000000000000;
/// By Move; others than these are not transposed.
constexpr RowTest row_tests[] = {
    {},                                                                       // Words
    {~std::uint64_t{0}, ShortIntegerTest::offset, ShortIntegerTest::beyond},  // ShortIntegers
    {exponent, exponent_one, ~(exponent | (exponent_one - 1))},               // Doubles
};
const RowTest& row_test(const Column& c) noexcept {
  return row_tests[static_cast<unsigned>(c.move)];
}

#define GDR_AVX2 __attribute__((target("avx2")))
#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))

GDR_AVX2 inline __m256i row_at(const char* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// Copies elements first .. first + n - 1 (a multiple of four) of four columns. Returns false if a
/// value fails the test of its column.
GDR_AVX2 bool copy_four(const Column* columns, std::size_t first, std::size_t n, char* record,
                        std::size_t step) noexcept {
  constexpr std::size_t width = 4;
  const char* from[width];
  __m256i mask[width], added[width], bad[width];
  for (std::size_t k = 0; k < width; ++k) {
    from[k] = columns[k].data + first * sizeof(double);
    const RowTest& test = row_test(columns[k]);
    mask[k] = _mm256_set1_epi64x(static_cast<long long>(test.mask));
    added[k] = _mm256_set1_epi64x(static_cast<long long>(test.added));
    bad[k] = _mm256_set1_epi64x(static_cast<long long>(test.bad));
  }
  __m256i found[width] = {};
  const auto test_row = [&](__m256i row, std::size_t k) GDR_AVX2 {
    found[k] =
        _mm256_or_si256(found[k], _mm256_add_epi64(_mm256_and_si256(row, mask[k]), added[k]));
  };
  for (std::size_t i = 0; i < n; i += width, record += width * step) {
    const std::size_t at = i * sizeof(double);
    const __m256i a = row_at(from[0] + at), b = row_at(from[1] + at);
    const __m256i c = row_at(from[2] + at), d = row_at(from[3] + at);
    test_row(a, 0);
    test_row(b, 1);
    test_row(c, 2);
    test_row(d, 3);
    const __m256i ab_even = _mm256_unpacklo_epi64(a, b), ab_odd = _mm256_unpackhi_epi64(a, b);
    const __m256i cd_even = _mm256_unpacklo_epi64(c, d), cd_odd = _mm256_unpackhi_epi64(c, d);
    const __m256i rows[width] = {_mm256_permute2x128_si256(ab_even, cd_even, 0x20),
                                 _mm256_permute2x128_si256(ab_odd, cd_odd, 0x20),
                                 _mm256_permute2x128_si256(ab_even, cd_even, 0x31),
                                 _mm256_permute2x128_si256(ab_odd, cd_odd, 0x31)};
    for (std::size_t r = 0; r < width; ++r)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(record + r * step), rows[r]);
  }
  bool good = true;
  for (std::size_t k = 0; k < width; ++k) good = good && _mm256_testz_si256(found[k], bad[k]) != 0;
  return good;
}

// The forms with a mask of all lanes: GCC warns about undefined vectors inside the plain ones.
constexpr __mmask8 every = 0xff;
GDR_AVX512 inline __m512i broadcast(std::uint64_t x) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(x));
}
GDR_AVX512 inline __m512i even_words(__m512i a, __m512i b) noexcept {
  return _mm512_maskz_unpacklo_epi64(every, a, b);
}
GDR_AVX512 inline __m512i odd_words(__m512i a, __m512i b) noexcept {
  return _mm512_maskz_unpackhi_epi64(every, a, b);
}
/// Pairs of words 0 and 2 of a, then of b; or pairs 1 and 3.
GDR_AVX512 inline __m512i even_pairs(__m512i a, __m512i b) noexcept {
  return _mm512_maskz_shuffle_i64x2(every, a, b, 0x88);
}
GDR_AVX512 inline __m512i odd_pairs(__m512i a, __m512i b) noexcept {
  return _mm512_maskz_shuffle_i64x2(every, a, b, 0xdd);
}

/// The same for eight columns and a multiple of eight elements.
GDR_AVX512 bool copy_eight(const Column* columns, std::size_t first, std::size_t n, char* record,
                           std::size_t step) noexcept {
  constexpr std::size_t width = 8;
  const char* from[width];
  __m512i mask[width], added[width], bad[width];
  for (std::size_t k = 0; k < width; ++k) {
    from[k] = columns[k].data + first * sizeof(double);
    const RowTest& test = row_test(columns[k]);
    mask[k] = broadcast(test.mask);
    added[k] = broadcast(test.added);
    bad[k] = broadcast(test.bad);
  }
  __m512i found = broadcast(0);
  for (std::size_t i = 0; i < n; i += width, record += width * step) {
    __m512i column[width];
    for (std::size_t k = 0; k < width; ++k) {
      column[k] = _mm512_loadu_si512(from[k] + i * sizeof(double));
      const __m512i sum = _mm512_add_epi64(_mm512_and_epi64(column[k], mask[k]), added[k]);
      found = _mm512_or_epi64(found, _mm512_and_epi64(sum, bad[k]));
    }
    // Two columns have words of four records in a vector, half of the columns of two: of records 0
    // and 4, 2 and 6 (even ones), or 1 and 5, 3 and 7.
    for (std::size_t odd = 0; odd < 2; ++odd) {
      __m512i two[width / 2], four[2][2];  // four: by pair of records, half of the columns
      for (std::size_t k = 0; k < width / 2; ++k)
        two[k] = odd == 0 ? even_words(column[2 * k], column[2 * k + 1])
                          : odd_words(column[2 * k], column[2 * k + 1]);
      for (std::size_t half = 0; half < 2; ++half) {
        four[0][half] = even_pairs(two[2 * half], two[2 * half + 1]);
        four[1][half] = odd_pairs(two[2 * half], two[2 * half + 1]);
      }
      for (std::size_t pair = 0; pair < 2; ++pair) {
        char* const to = record + (2 * pair + odd) * step;
        _mm512_storeu_si512(to, even_pairs(four[pair][0], four[pair][1]));
        _mm512_storeu_si512(to + 4 * step, odd_pairs(four[pair][0], four[pair][1]));
      }
    }
  }
  return _mm512_test_epi64_mask(found, found) == 0;
}

/// Copies n rows of the adjacent values of a column, each in one vector. Returns false if a value
/// fails the test of the column.
template <typename From>
GDR_AVX512 bool copy_rows(const Column& c, From from, char* to, std::size_t n,
                          std::ptrdiff_t step) noexcept {
  const auto row_mask = static_cast<__mmask8>((1U << c.width) - 1);
  const RowTest& test = row_test(c);
  const __m256i mask = _mm256_set1_epi64x(static_cast<long long>(test.mask));
  const __m256i added = _mm256_set1_epi64x(static_cast<long long>(test.added));
  const __m256i bad = _mm256_set1_epi64x(static_cast<long long>(test.bad));
  __m256i found = _mm256_setzero_si256();
  for (std::size_t i = 0; i < n; ++i, to += step) {
    const __m256i row = _mm256_maskz_loadu_epi64(row_mask, from(i));  // zeros pass all tests
    found = _mm256_or_si256(found, _mm256_add_epi64(_mm256_and_si256(row, mask), added));
    _mm256_mask_storeu_epi64(to, row_mask, row);
  }
  return _mm256_testz_si256(found, bad) != 0;
}

#undef GDR_AVX2
#undef GDR_AVX512

#endif

/// Adjacent columns of 64-bit values that are copied together: as many records are transposed in
/// registers at a time.
struct Transposition {
  Isa isa;
  std::size_t width;  ///< columns and records
  /// Copies elements first .. first + n - 1, whole groups of records; false if a test fails.
  bool (*copy)(const Column* columns, std::size_t first, std::size_t n, char* record,
               std::size_t step) noexcept;
};
#if defined(__x86_64__)
constexpr Transposition transpositions[] = {{Isa::Avx512, 8, copy_eight},
                                            {Isa::Avx2, 4, copy_four}};
#else
constexpr std::span<const Transposition> transpositions;
#endif

bool fits(const Transposition& t, const std::vector<Column>& columns, std::size_t first) noexcept {
  if (first + t.width > columns.size()) return false;
  for (std::size_t k = 0; k < t.width; ++k) {
    const Column& c = columns[first + k];
    if (!c.whole() || c.width != 1 || c.stride != sizeof(double) ||
        c.half_word != columns[first].half_word + 2 * k)
      return false;
  }
  return true;
}

/// The widest one for columns from `first` on and n records, with the instructions of `isa`; null:
/// none.
const Transposition* transposition_for(Isa isa, const std::vector<Column>& columns,
                                       std::size_t first, std::size_t n) noexcept {
  for (const Transposition& t : transpositions)
    if (t.isa <= isa && t.width <= n && fits(t, columns, first)) return &t;
  return nullptr;
}

/// Copies n values of a column; with `Check` returns false if one fails the test. `step`: stride of
/// the destination, bytes.
template <bool Check, typename From>
bool copy_column(const Column& c, From from, char* to, std::size_t n, std::ptrdiff_t step,
                 Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512 && c.width > 1) return copy_rows(c, from, to, n, step) || !Check;
#else
  static_cast<void>(isa);
#endif
  using Doubles = std::conditional_t<Check, FiniteTest<double>, NoTest>;
  using Floats = std::conditional_t<Check, FiniteTest<float>, NoTest>;
  using Integers = std::conditional_t<Check, ShortIntegerTest, NoTest>;
  switch (c.move) {
    case Move::Words:
      return copy_words<NoTest>(c.width, from, to, n, step);
    case Move::ShortIntegers:
      return copy_words<Integers>(c.width, from, to, n, step);
    case Move::Doubles:
      return copy_words<Doubles>(c.width, from, to, n, step);
    case Move::Floats:
      return copy_values<Floats, std::uint32_t, 1>(from, to, n, step);
    case Move::FloatsToDoubles:
      return convert_values<Floats, float, double>(from, to, n, step);
    case Move::DoublesToFloats:
      return convert_values<NoTest, double, float>(from, to, n, step);
    case Move::IntegersToLong:
      return convert_values<NoTest, std::int32_t, std::int64_t>(from, to, n, step);
    case Move::LongToIntegers:
      return convert_values<IntegerTest, std::int64_t, std::int32_t>(from, to, n, step);
  }
  return true;
}

std::ptrdiff_t record_bytes(std::size_t halves) noexcept {
  return static_cast<std::ptrdiff_t>(halves * sizeof(std::uint32_t));
}

const char* element(const Column& c, std::size_t i) noexcept {
  return c.data + static_cast<std::ptrdiff_t>(i) * c.stride;
}

bool put_column(const Column& c, std::size_t first, std::size_t n, std::uint32_t* record,
                std::size_t halves, Isa isa) noexcept {
  return copy_column<true>(c, Consecutive{element(c, first), c.stride},
                           reinterpret_cast<char*>(record + c.half_word), n, record_bytes(halves),
                           isa);
}

}  // namespace

void add_column(std::vector<Column>& columns, const Column& column) {
  if (!columns.empty()) {
    Column& last = columns.back();
    const std::uint32_t taken = last.width * 2;
    if (column.whole() && column.move == last.move && column.stride == last.stride &&
        column.half_word == last.half_word + taken && last.width + column.width <= max_width &&
        last.data != nullptr && column.data == last.data + taken * sizeof(std::uint32_t)) {
      last.width += column.width;
      return;
    }
  }
  columns.push_back(column);
}

Isa packing_isa() noexcept {
  static const Isa best = host_isas().front();
  return best;
}

bool pack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                  std::uint32_t* record, std::size_t halves, Isa isa) noexcept {
  bool good = true;
  for (std::size_t k = 0; k < columns.size();) {
    const Transposition* const t = transposition_for(isa, columns, k, n);
    if (t == nullptr) {
      good &= put_column(columns[k++], first, n, record, halves, isa);
      continue;
    }
    const std::size_t most = n / t->width * t->width;
    char* const to = reinterpret_cast<char*>(record + columns[k].half_word);
    good &= t->copy(&columns[k], first, most, to, halves * sizeof *record);
    for (const std::size_t end = k + t->width; k < end; ++k)
      if (most < n)
        good &= put_column(columns[k], first + most, n - most, record + most * halves, halves, isa);
  }
  return good;
}

bool gather_records(const std::vector<Column>& columns, const std::int32_t* index, std::size_t n,
                    std::uint32_t* record, std::size_t halves, Isa isa) noexcept {
  bool good = true;
  for (const Column& c : columns)
    good &= copy_column<true>(c, Indexed{c.data, c.stride, index},
                              reinterpret_cast<char*>(record + c.half_word), n,
                              record_bytes(halves), isa);
  return good;
}

bool unpack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                    const std::uint32_t* record, std::size_t halves, Isa isa) noexcept {
  bool good = true;
  for (const Column& c : columns)
    good &= copy_column<false>(
        c, Consecutive{reinterpret_cast<const char*>(record + c.half_word), record_bytes(halves)},
        c.data + static_cast<std::ptrdiff_t>(first) * c.stride, n, c.stride, isa);
  return good;
}

}  // namespace gdr
