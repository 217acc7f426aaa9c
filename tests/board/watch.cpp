// Whoever waits for a board is told that it works, on the way of long work, too, and may stop it.
#include <atomic>

#include "board/programs.hpp"
#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

/// One block with one target and so many sources that they fill its memory many times over.
void long_work(Rig& rig, std::size_t sources) {
  rig.write(1, 0, std::vector<double>(sources, 0.5));
  rig.targets(1, Share::TargetsOverBlocks, {2});
  rig.run(1, Share::TargetsOverBlocks, 0, sources);
  rig.read(1, Share::TargetsOverBlocks, 1);
}

}  // namespace

TEST_CASE("long work of one block gives signs of life on its way, and ends there if it shall") {
  constexpr std::size_t sources = 40000;
  for (const char* const engine : {"reference", "vector"})
    for (const unsigned threads : {1U, 2U}) {
      INFO(engine << ", " << threads << " threads");
      Rig rig(small_geometry(1, 1, 5, 64), engine, threads);
      rig.load(pair_program());
      rig.execute();
      long_work(rig, sources);
      const CommandList list = rig.list;
      std::atomic<std::uint64_t> beats = 0;
      std::atomic<bool> stop = false;
      const WorkWatch watch{[&] { ++beats; }, [&] { return stop.load(); }};
      {
        const WatchedWork watched(watch);
        const std::vector<std::uint64_t> results = rig.execute();
        CHECK(real(results.at(0)) == 0.5 * 2 * sources);
      }
      const std::uint64_t whole = beats;
      CHECK(whole > 8);
      beats = 0;
      long_work(rig, sources);
      rig.execute();
      CHECK(beats == 0);  // nobody watches any more
      std::vector<std::uint64_t> results;
      // From the third sign on it shall stop.
      const WorkWatch hasty{[&] { ++beats; }, [&] { return beats > 2; }};
      {
        const WatchedWork watched(hasty);
        CHECK_THROWS_AS(rig.board.execute(list, results), WorkStopped);
      }
      CHECK(beats < whole);
      rig.load(pair_program());
      rig.execute();
      long_work(rig, 100);
      CHECK(real(rig.execute().at(0)) == 100);
    }
}
