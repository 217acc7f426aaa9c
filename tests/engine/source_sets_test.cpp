// Which converted sources stay beside others.
#include "emulator/engine/native/run/source_sets.hpp"

#include "gdr/kernel.hpp"
#include "support/catch.hpp"

namespace gdr::native {

TEST_CASE("sources at different places stay converted side by side, up to a limit") {
  const Program program = gdr::Kernel::builtin("gravity").program();
  const Geometry geometry;
  const CompiledProgram compiled(program, geometry, Target{});
  const LoadedProgram loaded = load_program(program, geometry, Isa::Portable, false);
  const BoardMemory memory(geometry.dram_bytes / sizeof(std::uint64_t));
  const std::uint64_t words = loaded.layout.source_words;
  SourceSets resident(*compiled.section(Section::Body), loaded, true, true);
  const auto use = [&](std::uint64_t first, std::uint64_t items) {
    const RecordSegment segment{&memory, first * words, items};
    resident.use({&segment, 1});
    return &resident.now();
  };
  SourceSet* const one = use(0, 100);
  SourceSet* const two = use(100, 50);
  CHECK(two != one);
  CHECK(use(0, 100) == one);
  CHECK(use(100, 50) == two);
  // What overlaps takes a place.
  CHECK(use(50, 50) == one);
  CHECK(use(0, 100) == one);
  // Other numbers of sources as well.
  CHECK(use(100, 60) == two);
  // The last of those that do not fit together is replaced.
  const std::uint64_t many = SourceSets::max_words / words / 3;
  SourceSet* const large = use(1000, many);
  CHECK(large != one);
  SourceSet* const last = use(1000 + many, many);
  CHECK(last != large);
  for (std::uint64_t round = 0; round < 3; ++round) {
    CHECK(use(1000 + 2 * many, many) == last);
    CHECK(use(1000 + many, many) == last);
    CHECK(use(1000, many) == large);
    CHECK(use(0, 100) == one);
  }
}

}  // namespace gdr::native
