// Parts of the C++20 standard library that emscripten 3.1 (libc++ 13) lacks, as far as GDR uses
// them. The build for WebAssembly includes this file before every other. Algorithms take ranges and
// projections, without checks of concepts.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

// NOLINTBEGIN(cert-dcl58-cpp): names of the standard that this library does not define
namespace std {

template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// One thread: plain loads and stores.
template <typename T>
class atomic_ref {
 public:
  explicit atomic_ref(T& object) noexcept : object_(&object) {}
  T load(memory_order = memory_order_seq_cst) const noexcept { return *object_; }
  void store(T value, memory_order = memory_order_seq_cst) const noexcept { *object_ = value; }
  T fetch_add(T value, memory_order = memory_order_seq_cst) const noexcept {
    return exchange(*object_ + value);
  }
  T exchange(T value, memory_order = memory_order_seq_cst) const noexcept {
    return std::exchange(*object_, value);
  }

 private:
  T* object_;
};

/// One thread: no other can be created.
class jthread {
 public:
  jthread() noexcept = default;
  template <typename Work>
  explicit jthread(Work&&) {
    throw system_error(make_error_code(errc::resource_unavailable_try_again));
  }
  bool joinable() const noexcept { return false; }
};

/// Of a decimal number or one with an exponent, without sign '+', spaces or hexadecimal digits.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* p = first;
  if (p != last && *p == '-') ++p;
  const auto digits = [&] {
    const char* const begin = p;
    while (p != last && *p >= '0' && *p <= '9') ++p;
    return p - begin;
  };
  auto count = digits();
  if (p != last && *p == '.') {
    ++p;
    count += digits();
  }
  if (count == 0) return {first, errc::invalid_argument};
  if (p != last && (*p == 'e' || *p == 'E')) {
    const char* const end = p++;
    if (p != last && (*p == '-' || *p == '+')) ++p;
    if (digits() == 0) p = end;
  }
  const string text(first, p);
  const double read = strtod(text.c_str(), nullptr);
  if (read == HUGE_VAL || read == -HUGE_VAL) return {p, errc::result_out_of_range};
  value = read;
  return {p, errc{}};
}

