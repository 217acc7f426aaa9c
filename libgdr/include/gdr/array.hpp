// The caller's arrays: what a call reads and fills, with their sizes where these are known.
//
//   std::vector<double> x(n);        std::span<const float> m = ...;    double* f = ...;
//   job.targets(n, {{"x", x}, {"m", m}});                // sizes are checked
//   job.run({{"f", f}});                                 // a pointer is not
//   struct Particle { double mass; double position[3]; };
//   std::vector<Particle> p(n);
//   job.sources(n, {{"m", {p, &Particle::mass}}, {"x", {p, &Particle::position}}});
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
#include <type_traits>

#include "gdr/kernel.hpp"

namespace gdr {

/// The size of an array of which only the address is known.
inline constexpr std::size_t unknown_size = std::numeric_limits<std::size_t>::max();

namespace detail {

/// Numbers that arrays hold: double, float, and signed integers of 32 and 64 bits.
template <typename T>
concept Number = std::same_as<T, double> || std::same_as<T, float> ||
    (std::signed_integral<T> && !std::same_as<T, char> && (sizeof(T) == 4 || sizeof(T) == 8));

template <Number T>
constexpr HostNumber host_number() {
  if constexpr (std::same_as<T, double>) return HostNumber::F64;
  if constexpr (std::same_as<T, float>) return HostNumber::F32;
  return sizeof(T) == 4 ? HostNumber::I32 : HostNumber::I64;
}

/// The number, and how many of them, in an element that is a number or an array of numbers.
template <typename T>
struct Flat {
  using type = T;
  static constexpr std::size_t count = 1;
};
template <typename T, std::size_t n>
struct Flat<T[n]> {
  using type = typename Flat<T>::type;
  static constexpr std::size_t count = n * Flat<T>::count;
};
template <typename T, std::size_t n>
struct Flat<std::array<T, n>> {
  using type = typename Flat<T>::type;
  static constexpr std::size_t count = n * Flat<T>::count;
};
/// Const if the element is.
template <typename T>
using FlatNumber =
    std::conditional_t<std::is_const_v<T>, const typename Flat<std::remove_cv_t<T>>::type,
                       typename Flat<std::remove_cv_t<T>>::type>;
template <typename T>
concept FlatElement = Number<std::remove_cv_t<typename Flat<std::remove_cv_t<T>>::type>>;

/// Vectors, matrices, maps and blocks of Eigen whose elements are in memory.
template <typename X>
concept EigenLike = requires(X& x) {
  x.data();
  x.innerStride();
  x.outerStride();
  std::remove_cvref_t<X>::IsRowMajor;
  std::remove_cvref_t<X>::IsVectorAtCompileTime;
};
/// std::vector, std::span, std::array and arrays of the language.
template <typename X>
concept Sized = !EigenLike<X> && std::ranges::contiguous_range<X> && std::ranges::sized_range<X> &&
                FlatElement<std::remove_reference_t<std::ranges::range_reference_t<X>>>;
template <typename X>
concept PointerLike = std::is_pointer_v<std::remove_cvref_t<X>> &&
    Number<std::remove_cv_t<std::remove_pointer_t<std::remove_cvref_t<X>>>>;
template <typename X>
concept ArrayLike = EigenLike<X> || Sized<X> || PointerLike<X>;

/// Where the numbers of an array are.
template <typename T>
struct Place {
  T* data = nullptr;
  std::ptrdiff_t stride = sizeof(T);  ///< distance of the numbers of an item, bytes
  std::ptrdiff_t item_stride = 0;     ///< distance of items, bytes; 0: no gaps
  std::size_t size = unknown_size;    ///< numbers
  std::size_t row = 0;                ///< numbers of an item; 0: any
};

// Columns are items where the number of rows is fixed, as in Matrix3Xd.
template <typename X>
auto place_of_eigen(X& x) {
  using Matrix = std::remove_cvref_t<X>;
  using T = std::remove_pointer_t<decltype(x.data())>;
  constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
  Place<T> place{x.data(), x.innerStride() * bytes, 0, static_cast<std::size_t>(x.size()), 0};
  if constexpr (!Matrix::IsVectorAtCompileTime) {
    constexpr bool by_columns =
        int{Matrix::RowsAtCompileTime} > 0 && int{Matrix::ColsAtCompileTime} < 0;
    static_assert(by_columns || int{Matrix::ColsAtCompileTime} > 0,
                  "it must be clear which numbers of a matrix belong to an item: give a Matrix3Xd "
                  "(an item for each column), a Matrix<double, Dynamic, 3> (one for each row), a "
                  "row or a column");
    constexpr bool along_inner = by_columns != bool{Matrix::IsRowMajor};
    if constexpr (!along_inner) place.stride = x.outerStride() * bytes;
    place.item_stride = (along_inner ? x.outerStride() : x.innerStride()) * bytes;
    place.row = static_cast<std::size_t>(by_columns ? x.rows() : x.cols());
  }
  return place;
}

template <typename X>
auto place_of_range(X& x) {
  using Element = std::remove_reference_t<std::ranges::range_reference_t<X>>;
  using T = FlatNumber<Element>;
  constexpr std::size_t row = Flat<std::remove_cv_t<Element>>::count;
  constexpr bool is_number = Number<std::remove_cv_t<Element>>;
  return Place<T>{reinterpret_cast<T*>(std::ranges::data(x)), sizeof(T), 0,
                  static_cast<std::size_t>(std::ranges::size(x)) * row, is_number ? 0 : row};
}

template <typename X>
auto place_of(X& x) {
  if constexpr (EigenLike<X>)
    return place_of_eigen(x);
  else if constexpr (Sized<X>)
    return place_of_range(x);
  else
    return Place<std::remove_pointer_t<std::remove_cvref_t<X>>>{x};
}

/// The numbers of a place.
template <typename X>
using NumberOf = std::remove_pointer_t<decltype(place_of(std::declval<X&>()).data)>;

/// Whether results may be written to it: not to const numbers, nor to an object that is about to
/// disappear with them.
template <typename X>
concept Writable = ArrayLike<X> && !std::is_const_v<NumberOf<std::remove_reference_t<X>>> &&
                   (std::is_lvalue_reference_v<X> || EigenLike<X> || PointerLike<X> ||
                    std::ranges::borrowed_range<X>);

/// A member of all structures of a contiguous range.
template <typename Structures, typename Structure, typename Member>
auto place_of_member(Structures& structures, Member Structure::*member) {
  using Element = std::remove_reference_t<std::ranges::range_reference_t<Structures>>;
  using T = FlatNumber<std::conditional_t<std::is_const_v<Element>, const Member, Member>>;
  constexpr std::size_t row = Flat<Member>::count;
  const auto items = static_cast<std::size_t>(std::ranges::size(structures));
  T* const first =
      items == 0 ? nullptr
                 : reinterpret_cast<T*>(std::addressof(std::ranges::data(structures)->*member));
  return Place<T>{first, sizeof(T), sizeof(Element), items * row, row};
}

}  // namespace detail

/// An input array: the first number, its type, and strides in bytes, so that a member of an array
/// of structures is an array, too. The data are not owned and are read by the call that takes the
/// array. Where the size is known, a call that would read beyond it throws Error (Usage).
struct ConstArray {
  const void* data = nullptr;
  HostNumber type = HostNumber::F64;
  std::ptrdiff_t stride = sizeof(double);  ///< distance of numbers, bytes
  /// From the first number of an item (a vector of a target, say) to that of the next, bytes. 0:
  /// items follow each other, as numbers do.
  std::ptrdiff_t item_stride = 0;
  std::size_t size = unknown_size;  ///< numbers in the array
  std::size_t row = 0;              ///< numbers of an item, where they are known; else 0

