// Predicted times of products and LU, compared with the boards' counters and published rates.
#include "libgdr/dense/prediction.hpp"

#include <vector>

#include "gdr/gdr.hpp"
#include "libgdr/dense/factor.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::dense;

namespace {

Geometry board() {
  Geometry geometry;
  geometry.clock_hz = 400e6;
  return geometry;
}

}  // namespace

TEST_CASE("the predicted time of a product equals that of the boards") {
  struct Shape {
    std::size_t m, n, k;
  };
  Device device = Device::open("exact:chips=2,blocks=2,clock=400e6");
  Geometry geometry = board();
  geometry.chips_per_board = 2;
  geometry.blocks = 2;
  const BoardMapping mapping = network_mapping(geometry);
  MatrixProduct product(device);
  for (const Shape& s : {Shape{256, 60, 128}, {900, 200, 100}, {300, 150, 60}, {300, 50, 500}}) {
    CAPTURE(s.m, s.n, s.k);
    const std::vector<double> a(s.m * s.k, 0.5), b(s.k * s.n, 0.25);
    std::vector<double> c(s.m * s.n);
    product.compute(s.m, s.n, s.k, 1, {a.data(), s.m}, {b.data(), s.k}, 0, {c.data(), s.m});
    const double before = device.statistics().predicted_seconds;
    product.compute(s.m, s.n, s.k, 1, {a.data(), s.m}, {b.data(), s.k}, 0, {c.data(), s.m});
    const double accounted = device.statistics().predicted_seconds - before;
    CHECK(product_counts(geometry, mapping, s.m, s.n, s.k).predicted_seconds ==
          Approx(accounted).epsilon(1e-12));
  }
  const BoardMapping of_floats = network_mapping(geometry, ElementFormat::Floats);
  for (const Shape& s : {Shape{256, 60, 256}, {900, 200, 160}, {300, 50, 500}}) {
    CAPTURE(s.m, s.n, s.k);
    const std::vector<float> a(s.m * s.k, 0.5F), b(s.k * s.n, 0.25F);
    std::vector<float> c(s.m * s.n);
    product.compute(s.m, s.n, s.k, 1, {a.data(), s.m}, {b.data(), s.k}, 0, {c.data(), s.m});
    const double before = device.statistics().predicted_seconds;
    product.compute(s.m, s.n, s.k, 1, {a.data(), s.m}, {b.data(), s.k}, 0, {c.data(), s.m});
    const double accounted = device.statistics().predicted_seconds - before;
    CHECK(product_counts(geometry, of_floats, s.m, s.n, s.k).predicted_seconds ==
          Approx(accounted).epsilon(1e-12));
  }
}

TEST_CASE("predicted product and LU of one board agree with published rates") {
  const Geometry geometry = board();
  const BoardMapping mapping = network_mapping(geometry);
  CHECK(peak(geometry) == Approx(819.2e9));
  const double product = 2.0 * 51200 * 51200 * 2048 /
                         product_counts(geometry, mapping, 51200, 51200, 2048).predicted_seconds;
  CHECK(product > 700e9);
  CHECK(product < peak(geometry) * 512 / 544);
  const FactorClock start(geometry);
  const LuTime overlapped = predict_lu(start, 51200, 2048, true);
  const LuTime in_turns = predict_lu(start, 51200, 2048, false);
  CHECK(overlapped.gflops(51200) > 0.85 * 480);
  CHECK(overlapped.gflops(51200) < 1.15 * 480);
  CHECK(in_turns.total > overlapped.total);
  CHECK(in_turns.panels == overlapped.panels);
  // Without look-ahead only the boards and the storing of their results overlap.
  CHECK(in_turns.total ==
        Approx(in_turns.panels + in_turns.updates + in_turns.solves + in_turns.exchanges));
  CHECK(predict_lu(start, 0, 2048, true).total == 0);
  CHECK(predict_lu(start, 1, 2048, true).total > 0);
}

TEST_CASE("LU uses the board from about the size at which the model predicts it to be faster") {
  const FactorClock with(board(), {}, {}, 1), alone(board(), {}, {}, 0);
  const auto seconds = [](const FactorClock& start, std::size_t n) {
    return predict_lu(start, n, panel_columns(n, 2048), true).total;
  };
  for (const std::size_t n : {256, 512, 768, 896, 1024})
    CHECK(seconds(with, n) == Approx(seconds(alone, n)).epsilon(0.01));
  CHECK(seconds(with, 1152) < 0.95 * seconds(alone, 1152));
  CHECK(seconds(with, 2048) < 0.65 * seconds(alone, 2048));
  // At the threshold the two times are close.
  const std::size_t block = panel_columns(1024, 2048), left = 1024 - 2 * block;
  const auto product = [&](FactorClock clock) {
    clock.start_product(1024 - block, left, block, 1);
    return clock.boards_until();
  };
  const double there = product(with);
  const double here =
      clock_after(alone,
                  [&](Updates& host) { host.subtract(1024 - block, left, block, {}, {}, {}); })
          .time()
          .total;
  CHECK(there > here);
  CHECK(there < 1.4 * here);
}

TEST_CASE("float products exceed the peak of doubles") {
  const Geometry geometry = board();
  const auto rate = [&](ElementFormat format, std::size_t k) {
    constexpr std::size_t n = 51200;
    return 2.0 * n * n * static_cast<double>(k) /
           product_counts(geometry, network_mapping(geometry, format), n, n, k).predicted_seconds;
  };
  CHECK(column_clocks(ElementFormat::Doubles) == 544);
  CHECK(column_clocks(ElementFormat::Floats) == 788);
  CHECK(rate(ElementFormat::Floats, 4096) > 1.35 * rate(ElementFormat::Doubles, 4096));
  CHECK(rate(ElementFormat::Floats, 4096) > peak(geometry));
  CHECK(rate(ElementFormat::Floats, 2048) <
        rate(ElementFormat::Doubles, 2048));  // and so these are doubles
}

TEST_CASE("without a reduction network half of the peak is not reached") {
  const Geometry geometry = board();
  const auto half = half_peak_size(geometry, network_mapping(geometry), 4096);
  REQUIRE(half);
  CHECK(*half > 1024);
  CHECK(*half <= 2048);
  CHECK(square_rate_without_network(geometry, 16384) < peak(geometry) / 2);
  // One word leaves a chip in two clocks: partial sums of 16 blocks take 8192 for 544 of products.
  CHECK(square_rate(geometry, dgemm_without_network(geometry), 8192) < peak(geometry) / 16);
  CHECK(square_rate(geometry, network_mapping(geometry), 4096) >
        1.5 * square_rate_without_network(geometry, 4096));
}
