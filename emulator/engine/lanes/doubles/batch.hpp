// Batches of vectors that execute the same steps interleaved, to overlap latencies.
#pragma once

#include <cstddef>
#include <utility>

#define GDR_INLINE __attribute__((always_inline))

namespace gdr {

/// N vectors (or N masks) as one value.
template <class T, std::size_t N>
struct Batch {
  T v[N];
};

/// A step on single vectors applied to each vector of batches.
template <class Step>
struct Lifted {
  Step step;

  template <class... X, std::size_t N>
  GDR_INLINE constexpr auto operator()(const Batch<X, N>&... x) const {
    return apply(std::make_index_sequence<N>(), x...);
  }

 private:
  template <std::size_t K, class... X>
  GDR_INLINE constexpr auto one(const X&... x) const {
    return step(x.v[K]...);
  }
  template <std::size_t... K, class... X>
  GDR_INLINE constexpr auto apply(std::index_sequence<K...>, const X&... x) const {
    return Batch<decltype(one<0>(x...)), sizeof...(K)>{{one<K>(x...)...}};
  }
};

template <class Step>
constexpr Lifted<Step> lift(Step step) {
  return {step};
}

/// Calls work(x.v[k], k) for each vector. Unrolled, since a loop over `v` would store it to memory.
template <class T, std::size_t N, class Work>
GDR_INLINE constexpr void for_each_of(const Batch<T, N>& x, Work work) {
  [&]<std::size_t... K>(std::index_sequence<K...>) GDR_INLINE { (work(x.v[K], K), ...); }
  (std::make_index_sequence<N>());
}

/// The batch of make(k).
template <std::size_t N, class Make>
GDR_INLINE constexpr auto batch_of(Make make) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) GDR_INLINE {
    return Batch<decltype(make(std::size_t{0})), N>{{make(K)...}};
  }
  (std::make_index_sequence<N>());
}

}  // namespace gdr
