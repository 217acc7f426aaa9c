// HPL on many nodes: compared with its published analysis, with LU on one board, and in limiting
// cases.
#include <cmath>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/factor.hpp"
#include "libgdr/predict/jobs.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::predict;

namespace {

Machine with(Machine machine, Key key, double value) {
  machine.set(key, value, Origin::Assumed, "test");
  return machine;
}

HplJob job_of(std::size_t n, std::size_t block, std::size_t rows, std::size_t columns,
              bool look_ahead = true) {
  return {n, block, rows, columns, look_ahead};
}

double seconds(const Machine& machine, const HplJob& job) {
  return predict_hpl(machine, job).seconds;
}

}  // namespace

TEST_CASE("on one node HPL takes the time of LU without the row exchanges left of the panels") {
  const Machine board = preset("board4");
  for (const std::size_t n : {8192, 20000, 51200}) {
    const Prediction hpl = predict_hpl(board, job_of(n, 2048, 1, 1));
    const dense::FactorClock start(board.geometry());
    const dense::LuTime lu = dense::predict_lu(start, n, 2048, true);
    const std::vector<std::int64_t> pivots(2048);
    double left = 0;
    for (std::size_t at = 0; at < n; at += 2048)
      left += dense::clock_after(start,
                                 [&](const dense::Updates& node) {
                                   dense::exchange_rows(
                                       at, {},
                                       std::span(pivots).first(std::min<std::size_t>(2048, n - at)),
                                       node.host());
                                 })
                  .time()
                  .total;
    // Only HPL reads the upper triangle once, for the right-hand side.
    CHECK(hpl.seconds == Approx(lu.total - left).epsilon(0.03));
    CHECK(hpl.usage[Resource::Network] == 0);
  }
}

TEST_CASE("messages of HPL are those of its published analysis") {
  // netlib.org/benchmark/hpl/scalability.html: N^2 (3 P + Q) / (2 P Q) words per node, and
  // N ((NB + 1) log P + P) / NB latencies.
  const Machine cluster = preset("cluster64");
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{8, 8}, {4, 16}, {2, 32}}) {
    const std::size_t n = 262144, block = 256;
    const double big = static_cast<double>(n), nb = 256, p = static_cast<double>(rows),
                 q = static_cast<double>(columns);
    const Machine wide = with(cluster, Key::NetworkLatency, 0);
    const double words = big * big * (3 * p + q) / (2 * p * q);
    const double volume = 8 * words / wide[Key::NetworkBandwidth];
    // The analysis counts only the latencies of the pivot search, not its volume.
    const double search = big * std::log2(p) * 8 * (2 * nb + 4) / wide[Key::NetworkBandwidth] / q;
    INFO(rows << " x " << columns);
    CHECK(predict_hpl(wide, job_of(n, block, rows, columns)).usage[Resource::Network] ==
          Approx(volume + search).epsilon(0.12));
  }
}

TEST_CASE("HPL is never faster than the peak, nor slower on a better machine") {
  const Machine cluster = preset("cluster64");
  for (const std::size_t n : {16384, 65536, 200000, 311296}) {
    const HplJob job = job_of(n, 2048, 8, 8);
    const Prediction p = predict_hpl(cluster, job);
    INFO(n);
    CHECK(p.seconds > p.flops / p.peak);
    CHECK(seconds(cluster, job_of(n, 2048, 8, 8, false)) >= p.seconds);
    CHECK(seconds(with(cluster, Key::NetworkBandwidth, 3e9), job) <= p.seconds);
    CHECK(seconds(with(cluster, Key::NetworkLatency, 1e-4), job) >= p.seconds);
    CHECK(seconds(with(cluster, Key::LinkRead, 3.2e9), job) <= p.seconds);
    CHECK(seconds(with(cluster, Key::HostMemoryBandwidth, 7e9), job) > p.seconds);
    CHECK(seconds(with(cluster, Key::HostProduct, 8e10), job) < p.seconds);
    for (const double busy : p.usage.seconds) CHECK(busy <= p.seconds);
  }
}

TEST_CASE("the efficiency of HPL grows with the matrix size") {
  const Machine cluster = preset("cluster64");
  double before = 0;
  for (const std::size_t n : {32768, 65536, 131072, 262144}) {
    const double rate = predict_hpl(cluster, job_of(n, 2048, 8, 8)).gflops();
    CHECK(rate > before);
    before = rate;
  }
}

TEST_CASE("HPL on thousands of nodes is predicted within seconds") {
  const Machine many = with(preset("plan4096"), Key::NetworkNodes, 4096);
  HplJob job;
  choose_grid(many.nodes(), job);
  CHECK(job.rows == 64);
  CHECK(job.columns == 64);
  job.n = largest_matrix(many, job);
  CHECK(job.n > 2000000);
  const Stopwatch stopwatch;
  const Prediction p = predict_hpl(many, job);
  const double seconds = stopwatch.seconds();
  CHECK(p.gflops() > predict_hpl(preset("plan4096"), job_of(851968, 2048, 16, 32)).gflops());
  CHECK(seconds < 300);  // a limit for hangs: it takes a second on a quiet host
}

TEST_CASE("HPL is predicted for odd sizes, odd grids and matrices smaller than a block") {
  const Machine cluster = preset("cluster64");
  for (const std::size_t n : {1, 2, 100, 2047, 2048, 2049, 10000})
    for (const auto& [rows, columns] :
         {std::pair<std::size_t, std::size_t>{1, 1}, {1, 7}, {7, 1}, {5, 3}}) {
      const Prediction p = predict_hpl(cluster, job_of(n, 2048, rows, columns));
      INFO(n << " on " << rows << " x " << columns);
      CHECK(std::isfinite(p.seconds));
      CHECK(p.seconds > 0);
    }
}

TEST_CASE("HPL jobs that exceed the memory are errors") {
  const Machine cluster = preset("cluster64");
  CHECK_THROWS_AS(predict_hpl(cluster, job_of(100000, 2048, 9, 8)), Error);
  CHECK_THROWS_AS(predict_hpl(cluster, job_of(0, 2048, 8, 8)), Error);
  CHECK_THROWS_AS(predict_hpl(cluster, job_of(1000, 0, 8, 8)), Error);
  CHECK_THROWS_AS(predict_hpl(cluster, job_of(400000, 2048, 8, 8)), Error);
  CHECK_THROWS_AS(predict_hpl(cluster, job_of(300000, 1, 8, 8)), Error);
}
