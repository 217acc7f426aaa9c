// Packing and unpacking of records from arrays of any layout.
#include "libgdr/device/columns.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// Arrays of doubles with individual strides, for consecutive words of records.
struct Arrays {
  std::vector<std::vector<double>> values;
  std::vector<Column> columns;

  Arrays(std::size_t count, std::size_t n, std::mt19937_64& random) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t step = random() % 4 == 0 ? 3 : 1;
      values.emplace_back(n * step + 1);
      for (double& v : values.back()) v = static_cast<double>(random() % 1000) - 500;
      const bool numbers = random() % 3 != 0;
      columns.push_back({reinterpret_cast<char*>(values.back().data()),
                         static_cast<std::ptrdiff_t>(step * sizeof(double)),
                         static_cast<std::uint32_t>(2 * k), numbers ? Move::Doubles : Move::Words});
    }
  }
  double& value(std::size_t k, std::size_t i) {
    return values[k][i * static_cast<std::size_t>(columns[k].stride) / sizeof(double)];
  }
};

/// An instruction set of the host.
Isa any_isa(std::mt19937_64& random) {
  static const std::vector<Isa> isas = host_isas();
  return isas[random() % isas.size()];
}

}  // namespace

TEST_CASE("arrays of any number and stride are packed into records and unpacked") {
  std::mt19937_64 random(1);
  for (unsigned trial = 0; trial < 400; ++trial) {
    const Isa isa = any_isa(random);
    const std::size_t count = 1 + random() % 20, n = random() % 40, words = count + random() % 3;
    const std::size_t first = n == 0 ? 0 : random() % n;
    Arrays arrays(count, n, random);
    std::vector<double> records((n - first) * words, -1e300), expected(records);
    for (std::size_t i = first; i < n; ++i) {
      for (std::size_t k = 0; k < count; ++k)
        expected[(i - first) * words + k] = arrays.value(k, i);
    }
    CHECK(pack_records(arrays.columns, first, n - first,
                       reinterpret_cast<std::uint32_t*>(records.data()), 2 * words, isa));
    REQUIRE(records == expected);

    Arrays back(count, n, random);
    unpack_records(back.columns, first, n - first,
                   reinterpret_cast<const std::uint32_t*>(records.data()), 2 * words);
    for (std::size_t i = first; i < n; ++i) {
      for (std::size_t k = 0; k < count; ++k) REQUIRE(back.value(k, i) == arrays.value(k, i));
    }
  }
}

TEST_CASE("an integer beyond 36 bits is detected at every position of every array") {
  std::mt19937_64 random(3);
  constexpr std::int64_t most = (std::int64_t{1} << 35) - 1;
  for (unsigned trial = 0; trial < 1000; ++trial) {
    const Isa isa = any_isa(random);
    const std::size_t count = 1 + random() % 18, n = 1 + random() % 40, step = 1 + random() % 2;
    std::vector<std::vector<std::int64_t>> values(count, std::vector<std::int64_t>(n * step));
    std::vector<Column> columns;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::int64_t& v : values[k]) v = random() % 2 == 0 ? most : -most - 1;
      columns.push_back({reinterpret_cast<char*>(values[k].data()),
                         static_cast<std::ptrdiff_t>(step * sizeof(std::int64_t)),
                         static_cast<std::uint32_t>(2 * k), Move::ShortIntegers});
    }
    std::vector<std::uint64_t> records(n * count);
    const auto pack = [&] {
      return pack_records(columns, 0, n, reinterpret_cast<std::uint32_t*>(records.data()),
                          2 * count, isa);
    };
    CHECK(pack());
    const std::size_t k = random() % count, i = random() % n;
    constexpr std::int64_t bad[] = {most + 1, -most - 2, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
    values[k][i * step] = bad[random() % 4];
    CHECK(!pack());
    CHECK(static_cast<std::int64_t>(records[i * count + k]) == values[k][i * step]);
  }
}

TEST_CASE("a number that is not finite is detected at every position of every array") {
  std::mt19937_64 random(2);
  constexpr double bad[] = {std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  for (unsigned trial = 0; trial < 1000; ++trial) {
    const Isa isa = any_isa(random);
    const std::size_t count = 1 + random() % 18, n = 1 + random() % 40;
    Arrays arrays(count, n, random);
    const std::size_t k = random() % count;
    arrays.value(k, random() % n) = bad[random() % 3];
    std::vector<std::uint32_t> records(n * count * 2);
    CHECK(pack_records(arrays.columns, 0, n, records.data(), 2 * count, isa) ==
          (arrays.columns[k].move == Move::Words));
  }
}

TEST_CASE("adjacent values of particles are copied and tested as rows of any width") {
  std::mt19937_64 random(4);
  constexpr Move moves[] = {Move::Words, Move::ShortIntegers, Move::Doubles};
  constexpr std::uint64_t bad_for[] = {0, std::uint64_t{1} << 40, 0x7ff0000000000000};
  for (unsigned trial = 0; trial < 1000; ++trial) {
    const Isa isa = any_isa(random);
    const std::size_t width = 1 + random() % 6, particle = width + random() % 3;
    const std::size_t n = 1 + random() % 20, words = width + random() % 3;
    const std::size_t kind = random() % 3;
    std::vector<std::uint64_t> values(n * particle);  // ends with the last row
    values.resize((n - 1) * particle + width);
    for (std::uint64_t& v : values) v = random() % 1000;
    std::vector<Column> columns;
    for (std::size_t k = 0; k < width; ++k)
      add_column(columns, {reinterpret_cast<char*>(values.data() + k),
                           static_cast<std::ptrdiff_t>(particle * sizeof(std::uint64_t)),
                           static_cast<std::uint32_t>(2 * k), moves[kind]});
    REQUIRE(columns.size() == (width + 3) / 4);
    const bool fails = random() % 2 == 0 && kind != 0;
    if (fails) values[random() % n * particle + random() % width] = bad_for[kind];
    std::vector<std::int32_t> index(n);
    for (std::int32_t& i : index) i = static_cast<std::int32_t>(random() % n);

    std::vector<std::uint64_t> records(n * words, 7), expected(records), gathered(records);
    std::vector<std::uint64_t> expected_gathered(records);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < width; ++k) {
        expected[i * words + k] = values[i * particle + k];
        expected_gathered[i * words + k] =
            values[static_cast<std::size_t>(index[i]) * particle + k];
      }
    auto* const to = reinterpret_cast<std::uint32_t*>(records.data());
    CHECK(pack_records(columns, 0, n, to, 2 * words, isa) == !fails);
    CHECK(records == expected);
    gather_records(columns, index.data(), n, reinterpret_cast<std::uint32_t*>(gathered.data()),
                   2 * words, isa);
    CHECK(gathered == expected_gathered);

    const std::vector<std::uint64_t> before = values;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < width; ++k) values[i * particle + k] = 0;
    unpack_records(columns, 0, n, to, 2 * words, isa);
    CHECK(values == before);
  }
}

}  // namespace gdr::test
