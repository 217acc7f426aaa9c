// Predictions of particle jobs, products and LU on one node and on many; scaling.
#include "libgdr/predict/jobs.hpp"

#include <cmath>
#include <limits>

#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/predict/scaling.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::predict;

namespace {

Machine with(Machine machine, Key key, double value) {
  machine.set(key, value, Origin::Assumed, "test");
  return machine;
}

KernelShape gravity(const Machine& machine) {
  return kernel_shape(Kernel::builtin("gravity"), machine.geometry());
}

JobOn gravity_of(std::size_t n) {
  return [n](const Machine& m) { return predict_particles(m, gravity(m), {n, n}); };
}

}  // namespace

TEST_CASE("predictions of product and LU on one board are those of the linear algebra library") {
  const Machine board = preset("board4");
  const Geometry g = board.geometry();
  for (const std::size_t n : {500, 2048, 10000}) {
    CHECK(predict_product(board, n, n + 7, n).seconds ==
          dense::product_counts(g, dense::network_mapping(g), n, n + 7, n).predicted_seconds);
    CHECK(predict_lu(board, n, 1024, true).seconds ==
          dense::predict_lu(dense::FactorClock(g), n, 1024, true).total);
    CHECK(predict_lu(board, n, 0, false).seconds >= predict_lu(board, n, 0, true).seconds);
  }
  CHECK(predict_product(board, 0, 5, 5).seconds == 0);
  CHECK(predict_lu(board, 0, 0, true).seconds == 0);
}

TEST_CASE("no prediction exceeds the peak, and a better machine is never slower") {
  for (const char* name : {"board4", "cluster64", "plan4096"}) {
    const Machine m = preset(name);
    for (const std::size_t n : {1000, 30000, 300000}) {
      const Prediction p = gravity_of(n)(m);
      INFO(name << " " << n);
      CHECK(1e9 * p.gflops() < p.peak);
      CHECK(gravity_of(n)(with(m, Key::LinkWrite, 5e9)).seconds <= p.seconds);
      CHECK(gravity_of(n)(with(m, Key::LinkRead, 1e9)).seconds >= p.seconds);
      CHECK(gravity_of(n)(with(m, Key::ChipClock, 600e6)).seconds <= p.seconds);
      CHECK(gravity_of(n)(with(m, Key::NetworkBandwidth, 1e8)).seconds >= p.seconds);
      CHECK(gravity_of(2 * n)(m).seconds >= p.seconds);
      for (const double busy : p.usage.seconds) CHECK(busy <= p.seconds * (1 + 1e-9));
    }
  }
}

TEST_CASE("the chosen grid is the fastest one") {
  const Machine cluster = preset("cluster64");
  const KernelShape kernel = gravity(cluster);
  for (const std::size_t n : {2000, 100000, 3000000}) {
    const double best = predict_particles(cluster, kernel, {n, n}).seconds;
    for (const std::size_t rows : {1, 2, 4, 8, 16, 32, 64})
      CHECK(predict_particles(cluster, kernel, {n, n}, ParticleGrid{rows, 64 / rows}).seconds >=
            best);
  }
}

TEST_CASE("a cluster with an infinitely fast network and host equals that many boards") {
  Machine free = preset("cluster64");
  free.set(Key::NetworkBandwidth, 1e18, Origin::Assumed, "test");
  free.set(Key::NetworkLatency, 0, Origin::Assumed, "test");
  free.set(Key::HostMemoryBandwidth, 1e18, Origin::Assumed, "test");
  const Machine one = with(free, Key::NetworkNodes, 1);
  const KernelShape kernel = gravity(free);
  constexpr std::size_t n = 64 * 8192;
  const double alone =
      particle_time(kernel, one.geometry(), one.board_rates(), 1, {n / 64, n}).seconds;
  CHECK(predict_particles(free, kernel, {n, n}, ParticleGrid{64, 1}).seconds ==
        Approx(alone).epsilon(1e-6));
}

TEST_CASE("products on many nodes are faster than on one, with an efficiency of at most one") {
  const Machine cluster = preset("cluster64"), one = with(cluster, Key::NetworkNodes, 1);
  const std::size_t n = 20000;
  const double many = predict_product(cluster, n, n, n).seconds;
  const double alone = predict_product(one, n, n, n).seconds;
  CHECK(many < alone / 4);
  CHECK(many > alone / 64);
}

TEST_CASE("LU with the default panels is not slower on more chips") {
  const Machine board = with(preset("board4"), Key::HostMemory, 1e12);
  for (const std::size_t n : {700, 2048, 20480, 51200}) {
    double before = std::numeric_limits<double>::infinity();
    for (const unsigned chips : {1, 2, 3, 4, 5, 8, 16}) {
      INFO(n << " rows on " << chips << " chips");
      const double seconds = predict_lu(with(board, Key::BoardChips, chips), n, 0, true).seconds;
      CHECK(seconds <= before);
      before = seconds;
    }
    // The default is the fastest of the widths.
    const double fastest = predict_lu(board, n, 0, true).seconds;
    for (const std::size_t width : {256, 512, 1024, 2048})
      CHECK(fastest <= predict_lu(board, n, width, true).seconds);
  }
  const Prediction many = predict_lu(with(board, Key::BoardChips, 8), 51200, 0, true);
  CHECK(many.job == "LU, N = 51200, panels of 2048");
}