/// With chars_format::hex: without prefix, of either sign.
inline from_chars_result from_chars(const char* first, const char* last, double& value,
                                    chars_format format) {
  if (format != chars_format::hex) return from_chars(first, last, value);
  const bool negative = first != last && *first == '-';
  const char* const begin = negative ? first + 1 : first;
  if (begin == last || *begin == '-' || *begin == '+' ||
      isspace(static_cast<unsigned char>(*begin)) != 0)
    return {first, errc::invalid_argument};
  const string text = "0x" + string(begin, last);
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end <= text.c_str() + 2) return {first, errc::invalid_argument};
  const char* const stop = begin + (end - text.c_str() - 2);
  const bool digits = any_of(text.c_str() + 2, const_cast<const char*>(end), [](char c) {
    return (c >= '1' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  if (read == HUGE_VAL || (read == 0 && digits && *(text.c_str() + 2) != 'p'))
    return {stop, errc::result_out_of_range};
  value = negative ? -read : read;
  return {stop, errc{}};
}

template <typename T>
unique_ptr<T> make_unique_for_overwrite(size_t count) {
  return unique_ptr<T>(new remove_extent_t<T>[count]);
}

template <typename T, size_t N>
constexpr auto operator<=>(const array<T, N>& a, const array<T, N>& b) {
  for (size_t i = 0; i < N; ++i)
    if (const auto order = a[i] <=> b[i]; order != 0) return order;
  return decltype(a[0] <=> b[0])(strong_ordering::equal);
}

namespace ranges {

template <typename Projection, typename Compare>
constexpr auto projected_order(Compare& compare, Projection& projection) {
  return [&](auto&& a, auto&& b) -> bool {
    return std::invoke(compare, std::invoke(projection, std::forward<decltype(a)>(a)),
                       std::invoke(projection, std::forward<decltype(b)>(b)));
  };
}

inline constexpr struct {
  template <typename I, typename S, typename Predicate, typename Projection = identity>
  requires(!is_array_v<remove_reference_t<I>>) constexpr I operator()(
      I first, S last, Predicate predicate, Projection projection = {}) const {
    for (; first != last; ++first)
      if (std::invoke(predicate, std::invoke(projection, *first))) break;
    return first;
  }
  template <typename R, typename Predicate, typename Projection = identity>
  constexpr auto operator()(R&& range, Predicate predicate,
                            Projection projection = {}) const requires requires {
    ranges::begin(range);
  }
  {
    return (*this)(ranges::begin(range), ranges::end(range), std::ref(predicate),
                   std::ref(projection));
  }
} find_if;

inline constexpr struct {
  template <typename R, typename T, typename Projection = identity>
  requires requires(R& r) { ranges::begin(r); }
  constexpr auto operator()(R&& range, const T& value, Projection projection = {}) const {
    return ranges::find_if(
        ranges::begin(range), ranges::end(range), [&](const auto& x) { return x == value; },
        std::ref(projection));
  }
  template <typename I, typename T>
  constexpr I operator()(I first, I last, const T& value) const {
    return std::find(first, last, value);
  }
} find;

inline constexpr auto any_of = [](auto&& range, auto predicate, auto... projection) {
  return ranges::find_if(range, std::move(predicate), projection...) != ranges::end(range);
};
inline constexpr auto none_of = [](auto&& range, auto predicate, auto... projection) {
  return !ranges::any_of(range, std::move(predicate), projection...);
};
inline constexpr auto all_of = [](auto&& range, auto predicate, auto... projection) {
  return ranges::none_of(
      range, [&](const auto& x) { return !std::invoke(predicate, x); }, projection...);
};
inline constexpr struct {
  template <typename R, typename Predicate, typename Projection = identity>
  constexpr auto operator()(R&& range, Predicate predicate, Projection projection = {}) const {
    return std::count_if(ranges::begin(range), ranges::end(range), [&](const auto& x) {
      return std::invoke(predicate, std::invoke(projection, x));
    });
  }
} count_if;
inline constexpr struct {
  template <typename R, typename T, typename Projection = identity>
  constexpr auto operator()(R&& range, const T& value, Projection projection = {}) const {
    return ranges::count_if(
        range, [&](const auto& x) { return x == value; }, std::ref(projection));
  }
} count;

inline constexpr struct {
  template <typename R, typename Compare = ranges::less, typename Projection = identity>
  constexpr void operator()(R&& range, Compare compare = {}, Projection projection = {}) const {
    std::sort(ranges::begin(range), ranges::end(range), projected_order(compare, projection));
  }
} sort;
inline constexpr struct {
  template <typename R, typename Compare = ranges::less, typename Projection = identity>
  void operator()(R&& range, Compare compare = {}, Projection projection = {}) const {
    std::stable_sort(ranges::begin(range), ranges::end(range),
                     projected_order(compare, projection));
  }
} stable_sort;
inline constexpr struct {
  template <typename R, typename Compare = ranges::less, typename Projection = identity>
  constexpr bool operator()(R&& range, Compare compare = {}, Projection projection = {}) const {
    return std::is_sorted(ranges::begin(range), ranges::end(range),
                          projected_order(compare, projection));
  }
} is_sorted;
inline constexpr struct {
  template <typename R, typename Compare = ranges::less, typename Projection = identity>
  constexpr auto operator()(R&& range, Compare compare = {}, Projection projection = {}) const {
    return std::min_element(ranges::begin(range), ranges::end(range),
                            projected_order(compare, projection));
  }
} min_element;
inline constexpr struct {
  template <typename R, typename Compare = ranges::less, typename Projection = identity>
  constexpr auto operator()(R&& range, Compare compare = {}, Projection projection = {}) const {
    return std::max_element(ranges::begin(range), ranges::end(range),
                            projected_order(compare, projection));
  }
} max_element;
inline constexpr auto min = [](auto&& range) { return *ranges::min_element(range); };
inline constexpr auto max = [](auto&& range) { return *ranges::max_element(range); };

inline constexpr struct {
  template <typename R, typename T, typename Compare = ranges::less, typename Projection = identity>
  constexpr auto operator()(R&& range, const T& value, Compare compare = {},
                            Projection projection = {}) const {
    return std::lower_bound(ranges::begin(range), ranges::end(range), value,
                            [&](const auto& x, const T& v) -> bool {
                              return std::invoke(compare, std::invoke(projection, x), v);
                            });
  }
} lower_bound;
inline constexpr struct {
  template <typename R, typename T, typename Compare = ranges::less, typename Projection = identity>
  constexpr auto operator()(R&& range, const T& value, Compare compare = {},
                            Projection projection = {}) const {
    return std::upper_bound(ranges::begin(range), ranges::end(range), value,
                            [&](const T& v, const auto& x) -> bool {
                              return std::invoke(compare, v, std::invoke(projection, x));
                            });
  }
} upper_bound;
inline constexpr struct {
  template <typename R, typename T, typename Compare = ranges::less, typename Projection = identity>
  constexpr bool operator()(R&& range, const T& value, Compare compare = {},
                            Projection projection = {}) const {
    const auto found = ranges::lower_bound(range, value, std::ref(compare), std::ref(projection));
    return found != ranges::end(range) &&
           !std::invoke(compare, value, std::invoke(projection, *found));
  }
} binary_search;
inline constexpr struct {
  template <typename R, typename Predicate, typename Projection = identity>
  constexpr auto operator()(R&& range, Predicate predicate, Projection projection = {}) const {
    return std::partition_point(ranges::begin(range), ranges::end(range), [&](const auto& x) {
      return std::invoke(predicate, std::invoke(projection, x));
    });
  }
} partition_point;

inline constexpr struct {
  template <typename R, typename T>
  constexpr auto operator()(R&& range, const T& value) const {
    return std::fill(ranges::begin(range), ranges::end(range), value);
  }
} fill;
template <typename O>
struct copied {
  O out;
};
inline constexpr struct {
  template <typename R, typename O>
  constexpr copied<O> operator()(R&& range, O out) const {
    return {std::copy(ranges::begin(range), ranges::end(range), out)};
  }
} copy;
inline constexpr struct {
  template <typename R, typename O, typename Predicate>
  constexpr copied<O> operator()(R&& range, O out, Predicate predicate) const {
    return {std::copy_if(ranges::begin(range), ranges::end(range), out, predicate)};
  }
} copy_if;
inline constexpr struct {
  template <typename R, typename Q, typename... More>
  constexpr bool operator()(const R& a, const Q& b, More... more) const {
    return std::equal(ranges::begin(a), ranges::end(a), ranges::begin(b), ranges::end(b), more...);
  }
} equal;
inline constexpr struct {
  template <typename R, typename Work>
  constexpr void operator()(R&& range, Work work) const {
    for (auto&& x : range) std::invoke(work, x);
  }
} for_each;
inline constexpr struct {
  template <typename R>
  constexpr void operator()(R&& range) const {
    std::reverse(ranges::begin(range), ranges::end(range));
  }
} reverse;
inline constexpr struct {
  template <typename R, typename Q, typename O>
  constexpr copied<O> operator()(const R& a, const Q& b, O out) const {
    return {std::set_intersection(ranges::begin(a), ranges::end(a), ranges::begin(b),
                                  ranges::end(b), out)};
  }
} set_intersection;

/// A range from its end to its beginning. The range outlives it.
template <typename I>
class reversed {
 public:
  constexpr reversed(I first, I last) : first_(first), last_(last) {}
  constexpr auto begin() const { return make_reverse_iterator(last_); }
  constexpr auto end() const { return make_reverse_iterator(first_); }

 private:
  I first_, last_;
};

template <typename I>
inline constexpr bool enable_borrowed_range<reversed<I>> = true;

}  // namespace ranges

namespace views {
struct reverse_fn {
  template <typename R>
  constexpr auto operator()(R&& range) const {
    return ranges::reversed(ranges::begin(range), ranges::end(range));
  }
};
inline constexpr reverse_fn reverse;
}  // namespace views
}  // namespace std
// NOLINTEND(cert-dcl58-cpp)
