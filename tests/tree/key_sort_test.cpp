// Numbered keys in threads, beside a sort by comparisons.
#include "libgdr/tree/key_sort.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"

using gdr::tree::Keyed;
using gdr::tree::sort_keys;

namespace {

constexpr std::uint64_t all_bits = (std::uint64_t{1} << gdr::tree::key_size) - 1;

std::vector<Keyed> numbered(std::size_t n, std::uint64_t mask) {
  std::mt19937_64 random(n);
  std::vector<Keyed> items;
  for (std::size_t k = 0; k < n; ++k)
    items.push_back({random() & mask, static_cast<std::uint32_t>(k)});
  return items;
}

}  // namespace

TEST_CASE("keys are sorted as by comparisons, with any number of threads") {
  // Equal keys, few values, all bits, high bits alone, the lowest and the highest of the bits.
  for (const std::uint64_t mask :
       {std::uint64_t{0}, std::uint64_t{7} << 17, all_bits, ~std::uint64_t{0} << 40 & all_bits,
        std::uint64_t{1}, std::uint64_t{1} << 62})
    for (const std::size_t n : {0, 1, 2, 2047, 2048, 2049, 40'001}) {
      const std::vector<Keyed> items = numbered(n, mask);
      std::vector<Keyed> sorted = items;
      std::ranges::sort(sorted);
      for (const unsigned threads : {1U, 2U, 3U}) {
        CAPTURE(mask, n, threads);
        std::vector<Keyed> own = items;
        sort_keys(own, threads);
        CHECK(own == sorted);
      }
    }
}
