// Non-temporal stores: results too large for the caches are written without being fetched first.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace gdr::dense {

/// to[i] = value(i), for i below n. Visible to other threads after `end_nontemporal`.
template <typename Value>
void store_nontemporal(double* to, std::size_t n, Value value) noexcept {
  std::size_t i = 0;
#if defined(__x86_64__)
  // Whole cache lines only.
  constexpr std::size_t line = 8, bytes = line * sizeof(double);
  for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % bytes != 0; ++i) to[i] = value(i);
  for (; i + line <= n; i += line)
    for (std::size_t k = i; k < i + line; k += 2)
      _mm_stream_pd(to + k, _mm_set_pd(value(k + 1), value(k)));
#endif
  for (; i < n; ++i) to[i] = value(i);
}

inline void end_nontemporal() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace gdr::dense
