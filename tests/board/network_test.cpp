// Results and output items joined by the reduction network and the board, against an oracle.
#include <algorithm>
#include <random>

#include "board/programs.hpp"
#include "emulator/chip/reduction.hpp"
#include "emulator/engine/runners/reduction_network.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "emulator/port/loaded_program.hpp"
#include "support/catch.hpp"
#include "support/network_oracle.hpp"
#include "support/oracle_cases.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

std::vector<double> values(std::size_t n, double first) {
  std::vector<double> v;
  for (std::size_t i = 0; i < n; ++i) {
    v.push_back(first + static_cast<double>((i * 37) % 23) * 0.7071067811865476);
  }
  return v;
}

Long product(double a, double b, double addend) {
  const Long p = oracle::multiply(oracle::long_of(a), oracle::long_of(b));
  return oracle::add(p, oracle::long_of(addend));
}

/// The result `acc` of a target slot (docs: placement of targets), joined over blocks and chips.
Long joined_sum(const std::vector<ChipState>& chips, ChipPartition partition, std::uint64_t slot,
                const Program& program) {
  const auto acc = std::ranges::find(program.variables, "acc", &Variable::name);
  const Geometry& g = chips[0].geometry;
  const std::uint64_t element = slot % program.elements;
  const std::uint64_t pe = slot / program.elements % g.pes_per_block;
  const std::uint64_t row = acc->location.address + 2 * element;
  const auto word = [&](const BlockState& block) {
    return Long{u128{block.registers[row * block.pes + pe]} << 36 |
                block.registers[(row + 1) * block.pes + pe]};
  };
  std::vector<Long> words;
  for (const ChipState& chip : chips) {
    std::vector<Long> blocks;
    if (partition == ChipPartition::TargetsOverBlocks)
      blocks.push_back(word(chip.blocks[slot / (program.elements * g.pes_per_block)]));
    else
      for (const BlockState& block : chip.blocks) blocks.push_back(word(block));
    words.push_back(oracle::reduce(Reduce::Fadd, blocks));
  }
  return oracle::reduce(Reduce::Fadd, words);
}

}  // namespace

TEST_CASE("the reduction tree agrees with an oracle for every operation and number of leaves",
          "[board]") {
  const auto op = GENERATE(Reduce::Pass, Reduce::Fadd, Reduce::Fmax, Reduce::Fmin, Reduce::Iadd,
                           Reduce::Imax, Reduce::Imin, Reduce::Iand, Reduce::Ior, Reduce::Ixor);
  oracle::Cases cases(static_cast<std::uint64_t>(op) + 1);
  for (std::size_t n = 1; n <= 40; ++n) {
    for (unsigned round = 0; round < 25; ++round) {
      std::vector<Long> leaves;
      // Even rounds have similar exponents, so that the order of the sums affects the result.
      for (std::size_t k = 0; k < n; ++k) {
        Long word{cases.word(oracle::long_format).bits};
        if (round % 2 == 0) {
          word.bits &= ~(u128{2047} << 60);
          word.bits |= u128{1000 + cases.below(70)} << 60;
        }
        leaves.push_back(word);
      }
      Flags flags = no_flags;
      const Long got = reduce_tree(op, leaves, flags);
      CAPTURE(static_cast<int>(op), n, round);
      REQUIRE(got.bits == oracle::reduce(op, leaves).bits);
    }
  }
}

TEST_CASE("blocks are joined by the reduction of the variable", "[board]") {
  const auto op = GENERATE(Reduce::Pass, Reduce::Fadd, Reduce::Fmax, Reduce::Fmin, Reduce::Iadd,
                           Reduce::Imax, Reduce::Imin, Reduce::Iand, Reduce::Ior, Reduce::Ixor);
  CAPTURE(static_cast<int>(op));
  PairOptions options;
  options.reduce = op;
  Rig rig(small_geometry(1, 5, 2));
  const auto masses = values(17, -4);
  rig.load(pair_program(options));
  rig.write(1, 0, masses);
  rig.targets(1, ChipPartition::SourcesOverBlocks, {1.5, -2.5});
  rig.run(1, ChipPartition::SourcesOverBlocks, 0, masses.size());
  rig.read(1, ChipPartition::SourcesOverBlocks, 2);
  const auto results = rig.execute();
  // 17 groups over 5 blocks: 4 4 3 3 3.
  const std::size_t first[] = {0, 4, 8, 11, 14, 17};
  const double x[] = {1.5, -2.5};
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<Long> leaves;
    for (std::size_t b = 0; b < 5; ++b) {
      leaves.push_back(pair_sum(x[i], masses, first[b], first[b + 1] - first[b]));
    }
    REQUIRE(results[2 * i] == oracle::double_bits(oracle::reduce(op, leaves)));
  }
}

