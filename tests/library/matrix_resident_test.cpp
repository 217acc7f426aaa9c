// Resident factors: transferred bytes, and invalidation.
#include <algorithm>
#include <random>
#include <vector>

#include "gdr/gdr.hpp"
#include "kernels/builtin.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

/// Integers, so that every sum is exact.
std::vector<double> whole(std::size_t count, int seed) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<double>((i * i * 7 + i * 3 + static_cast<std::size_t>(seed)) % 101) - 50;
  return all;
}

/// C = A B on a device, with the bytes that each call sends.
struct Bench {
  Device device;
  MatrixProduct product;
  std::size_t m, n, k;
  std::vector<double> a, b, c;

  Bench(const char* name, std::size_t rows, std::size_t columns, std::size_t depth,
        MatrixPrecision precision = MatrixPrecision::Chip)
      : device(Device::open(name)),
        product(device, precision),
        m(rows),
        n(columns),
        k(depth),
        a(whole(m * k, 1)),
        b(whole(k * n, 2)),
        c(m * n) {}

  /// Bytes sent by one call; checks its result.
  std::uint64_t sent(Reuse reuse, double beta = 0) {
    const std::uint64_t before = device.statistics().bytes_to_board;
    const std::vector<double> old = c;
    product.compute(m, n, k, 1, {a.data(), m}, {b.data(), k}, beta, {c.data(), m}, reuse);
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < m; ++row) {
        double sum = beta == 0 ? 0 : beta * old[row + column * m];
        for (std::size_t i = 0; i < k; ++i) sum += a[row + i * m] * b[i + column * k];
        if (c[row + column * m] != sum) FAIL("row " << row << ", column " << column);
      }
    return device.statistics().bytes_to_board - before;
  }
};

}  // namespace

TEST_CASE("a second product with the same B sends tiles of A only") {
  Bench x("exact:chips=2,blocks=2", 300, 40, 200);
  x.sent(Reuse::Nothing);  // with the program
  const std::uint64_t all = x.sent(Reuse::Nothing);
  // Two parts of 128 inner indices, 64 in each of two chips, 40 columns and one more.
  const std::uint64_t columns = 2 * 128 * 41 * sizeof(double);
  x.a = whole(x.a.size(), 5);
  CHECK(x.sent(Reuse::B) == all - columns);
  CHECK(x.sent(Reuse::B, 2) == all - columns);
  x.b = whole(x.b.size(), 6);
  CHECK(x.sent(Reuse::Nothing) == all);
  CHECK(x.sent(Reuse::B) == all - columns);
  x.m = 20;  // another A
  CHECK(x.sent(Reuse::B) < all - columns);
}

TEST_CASE(
    "B stays resident in full precision, on several boards, in column blocks, and as floats") {
  SECTION("three terms") {
    Bench x("exact:chips=1,blocks=2", 20, 10, 30, MatrixPrecision::Full);
    x.a[3] = 0x1p52 + 1;
    std::ranges::fill(x.b, 0.0);  // so that sums stay exact
    x.b[5] = 0x1p52 + 1;
    x.sent(Reuse::Nothing);
    const std::uint64_t all = x.sent(Reuse::Nothing);
    CHECK(x.sent(Reuse::B) < all);
    x.a[3] = 1;  // two terms instead of one: the layout of B changes
    const std::uint64_t fewer = x.sent(Reuse::B);
    CHECK(x.sent(Reuse::B) < fewer);
  }
  SECTION("boards without a part in the first product") {
    Bench x("exact:chips=1,blocks=1,boards=3", 200, 7, 20);
    x.sent(Reuse::Nothing);
    x.m = 700;
    x.a = whole(x.m * x.k, 9);
    x.c.resize(x.m * x.n);
    const std::uint64_t some = x.sent(Reuse::B);
    CHECK(x.sent(Reuse::B) < some);
  }
  SECTION("more columns than a column block") {
    Bench x("exact:chips=1,blocks=1", 1, 16390, 2);
    x.sent(Reuse::Nothing);
    const std::uint64_t all = x.sent(Reuse::Nothing);
    CHECK(x.sent(Reuse::B) == all - (16390 + 2) * 32 * sizeof(double));
  }
  SECTION("floats") {
    Device device = Device::open("exact:chips=1,blocks=1");
    MatrixProduct product(device);
    const std::vector<float> one{2}, two{3};
    float c = 0;
    const auto run = [&](Reuse reuse) {
      const std::uint64_t before = device.statistics().bytes_to_board;
      product.compute(1, 1, 1, 1, {one.data(), 1}, {two.data(), 1}, 0, {&c, 1}, reuse);
      CHECK(c == 6);
      return device.statistics().bytes_to_board - before;
    };
    run(Reuse::Nothing);
    const std::uint64_t all = run(Reuse::Nothing);
    CHECK(run(Reuse::B) == all - 2 * 32 * sizeof(double));
  }
}

