// Packed targets without a state of PEs (emulator/engine/native/run/lane_targets.hpp). Their
// results are compared with those of blocks in tests/board/packed_test.cpp.
#include "emulator/engine/native/run/lane_targets.hpp"

#include <set>
#include <string>

#include "gdr/kernel.hpp"
#include "support/catch.hpp"

using namespace gdr;

TEST_CASE("the kernels of the library keep their targets in lanes", "[engine]") {
  std::set<std::string> on_blocks;
  const Geometry geometry;
  for (const std::string& name : Kernel::builtin_names()) {
    const Kernel kernel = Kernel::builtin(name);
    const Program& program = kernel.program();
    const native::CompiledProgram compiled(program, geometry, {Isa::Portable});
    const LoadedProgram loaded = load_program(program, geometry, Isa::Portable, false);
    const native::PackedPlan plan = native::make_packed_plan(compiled, loaded);
    if (!plan.usable) continue;
    native::LaneTargets lanes(compiled, loaded, plan);
    const ChipState chip = make_chip(geometry);
    if (!lanes.prepare(chip.blocks[0], 1)) on_blocks.insert(name);
  }
  // Four have lists; of the last one the elements compute differently.
  CHECK(on_blocks == std::set<std::string>{"gravity_hermite_neighbours", "gravity_jerk_neighbours",
                                           "gravity_neighbours", "gravity_regular",
                                           "gravity_softened_long"});
}