  ConstArray() = default;
  /// Pointers, whose size is unknown, of double, float, and integers of 64 and 32 bits.
  template <detail::Number T>
  ConstArray(const T* p, std::ptrdiff_t stride_bytes, std::ptrdiff_t item_stride_bytes = 0)
      : data(p),
        type(detail::host_number<T>()),
        stride(stride_bytes),
        item_stride(item_stride_bytes) {}
  /// std::vector, std::span, std::array and arrays of such numbers, or of arrays of them, one for
  /// each item; Eigen's vectors, and matrices with a fixed number of rows or columns: the numbers
  /// of an item. Or a pointer without gaps between its numbers.
  template <detail::ArrayLike X>
  ConstArray(const X& x) : ConstArray(detail::place_of(x)) {}
  /// A member of the structures of a vector, span or array: a number, or an array of numbers.
  template <std::ranges::contiguous_range Structures, typename Structure,
            detail::FlatElement Member>
  ConstArray(const Structures& structures, Member Structure::*member)
      : ConstArray(detail::place_of_member(structures, member)) {}

 private:
  template <typename T>
  explicit ConstArray(const detail::Place<T>& p)
      : data(p.data),
        type(detail::host_number<std::remove_const_t<T>>()),
        stride(p.stride),
        item_stride(p.item_stride),
        size(p.size),
        row(p.row) {}
};

/// An array for results; members and constructors are those of ConstArray. Results are rounded to
/// float where the array is of floats; one that an integer of 32 bits cannot hold is an Error
/// (Input).
struct MutableArray {
  void* data = nullptr;
  HostNumber type = HostNumber::F64;
  std::ptrdiff_t stride = sizeof(double);
  std::ptrdiff_t item_stride = 0;
  std::size_t size = unknown_size;
  std::size_t row = 0;

