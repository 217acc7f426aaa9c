// Predicted times of products and LU: what boards account, what was published.
#include <vector>

#include "gdr/gdr.hpp"
#include "libgdr/dense/prediction.hpp"
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

TEST_CASE("The time of a product is what the boards account for it") {
  struct Shape {
    std::size_t m, n, k;
  };
  Device device = Device::open("emulator:chips=2,blocks=2,clock=400e6");
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
    CHECK(product_seconds(geometry, mapping, s.m, s.n, s.k) == Approx(accounted).epsilon(0.03));
  }
}

TEST_CASE("Predicted product and LU of one board are near what was published") {
  const Geometry geometry = board();
  const BoardMapping mapping = network_mapping(geometry);
  CHECK(peak(geometry) == Approx(819.2e9));
  const double product =
      2.0 * 51200 * 51200 * 2048 / product_seconds(geometry, mapping, 51200, 51200, 2048);
  CHECK(product > 700e9);
  CHECK(product < peak(geometry) * 512 / 544);
  const LuTime overlapped = predict_lu(geometry, 51200, 2048, true);
  const LuTime in_turns = predict_lu(geometry, 51200, 2048, false);
  CHECK(overlapped.gflops(51200) > 0.85 * 480);
  CHECK(overlapped.gflops(51200) < 1.15 * 480);
  CHECK(in_turns.total > overlapped.total);
  CHECK(in_turns.panels == overlapped.panels);
  // Nothing is left out: the parts of a step that stand side by side are its longer one at least.
  CHECK(in_turns.total >= in_turns.panels + in_turns.updates + in_turns.solves);
  CHECK(predict_lu(geometry, 0, 2048, true).total == 0);
  CHECK(predict_lu(geometry, 1, 2048, true).total > 0);
}

TEST_CASE("Without a reduction network half of the peak is out of reach") {
  const Geometry geometry = board();
  const auto half = half_of_peak(geometry, network_mapping(geometry), 4096);
  REQUIRE(half);
  CHECK(*half > 1024);
  CHECK(*half <= 2048);
  CHECK(square_rate_without_network(geometry, 16384) < peak(geometry) / 2);
  // One word leaves a chip in two clocks: partial sums of 16 blocks take 8192 for 544 of products.
  CHECK(square_rate(geometry, same_without_network(geometry), 8192) < peak(geometry) / 16);
  CHECK(square_rate(geometry, network_mapping(geometry), 4096) >
        1.5 * square_rate_without_network(geometry, 4096));
}
