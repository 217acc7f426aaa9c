// Writes to the chips' memories: their words arrive together, in several threads.
#include <algorithm>
#include <array>
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

}  // namespace gdr::test
