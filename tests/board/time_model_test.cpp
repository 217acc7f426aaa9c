// Clocks and predicted seconds against numbers computed by hand.
#include "emulator/board/time_model.hpp"

#include <cmath>
#include <set>
#include <string>

#include "board/programs.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

constexpr double clock_hz = 500e6;

ChipClocks clocks(std::initializer_list<HalfWork> halves, double hz = clock_hz) {
  const std::vector<HalfWork> v(halves);
  return run_clocks(10, v, 5, hz);
}

/// Seconds as an integer number of nanoseconds.
std::int64_t nanoseconds(double seconds) {
  const double ns = seconds * 1e9;
  REQUIRE(std::abs(ns - std::round(ns)) < 1e-6);  // decimal fractions are not exact in double
  return std::llround(ns);
}

}  // namespace

TEST_CASE("every constant has a unit, a source and a reason", "[board]") {
  std::set<std::string_view> names;
  for (const TimeConstant& c : time_constants()) {
    REQUIRE(names.insert(c.name).second);
    REQUIRE(c.value > 0);
    REQUIRE_FALSE(c.unit.empty());
    REQUIRE_FALSE(c.source.empty());
    REQUIRE_FALSE(c.reason.empty());
  }
  REQUIRE(names.count("link.write") == 1);
  REQUIRE(names.count("link.read") == 1);
}

TEST_CASE("a run takes the larger of compute and ports for every half", "[board]") {
  REQUIRE(clocks({}) == ChipClocks{15, 0, 0, 15});
  // One half: first fill, compute, last results: 10 + 40 + 100 + 2 * 3 + 5.
  REQUIRE(clocks({{1, 100, 40, 3}}) == ChipClocks{115, 40, 6, 161});
  // Compute hides the second fill and the first results: 15 + 40 + 100 + 100 + 6.
  REQUIRE(clocks({{2, 100, 40, 3}}) == ChipClocks{215, 80, 12, 261});
  // The fill is the larger: 15 + 40 + 40 + 40 + 25 (nothing left to fill) + 0.
  REQUIRE(clocks({{3, 25, 40, 0}}) == ChipClocks{90, 120, 0, 160});
  // Results are the larger: 15 + 4 + max(25, 4) + 2 * 30 + 2 * 30.
  REQUIRE(clocks({{2, 25, 4, 30}}) == ChipClocks{65, 8, 120, 15 + 4 + 25 + 60 + 60});
  // Four halves of one kind, then a shorter one:
  // 15 + 40 + 3 * max(30, 40, 6, memory 43) + max(30, 8, 6) + max(6, 6) + last 2 * 1.
  // During a half in the middle 40 + 3 words are transferred by the memory, one per clock: 43.
  REQUIRE(clocks({{4, 30, 40, 3}, {1, 6, 8, 1}}) ==
          ChipClocks{141, 168, 26, 15 + 40 + 40 + 43 + 43 + 30 + 6 + 2});
  // At 1 GHz the memory transfers a word every two clocks: 15 + 80 + max(100, 80) + 100 + 6.
  REQUIRE(clocks({{2, 100, 40, 0}}, 1e9) == ChipClocks{215, 80, 0, 15 + 80 + 100 + 100});
  REQUIRE(clocks({{2, 50, 40, 0}}, 1e9) == ChipClocks{115, 80, 0, 15 + 80 + 80 + 50});
}

TEST_CASE("the counts of a command list equal numbers computed by hand", "[board]") {
  // 3 blocks of 5 PEs, BM of 64 shorts; fixed part 2, a half has 30 shorts: 15 items of 2 shorts.
  // The body takes 1 + 4 + 4 + 4 = 13 clocks an item, Start 4 + 4 + 1 = 9.
  Rig rig(small_geometry(2));
  rig.load(pair_program());
  rig.execute();
  rig.board.reset_counts();
  REQUIRE(rig.board.counts() == WorkCounts{});
  rig.write(3, 0, std::vector<double>(40, 1.0));
  rig.targets(3, ChipPartition::TargetsOverBlocks, std::vector<double>(10, 2.0));
  rig.run(3, ChipPartition::TargetsOverBlocks, 0, 40);
  rig.read(1, ChipPartition::TargetsOverBlocks, 10);
  rig.execute();
  const WorkCounts& c = rig.board.counts();
  // Fills of 15, 15 and 10 items, one word each.
  REQUIRE(c.compute_clocks == 9 + 40 * 13);
  REQUIRE(c.port_in_clocks == 10 + 40);
  REQUIRE(c.port_out_clocks == 2 * 20);
  REQUIRE(c.chip_clocks == 10 + (9 + 15 + 40 * 13) + 40);
  REQUIRE(c.link_write_bytes == 8 * (40 + 10));  // once for both chips
  REQUIRE(c.link_read_bytes == 8 * 20);
  REQUIRE(c.interactions == 2 * 10 * 40);
  REQUIRE(c.flops == 2.0 * 2 * 10 * 40);
  // 400 bytes at 2.5 GB/s, 594 clocks of 2 ns, 160 bytes at 1.6 GB/s.
  REQUIRE(nanoseconds(c.predicted_seconds) == 160 + 594 * 2 + 100);
}

