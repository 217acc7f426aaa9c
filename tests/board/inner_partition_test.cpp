// Items partitioned over blocks, output items returned to the host, and the matrix kernel that uses
// both.
#include <algorithm>

#include "board/programs.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/port/loaded_program.hpp"
#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "support/catch.hpp"
#include "support/network_oracle.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

/// PE 1 of each block outputs the product of its target and the block's part of an item, and that
/// part.
Program parts_program(std::string_view reduce) {
  return assembled(
      ".elements 1\nivar long a f64to72 at $lr0v\njvar long b f64to72\njvar long c f64to72\n"
      "ovar long p f64to72 " +
      std::string(reduce) + "\novar long q f64to72 " + std::string(reduce) +
      "\n.body\nvlen 1\nbget $lr8 b\nbget $lr10 c\ndmul $lr12 $lr0 $lr8\nbput p $lr12 1\n"
      "bput q $lr10 1\n");
}

double number(std::size_t n) { return 1.0 / static_cast<double>(3 * n % 101 + 7) - 0.03; }

Long product(double a, double b) {
  return oracle::multiply_twice(oracle::long_of(a), oracle::long_of(b));
}

}  // namespace

TEST_CASE("every block works on its part of an item, and the network reduces their outputs") {
  const char* const engine = GENERATE("reference", "vector", "native");
  const auto [name, op] =
      GENERATE(table<const char*, Reduce>({{"fadd", Reduce::Fadd}, {"fmax", Reduce::Fmax}}));
  const bool returned = GENERATE(false, true);
  // Products that underflow cannot be verified in doubles: items are repeated on integers.
  const bool tiny = GENERATE(false, true);
  CAPTURE(engine, name, returned, tiny);
  if (tiny && std::string_view(engine) == "native") return;
  constexpr unsigned chips = 3, blocks = 5, pes = 2;
  constexpr std::size_t items = 41, record = 2 * blocks;
  Rig rig(small_geometry(chips, blocks, pes), engine, 2);
  rig.load(parts_program(name));
  std::vector<std::vector<double>> a(chips), parts(chips);
  for (unsigned chip = 0; chip < chips; ++chip) {
    for (unsigned t = 0; t < blocks * pes; ++t) a[chip].push_back(number(100 * chip + t));
    for (std::size_t n = 0; n < items * record; ++n)
      parts[chip].push_back(number(1000 * chip + 17 * n));
    if (tiny) a[chip][3] = parts[chip][20 * record + 2] = 1e-200;
    rig.targets(std::uint64_t{1} << chip, ChipPartition::TargetsOverBlocks, a[chip]);
    rig.write(std::uint64_t{1} << chip, 3, parts[chip]);
  }
  constexpr std::uint64_t all = (1 << chips) - 1, outputs = 600;
  const std::uint32_t flags = run_start | run_end | (returned ? run_return : 0U);
  rig.run(all, ChipPartition::PartsOverBlocks, 3, items, flags);
  rig.list.commands.back().output_address = returned ? 0 : outputs;
  if (!returned) {
    for (unsigned chip = 0; chip < chips; ++chip) {
      Command& read = rig.add(CommandKind::ReadMemory, std::uint64_t{1} << chip);
      read.address = outputs;
      read.count = 2 * items;
    }
  }
  const auto got = rig.execute();
  REQUIRE(got.size() == 2 * items * (returned ? 1 : chips));
  // Fast numerics have sums of doubles.
  const bool exact = std::string_view(engine) != "native" || op != Reduce::Fadd;
  for (std::size_t i = 0; i < items; ++i) {
    std::vector<Long> products(chips), copies(chips);
    for (unsigned chip = 0; chip < chips; ++chip) {
      std::vector<Long> p, q;
      for (unsigned b = 0; b < blocks; ++b) {
        const double* const part = &parts[chip][i * record + 2 * b];
        p.push_back(product(a[chip][b * pes + 1], part[0]));
        q.push_back(long_from_double(part[1]));
      }
      products[chip] = oracle::reduce(op, p);
      copies[chip] = oracle::reduce(op, q);
    }
    const auto check = [&](std::uint64_t word, Long expected) {
      if (exact) {
        REQUIRE(word == oracle::double_bits(expected));
      } else {
        REQUIRE(std::abs(real(word) - real(oracle::double_bits(expected))) < 1e-14);
      }
    };
    if (returned) {
      check(got[2 * i], oracle::reduce(op, products));
      check(got[2 * i + 1], oracle::reduce(op, copies));
      continue;
    }
    for (unsigned chip = 0; chip < chips; ++chip) {
      check(got[2 * (chip * items + i)], products[chip]);
      check(got[2 * (chip * items + i) + 1], copies[chip]);
    }
  }
}

