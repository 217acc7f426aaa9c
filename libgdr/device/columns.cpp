#include "libgdr/device/columns.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "emulator/host/isa.hpp"

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

/// Adjacent columns of 64-bit values that are copied together: four records of four values are
/// transposed in registers.
constexpr std::size_t group_columns = 4;

bool can_transpose(const std::vector<Column>& columns, std::size_t first) noexcept {
  if (first + group_columns > columns.size()) return false;
  for (std::size_t k = 0; k < group_columns; ++k) {
    const Column& c = columns[first + k];
    if (!c.whole() || c.width != 1 || c.stride != sizeof(double) ||
        c.half_word != columns[first].half_word + 2 * k)
      return false;
  }
  return true;
}

#if defined(__x86_64__)

bool has_avx2() noexcept {
  static const bool has = host_isas().front() != Isa::Portable;
  return has;
}

__attribute__((target("avx2"))) inline __m256i row_at(const char* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// The test of a column: of (value & mask) + added no bit of `bad` may be set. As FiniteTest and
/// ShortIntegerTest.
struct RowTest {
  std::uint64_t mask = 0, added = 0, bad = 0;
};
constexpr RowTest row_test(Move move) noexcept {
  if (move == Move::Doubles) return {0x7ff0000000000000, 0x0010000000000000, 0x8000000000000000};
  if (move == Move::ShortIntegers)
    return {~std::uint64_t{0}, ShortIntegerTest::offset, ShortIntegerTest::beyond};
  return {};
}

/// Copies elements first .. first + n - 1 (a multiple of four) of four columns. Returns false if a
/// value fails the test of its column.
__attribute__((target("avx2"))) bool copy_transposed(const Column* columns, std::size_t first,
                                                     std::size_t n, char* record,
                                                     std::size_t step) noexcept {
  const char* from[group_columns];
  __m256i mask[group_columns], added[group_columns], bad[group_columns];
  for (std::size_t k = 0; k < group_columns; ++k) {
    from[k] = columns[k].data + first * sizeof(double);
    const RowTest test = row_test(columns[k].move);
    mask[k] = _mm256_set1_epi64x(static_cast<long long>(test.mask));
    added[k] = _mm256_set1_epi64x(static_cast<long long>(test.added));
    bad[k] = _mm256_set1_epi64x(static_cast<long long>(test.bad));
  }
  __m256i found[group_columns] = {};
  const auto look = [&](__m256i row, std::size_t k) __attribute__((target("avx2"))) {
    found[k] =
        _mm256_or_si256(found[k], _mm256_add_epi64(_mm256_and_si256(row, mask[k]), added[k]));
  };
  for (std::size_t i = 0; i < n; i += 4, record += 4 * step) {
    const std::size_t at = i * sizeof(double);
    const __m256i a = row_at(from[0] + at), b = row_at(from[1] + at);
    const __m256i c = row_at(from[2] + at), d = row_at(from[3] + at);
    look(a, 0);
    look(b, 1);
    look(c, 2);
    look(d, 3);
    const __m256i ab_even = _mm256_unpacklo_epi64(a, b), ab_odd = _mm256_unpackhi_epi64(a, b);
    const __m256i cd_even = _mm256_unpacklo_epi64(c, d), cd_odd = _mm256_unpackhi_epi64(c, d);
    const __m256i rows[4] = {_mm256_permute2x128_si256(ab_even, cd_even, 0x20),
                             _mm256_permute2x128_si256(ab_odd, cd_odd, 0x20),
                             _mm256_permute2x128_si256(ab_even, cd_even, 0x31),
                             _mm256_permute2x128_si256(ab_odd, cd_odd, 0x31)};
    for (std::size_t r = 0; r < 4; ++r)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(record + r * step), rows[r]);
  }
  bool good = true;
  for (std::size_t k = 0; k < group_columns; ++k)
    good = good && _mm256_testz_si256(found[k], bad[k]) != 0;
  return good;
}

#else

constexpr bool has_avx2() noexcept { return false; }
bool copy_transposed(const Column*, std::size_t, std::size_t, char*, std::size_t) noexcept {
  return true;
}

#endif

/// Copies n values of a column; with `Check` returns false if one fails the test. `step`: stride of
/// the destination, bytes.
template <bool Check, typename From>
bool copy_column(const Column& c, From from, char* to, std::size_t n,
                 std::ptrdiff_t step) noexcept {
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
                std::size_t halves) noexcept {
  return copy_column<true>(c, Consecutive{element(c, first), c.stride},
                           reinterpret_cast<char*>(record + c.half_word), n, record_bytes(halves));
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

bool pack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                  std::uint32_t* record, std::size_t halves) noexcept {
  bool good = true;
  for (std::size_t k = 0; k < columns.size();) {
    if (!has_avx2() || !can_transpose(columns, k)) {
      good &= put_column(columns[k++], first, n, record, halves);
      continue;
    }
    const std::size_t most = n / 4 * 4;
    char* const to = reinterpret_cast<char*>(record + columns[k].half_word);
    good &= copy_transposed(&columns[k], first, most, to, halves * sizeof *record);
    for (const std::size_t end = k + group_columns; k < end; ++k)
      if (most < n)
        good &= put_column(columns[k], first + most, n - most, record + most * halves, halves);
  }
  return good;
}

bool gather_records(const std::vector<Column>& columns, const std::int32_t* index, std::size_t n,
                    std::uint32_t* record, std::size_t halves) noexcept {
  bool good = true;
  for (const Column& c : columns)
    good &=
        copy_column<true>(c, Indexed{c.data, c.stride, index},
                          reinterpret_cast<char*>(record + c.half_word), n, record_bytes(halves));
  return good;
}

void unpack_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                    const std::uint32_t* record, std::size_t halves) noexcept {
  for (const Column& c : columns)
    copy_column<false>(
        c, Consecutive{reinterpret_cast<const char*>(record + c.half_word), record_bytes(halves)},
        c.data + static_cast<std::ptrdiff_t>(first) * c.stride, n, c.stride);
}

}  // namespace gdr
