// Matrix products on a GPU: exact ones have the bits of the instructions, fast ones those of the
// host's kernels, and floats are accurate. Without an OpenCL device these tests are skipped; the
// processor's (pocl) will do.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "board/matmul_cases.hpp"
#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/gpu/gpu_products.hpp"
#include "emulator/host/parallel.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/iterations.hpp"

using namespace gdr;
using namespace gdr::test;
using namespace gdr::test::matmul;

namespace {

/// Words of results that differ.
std::vector<std::size_t> differences(const std::vector<std::uint64_t>& a,
                                     const std::vector<std::uint64_t>& b) {
  REQUIRE(a.size() == b.size());
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) found.push_back(i);
  return found;
}
const std::vector<std::size_t> none;

struct Case {
  Program program;
  std::vector<Shape> shapes;
};
std::vector<Case> cases() {
  std::vector<Case> all{{dgemm(), {{2, 3, 32, 23}, {1, 16, 32, 9}}}, {sgemm(), {{2, 3, 32, 23}}}};
  if (std::getenv("GDR_TEST_GPU") == nullptr) return all;
  all.push_back({sgemm(), {{1, 16, 32, 9}}});
  all.push_back({dgemm(), {{3, 1, 40, 130}}});
  all.push_back({assembled(small_product()), {{1, 1, 32, 40}, {3, 5, 10, 61}, {4, 16, 16, 7}}});
  return all;
}

}  // namespace