TEST_CASE("slices of blocks share the input port", "[board]") {
  // 40 items over 3 blocks: 14, 13, 13; a half holds 15. The port brings all 40.
  Rig rig(small_geometry());
  rig.load(pair_program());
  rig.execute();
  rig.board.reset_counts();
  rig.write(1, 0, std::vector<double>(100, 1.0));
  rig.run(1, ChipPartition::SourcesOverBlocks, 0, 40);
  rig.execute();
  REQUIRE(rig.board.counts().compute_clocks == 9 + 14 * 13);
  REQUIRE(rig.board.counts().port_in_clocks == 40);
  REQUIRE(rig.board.counts().chip_clocks == 9 + 40 + 14 * 13);
  rig.board.reset_counts();
  // 100 items: 34, 33, 33. Fills of 15 15 4 (3 3), so 45, 45 and 10 words.
  rig.run(1, ChipPartition::SourcesOverBlocks, 0, 100);
  rig.execute();
  REQUIRE(rig.board.counts().chip_clocks == 9 + 45 + 15 * 13 + 15 * 13 + 4 * 13);
  REQUIRE(rig.board.counts().port_in_clocks == 100);
}

TEST_CASE("the link transfers while chips compute, and waits for memory in use", "[board]") {
  Timeline t(2, clock_hz);
  t.write_memory(1, 2500, 0, 100);    // link until 1 us
  t.run(1, 1000, 0, 100);             // chip 0: 1 to 3 us
  t.write_memory(1, 2500, 100, 200);  // other words: link until 2 us
  REQUIRE(nanoseconds(t.seconds()) == 3000);
  t.run(1, 1000, 100, 200);           // chip 0: 3 to 5 us
  t.write_memory(2, 2500, 0, 200);    // another chip: link until 3 us
  t.write_memory(1, 2500, 50, 60);    // free at 3 us: link until 4 us
  t.write_memory(1, 2500, 199, 300);  // in use until 5 us: link until 6 us
  t.run(2, 100, 0, 10);               // chip 1: 6 to 6.2 us
  t.read(3, 1600, 400);               // chip 0: 5 to 5.8; chip 1: to 7 us; link to 8 us
  REQUIRE(nanoseconds(t.seconds()) == 8000);
  t.load(1, 2500, 500);  // link 6 to 7 us, beside the read; chip 0 to 8 us
  REQUIRE(nanoseconds(t.seconds()) == 8000);
  t.load(1, 0, 500);
  REQUIRE(nanoseconds(t.seconds()) == 9000);
}

TEST_CASE("counts do not depend on the engine", "[board]") {
  WorkCounts counts[2];
  const char* engines[] = {"reference", "vector"};
  for (int e = 0; e < 2; ++e) {
    Rig rig(small_geometry(), engines[e]);
    rig.load(pair_program({.group = 2}));
    rig.write(1, 0, std::vector<double>(77, 1.0));
    rig.targets(1, ChipPartition::TargetsOverBlocks, std::vector<double>(60, 2.0));
    rig.run(1, ChipPartition::TargetsOverBlocks, 0, 77);
    rig.read(1, ChipPartition::TargetsOverBlocks, 60);
    rig.execute();
    counts[e] = rig.board.counts();
  }
  REQUIRE(counts[0] == counts[1]);
}

TEST_CASE("a command list is timed as a whole, and lists in sequence", "[board]") {
  WorkCounts sum;
  sum += {1, 2, 3, 4, 5, 6, 7, 8, 9};
  sum += {1, 2, 3, 4, 5, 6, 7, 8, 9};
  REQUIRE(sum == WorkCounts{2, 4, 6, 8, 10, 12, 14, 16, 18});
  Rig rig(small_geometry());
  rig.write(1, 0, std::vector<double>(1000, 1.0));
  rig.execute();
  rig.write(1, 0, std::vector<double>(1000, 1.0));
  rig.execute();
  REQUIRE(nanoseconds(rig.board.counts().predicted_seconds) == 2 * 3200);
}

TEST_CASE("every block returns its own keys and indices if blocks share their targets", "[board]") {
  Geometry geometry;
  geometry.blocks = 8;
  ProgramTiming program;
  program.result_words = 5;
  program.raw_result_words = 10;
  program.unjoined_words = 2;
  program.raw_unjoined_words = 4;
  const auto port_clocks = [&](ChipPartition partition, std::uint32_t flags) {
    ListTimer timer(geometry);
    Command read;
    read.kind = CommandKind::ReadTargets;
    read.chips = 1;
    read.partition = partition;
    read.count = 3;
    read.flags = flags;
    timer.begin(nullptr);
    timer.add(read, program);
    timer.end();
    return timer.counts().port_out_clocks;
  };
  // Two clocks per word; the link carries joined words only.
  CHECK(port_clocks(ChipPartition::TargetsOverBlocks, 0) == 2 * 3 * 5);
  CHECK(port_clocks(ChipPartition::SourcesOverBlocks, 0) == 2 * 3 * (5 + 7 * 2));
  CHECK(port_clocks(ChipPartition::SourcesOverBlocks, read_raw) == 2 * 3 * (10 + 7 * 4));
}
