// Long work of a board reports progress and can be cancelled.
#include <atomic>
#include <stop_token>

#include "board/programs.hpp"
#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

/// One block with one target and `sources` sources, which exceed its memory many times.
void long_work(Rig& rig, std::size_t sources) {
  rig.write(1, 0, std::vector<double>(sources, 0.5));
  rig.targets(1, ChipPartition::TargetsOverBlocks, {2});
  rig.run(1, ChipPartition::TargetsOverBlocks, 0, sources);
  rig.read(1, ChipPartition::TargetsOverBlocks, 1);
}

}  // namespace

TEST_CASE("long work of one block reports progress at intervals and stops when it is cancelled") {
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
      const WorkMonitor monitor{{}, [&] { ++beats; }};
      {
        const MonitoredScope scope(monitor);
        const std::vector<std::uint64_t> results = rig.execute();
        CHECK(real(results.at(0)) == 0.5 * 2 * sources);
      }
      const std::uint64_t whole = beats;
      CHECK(whole > 8);
      beats = 0;
      long_work(rig, sources);
      rig.execute();
      CHECK(beats == 0);  // outside the scope
      std::vector<std::uint64_t> results;
      std::stop_source stop;
      const WorkMonitor cancelling{stop.get_token(), [&] {
                                     if (++beats > 2) stop.request_stop();
                                   }};
      {
        const MonitoredScope scope(cancelling);
        CHECK_THROWS_AS(rig.board.execute(list, results), Cancelled);
      }
      CHECK(beats < whole);
      rig.load(pair_program());
      rig.execute();
      long_work(rig, 100);
      CHECK(real(rig.execute().at(0)) == 100);
    }
}
