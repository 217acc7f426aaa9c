// Loop versioning: iterations that require guards.
#include "emulator/engine/native/translate/unguarded_loop.hpp"

#include <random>

#include "emulator/engine/native/run/loop_planner.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using namespace native;

namespace {

/// Whether each iteration from 1 on is guarded, in order.
std::vector<bool> guarded_iterations(const std::vector<LoopRun>& runs) {
  std::vector<bool> iterations;
  for (const LoopRun& run : runs) {
    iterations.insert(iterations.end(), run.guarded, true);
    iterations.insert(iterations.end(), run.free, false);
  }
  return iterations;
}

}  // namespace

TEST_CASE(
    "iterations whose groups, or those of the previous iteration, may hold an equal word are "
    "guarded") {
  std::mt19937_64 random(1);
  std::vector<LoopRun> runs;
  for (unsigned n = 0; n < 2000; ++n) {
    const std::uint64_t iterations = 1 + random() % (8 * SourceWindows::groups);
    std::vector<std::uint8_t> hit(iterations / SourceWindows::groups + 1);
    const std::uint64_t one_in = 1 + random() % 6;
    for (auto& h : hit) h = random() % one_in == 0;
    plan_loop_runs(iterations, hit, runs);
    std::vector<bool> expected;
    for (std::uint64_t p = 1; p + 1 < iterations; ++p)
      expected.push_back(hit[p / SourceWindows::groups] != 0 ||
                         hit[(p - 1) / SourceWindows::groups] != 0);
    REQUIRE(guarded_iterations(runs) == expected);
    // The machine code ends at the first empty run, and continues after any other.
    REQUIRE(!runs.empty());
    REQUIRE((runs.back().guarded == 0 && runs.back().free == 0));
    for (std::size_t k = 0; k + 1 < runs.size(); ++k) {
      REQUIRE(runs[k].guarded + runs[k].free != 0);
      if (k + 2 < runs.size()) REQUIRE(runs[k].free != 0);
    }
  }
}

TEST_CASE("a softened distance is known to be positive") {
  Graph g;
  const auto input = [&](std::uint32_t slot) {
    return g.leaf(NodeOp::Input, {WordType::Long, slot, 0});
  };
  const Ref dx = g.op(NodeOp::Sub, Kind::Number, input(0), input(1));
  const Ref square = g.op(NodeOp::Mul, Kind::Number, dx, dx);
  const auto loop_of = [&](Ref distance) {
    const Ref zero = g.op(NodeOp::IsZero, Kind::Mask, distance);
    const Ref sum = g.op(NodeOp::Add, Kind::Number, input(3), square);
    Segment s;
    s.graph = g;
    s.stores.push_back(
        {Store::Area::Carried, 0, WordType::Long, s.graph.select(zero, input(3), sum), false});
    return s;
  };
  const std::vector<std::uint32_t> carried{3};
  const UnguardedLoop softened =
      make_unguarded_loop(loop_of(g.op(NodeOp::Add, Kind::Number, square, input(2))), carried);
  REQUIRE(softened.usable);
  CHECK(softened.positive_slots == std::vector<std::uint32_t>{2});
  CHECK(softened.equal.empty());
  // Not for a square alone, a difference, a product that may be zero, or a sum that changes.
  CHECK(!make_unguarded_loop(loop_of(square), carried).usable);
  CHECK(!make_unguarded_loop(loop_of(g.op(NodeOp::Sub, Kind::Number, square, input(2))), carried)
             .usable);
  CHECK(!make_unguarded_loop(loop_of(g.op(NodeOp::Mul, Kind::Number, square, input(2))), carried)
             .usable);
  CHECK(!make_unguarded_loop(loop_of(g.op(NodeOp::Add, Kind::Number, square, input(3))), carried)
             .usable);
  CHECK(
      !make_unguarded_loop(loop_of(g.op(NodeOp::Add, Kind::Number, dx, input(2))), carried).usable);
}

}  // namespace gdr::test