TEST_CASE("output items leave the same memories in every engine") {
  const std::size_t items = GENERATE(1, 2, 5, 150);
  const ChipPartition partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::PartsOverBlocks);
  const bool tiny = GENERATE(false, true);
  CAPTURE(items, partition, tiny);
  constexpr unsigned blocks = 3, pes = 2;
  std::vector<ChipState> states;
  std::vector<std::vector<std::uint64_t>> results;
  for (const char* const engine : {"reference", "vector"}) {
    Rig rig(small_geometry(1, blocks, pes), engine, 2);
    rig.load(parts_program("fadd"));
    std::vector<double> a, parts;
    for (unsigned t = 0; t < blocks * pes; ++t) a.push_back(number(t));
    for (std::size_t n = 0; n < items * 2 * blocks; ++n) parts.push_back(number(17 * n));
    if (tiny) a[1] = a[3] = parts[items / 2 * 2] = 1e-200;
    rig.targets(1, ChipPartition::TargetsOverBlocks, a);
    rig.write(1, 0, parts);
    // In two parts, so that halves are partly filled and previous contents matter.
    rig.run(1, partition, 0, items / 2 + 1, run_start | run_return);
    rig.run(1, partition, 0, items, run_end | run_return);
    results.push_back(rig.execute());
    states.push_back(rig.board.chip(0));
  }
  REQUIRE(results[0] == results[1]);
  for (unsigned b = 0; b < blocks; ++b) {
    CAPTURE(b);
    REQUIRE(states[0].blocks[b] == states[1].blocks[b]);
  }
}

TEST_CASE("sums over parts of items stay with the blocks' own targets") {
  const char* const engine = GENERATE("reference", "vector", "native");
  CAPTURE(engine);
  constexpr unsigned blocks = 3, pes = 5;
  constexpr std::size_t items = 23;
  Rig rig(small_geometry(1, blocks, pes), engine, 2);
  rig.load(
      assembled("ivar long a f64to72\njvar long b f64to72\nfvar long s f64to72 fadd at $lr0v\n"
                ".start\nupass s 0\n.body\nbget $lr8 b\ndmul $t a $lr8\nfadd s s $t\n"));
  std::vector<double> a, parts;
  for (unsigned t = 0; t < blocks * pes * 4; ++t) a.push_back(number(t));
  for (std::size_t n = 0; n < items * blocks; ++n) parts.push_back(number(17 * n));
  rig.targets(1, ChipPartition::TargetsOverBlocks, a);
  rig.write(1, 0, parts);
  // The same items twice: resident for the second run, converted again for another partition.
  for (unsigned k = 0; k < 2; ++k) {
    rig.run(1, ChipPartition::PartsOverBlocks, 0, items);
    rig.read(1, ChipPartition::TargetsOverBlocks, a.size());
  }
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, items);
  rig.read(1, ChipPartition::TargetsOverBlocks, a.size());
  const auto got = rig.execute();
  for (std::size_t t = 0; t < a.size(); ++t) {
    const std::size_t block = t / (pes * 4);
    Long own = Long{0}, first = Long{0};
    for (std::size_t i = 0; i < items; ++i) {
      own = oracle::add(own, product(a[t], parts[i * blocks + block]));
      first = oracle::add(first, product(a[t], parts[i]));
    }
    for (const auto& [word, expected] : {std::pair(got[t], own), std::pair(got[a.size() + t], own),
                                         std::pair(got[2 * a.size() + t], first)}) {
      REQUIRE(std::abs(real(word) - real(oracle::double_bits(expected))) < 1e-13);
      if (std::string_view(engine) != "native") REQUIRE(word == oracle::double_bits(expected));
    }
  }
}