TEST_CASE("17 nodes do not become a grid of 1 x 17") {
  using Grids = std::vector<NodeGrid>;
  CHECK(good_grids(64) == Grids{{8, 8}});
  CHECK(good_grids(512) == Grids{{16, 32}});
  CHECK(good_grids(1) == Grids{{1, 1}});
  CHECK(good_grids(17) == Grids{{1, 17}, {2, 8}, {3, 5}, {4, 4}});
  const Machine cluster = with(preset("cluster64"), Key::NetworkNodes, 17);
  HplJob job;
  job.n = 100000;
  const Prediction best = predict_hpl_on_best_grid(cluster, job);
  CHECK(best.job == "HPL, N = 100000, blocks of 2048, 4 x 4 nodes, 16 of 17 nodes");
  for (const auto& [rows, columns] : good_grids(17)) {
    job.rows = rows;
    job.columns = columns;
    CHECK(best.seconds <= predict_hpl(cluster, job).seconds);
  }
  // The largest matrix of the grid that has the highest rate.
  job.n = 0;
  CHECK(predict_hpl_on_best_grid(cluster, job).gflops() > best.gflops());
  // A matrix that fits all nodes only.
  job.n = 300000;
  CHECK_THROWS_AS(predict_hpl_on_best_grid(cluster, job), Error);
}

TEST_CASE("products and particles use fewer nodes where that is faster") {
  const Machine slow =
      with(with(preset("cluster64"), Key::NetworkNodes, 17), Key::NetworkBandwidth, 3e7);
  const Prediction product = predict_product(slow, 50000, 50000, 50000);
  CHECK(product.job == "product, 50000 x 50000 by 50000 x 50000, 16 of 17 nodes");
  CHECK(product.details.at(0) == std::pair<std::string, double>("grid rows", 4));
  const KernelShape kernel = gravity(slow);
  const Prediction particles = predict_particles(slow, kernel, {1000000, 1000000});
  for (const NodeGrid& grid : {NodeGrid{1, 17}, {17, 1}, {4, 4}})
    CHECK(particles.seconds <=
          predict_particles(slow, kernel, {1000000, 1000000}, ParticleGrid{grid.first, grid.second})
              .seconds);
}

TEST_CASE("strong scaling reports where it ends") {
  const Machine plan = preset("plan4096");
  const auto points = strong_scaling(plan, gravity_of(20000), false);
  REQUIRE(points.size() > 5);
  CHECK(points.front().chips == 1);
  CHECK(points.back().chips == 4096);
  CHECK(points.front().efficiency == 1);
  for (std::size_t k = 1; k < points.size(); ++k) {
    CHECK(points[k].chips > points[k - 1].chips);
    CHECK(points[k].efficiency <= 1.0001);
    CHECK(points[k].speedup == Approx(points[0].prediction.seconds / points[k].prediction.seconds));
  }
  const std::size_t last = last_that_pays(points);
  CHECK(last > 2);
  CHECK(last + 1 < points.size());
  CHECK(points.back().bottleneck == "network");
  // Ten times as many particles keep more chips busy.
  const auto more = strong_scaling(plan, gravity_of(200000), false);
  CHECK(last_that_pays(more) > last);

  const std::string csv = scaling_csv(points);
  CHECK(csv.rfind("chips,boards_a_node,nodes,seconds,", 0) == 0);
  CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) == points.size() + 1);
}

TEST_CASE("scaling omits machine sizes that a job does not fit") {
  const auto lu = strong_scaling(
      preset("cluster64"), [](const Machine& m) { return predict_lu(m, 10000, 0, true); }, false);
  CHECK(lu.size() == 3);
  CHECK_THROWS_AS(strong_scaling(
                      preset("cluster64"),
                      [](const Machine& m) { return predict_lu(m, 1000000, 0, true); }, false),
                  Error);
}

TEST_CASE("the bottleneck is the part whose speed-up would help most") {
  const auto waits = [](const Machine& m, const JobOn& job) {
    const Prediction p = job(m);
    return std::string(bottleneck(gains(m, job, p), p));
  };
  const Machine board = preset("board4");
  CHECK(waits(board, gravity_of(131072)) == "chip");
  CHECK(waits(with(with(board, Key::LinkWrite, 1e6), Key::LinkRead, 1e6), gravity_of(1000)) ==
        "link");
  CHECK(waits(with(board, Key::HostMemoryBandwidth, 1e6), gravity_of(1000)) == "host");
  CHECK(waits(with(preset("cluster64"), Key::NetworkBandwidth, 1e6), gravity_of(1000)) ==
        "network");
  CHECK(waits(with(board, Key::ChipPortOut, 1000), gravity_of(1000)) == "ports");
}

TEST_CASE("jobs that exceed the memory of the machine are errors") {
  const Machine board = preset("board4"), hosts = with(board, Key::NodeBoards, 0);
  CHECK_THROWS_AS(predict_particles(hosts, gravity(board), {10, 10}), Error);
  CHECK_THROWS_AS(predict_product(hosts, 10, 10, 10), Error);
  CHECK_THROWS_AS(predict_product(board, 100000, 100000, 100000), Error);
  CHECK_THROWS_AS(predict_lu(board, 100000, 0, true), Error);
  CHECK_THROWS_AS(predict_lu(preset("cluster64"), 1000, 0, true), Error);
  CHECK_THROWS_AS(predict_particles(board, gravity(board), {10, 10}, ParticleGrid{2, 2}), Error);
  CHECK(predict_lu(hosts, 1000, 0, true).gflops() * 1e9 < hosts[Key::HostProduct]);
}
