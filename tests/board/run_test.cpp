// Runs on one chip: both partitions, groups that are not full, halves, split runs.
#include "board/programs.hpp"
#include "support/catch.hpp"
#include "support/network_oracle.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

std::vector<double> some_values(std::size_t n, double first = 1.25) {
  std::vector<double> v;
  for (std::size_t i = 0; i < n; ++i) {
    v.push_back(first + static_cast<double>(i) * 0.3141592653589793 - static_cast<double>(i % 7));
  }
  return v;
}

/// The expected slice of a block: G / B groups each, one more in the first G mod B blocks.
struct Slice {
  std::size_t first, count;
};
Slice slice(std::size_t groups, std::size_t blocks, std::size_t b) {
  Slice s{0, 0};
  for (std::size_t i = 0; i <= b; ++i) {
    s.first += s.count;
    s.count = groups / blocks + (i < groups % blocks ? 1 : 0);
  }
  return s;
}

}  // namespace

TEST_CASE("every target sees every source", "[board]") {
  const char* engine = GENERATE("reference", "vector");
  const auto group = GENERATE(1u, 2u, 3u);
  const auto n = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{13}, std::size_t{64});
  const auto ni = GENERATE(std::size_t{1}, std::size_t{21}, std::size_t{60});
  CAPTURE(engine, group, n, ni);
  Rig rig(small_geometry(), engine);
  PairOptions options;
  options.group = group;
  options.pad = 0.5;
  const auto masses = some_values(n);
  const auto x = some_values(ni, -3);
  rig.load(pair_program(options));
  rig.write(1, 7, masses);
  rig.targets(1, ChipPartition::TargetsOverBlocks, x);
  rig.run(1, ChipPartition::TargetsOverBlocks, 7, n);
  rig.read(1, ChipPartition::TargetsOverBlocks, ni);
  const auto results = rig.execute();
  REQUIRE(results.size() == ni * 2);
  const std::size_t passes = (n + group - 1) / group;
  for (std::size_t i = 0; i < ni; ++i) {
    CAPTURE(i);
    REQUIRE(results[2 * i] ==
            oracle::double_bits(pair_sum(x[i], masses, 0, n, passes * group - n, 0.5)));
    REQUIRE(results[2 * i + 1] == passes);
  }
}

TEST_CASE("sources shared over blocks are joined by the network", "[board]") {
  const char* engine = GENERATE("reference", "vector");
  const auto group = GENERATE(1u, 2u);
  const auto n = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{101});
  const auto ni = GENERATE(std::size_t{1}, std::size_t{20});
  CAPTURE(engine, group, n, ni);
  const Geometry geometry = small_geometry();
  Rig rig(geometry, engine);
  PairOptions options;
  options.group = group;
  options.pad = 0.25;
  const auto masses = some_values(n);
  const auto x = some_values(ni, -3);
  rig.load(pair_program(options));
  rig.write(1, 0, masses);
  rig.targets(1, ChipPartition::SourcesOverBlocks, x);
  rig.run(1, ChipPartition::SourcesOverBlocks, 0, n);
  rig.read(1, ChipPartition::SourcesOverBlocks, ni);
  const auto results = rig.execute();
  const std::size_t groups = (n + group - 1) / group;
  for (std::size_t i = 0; i < ni; ++i) {
    std::vector<Long> leaves;
    for (std::size_t b = 0; b < geometry.blocks; ++b) {
      const Slice s = slice(groups, geometry.blocks, b);
      const std::size_t first = s.first * group;
      const std::size_t end = std::min(n, (s.first + s.count) * group);
      const std::size_t count = end > first ? end - first : 0;
      leaves.push_back(pair_sum(x[i], masses, first, count, s.count * group - count, 0.25));
    }
    CAPTURE(i);
    REQUIRE(results[2 * i] == oracle::double_bits(oracle::reduce(Reduce::Fadd, leaves)));
    REQUIRE(results[2 * i + 1] == groups);
  }
}

TEST_CASE("engines leave a chip in the same state, its broadcast memories included", "[board]") {
  const auto partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  const auto group = GENERATE(1u, 2u);
  const auto n = GENERATE(std::size_t{1}, std::size_t{14}, std::size_t{64}, std::size_t{301},
                          std::size_t{3000});
  // One number that fails the verification in doubles: the items are repeated on integers.
  const auto hard = GENERATE(1.25, 1e-306, 1e301);
  CAPTURE(group, n, hard);
  Rig reference(small_geometry(), "reference");
  Rig vector(small_geometry(), "vector");
  PairOptions options;
  options.group = group;
  auto masses = some_values(n);
  masses[n / 2] = hard;
  const auto x = some_values(20, -3);
  for (Rig* rig : {&reference, &vector}) {
    rig->load(pair_program(options));
    rig->write(1, 0, masses);
    rig->targets(1, partition, x);
    rig->run(1, partition, 0, n);
    rig->read(1, partition, 20);
  }
  REQUIRE(reference.execute() == vector.execute());
  REQUIRE(reference.board.chip(0) == vector.board.chip(0));
}

