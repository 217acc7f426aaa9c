// Sorting with a fixed order of equal elements, which standard libraries do not agree on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace gdr::kc {

/// Quicksort down to parts of 16 elements (the pivot is the median of the second, middle and last
/// one), then a stable insertion sort. Equal elements have the same order with every compiler: that
/// in which the schedules of the library's kernels were found.
template <typename T, typename Less>
void fixed_sort(std::span<T> all, const Less& less) {
  constexpr std::size_t small = 16;
  const auto divide = [&](std::span<T> part, const auto& again) -> void {
    while (part.size() > small) {
      T& pivot = part.front();
      T *const a = &part[1], *const b = &part[part.size() / 2], *const c = &part.back();
      if (less(*a, *b))
        std::swap(pivot, less(*b, *c) ? *b : less(*a, *c) ? *c : *a);
      else
        std::swap(pivot, less(*a, *c) ? *a : less(*b, *c) ? *c : *b);
      std::size_t low = 1, high = part.size();
      for (;; ++low) {
        while (less(part[low], pivot)) ++low;
        do --high;
        while (less(pivot, part[high]));
        if (low >= high) break;
        std::swap(part[low], part[high]);
      }
      again(part.subspan(low), again);
      part = part.first(low);
    }
  };
  divide(all, divide);
  for (std::size_t k = 1; k < all.size(); ++k)
    for (std::size_t at = k; at > 0 && less(all[at], all[at - 1]); --at)
      std::swap(all[at], all[at - 1]);
}

}  // namespace gdr::kc