TEST_CASE("A that fits the PEs stays resident across calls and column blocks") {
  constexpr std::uint64_t word = sizeof(double);
  SECTION("one tile") {
    Bench x("exact:chips=2,blocks=2", 200, 40, 100);
    x.sent(Reuse::Nothing);  // with the program
    const std::uint64_t tile = 2 * 2 * 256 * 32 * word, columns = 41 * 128 * word;
    CHECK(x.sent(Reuse::Nothing) == tile + columns);
    CHECK(x.sent(Reuse::Both) == 0);
    x.b = whole(x.b.size(), 5);
    CHECK(x.sent(Reuse::A, 3) == columns);
    CHECK(x.sent(Reuse::Both, 1) == 0);
    x.a = whole(x.a.size(), 6);
    CHECK(x.sent(Reuse::B) == tile);
    x.product.invalidate();
    x.a = whole(x.a.size(), 7);
    CHECK(x.sent(Reuse::Both) == tile + columns);
    Gravity gravity(x.device);
    const double position[6] = {0, 0, 0, 1, 0, 0}, mass[2] = {1, 2};
    double acceleration[6] = {};
    gravity.compute(2, position, mass, 0, acceleration, nullptr);
    CHECK(x.sent(Reuse::Both) > tile + columns);  // and the program
  }
  SECTION("a tile for each board") {
    Bench x("exact:chips=1,blocks=1,boards=3", 700, 7, 20);
    x.sent(Reuse::Nothing);
    CHECK(x.sent(Reuse::Nothing) == 3 * (256 + 8) * 32 * word);
    CHECK(x.sent(Reuse::A) == 3 * 8 * 32 * word);
  }
  SECTION("two column blocks with one tile, then with two tiles, of which one is resident") {
    Bench x("exact:chips=1,blocks=1", 1, 16390, 2);
    x.sent(Reuse::Nothing);
    CHECK(x.sent(Reuse::Nothing) == (256 + 16390 + 2) * 32 * word);
    x.m = 300;
    x.a = whole(x.m * x.k, 3);
    x.c.resize(x.m * x.n);
    CHECK(x.sent(Reuse::Nothing) == (3 * 256 + 16390 + 2) * 32 * word);
    CHECK(x.sent(Reuse::Both) == 2 * 256 * 32 * word);
  }
  SECTION("more than a board takes in one pass") {
    Bench x("exact:chips=1,blocks=1", 20, 6, 70);
    x.sent(Reuse::Nothing);
    CHECK(x.sent(Reuse::Both) == 3 * 256 * 32 * word);  // one tile of A after the other
  }
}

TEST_CASE("a short inner dimension sends only the blocks that it fills, and clears the others") {
  Bench x("exact:chips=2,blocks=4", 100, 9, 20);
  const auto tiles = [&](std::size_t blocks, std::size_t chips) {
    return (256 * 32 * blocks + 10 * 32 * 4 * chips) * sizeof(double);
  };
  const auto with = [&](std::size_t k) {
    x.k = k;
    x.a = whole(x.m * k, static_cast<int>(k));
    x.b = whole(x.n * k, static_cast<int>(k) + 1);
    return x.sent(Reuse::Nothing);
  };
  with(20);  // with the program
  CHECK(with(20) == tiles(1, 1));
  CHECK(with(32) == tiles(1, 1));
  CHECK(with(33) == tiles(2, 1));
  CHECK(with(250) == tiles(8, 2));
  CHECK(with(20) == tiles(4, 1));  // zeros to three blocks; the second chip has no part in it
  CHECK(with(20) == tiles(1, 1));
  CHECK(with(130) == tiles(4 + 4, 2));  // the second chip still had four
  CHECK(with(130) == tiles(4 + 1, 2));
}

TEST_CASE("A that exceeds the PEs stays in the memories with swapped operands and the same bits") {
  constexpr std::uint64_t word = sizeof(double);
  SECTION("bytes") {
    Bench x("exact:chips=2,blocks=2", 700, 40, 200);
    x.sent(Reuse::Nothing);
    const std::uint64_t tile = 2 * 2 * 256 * 32 * word, columns = 701 * 128 * word;
    CHECK(x.sent(Reuse::A) == 2 * (tile + columns));  // two parts of the inner dimension
    CHECK(x.sent(Reuse::A) == 2 * tile);
    x.b = whole(x.b.size(), 5);
    CHECK(x.sent(Reuse::A, 2) == 2 * tile);
    x.a = whole(x.a.size(), 6);
    CHECK(x.sent(Reuse::Nothing) == 2 * (3 * tile + 41 * 128 * word));
    CHECK(x.sent(Reuse::A) == 2 * (tile + columns));  // the last call used the other layout
  }
  SECTION("bits, in full precision and with several passes") {
    constexpr std::size_t m = 300, n = 70, k = 150;
    Device device = Device::open("exact:chips=1,blocks=2");
    std::mt19937_64 random(4);
    std::normal_distribution<> normal;
    std::vector<double> a(m * k), b(k * n), old(m * n);
    for (auto* const matrix : {&a, &b, &old})
      for (double& x : *matrix) x = normal(random);
    for (const auto precision : {MatrixPrecision::Chip, MatrixPrecision::Full}) {
      MatrixProduct product(device, precision);
      std::vector<double> c = old, again = old;
      const auto run = [&](Reuse reuse, std::vector<double>& to) {
        product.compute(m, n, k, -0.3, {a.data(), m}, {b.data(), n, Transpose::Yes}, 0.7,
                        {to.data(), m}, reuse);
      };
      run(Reuse::Nothing, c);
      run(Reuse::A, again);
      CHECK(again == c);
    }
  }
  SECTION("a B that was the A of the previous call is sent") {
    Bench x("exact:chips=1,blocks=1", 300, 300, 30);
    for (std::size_t i = 0; i < x.k; ++i)  // B = A^T
      for (std::size_t row = 0; row < x.m; ++row) x.b[i + row * x.k] = x.a[row + i * x.m];
    x.sent(Reuse::A);
    std::ranges::copy(whole(x.a.size(), 9), x.a.begin());
    std::vector<double> c(x.m * x.m);
    // The streamed A of the last call is now B, with other elements, and not declared unchanged.
    x.product.compute(x.m, x.m, x.k, 1, {x.b.data(), x.k, Transpose::Yes},
                      {x.a.data(), x.m, Transpose::Yes}, 0, {c.data(), x.m}, Reuse::B);
    double sum = 0;
    for (std::size_t i = 0; i < x.k; ++i) sum += x.b[i] * x.a[i * x.m];
    CHECK(c[0] == sum);
  }
}