TEST_CASE("the board joins the words of its chips before conversion", "[board]") {
  const auto partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  const auto mask = GENERATE(std::uint64_t{7}, std::uint64_t{6}, std::uint64_t{1});
  CAPTURE(static_cast<int>(partition), mask);
  Rig rig(small_geometry(3, 3, 2));
  rig.load(pair_program());
  const std::vector<double> x = {0.1, 0.2, 0.3, 1e-9, -5, 6, 7, 1e15};
  rig.targets(7, partition, x);
  std::vector<std::vector<double>> masses;
  for (std::size_t c = 0; c < 3; ++c) {
    masses.push_back(values(10 + c, static_cast<double>(c)));
    rig.write(std::uint64_t{1} << c, 0, masses[c]);
    rig.run(std::uint64_t{1} << c, partition, 0, masses[c].size());
  }
  rig.read(mask, partition, x.size(), read_combine);
  const auto results = rig.execute();
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<Long> chips;
    std::uint64_t passes = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      if (((mask >> c) & 1) == 0) continue;
      const std::size_t n = masses[c].size();
      passes += n;
      std::vector<Long> blocks = {pair_sum(x[i], masses[c], 0, n)};
      if (partition == ChipPartition::SourcesOverBlocks) {
        const std::size_t one = n / 3 + (n % 3 > 0);
        const std::size_t two = one + n / 3 + (n % 3 > 1);
        blocks = {pair_sum(x[i], masses[c], 0, one), pair_sum(x[i], masses[c], one, two - one),
                  pair_sum(x[i], masses[c], two, n - two)};
      }
      chips.push_back(oracle::reduce(Reduce::Fadd, blocks));
    }
    REQUIRE(results[2 * i] == oracle::double_bits(oracle::reduce(Reduce::Fadd, chips)));
    REQUIRE(results[2 * i + 1] == passes);
  }
}

TEST_CASE("raw reads return the network's words, reduced but not rounded", "[board]") {
  const auto partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  const auto mask = GENERATE(std::uint64_t{1}, std::uint64_t{3});
  CAPTURE(static_cast<int>(partition), mask);
  Rig rig(small_geometry(2, 3, 2));
  rig.load(pair_program());
  // Sums with more bits than a double: raw words keep the last ones.
  const std::vector<double> x = {0.1, 1.0 / 3, -7e-5, 1e15};
  rig.targets(3, partition, x);
  std::vector<Long> expected[2];
  const std::size_t n = 9;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto masses = values(n, static_cast<double>(c) + 0.3);
    rig.write(std::uint64_t{1} << c, 0, masses);
    rig.run(std::uint64_t{1} << c, partition, 0, n);
    for (const double target : x) {
      std::vector<Long> blocks = {pair_sum(target, masses, 0, n)};
      if (partition == ChipPartition::SourcesOverBlocks)
        blocks = {pair_sum(target, masses, 0, 3), pair_sum(target, masses, 3, 3),
                  pair_sum(target, masses, 6, 3)};
      expected[c].push_back(oracle::reduce(Reduce::Fadd, blocks));
    }
  }
  const bool both = mask == 3;
  rig.read(mask, partition, x.size(), read_raw | (both ? read_combine : 0U));
  // A part of them, beginning with the second.
  rig.read(mask, partition, 2, read_raw | (both ? read_combine : 0U));
  rig.list.commands.back().first = 1;
  const auto words = rig.execute();
  REQUIRE(words.size() == 4 * (x.size() + 2));
  bool is_longer = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Long sum =
        both ? oracle::reduce(Reduce::Fadd, std::vector<Long>{expected[0][i], expected[1][i]})
             : expected[0][i];
    const auto low = static_cast<std::uint64_t>(sum.bits);
    const auto high = static_cast<std::uint64_t>(sum.bits >> 64);
    const std::uint64_t record[] = {low, high, both ? 2 * n : n, 0};
    for (std::size_t w = 0; w < 4; ++w) {
      CHECK(words[4 * i + w] == record[w]);
      if (i == 1 || i == 2) CHECK(words[4 * (x.size() + i - 1) + w] == record[w]);
    }
    Long rounded = long_from_double(real(oracle::double_bits(sum)));
    is_longer = is_longer || rounded.bits != sum.bits;
  }
  CHECK(is_longer);
}

TEST_CASE("output items are joined over the blocks that see the same source", "[board]") {
  const auto op = GENERATE(Reduce::Fmax, Reduce::Fadd, Reduce::Pass);
  const auto group = GENERATE(1u, 2u);
  const auto n = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{50});
  CAPTURE(static_cast<int>(op), group, n);
  PairOptions options;
  options.outputs = true;
  options.group = group;
  options.output_reduce = op;
  const Geometry g = small_geometry();
  Rig rig(g);
  const auto masses = values(n, 2);
  const auto x = values(60, -1);
  rig.load(pair_program(options));
  rig.add(CommandKind::WriteParam, 1, {bits(3.0)});
  rig.write(1, 0, masses);
  rig.targets(1, ChipPartition::TargetsOverBlocks, x);
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, n);
  rig.list.commands.back().output_address = 1000;
  const std::size_t records = op == Reduce::Pass ? g.blocks : 1;
  Command& read = rig.add(CommandKind::ReadMemory);
  read.address = 999;
  read.count = n * records + 2;
  const auto words = rig.execute();
  REQUIRE(words.front() == 0);
  REQUIRE(words.back() == 0);  // pads have no effect
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<Long> leaves;
    for (std::size_t b = 0; b < g.blocks; ++b) {
      leaves.push_back(product(masses[j], 3, x[b * 20 + 2 * 4]));
    }
    for (std::size_t r = 0; r < records; ++r) {
      const Long expected = op == Reduce::Pass ? leaves[r] : oracle::reduce(op, leaves);
      REQUIRE(words[1 + j * records + r] == oracle::double_bits(expected));
    }
  }
}