TEST_CASE("output items returned to the host are refused where no reduction joins them") {
  Rig rig(small_geometry(1, 3, 2));
  const auto refused = [&](std::string_view reduce, ChipPartition partition) {
    rig.load(parts_program(reduce));
    rig.run(1, partition, 0, 1, run_return);
    try {
      rig.execute();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused("pass", ChipPartition::PartsOverBlocks).find("output item \"p\" is passed") !=
        std::string::npos);
  CHECK(refused("fadd", ChipPartition::SourcesOverBlocks).find("items of their own") !=
        std::string::npos);
}

TEST_CASE("the matrix kernel gives every row of a tile times every column, bit for bit") {
  const char* const engine = GENERATE("reference", "vector", "native");
  CAPTURE(engine);
  constexpr unsigned chips = 2, blocks = 3, pes = 32, rows = 256, deep = 32, columns = 4;
  constexpr unsigned inner = chips * blocks * deep;
  Geometry geometry;
  geometry.chips_per_board = chips;
  geometry.blocks = blocks;
  Rig rig(geometry, engine, 2);
  rig.load(assembled(dense_kernel("dgemm")));
  const auto a = [](unsigned row, unsigned k) { return number(31 * row + 7 * k); };
  const auto b = [](unsigned k, unsigned column) { return number(13 * k + 5 * column + 3); };
  for (unsigned chip = 0; chip < chips; ++chip) {
    std::vector<double> tile, stream;
    for (unsigned q = 0; q < blocks * pes * 4; ++q) {
      const unsigned block = q / (pes * 4), pe = q / 4 % pes, element = q % 4;
      const unsigned first = (chip * blocks + block) * deep;
      for (unsigned n = 0; n < 2 * deep; ++n)
        tile.push_back(a(8 * pe + 4 * (n / deep) + element, first + n % deep));
    }
    // One item more: the results of a column leave with the next item.
    for (unsigned column = 0; column <= columns; ++column)
      for (unsigned k = 0; k < blocks * deep; ++k)
        stream.push_back(column < columns ? b(chip * blocks * deep + k, column) : 0);
    std::vector<std::uint64_t> words(tile.size());
    std::ranges::transform(tile, words.begin(), bits);
    rig.add(CommandKind::WriteTargets, std::uint64_t{1} << chip, words).count = blocks * pes * 4;
    rig.write(std::uint64_t{1} << chip, 0, stream);
  }
  rig.run((1 << chips) - 1, ChipPartition::PartsOverBlocks, 0, columns + 1,
          run_start | run_end | run_return);
  const auto got = rig.execute();
  REQUIRE(got.size() == (columns + 1) * rows);
  for (unsigned column = 0; column < columns; ++column) {
    for (unsigned row = 0; row < rows; row += 5) {
      std::vector<Long> of_chips;
      for (unsigned chip = 0; chip < chips; ++chip) {
        std::vector<Long> of_blocks;
        for (unsigned block = 0; block < blocks; ++block) {
          const unsigned first = (chip * blocks + block) * deep;
          Long sum = product(a(row, first), b(first, column));
          for (unsigned k = first + 1; k < first + deep; ++k)
            sum = oracle::add(sum, product(a(row, k), b(k, column)));
          of_blocks.push_back(sum);
        }
        of_chips.push_back(oracle::reduce(Reduce::Fadd, of_blocks));
      }
      const std::uint64_t expected = oracle::double_bits(oracle::reduce(Reduce::Fadd, of_chips));
      const std::uint64_t word = got[(column + 1) * rows + row];
      CAPTURE(row, column);
      if (std::string_view(engine) == "native") {
        REQUIRE(std::abs(real(word) - real(expected)) < 1e-14 * inner);
      } else {
        REQUIRE(word == expected);
      }
    }
  }
}

TEST_CASE(
    "A column of 512 numbers takes 544 clocks of a chip, and a board has its published speed") {
  Geometry geometry;
  geometry.clock_hz = 400e6;
  Rig rig(geometry, "reference");
  const Program program = assembled(dense_kernel("dgemm"));
  CHECK(program.clocks(Section::Body) == 544);
  const LoadedProgram loaded = load_program(program, geometry, Isa::Portable);
  const ProgramTiming timing = program_timing(program, geometry);
  // 51200 x 2048 by 2048 x 51200 on one board, of 819 Gflops at the most: 730 were published. B
  // is sent to the memories once; tiles of A are sent while the previous tile is computed.
  constexpr std::uint64_t n = 51200, inner = 2048, tile = 131072;
  const LoopPlan plan = make_plan(loaded, geometry, ChipPartition::PartsOverBlocks, n + 1);
  const ChipClocks clocks = loop_clocks(plan, timing, geometry, run_start | run_return);
  // Start clears five words of four elements each, one clock an element.
  constexpr std::uint64_t start = 5 * 4;
  CHECK(clocks.compute == start + (n + 1) * 544);
  CHECK(clocks.port_in == (n + 1) * 512);
  CHECK(clocks.port_out == (n + 1) * 512);
  // A half holds one column: the first fill of 512 words and the last 256 results of two clocks
  // each are outside of the passes, which hide all other transfers.
  CHECK(clocks.total == start + 512 + (n + 1) * 544 + 2 * 256);
  Timeline time(4, geometry.clock_hz);
  const std::uint64_t words = (n + 1) * 512;
  for (unsigned chip = 0; chip < 4; ++chip)
    time.write_memory(std::uint64_t{1} << chip, 8 * words, 0, words);
  for (unsigned t = 0; t < n / 256; ++t) {
    for (unsigned chip = 0; chip < 4; ++chip)
      time.load(std::uint64_t{1} << chip, 8 * tile, tile * BoardRates{}.port_in);
    time.run_returning(15, clocks.total, 0, words, 8 * 256 * (n + 1));
  }
  const double gflops = 2e-9 * n * n * inner / time.seconds();
  CAPTURE(gflops);
  CHECK(gflops > 740);
  CHECK(gflops < 819 * 512.0 / 544);
}