TEST_CASE("B is sent again after other work, even if declared unchanged") {
  Bench x("exact:chips=1,blocks=2", 30, 12, 50);
  CHECK(x.sent(Reuse::B) > 0);  // there was no last call
  const std::uint64_t all = x.sent(Reuse::Nothing);
  REQUIRE(x.sent(Reuse::B) < all);
  SECTION("particles") {
    Gravity gravity(x.device);
    const double position[6] = {0, 0, 0, 1, 0, 0}, mass[2] = {1, 2};
    double acceleration[6] = {};
    gravity.compute(2, position, mass, 0, acceleration, nullptr);
    CHECK(acceleration[0] == Approx(2));
    CHECK(x.sent(Reuse::B) > all);  // and the program
  }
  SECTION("another product on the device") {
    MatrixProduct other(x.device);
    const double one = 1;
    double c = 0;
    other.compute(1, 1, 1, 1, {&one, 1}, {&one, 1}, 0, {&c, 1});
    CHECK(c == 1);
    CHECK(x.sent(Reuse::B) == all);  // but not the program, which both share
  }
  SECTION("a job with the program of the product, which overwrites the tile of A") {
    const Kernel kernel = Kernel::assemble(dense_kernel("dgemm"), "dgemm.gds");
    Job job = x.device.job(kernel);
    const std::vector<double> ones(1, 1.0);
    std::vector<NamedInput> targets, sources;
    for (const KernelVariable& v : kernel.variables()) {
      if (v.role == Role::Target) targets.push_back({v.name, ones});
      if (v.role == Role::Source) sources.push_back({v.name, ones});
    }
    job.sources(1, sources);
    job.targets(1, targets);
    job.run(std::span<const NamedResult>{});
    CHECK(x.sent(Reuse::Both) >= all);
  }
  SECTION("another B of this product") {
    const double one = 1;
    double c = 0;
    x.product.compute(1, 1, 1, 1, {&one, 1}, {&one, 1}, 0, {&c, 1}, Reuse::B);
    CHECK(c == 1);
    CHECK(x.sent(Reuse::B) == all);
  }
  SECTION("another shape of the same memory") {
    x.n = 11;
    CHECK(x.sent(Reuse::B) == all - 2 * 32 * sizeof(double));
    x.k = 49;
    CHECK(x.sent(Reuse::B) == all - 2 * 32 * sizeof(double));
  }
  SECTION("invalidation") {
    x.b = whole(x.b.size(), 8);
    x.product.invalidate();
    CHECK(x.sent(Reuse::B) == all);
  }
  SECTION("a change of B before a call with an error") {
    x.b = whole(x.b.size(), 8);
    CHECK_THROWS_AS(x.product.compute(x.m, x.n, x.k, 1, {x.a.data(), 1}, {x.b.data(), x.k}, 0,
                                      {x.c.data(), x.m}),
                    Error);
    CHECK(x.sent(Reuse::B) == all);
  }
  SECTION("a change of B before a call that does not read it") {
    x.b = whole(x.b.size(), 8);
    x.product.compute(x.m, x.n, x.k, 0, {x.a.data(), x.m}, {x.b.data(), x.k}, 1, {x.c.data(), x.m});
    CHECK(x.sent(Reuse::B) == all);
  }
}

TEST_CASE("columns that do not fit the memories are sent in every call") {
  Bench x("exact:chips=1,blocks=2,dram=8192", 30, 40, 20);
  x.sent(Reuse::Nothing);
  const std::uint64_t all = x.sent(Reuse::Nothing);
  CHECK(x.sent(Reuse::B) == all);
}
