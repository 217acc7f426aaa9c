// Sums of rows of longs in doubles, against scalar sums in a tree.
#include "emulator/engine/lanes/doubles/add_rows.hpp"

#include <random>
#include <vector>

#include "emulator/numeric/float.hpp"
#include "support/catch.hpp"

namespace gdr {
namespace {

using Random = std::mt19937_64;

/// A random word with an exponent in first .. first + count - 1.
Long any_long(Random& random, unsigned first, unsigned count) {
  const u128 exponent{first + random() % count};
  const std::uint64_t fraction = random() & random() & ((std::uint64_t{1} << 60) - 1);
  return {(u128{random() & 1} << 71) | (exponent << 60) | fraction};
}

Long sum_of_tree(std::vector<Long> all) {
  Flags flags = no_flags;
  while (all.size() > 1) {
    std::vector<Long> next;
    for (std::size_t k = 0; k + 1 < all.size(); k += 2)
      next.push_back(fadd(all[k], all[k + 1], Width::Long, flags));
    if (all.size() % 2 != 0) next.push_back(all.back());
    all = next;
  }
  return all[0];
}

struct Shape {
  std::size_t count, lanes;
};

/// Adds random rows; returns whether doubles were used, and checks the result.
bool add_random(Random& random, Isa isa, Shape shape, unsigned first, unsigned count) {
  const std::size_t size = 2 * shape.lanes;
  std::vector<std::uint64_t> shorts(shape.count * size);
  std::vector<std::vector<Long>> columns(shape.lanes);
  for (std::size_t n = 0; n < shape.count; ++n) {
    for (std::size_t i = 0; i < shape.lanes; ++i) {
      const Long x = any_long(random, first, count);
      columns[i].push_back(x);
      shorts[n * size + i] = static_cast<std::uint64_t>(x.bits >> 36);
      shorts[n * size + shape.lanes + i] = static_cast<std::uint64_t>(x.bits) & 0xfffffffff;
    }
  }
  const std::vector<std::uint64_t> before = shorts;
  if (!add_rows_in_doubles(isa, {shorts.data(), shape.count, shape.lanes})) {
    REQUIRE(shorts == before);
    return false;
  }
  for (std::size_t i = 0; i < shape.lanes; ++i) {
    const u128 sum = u128{shorts[i]} << 36 | shorts[shape.lanes + i];
    INFO("lane " << i << " of " << shape.lanes << ", " << shape.count << " rows");
    REQUIRE((sum == sum_of_tree(columns[i]).bits));
  }
  return true;
}

}  // namespace

TEST_CASE("rows added in doubles have the sums of the tree") {
  Random random(20100701);
  for (const Isa isa : host_isas()) {
    INFO(isa_name(isa));
    unsigned added = 0;
    constexpr unsigned rounds = 300;
    for (unsigned n = 0; n < rounds; ++n) {
      const Shape shape{1 + random() % 20, 1 + random() % 40};
      added += add_random(random, isa, shape, 1023, 12) ? 1 : 0;
      add_random(random, isa, shape, 1, 70);      // some underflow
      add_random(random, isa, shape, 1960, 87);   // some become infinite
      add_random(random, isa, {2, 1}, 900, 300);  // very different exponents
      add_random(random, isa, {3, 2}, 0, 3);      // zeros, also with fractions
      add_random(random, isa, {2, 1}, 2044, 4);   // infinities and NaN
    }
    // AVX2 rejects powers of two.
    if (isa == Isa::Portable) {
      CHECK(added == 0);
    } else {
      CHECK(added > rounds / 4);
    }
  }
}

}  // namespace gdr
