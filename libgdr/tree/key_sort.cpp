#include "libgdr/tree/key_sort.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"
#include "emulator/host/line_allocator.hpp"

namespace gdr::tree {
namespace {

/// Seven passes serve all bits. With larger digits the places to write to do not fit the cache.
constexpr unsigned digit_size = 9;
constexpr std::size_t digits = std::size_t{1} << digit_size;
/// Fewer items are sorted by comparisons, which is as fast.
constexpr std::size_t min_items = 2048;
constexpr std::size_t min_items_of_part = 1 << 14;

using Counts = std::array<std::size_t, digits>;

std::size_t digit(const Keyed& item, unsigned shift) { return item.key >> shift & (digits - 1); }

/// Replaces the numbers of items of each part that have a digit by the places of the first of them.
/// False if all items have the same digit.
bool places_of(std::vector<Counts>& parts, std::size_t items) {
  std::size_t next = 0;
  for (std::size_t d = 0; d < digits; ++d) {
    const std::size_t before = next;
    for (Counts& counts : parts) {
      const std::size_t count = counts[d];
      counts[d] = next;
      next += count;
    }
    if (next - before == items) return false;
  }
  return true;
}

}  // namespace

void sort_keys(std::span<Keyed> items, unsigned threads) {
  const std::size_t n = items.size();
  if (n < min_items) {
    std::ranges::sort(items);
    return;
  }
  // One part for each thread, which counts its digits and then moves its items.
  const std::size_t each = std::max(min_items_of_part, divide_up(n, std::size_t{threads}));
  std::vector<Counts> parts(divide_up(n, each));
  LineVector<Keyed> other(n);
  std::span<Keyed> from = items, to = other;
  for (unsigned shift = 0; shift < key_size; shift += digit_size) {
    for_blocks(n, each, threads, [&](std::size_t first, std::size_t last) {
      Counts& counts = parts[first / each];
      counts = {};
      for (std::size_t k = first; k < last; ++k) ++counts[digit(from[k], shift)];
    });
    if (!places_of(parts, n)) continue;
    for_blocks(n, each, threads, [&](std::size_t first, std::size_t last) {
      Counts& places = parts[first / each];
      for (std::size_t k = first; k < last; ++k) to[places[digit(from[k], shift)]++] = from[k];
    });
    std::swap(from, to);
  }
  if (from.data() == items.data()) return;
  for_blocks(n, each, threads, [&](std::size_t first, std::size_t last) {
    std::ranges::copy(from.subspan(first, last - first),
                      items.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

}  // namespace gdr::tree
