// Writes to the chips' memories: their words arrive together, in several threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "board/programs.hpp"
#include "gdr/error.hpp"
#include "support/catch.hpp"

namespace gdr::test {

TEST_CASE("writes of one list take effect in their order, also where they overlap", "[board]") {
  constexpr std::size_t chips = 2, words = 300'000;
  Geometry geometry = small_geometry();
  geometry.chips_per_board = chips;
  geometry.dram_bytes = words * sizeof(std::uint64_t);
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (const unsigned threads : {1U, 3U}) {
    Rig rig(geometry, "native", threads);
    std::array<std::vector<std::uint64_t>, chips> expected;
    for (auto& memory : expected) memory.assign(words, 0);
    std::vector<std::uint64_t> read;
    for (int k = 0; k < 200; ++k) {
      // Many pieces of a copy, and few words.
      const bool is_long = below(10) == 0;
      const std::uint64_t address = below(is_long ? 1000 : 5000);
      const std::uint64_t count = 1 + below(is_long ? 250'000 : 3000);
      const std::uint64_t mask = 1 + below(3);
      std::vector<std::uint64_t> payload(count);
      for (std::uint64_t& word : payload) word = random();
      Command& write = rig.add(CommandKind::WriteMemory, mask, payload);
      write.address = address;
      write.count = count;
      for (std::size_t c = 0; c < chips; ++c)
        if ((mask >> c & 1) != 0)
          std::ranges::copy(payload, expected[c].begin() + static_cast<std::ptrdiff_t>(address));
      if (below(8) != 0) continue;
      const std::uint64_t chip = below(chips), first = below(4000);
      Command& look = rig.add(CommandKind::ReadMemory, std::uint64_t{1} << chip);
      look.address = first;
      look.count = 2000;
      const auto from = expected[chip].begin() + static_cast<std::ptrdiff_t>(first);
      read.insert(read.end(), from, from + 2000);
    }
    for (std::size_t c = 0; c < chips; ++c) {
      rig.add(CommandKind::ReadMemory, std::uint64_t{1} << c).count = words;
      read.insert(read.end(), expected[c].begin(), expected[c].end());
    }
    const bool equal = rig.execute() == read;
    CHECK(equal);
  }
}

namespace {

/// Sources whose words are made when they are written to the memories.
struct LateSources {
  std::vector<double> values;
  std::vector<std::uint64_t> words;
  std::atomic<std::size_t> made = 0;
  std::size_t wrong = ~std::size_t{0};  ///< number of a word that cannot be made
  WordFill fill{1, [this](std::size_t first, std::size_t count) {
                  for (std::size_t k = first; k < first + count; ++k) {
                    if (k == wrong) throw Error(ErrorCategory::Input, "this word cannot be made");
                    words[k] = bits(values[k]);
                  }
                  made += count;
                }};

  explicit LateSources(std::size_t n) : words(n) {
    for (std::size_t k = 0; k < n; ++k) values.push_back(static_cast<double>(k % 13) - 5);
  }
  /// Adds writes of equal parts, one for each chip.
  void write(Rig& rig, unsigned chips, std::uint64_t address) const {
    const std::uint64_t place = rig.list.borrow(words, &fill);
    const std::size_t part = words.size() / chips;
    for (unsigned c = 0; c < chips; ++c) {
      Command& command = rig.add(CommandKind::WriteMemory, std::uint64_t{1} << c);
      command.address = address;
      command.count = part;
      command.payload = place + c * part;
    }
  }
};

}  // namespace

TEST_CASE("words that are made while they are written give the results of those made before",
          "[board]") {
  const ChipPartition partition = ChipPartition::SourcesOverBlocks;
  constexpr unsigned chips = 2;
  constexpr std::size_t sources = 1200, targets = 7;
  const std::vector<double> x{1, 2, -3, 4, 0.5, 6, -7};
  for (const char* engine : {"reference", "vector", "native"}) {
    for (const unsigned group : {1U, 2U}) {
      CAPTURE(engine, group);
      Rig late(small_geometry(chips), engine, 2), early(small_geometry(chips), engine, 2);
      LateSources made(sources);
      const auto half = made.values.begin() + sources / chips;
      for (Rig* rig : {&late, &early}) {
        rig->load(pair_program({.group = group}));
        rig->targets(3, partition, x);
      }
      early.write(1, 4, {made.values.begin(), half});
      early.write(2, 4, {half, made.values.end()});
      made.write(late, chips, 4);
      for (Rig* rig : {&late, &early}) {
        rig->run(3, partition, 4, sources / chips,
                 run_start | run_end | run_results_only | run_reassociate);
        rig->read(3, partition, targets, read_combine);
      }
      const std::vector<std::uint64_t> results = late.execute();
      CHECK(results == early.execute());
      CHECK(made.made == sources);
      // They are in the memories, too.
      for (Rig* rig : {&late, &early})
        for (unsigned c = 0; c < chips; ++c)
          rig->add(CommandKind::ReadMemory, std::uint64_t{1} << c).count = 4 + sources / chips;
      CHECK(late.execute() == early.execute());
    }
  }
}

TEST_CASE("chips that get other words just before a run compute with their own", "[board]") {
  const ChipPartition partition = ChipPartition::TargetsOverBlocks;
  const std::vector<double> x{1, 2, 3};
  for (const char* engine : {"vector", "native"}) {
    CAPTURE(engine);
    Rig tested(small_geometry(2), engine, 2), reference(small_geometry(2));
    for (Rig* rig : {&tested, &reference}) rig->load(pair_program());
    // Equal words in both chips, then others in one of them, in both, and equal ones again.
    const std::vector<std::vector<double>> words{
        {1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {1, 0, 0, 1}};
    for (const auto& [first, second] :
         {std::pair{0, 0}, {0, 1}, {2, 3}, {3, 2}, {1, 1}, {1, 0}, {0, 0}}) {
      CAPTURE(first, second);
      for (Rig* rig : {&tested, &reference}) {
        rig->write(1, 0, words[static_cast<std::size_t>(first)]);
        rig->write(2, 0, words[static_cast<std::size_t>(second)]);
        rig->targets(1, partition, x);
        rig->targets(2, partition, x);
        rig->run(3, partition, 0, 4, run_start | run_end | run_results_only);
        rig->read(1, partition, 3);
        rig->read(2, partition, 3);
      }
      CHECK(tested.execute() == reference.execute());
    }
  }
}

TEST_CASE("a word that cannot be made is the error of its list, and the next list runs",
          "[board]") {
  const ChipPartition partition = ChipPartition::TargetsOverBlocks;
  for (const char* engine : {"vector", "native"}) {
    CAPTURE(engine);
    Rig rig(small_geometry(), engine, 2);
    rig.load(pair_program());
    LateSources made(900);
    const auto sums = [&] {
      made.write(rig, 1, 0);
      rig.targets(1, partition, {1, 2});
      rig.run(1, partition, 0, 900, run_start | run_end | run_results_only);
      rig.read(1, partition, 2);
      return rig.execute();
    };
    const std::vector<std::uint64_t> right = sums();
    made.wrong = 611;
    std::vector<std::uint64_t> none;
    try {
      sums();
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(e.category() == ErrorCategory::Input);
    }
    rig.list.clear();
    made.wrong = ~std::size_t{0};
    CHECK(sums() == right);
  }
}

}  // namespace gdr::test