TEST_CASE("output items of partitioned sources come from the block that holds the source",
          "[board]") {
  const auto n = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{47});
  PairOptions options;
  options.outputs = true;
  options.output_reduce = GENERATE(Reduce::Fadd, Reduce::Pass);
  options.group = 2;
  Rig rig(small_geometry());
  const auto masses = values(n, 2);
  rig.load(pair_program(options));
  rig.add(CommandKind::WriteParam, 1, {bits(0.5)});
  rig.write(1, 500, masses);
  rig.targets(1, ChipPartition::SourcesOverBlocks, values(20, 9));
  rig.run(1, ChipPartition::SourcesOverBlocks, 500, n);
  Command& read = rig.add(CommandKind::ReadMemory);
  read.count = n + 1;
  const auto words = rig.execute();
  for (std::size_t j = 0; j < n; ++j) {
    REQUIRE(words[j] == oracle::double_bits(product(masses[j], 0.5, values(20, 9)[8])));
  }
  REQUIRE(words[n] == 0);
}

TEST_CASE("results do not depend on the number of threads", "[board]") {
  const auto partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  const bool outputs = GENERATE(false, true);
  PairOptions options;
  options.outputs = outputs;
  options.group = 2;
  const Geometry g = small_geometry(2, 4, 6, 64);
  std::vector<std::vector<std::uint64_t>> results;
  std::vector<ChipState> states;
  gdr::WorkCounts counts[3];
  const unsigned threads[] = {1, 2, 7};
  for (std::size_t t = 0; t < 3; ++t) {
    Rig rig(g, "vector", threads[t]);
    rig.load(pair_program(options));
    const std::size_t n = 6001;
    rig.write(3, 0, values(n, 0.1));
    rig.targets(1, partition, values(20, 3));
    rig.targets(2, partition, values(24, 4));
    rig.run(3, partition, 0, n);
    rig.list.commands.back().output_address = 50000;
    rig.read(1, partition, 20);
    rig.read(2, partition, 24);
    rig.read(3, partition, 20, read_combine);
    Command& read = rig.add(CommandKind::ReadMemory, 2);
    read.address = 50000;
    read.count = outputs ? n : 0;
    results.push_back(rig.execute());
    states.push_back(rig.board.chip(1));
    counts[t] = rig.board.counts();
  }
  REQUIRE(results[0] == results[1]);
  REQUIRE(results[0] == results[2]);
  REQUIRE(states[0] == states[1]);
  REQUIRE(states[0] == states[2]);
  REQUIRE(counts[0] == counts[1]);
  REQUIRE(counts[0] == counts[2]);
}

TEST_CASE("vectorised sums of results agree with an oracle on random words", "[board]") {
  const Geometry g = small_geometry(3, 5, 6, 64);
  const Program program = pair_program({});
  const LoadedProgram words = load_program(program, g, Isa::Portable);
  std::mt19937_64 random(1);
  std::vector<ChipState> chips(3, make_chip(g));
  for (ChipState& chip : chips) {
    for (BlockState& block : chip.blocks) {
      for (LaneMemory* memory : {&block.registers, &block.local, &block.t}) {
        for (std::uint64_t& s : *memory) {
          s = random() & Short::mask;
          const auto kind = random() % 16;
          if (kind == 0) s |= std::uint64_t{2047} << 24;  // infinity or NaN
          if (kind == 1) s &= ~(std::uint64_t{2047} << 24);
          if (kind > 8) s = (s & ~(std::uint64_t{2047} << 24)) | (1000 + kind) << 24;
        }
      }
    }
  }
  std::vector<const ChipState*> all;
  for (const ChipState& chip : chips) all.push_back(&chip);
  for (const Isa isa : host_isas()) {
    const LoadedProgram rows = load_program(program, g, isa);
    for (const ChipPartition partition :
         {ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks}) {
      const std::uint64_t n = target_slots(program, g, partition);
      const std::size_t size = n * rows.layout.result_words;
      std::vector<std::uint64_t> expected(size), got(size, 7);
      join_results(words, all, {partition, 0, n}, words.results, 0, n, expected.data());
      for (std::uint64_t slot = 0; slot < n; ++slot)
        REQUIRE(expected[slot * rows.layout.result_words] ==
                oracle::double_bits(joined_sum(chips, partition, slot, program)));
      join_results(rows, all, {partition, 0, n}, rows.results, 0, n, got.data());
      REQUIRE(got == expected);
      join_results(rows, all, {partition, 0, n}, rows.results, 5, n - 3, got.data());
      REQUIRE(got == expected);
    }
  }
}
