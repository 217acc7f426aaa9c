// Predicted rates of matrix products and LU on one real board, compared with published figures and
// with a machine without reduction network.
#include <fmt/format.h>

#include "bench/measurement.hpp"
#include "libgdr/dense/prediction.hpp"

namespace gdr::bench {
namespace {

constexpr double giga = 1e-9;

Geometry board() {
  Geometry geometry;
  geometry.clock_hz = 400e6;  // operating clock of the boards
  return geometry;
}

Measurement product(const Geometry& geometry) {
  constexpr std::size_t n = 51200, k = 2048;
  const double seconds =
      dense::product_seconds(geometry, dense::network_mapping(geometry), n, n, k);
  return {"product, 51200 x 2048 by 2048 x 51200", giga * 2 * n * n * k / seconds, "Gflops",
          fmt::format("published 730, peak {:.0f}", giga * dense::peak(geometry)), 700.0};
}

/// A product of floats, with the kernel for short words.
Measurement product_of_floats(const Geometry& geometry) {
  constexpr std::size_t n = 51200, k = 4096;
  const auto rate = [&](dense::ElementFormat format) {
    return giga * 2 * n * n * k /
           dense::product_seconds(geometry, dense::network_mapping(geometry, format), n, n, k);
  };
  const double floats = rate(dense::ElementFormat::Floats);
  return {
      "product of floats, 51200 x 4096 by 4096 x 51200", floats, "Gflops",
      fmt::format("{:.3g} times as fast as doubles", floats / rate(dense::ElementFormat::Doubles))};
}

/// Required: within 15 % of the published figure.
Measurement lu(const Geometry& geometry, bool overlap) {
  constexpr std::size_t n = 51200, block = 2048;
  constexpr double published = 480;
  const dense::LuTime time = dense::predict_lu(dense::FactorClock(geometry), n, block, overlap);
  const double rate = time.gflops(n);
  Measurement measurement{
      overlap ? "LU, N = 51200" : "LU, N = 51200, panels and updates in turns", rate, "Gflops",
      fmt::format("panels {:.0f} s, updates {:.0f}, triangles {:.0f}, exchanges {:.0f}; "
                  "together {:.0f}",
                  time.panels, time.updates, time.solves, time.exchanges, time.total)};
  if (!overlap) return measurement;
  measurement.comment =
      fmt::format("published {:.0f}: {:+.1f} %; ", published, 100 * (rate / published - 1)) +
      measurement.comment;
  measurement.required = 0.85 * published;
  measurement.met_override = rate >= 0.85 * published && rate <= 1.15 * published;
  return measurement;
}

}  // namespace

std::vector<Measurement> matrix_predictions(const Context&) {
  const Geometry geometry = board();
  const dense::BoardMapping network = dense::network_mapping(geometry);
  std::vector<Measurement> list{product(geometry), product_of_floats(geometry), lu(geometry, true),
                                lu(geometry, false)};

  const auto half = dense::half_peak_size(geometry, network);
  list.push_back({"square product passes half of peak at",
                  static_cast<double>(half.value_or(0)),
                  "rows",
                  "multiples of 64",
                  {},
                  true});
  constexpr std::size_t large = 51200;
  const double without = dense::square_rate_without_network(geometry, large);
  list.push_back({"without a reduction network, N = 51200", without / dense::peak(geometry),
                  "of peak",
                  "half of peak is never passed: every PE's own sums fill the output port"});
  const double joined = dense::square_rate(geometry, network, large);
  const double sums = dense::square_rate(geometry, dense::dgemm_without_network(geometry), large);
  list.push_back({"gain of the reduction network, N = 51200", joined / without, "times",
                  fmt::format("beside rows over PEs; {:.3g} beside the same kernel with the "
                              "blocks' partial sums added on the host",
                              joined / sums)});
  // Data of a plot: rates over sizes, with a network and without.
  for (const std::size_t n : {256, 512, 1024, 1536, 2048, 3072, 4096, 8192, 16384}) {
    const double with = dense::square_rate(geometry, network, n);
    const double same = dense::square_rate(geometry, dense::dgemm_without_network(geometry), n);
    const double best = dense::square_rate_without_network(geometry, n);
    list.push_back({fmt::format("N = {}, with the network", n), giga * with, "Gflops",
                    fmt::format("{:.3g} times as fast as without", with / best)});
    list.push_back({fmt::format("N = {}, without, rows over PEs", n), giga * best, "Gflops"});
    list.push_back(
        {fmt::format("N = {}, without, partial sums to the host", n), giga * same, "Gflops"});
  }
  return list;
}

}  // namespace gdr::bench