  MutableArray() = default;
  template <detail::Number T>
  MutableArray(T* p, std::ptrdiff_t stride_bytes, std::ptrdiff_t item_stride_bytes = 0)
      : data(p),
        type(detail::host_number<T>()),
        stride(stride_bytes),
        item_stride(item_stride_bytes) {}
  template <detail::Writable X>
  MutableArray(X&& x) : MutableArray(detail::place_of(x)) {}
  template <std::ranges::contiguous_range Structures, typename Structure,
            detail::FlatElement Member>
  MutableArray(Structures& structures, Member Structure::*member)
      : MutableArray(detail::place_of_member(structures, member)) {}

 private:
  template <typename T>
  explicit MutableArray(const detail::Place<T>& p)
      : data(p.data),
        type(detail::host_number<T>()),
        stride(p.stride),
        item_stride(p.item_stride),
        size(p.size),
        row(p.row) {}
};

/// Consecutive numbers that a function reads (`Numbers<const double>`) or fills
/// (`Numbers<double>`): a pointer, or a vector, span, array or Eigen matrix, whose size is checked.
/// Null: none.
template <typename T>
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::nullptr_t) {}
  template <typename X>
  requires(std::is_const_v<T> ? detail::ArrayLike<X> : detail::Writable<X>) &&
      std::same_as<std::remove_const_t<detail::NumberOf<std::remove_reference_t<X>>>,
                   std::remove_const_t<T>> Numbers(X&& x) {
    const auto place = detail::place_of(x);
    data_ = place.data;
    size_ = place.size;
    const auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
    const auto row = static_cast<std::ptrdiff_t>(place.row);
    gaps_ = place.size > 1 &&
            (place.stride != bytes || (place.item_stride != 0 && place.item_stride != row * bytes));
  }

  T* data() const noexcept { return data_; }
  /// Number of elements; unknown_size of a pointer.
  std::size_t size() const noexcept { return size_; }
  /// The address. Throws Error (Usage) with the name of the argument for fewer than n numbers, or
  /// gaps between them.
  T* need(std::size_t n, const char* name) const;

 private:
  T* data_ = nullptr;
  std::size_t size_ = unknown_size;
  bool gaps_ = false;  ///< whether the numbers are not consecutive
};

namespace detail {
/// Throws Error (Usage).
[[noreturn]] void refuse_numbers(const char* name, std::size_t size, std::size_t n, bool gaps);
}  // namespace detail

template <typename T>
T* Numbers<T>::need(std::size_t n, const char* name) const {
  if (data_ != nullptr && (gaps_ || size_ < n)) detail::refuse_numbers(name, size_, n, gaps_);
  return data_;
}

}  // namespace gdr
