// Blocked summation among floats: which carried values are sums, where blocks end, and the accuracy
// of long sums.
#include "emulator/engine/native/translate/blocked_sums.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "emulator/engine/native/run/loop_planner.hpp"
#include "emulator/engine/native/translate/unguarded_loop.hpp"
#include "emulator/host/isa.hpp"
#include "gdr/device.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using native::divide_at_blocks, native::LoopRun, native::plan_loop_runs, native::SourceWindows;
using native::fma_negate_product, native::Graph, native::LeafKey, native::NodeOp, native::Ref;
using native::make_blocked_sums, native::Segment, native::Store, native::WordType;
using Kind = native::Kind;

TEST_CASE("runs of iterations are divided where blocks end") {
  std::mt19937_64 random(1);
  std::vector<LoopRun> runs, divided;
  for (unsigned n = 0; n < 2000; ++n) {
    const std::uint64_t iterations = 1 + random() % (10 * SourceWindows::groups);
    std::vector<std::uint8_t> hit(iterations / SourceWindows::groups + 1);
    for (auto& h : hit) h = random() % 3 == 0;
    plan_loop_runs(iterations, hit, runs);
    const std::uint64_t block = 1 + random() % 100;
    divide_at_blocks(runs, block, divided);
    const auto guarded_iterations = [](const std::vector<LoopRun>& list) {
      std::vector<bool> guarded;
      for (const LoopRun& run : list) {
        guarded.insert(guarded.end(), run.guarded, true);
        guarded.insert(guarded.end(), run.free, false);
      }
      return guarded;
    };
    REQUIRE(guarded_iterations(divided) == guarded_iterations(runs));
    std::uint64_t done = 0;
    for (std::size_t k = 0; k < divided.size(); ++k) {
      const std::uint64_t some = divided[k].guarded + divided[k].free;
      REQUIRE((some == 0) == (k + 1 == divided.size()));
      REQUIRE(done % block + some <= block);
      done += some;
      if (some > 0) REQUIRE((divided[k].ends_block == 1) == (done % block == 0));
    }
  }
}

namespace {

/// Number of sums of a loop with one carried value, in slot 0, whose next value is computed from
/// it.
template <typename Next>
std::uint32_t sums_of(const Next& next) {
  Segment s;
  const auto input = [&](std::uint32_t slot) {
    return s.graph.leaf(NodeOp::Input, {WordType::Long, slot, 0});
  };
  s.stores.push_back({Store::Area::Carried, 0, WordType::Long,
                      next(s.graph, input(0), input(1), input(2)), false});
  const std::uint32_t carried[] = {0};
  return make_blocked_sums(s, carried, 3, 64).count;
}

Ref op(Graph& g, NodeOp operation, Ref a, Ref b) { return g.op(operation, Kind::Number, a, b); }

}  // namespace

TEST_CASE("carried values that collect terms are sums, also under masks") {
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref) { return op(g, NodeOp::Add, x, s); }) == 1);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref) { return op(g, NodeOp::Sub, s, x); }) == 1);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref y) {
          return g.add({NodeOp::Fma, Kind::Number, fma_negate_product, x, y, s, 0});
        }) == 1);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref y) {
          const Ref mask = g.op(NodeOp::Negative, Kind::Mask, y);
          return g.select(mask, op(g, NodeOp::Add, op(g, NodeOp::Sub, s, x), y), s);
        }) == 1);
}

TEST_CASE("carried values whose use is not linear are no sums") {
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref) { return op(g, NodeOp::Sub, x, s); }) == 0);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref) { return op(g, NodeOp::Max, s, x); }) == 0);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref) { return op(g, NodeOp::Mul, s, x); }) == 0);
  CHECK(sums_of([](Graph& g, Ref s, Ref, Ref) { return op(g, NodeOp::Add, s, s); }) == 0);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref) {
          return op(g, NodeOp::Add, s, op(g, NodeOp::Mul, s, x));
        }) == 0);
  CHECK(sums_of([](Graph& g, Ref s, Ref x, Ref y) {
          return g.select(g.op(NodeOp::Negative, Kind::Mask, s), op(g, NodeOp::Add, s, x), y);
        }) == 0);
  CHECK(sums_of([](Graph&, Ref, Ref x, Ref) { return x; }) == 0);
}

TEST_CASE("the error of a sum of floats does not grow with the number of sources") {
  const std::size_t targets = 40;
  const auto check = [&](const std::string& engine, std::size_t sources, double tolerance) {
    INFO(engine << ", " << sources << " sources");
    Device device = Device::open("emulator:chips=1,threads=1,engine=" + engine);
    Job job =
        device.job(Kernel::compile("VARI x; VARJ m; VARF plus, minus; plus += m*x; minus -= m*x;"));
    std::vector<double> x(targets), m(sources), plus(targets), minus(targets);
    for (std::size_t i = 0; i < targets; ++i) x[i] = static_cast<float>(1 + 0.01 * double(i));
    for (std::size_t j = 0; j < sources; ++j)
      m[j] = static_cast<float>(1.0 / 3 + 0.001 * double(j % 7));
    job.targets(targets, {{"x", x.data()}});
    job.sources(sources, {{"m", m.data()}});
    job.run({{"plus", plus.data()}, {"minus", minus.data()}});
    CHECK(device.statistics().fallback_reason.empty());
    for (std::size_t i = 0; i < targets; ++i) {
      double sum = 0;
      for (const double mass : m) sum += mass * x[i];
      CHECK(std::abs(plus[i] - sum) < tolerance * sum);
      CHECK(minus[i] == -plus[i]);
    }
  };
  for (const Isa isa : host_isas())
    for (const std::size_t sources : {3U, 66U, 1000U, 20000U}) {
      check("native-mixed,isa=" + std::string(isa_name(isa)), sources, 1e-6);
      check("native-float,isa=" + std::string(isa_name(isa)), sources, 4e-6);
    }
}

}  // namespace gdr::test
