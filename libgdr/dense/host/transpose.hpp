// Transposition of a square of numbers in vectors. Included as loops.hpp.
#pragma once

#include <cstddef>
#include <utility>

namespace gdr::dense {

/// A vector has `Host::bytes` bytes, a square as many vectors as numbers in each.
template <class Host, typename Number>
class Transposition {
 public:
  static constexpr std::size_t width = Host::bytes / sizeof(Number);
  typedef Number V __attribute__((vector_size(Host::bytes)));

  [[gnu::always_inline]] static inline void transpose(V (&x)[width]) {
    exchange_halves<width / 2>(x);
  }

 private:
  /// Exchanges the upper right and the lower left part of all squares of 2 Half numbers on the
  /// diagonal, then does it in the parts.
  template <std::size_t Half>
  [[gnu::always_inline]] static inline void exchange_halves(V (&x)[width]) {
    if constexpr (Half > 0) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i)
        if ((i & Half) == 0) exchange<Half>(x[i], x[i + Half], std::make_index_sequence<width>());
      exchange_halves<Half / 2>(x);
    }
  }
  template <std::size_t Half, std::size_t... K>
  [[gnu::always_inline]] static inline void exchange(V& a, V& b, std::index_sequence<K...>) {
    const V low = __builtin_shufflevector(a, b, ((K & Half) != 0 ? width + K - Half : K)...);
    b = __builtin_shufflevector(a, b, ((K & Half) != 0 ? width + K : K + Half)...);
    a = low;
  }
};

}  // namespace gdr::dense
