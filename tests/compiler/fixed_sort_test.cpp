// The sort whose order of equal elements is the same with every standard library.
#include "kernels/compiler/schedule/fixed_sort.hpp"

#include <array>
#include <vector>

#include "support/catch.hpp"

namespace gdr::test {
namespace {

struct Entry {
  int key = 0, label = 0;
};

std::vector<Entry> sorted_entries(int n) {
  std::vector<Entry> entries;
  for (int k = 0; k < n; ++k) entries.push_back({k * 7919 % 101 % 11, k});
  kc::fixed_sort(std::span(entries), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  return entries;
}

}  // namespace

TEST_CASE("fixed_sort sorts, and keeps the order of up to 16 equal elements") {
  for (const int n : {0, 1, 2, 15, 16, 17, 40, 1000}) {
    INFO(n);
    const std::vector<Entry> entries = sorted_entries(n);
    std::vector<bool> seen(static_cast<std::size_t>(n), false);
    for (const Entry& e : entries) seen[static_cast<std::size_t>(e.label)] = true;
    CHECK(std::ranges::count(seen, false) == 0);
    CHECK(std::ranges::is_sorted(entries, {}, &Entry::key));
    for (std::size_t k = 1; k < entries.size() && n <= 16; ++k)
      CHECK((entries[k - 1].key != entries[k].key || entries[k - 1].label < entries[k].label));
  }
}

TEST_CASE("fixed_sort leaves more equal elements in the order on which schedules depend") {
  constexpr std::array expected{0,  3,  6,  12, 9,  29, 26, 23, 32, 20, 37, 11, 8,  14,
                                17, 5,  25, 34, 31, 28, 2,  19, 22, 10, 16, 13, 39, 30,
                                36, 33, 7,  4,  1,  27, 24, 21, 18, 15, 35, 38};
  const std::vector<Entry> entries = sorted_entries(40);
  CHECK(std::ranges::equal(entries, expected, {}, &Entry::label));
}

}  // namespace gdr::test
