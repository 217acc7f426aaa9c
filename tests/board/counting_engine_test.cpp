// The example engine of HACKING.md on a board.
#include "board/counting_engine.hpp"

#include <memory>
#include <vector>

#include "board/programs.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// Sums of three targets over five sources, on a board with an engine.
std::vector<std::uint64_t> sums_on(std::shared_ptr<const Engine> engine) {
  Rig rig(small_geometry(), std::move(engine));
  rig.load(pair_program());
  rig.write(1, 7, {0.5, 1.5, 2.5, 3.5, 4.5});
  rig.targets(1, ChipPartition::TargetsOverBlocks, {1, -2, 3});
  rig.run(1, ChipPartition::TargetsOverBlocks, 7, 5);
  rig.read(1, ChipPartition::TargetsOverBlocks, 3);
  return rig.execute();
}

}  // namespace

TEST_CASE("the example engine of HACKING.md counts operations and keeps the results") {
  const auto engine = std::make_shared<CountingEngine>();
  const std::vector<std::uint64_t> sums = sums_on(engine);
  CHECK(sums == sums_on(make_engine("reference")));
  CHECK(real(sums[0]) == 12.5);
  // One product and one sum of four elements for each of five sources, in the five PEs of a block.
  const Program program = pair_program();
  std::uint64_t products = 0;
  for (const Instruction& i : program.section(Section::Body))
    if (i.mul.used()) products += i.vlen;
  CHECK(products > 0);
  CHECK(engine->counts().of(Work::Product) == products * 5 * 5);
  CHECK(engine->counts().of(Work::Sum) > 0);
  CHECK(engine->counts().of(Work::Transfer) > 0);
}

}  // namespace gdr::test
