#include "libgdr/device/columns.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "libgdr/device/finite.hpp"

namespace gdr {
namespace {

constexpr unsigned most_side_by_side = 4;

/// For values that are no floats, or that nobody asks about.
struct NoTest {
  template <typename Value>
  void add(const Value&) noexcept {}
  static bool all_finite() noexcept { return true; }
};

/// From one place to the next, on both sides.
struct Steps {
  std::ptrdiff_t from, to;
};

/// There is no early exit, so that it runs at the speed of the memory.
template <typename Test, typename Bits, std::size_t Width>
bool copy_values(const char* from, char* to, std::size_t n, Steps steps) noexcept {
  Test test;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<Bits, Width> bits;
    std::memcpy(bits.data(), from, sizeof bits);
    for (const Bits value : bits) test.add(value);
    std::memcpy(to, bits.data(), sizeof bits);
    from += steps.from;
    to += steps.to;
  }
  return test.all_finite();
}

template <typename Test, typename From, typename To>
bool convert_values(const char* from, char* to, std::size_t n, Steps steps) noexcept {
  Test test;
  for (std::size_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, from, sizeof value);
    test.add(value);
    const auto converted = static_cast<To>(value);
    std::memcpy(to, &converted, sizeof converted);
    from += steps.from;
    to += steps.to;
  }
  return test.all_finite();
}

/// The bits of floats that are converted.
struct FloatTest {
  FiniteTest<float> test;
  void add(float value) noexcept { test.add(std::bit_cast<std::uint32_t>(value)); }
  bool all_finite() const noexcept { return test.all_finite(); }
};

template <typename Test>
bool copy_words(unsigned width, const char* from, char* to, std::size_t n, Steps steps) noexcept {
  static_assert(most_side_by_side == 4);
  switch (width) {
    case 1:
      return copy_values<Test, std::uint64_t, 1>(from, to, n, steps);
    case 2:
      return copy_values<Test, std::uint64_t, 2>(from, to, n, steps);
    case 3:
      return copy_values<Test, std::uint64_t, 3>(from, to, n, steps);
    default:
      return copy_values<Test, std::uint64_t, 4>(from, to, n, steps);
  }
}

}  // namespace

void add_column(std::vector<Column>& columns, const Column& column) {
  if (!columns.empty()) {
    Column& last = columns.back();
    const bool whole = column.move == Move::Words || column.move == Move::Doubles;
    const std::uint32_t taken = last.width * 2;
    if (whole && column.move == last.move && column.stride == last.stride &&
        column.half_word == last.half_word + taken &&
        last.width + column.width <= most_side_by_side && last.data != nullptr &&
        column.data == last.data + taken * sizeof(std::uint32_t)) {
      last.width += column.width;
      return;
    }
  }
  columns.push_back(column);
}

bool put_in_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                    std::uint32_t* record, std::size_t halves) noexcept {
  bool finite = true;
  for (const Column& c : columns) {
    const Steps steps{c.stride, static_cast<std::ptrdiff_t>(halves * sizeof *record)};
    const char* const from = c.data + static_cast<std::ptrdiff_t>(first) * c.stride;
    char* const to = reinterpret_cast<char*>(record + c.half_word);
    switch (c.move) {
      case Move::Words:
        copy_words<NoTest>(c.width, from, to, n, steps);
        break;
      case Move::Doubles:
        finite &= copy_words<FiniteTest<double>>(c.width, from, to, n, steps);
        break;
      case Move::Floats:
        finite &= copy_values<FiniteTest<float>, std::uint32_t, 1>(from, to, n, steps);
        break;
      case Move::FloatsToDoubles:
        finite &= convert_values<FloatTest, float, double>(from, to, n, steps);
        break;
      case Move::DoublesToFloats:
        convert_values<NoTest, double, float>(from, to, n, steps);
        break;
    }
  }
  return finite;
}

void take_from_records(const std::vector<Column>& columns, std::size_t first, std::size_t n,
                       const std::uint32_t* record, std::size_t halves) noexcept {
  for (const Column& c : columns) {
    const Steps steps{static_cast<std::ptrdiff_t>(halves * sizeof *record), c.stride};
    const char* const from = reinterpret_cast<const char*>(record + c.half_word);
    char* const to = c.data + static_cast<std::ptrdiff_t>(first) * c.stride;
    switch (c.move) {
      case Move::Words:
      case Move::Doubles:
        copy_words<NoTest>(c.width, from, to, n, steps);
        break;
      case Move::Floats:
        copy_values<NoTest, std::uint32_t, 1>(from, to, n, steps);
        break;
      case Move::FloatsToDoubles:
        convert_values<NoTest, float, double>(from, to, n, steps);
        break;
      case Move::DoublesToFloats:
        convert_values<NoTest, double, float>(from, to, n, steps);
        break;
    }
  }
}

}  // namespace gdr