TEST_CASE("a matrix product on a GPU has the same bits as the body's instructions") {
  if (!use_gpu_for_all()) return;
  for (std::uint64_t round = 0; round < test::test_iterations(1); ++round) {
    for (const auto& [program, shapes] : cases()) {
      for (const auto& [name, sample] : samplers) {
        for (const Shape& shape : shapes) {
          CAPTURE(name, shape.chips, shape.blocks, shape.pes, shape.items, round);
          const std::uint64_t seed = 7 + shape.items + round;
          EngineStats stats;
          const auto on_gpu =
              results(program, shape, "gpu-exact", best_isa(), sample, seed, true, 0, &stats);
          // The host's kernels have the bits of the instructions (matmul_test.cpp) and are faster.
          const bool kernels = std::getenv("GDR_TEST_GPU") == nullptr;
          const auto exact = results(program, shape, "vector", best_isa(), sample, seed, kernels);
          REQUIRE(differences(on_gpu, exact) == none);
          REQUIRE(stats.gpu_runs == std::uint64_t{shape.chips} * shape.blocks);
          // Numbers in the middle of the range stay there.
          INFO(stats.reason);
          if (name == std::string_view("uniform")) REQUIRE(stats.reason.empty());
          if (name == std::string_view("extreme"))
            REQUIRE(stats.reason.find("were repeated on the processor") != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("a matrix product on a GPU keeps all bits of small sums next to large ones") {
  if (!use_gpu_for_all()) return;
  for (int slope = 1; slope < 8; ++slope) {
    CAPTURE(slope);
    const auto run = [&](const char* engine) {
      return results(dgemm(), {1, 2, 32, 21}, engine, best_isa(), uniform, 5, true, slope);
    };
    REQUIRE(differences(run("gpu-exact"), run("vector")) == none);
  }
}

TEST_CASE("a matrix product of few rows on a GPU has the same bits as on the processor") {
  if (!use_gpu_for_all()) return;
  const GpuBlas blas("own");
  const Program program = GENERATE(0, 1) == 0 ? dgemm() : sgemm();
  constexpr Shape shape{2, 2, 32, 13};
  for (const std::size_t rows : {0, 1, 9, 64, 255})
    for (const double beyond : {0.0, -0.0, -3.0, std::numeric_limits<double>::infinity()}) {
      CAPTURE(rows, beyond);
      const Numbers numbers = short_tile(program, shape, rows, 70, beyond, 3);
      const auto run = [&](const char* engine) {
        return results(program, shape, engine, best_isa(), numbers, true);
      };
      REQUIRE(differences(run("gpu-exact"), run("vector")) == none);
      REQUIRE(differences(run("gpu"), run("native")) == none);
    }
}

TEST_CASE("a matrix product in doubles has the same bits on a GPU and on the processor") {
  if (!use_gpu_for_all()) return;
  const GpuBlas blas("own");
  for (const auto& [program, shapes] : cases()) {
    for (const auto& [name, sample] : samplers) {
      // Products that are subnormal are zero on the processor only.
      if (std::string_view(name).starts_with("products near 2^-1022") ||
          name == std::string_view("extreme") || name == std::string_view("one at an end") ||
          std::string_view(name).starts_with("numbers near"))
        continue;
      for (const Shape& shape : shapes) {
        CAPTURE(name, shape.chips, shape.blocks, shape.pes, shape.items);
        EngineStats stats;
        const auto on_gpu = results(program, shape, "gpu", best_isa(), sample, 3, true, 0, &stats);
        const auto native = results(program, shape, "native", best_isa(), sample, 3, true);
        REQUIRE(differences(on_gpu, native) == none);
        REQUIRE(stats.gpu_runs == std::uint64_t{shape.chips} * shape.blocks);
        REQUIRE(stats.reason.empty());
      }
    }
  }
}

TEST_CASE("a matrix product in floats on a GPU is accurate, and in doubles beyond their range") {
  if (!use_gpu_for_all()) return;
  for (const Program& program : {dgemm(), sgemm()}) {
    for (const auto& [name, sample] : samplers) {
      const Shape shape{3, 3, 32, 30};
      const std::size_t depth = shape.chips * shape.blocks * (of_floats(program) ? 64 : 32);
      CAPTURE(name, of_floats(program));
      EngineStats stats;
      const auto on_gpu =
          results(program, shape, "gpu-float", best_isa(), sample, 3, true, 0, &stats);
      const auto exact = results(program, shape, "vector", best_isa(), sample, 3, true);
      REQUIRE(stats.gpu_runs == std::uint64_t{shape.chips} * shape.blocks);
      REQUIRE(on_gpu.size() == exact.size());
      // Two roundings of factors, and those of the sums of up to 256 products, all in floats.
      const std::string_view kind = name;
      const double largest = kind == "uniform" || kind == "integers" ? 16.0
                             : kind == "spread 5"                    ? 1024.0
                                                                     : 0.0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double a = real(on_gpu[i]), b = real(exact[i]);
        REQUIRE(std::isfinite(a) == std::isfinite(b));
        if (largest != 0)
          REQUIRE(std::abs(a - b) <= 258 * 0x1p-24 * largest * static_cast<double>(depth));
        if (kind == "integers") REQUIRE(a == b);
        // These are not in the range of floats.
        if (kind == "products near 2^800" && std::isfinite(b))
          REQUIRE(std::abs(a - b) <= 1e-12 * static_cast<double>(depth) * 0x1p805);
      }
    }
  }
}

namespace {

/// Pieces of several chips, multiplied through the interface of devices.
struct Pieces {
  static constexpr std::size_t depth = 96, panels = 9, chips = 2;
  std::size_t columns;
  std::vector<double> factors, items;
  std::vector<BoardMemory> memories;  ///< items of each chip, from word `address` on
  static constexpr std::uint64_t address = 7;

  explicit Pieces(std::size_t n)
      : columns(n), factors(chips * panels * depth * panel_lanes), items(chips * columns * depth) {
    std::mt19937_64 random(2);
    for (double& x : factors) x = uniform(random);
    for (double& x : items) x = uniform(random);
    for (std::size_t chip = 0; chip < chips; ++chip)
      memories.emplace_back(address + columns * depth);
    write_columns(0, columns);
  }
  /// Writes items to the memories of all chips, or of `only`.
  void write_columns(std::size_t first, std::size_t count, std::size_t only = chips) {
    for (std::size_t chip = 0; chip < chips; ++chip) {
      if (only != chips && chip != only) continue;
      const double* const from = items.data() + (chip * columns + first) * depth;
      memories[chip].write(address + first * depth,
                           {reinterpret_cast<const std::uint64_t*>(from), count * depth});
    }
  }
  /// `most`: bytes of a buffer.
  std::vector<double> multiplied(DeviceNumbers numbers, std::size_t most) const {
    const auto device = matmul_on({open_gpu("")}, numbers, most);
    REQUIRE(device);
    std::vector<char> unfit;
    std::vector<double> sums = multiplied_by(*device->products(), unfit);
    REQUIRE(std::ranges::count(unfit, 1) == 0);
    return sums;
  }
  std::vector<double> multiplied_by(DeviceProducts& products, std::vector<char>& unfit) const {
    std::vector<double> sums(columns * panels * panel_lanes);
    DeviceProduct product;
    product.blocks = 3;
    product.sums = sums.data();
    product.panels.resize(panels);
    std::iota(product.panels.begin(), product.panels.end(), 0);
    for (std::size_t chip = 0; chip < chips; ++chip)
      for (std::size_t block = 0; block < 3; ++block)
        product.pieces.push_back({factors.data() + (chip * 3 + block) * 32 * panel_lanes,
                                  chips * depth * panel_lanes, 32, chip, block * 32});
    product.items.columns = columns;
    product.items.words = depth;
    for (const BoardMemory& memory : memories)
      product.items.segments.push_back({&memory, address, columns});
    unfit = products.multiply(product);
    return sums;
  }
  void check(const std::vector<double>& sums, double tolerance) const {
    double worst = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::size_t column = i / (panels * panel_lanes), panel = i / panel_lanes % panels;
      double expected = 0;
      for (std::size_t chip = 0; chip < chips; ++chip)
        for (std::size_t k = 0; k < depth; ++k)
          expected +=
              factors[((panel * chips + chip) * depth + k) * panel_lanes + i % panel_lanes] *
              items[(chip * columns + column) * depth + k];
      worst = std::max(worst, std::abs(sums[i] - expected));
    }
    REQUIRE(worst < tolerance);
  }
};

}  // namespace

TEST_CASE("a GPU multiplies matrices that exceed its buffers in pieces") {
  if (!use_gpu_for_all()) return;
  const GpuBlas blas("own");
  const Pieces pieces(333);
  for (const DeviceNumbers numbers :
       {DeviceNumbers::Doubles, DeviceNumbers::Floats, DeviceNumbers::Exact}) {
    const std::vector<double> whole = pieces.multiplied(numbers, 0);
    pieces.check(whole, numbers == DeviceNumbers::Floats ? 1e-4 : 1e-12);
    REQUIRE(pieces.multiplied(numbers, 1U << 17) == whole);
  }
}

TEST_CASE("a product on a GPU uses new words of columns that were written after the last product") {
  if (!use_gpu_for_all()) return;
  const GpuBlas blas("own");
  const DeviceNumbers numbers =
      GENERATE(DeviceNumbers::Doubles, DeviceNumbers::Floats, DeviceNumbers::Exact);
  const double tolerance = numbers == DeviceNumbers::Floats ? 1e-4 : 1e-12;
  Pieces pieces(333);
  const auto device = matmul_on({open_gpu("")}, numbers, 0);
  const auto products = device->products();
  std::vector<char> unfit;
  pieces.check(pieces.multiplied_by(*products, unfit), tolerance);
  const auto change = [&](std::size_t first, std::size_t count, std::size_t chip) {
    for (std::size_t k = 0; k < count * Pieces::depth; ++k)
      pieces.items[(chip * pieces.columns + first) * Pieces::depth + k] *= -0.5;
    pieces.write_columns(first, count, chip);
  };
  const std::size_t writes[][3] = {{0, 1, 0}, {332, 1, 1}, {100, 50, 1}, {20, 300, 0}, {0, 333, 1}};
  for (const auto& [first, count, chip] : writes) {
    CAPTURE(first, count, chip);
    change(first, count, chip);
    if (first == 100) change(310, 2, 0);  // far from the other columns
    const std::vector<double> sums = pieces.multiplied_by(*products, unfit);
    pieces.check(sums, tolerance);
    REQUIRE(std::ranges::count(unfit, 1) == 0);
    REQUIRE(sums == pieces.multiplied(numbers, 0));
  }
  // A column beyond floats in one chip stays beyond them when the other chip's has changed.
  if (numbers != DeviceNumbers::Floats) return;
  double& large = pieces.items[(pieces.columns + 5) * Pieces::depth];
  const double before = std::exchange(large, 1e200);
  pieces.write_columns(5, 1, 1);
  pieces.multiplied_by(*products, unfit);
  REQUIRE(unfit[5] == 1);
  change(5, 1, 0);
  pieces.multiplied_by(*products, unfit);
  REQUIRE(unfit[5] == 1);
  REQUIRE(std::ranges::count(unfit, 1) == 1);
  large = before;
  pieces.write_columns(5, 1, 1);
  pieces.check(pieces.multiplied_by(*products, unfit), tolerance);
  REQUIRE(std::ranges::count(unfit, 1) == 0);
}

TEST_CASE("a library of a GPU multiplies matrices that exceed its buffers with the same bits") {
  if (!use_gpu_for_all() || !has_gpu_library()) return;
  const GpuBlas blas("library");
  const Pieces pieces(3500);
  for (const DeviceNumbers numbers : {DeviceNumbers::Doubles, DeviceNumbers::Floats}) {
    const std::vector<double> whole = pieces.multiplied(numbers, 0);
    pieces.check(whole, numbers == DeviceNumbers::Floats ? 1e-4 : 1e-12);
    // 2048 columns at a time; and fewer than a library multiplies at once, for our kernels.
    REQUIRE(pieces.multiplied(numbers, 1U << 22) == whole);
    pieces.check(pieces.multiplied(numbers, 1U << 17),
                 numbers == DeviceNumbers::Floats ? 1e-4 : 1e-12);
  }
}

TEST_CASE("GDR_GPU_BLAS demands kernels or a library, and a wrong value is an error") {
  if (!use_gpu_for_all()) return;
  const auto products = [](const char* value) {
    const GpuBlas blas(value);
    matmul_on({open_gpu("")}, DeviceNumbers::Doubles)->products();
  };
  products("own");
  expect_error(ErrorCategory::Usage, {"GDR_GPU_BLAS is 'both'", "'own'", "'library'"},
               [&] { products("both"); });
  if (open_gpu("")->device->blas().blas != nullptr)
    products("library");
  else
    expect_error(ErrorCategory::Unsupported, {"GDR_GPU_BLAS is 'library', but ", "install"},
                 [&] { products("library"); });
}

TEST_CASE("a matrix product on a GPU can be cancelled") {
  if (!use_gpu_for_all()) return;
  const auto device = matmul_on({open_gpu("")}, DeviceNumbers::Doubles);
  const auto products = device->products();
  const std::vector<double> zeros(64 * panel_lanes);
  std::vector<double> sums(64 * panel_lanes);
  DeviceProduct product;
  product.blocks = 1;
  product.sums = sums.data();
  product.panels = {0};
  product.pieces = {{zeros.data(), 64 * panel_lanes, 64, 0, 0}};
  const BoardMemory memory(64);
  product.items.columns = product.items.words = 8;
  product.items.segments = {{&memory, 0, 8}};
  std::stop_source stop;
  stop.request_stop();
  const WorkMonitor monitor{stop.get_token()};
  const MonitoredScope scope(monitor);
  REQUIRE_THROWS_AS(products->multiply(product), Cancelled);
}