TEST_CASE("a run uses the current contents of its chips' memories", "[board]") {
  const char* engine = GENERATE("reference", "vector", "native");
  const auto n = GENERATE(std::size_t{5}, std::size_t{300});
  CAPTURE(engine, n);
  Rig rig(small_geometry(2), engine);
  rig.load(pair_program());
  const std::vector<double> x{0.5, -2};
  const auto sums = [&] {
    rig.targets(3, ChipPartition::TargetsOverBlocks, x);
    rig.run(3, ChipPartition::TargetsOverBlocks, 7, n);
    rig.read(1, ChipPartition::TargetsOverBlocks, x.size());
    rig.read(2, ChipPartition::TargetsOverBlocks, x.size());
    const auto results = rig.execute();
    return std::vector<std::uint64_t>{results[0], results[2], results[4], results[6]};
  };
  const auto expected = [&](const std::vector<double>& of_0, const std::vector<double>& of_1) {
    std::vector<std::uint64_t> all;
    for (const auto* masses : {&of_0, &of_1}) {
      for (const double target : x)
        all.push_back(oracle::double_bits(pair_sum(target, *masses, 0, n)));
    }
    return all;
  };
  // Small whole numbers, so that fast numerics give the same sums.
  std::vector<double> a(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = static_cast<double>(i % 11) - 3;
    b[i] = static_cast<double>(i % 7) + 1;
  }
  rig.write(3, 7, a);
  REQUIRE(sums() == expected(a, a));
  REQUIRE(sums() == expected(a, a));
  rig.write(2, 7, b);
  REQUIRE(sums() == expected(a, b));
  rig.write(1, 7, b);
  REQUIRE(sums() == expected(b, b));
  rig.write(3, 7, a);
  REQUIRE(sums() == expected(a, a));
  rig.write(3, 8, {100.0});
  a[1] = 100;
  REQUIRE(sums() == expected(a, a));
}

TEST_CASE("a run can be split anywhere between groups", "[board]") {
  const ChipPartition partition = ChipPartition::TargetsOverBlocks;
  const auto masses = some_values(50);
  const auto x = some_values(33, 2);
  Rig whole(small_geometry());
  Rig split(small_geometry());
  for (Rig* rig : {&whole, &split}) {
    rig->load(pair_program());
    rig->write(1, 0, masses);
    rig->targets(1, partition, x);
  }
  whole.run(1, partition, 0, 50);
  split.run(1, partition, 0, 11, run_start);
  split.write(1, 0, std::vector<double>(3, 1e9));  // the first 11 are no longer needed
  split.run(1, partition, 11, 19, 0);
  split.run(1, partition, 30, 20, run_end);
  whole.read(1, partition, 33);
  split.read(1, partition, 33);
  REQUIRE(whole.execute() == split.execute());
}

TEST_CASE("targets may be written and read in parts", "[board]") {
  const auto partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  const std::size_t ni = partition == ChipPartition::TargetsOverBlocks ? 60 : 20;
  const auto masses = some_values(9);
  const auto x = some_values(ni);
  Rig one(small_geometry());
  Rig parts(small_geometry());
  for (Rig* rig : {&one, &parts}) {
    rig->load(pair_program());
    rig->write(1, 0, masses);
  }
  one.targets(1, partition, x);
  parts.targets(1, partition, {x.begin(), x.begin() + 3});
  parts.targets(1, partition, {x.begin() + 3, x.begin() + 10}, 3);
  parts.targets(1, partition, {x.begin() + 10, x.end()}, 10);
  for (Rig* rig : {&one, &parts}) rig->run(1, partition, 0, 9);
  one.read(1, partition, ni);
  const std::vector<std::pair<std::size_t, std::size_t>> pieces = {{0, 1}, {1, 6}, {7, ni - 7}};
  for (const auto& [first, count] : pieces) {
    parts.read(1, partition, count);
    parts.list.commands.back().first = first;
  }
  REQUIRE(one.execute() == parts.execute());
  REQUIRE(one.board.counts().interactions == ni * 9);
  REQUIRE(parts.board.counts().interactions == ni * 9);
}

TEST_CASE("only blocks that hold targets run", "[board]") {
  Rig rig(small_geometry());
  rig.load(pair_program());
  rig.write(1, 0, some_values(4));
  rig.targets(1, ChipPartition::TargetsOverBlocks, some_values(21));
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, 4);
  rig.execute();
  const auto& blocks = rig.board.chip(0).blocks;
  const ChipState fresh = make_chip(rig.board.geometry());
  REQUIRE(blocks[0] != fresh.blocks[0]);
  REQUIRE(blocks[1] != fresh.blocks[1]);
  REQUIRE(blocks[2] == fresh.blocks[2]);
  // A new, smaller set of targets.
  rig.targets(1, ChipPartition::TargetsOverBlocks, some_values(2));
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, 4);
  rig.execute();
  REQUIRE(rig.board.counts().interactions == 21 * 4 + 2 * 4);
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, 4);
  rig.list.commands.back().targets = 60;
  rig.execute();
  REQUIRE(blocks[2] != fresh.blocks[2]);
  REQUIRE(rig.board.counts().interactions == 21 * 4 + 2 * 4 + 60 * 4);
}

TEST_CASE("a run of no sources leaves what section Start leaves", "[board]") {
  Rig rig(small_geometry());
  rig.load(pair_program());
  rig.targets(1, ChipPartition::TargetsOverBlocks, some_values(60));
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, 0);
  rig.read(1, ChipPartition::TargetsOverBlocks, 60);
  const auto results = rig.execute();
  REQUIRE(results == std::vector<std::uint64_t>(120, 0));
}

TEST_CASE("sticky flags are kept where a run asks for them", "[board]") {
  Rig rig(small_geometry());
  rig.load(pair_program());
  rig.write(1, 0, {1e308});
  rig.targets(1, ChipPartition::TargetsOverBlocks, {1e308});
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, 1);
  rig.execute();
  REQUIRE(rig.board.chip(0).blocks[0].flags == no_flags);
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, 1, run_start | run_end | run_flags);
  rig.execute();
  REQUIRE(rig.board.chip(0).blocks[0].flags == flag_overflow);
}
