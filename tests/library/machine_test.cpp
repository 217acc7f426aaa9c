// Single-stepping of a chip: bits of a run, positions, access to memories.
#include "gdr/machine.hpp"

#include <bit>

#include "library/kernels.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"

using namespace library_test;
using gdr::test::has;
using gdr::test::refused;

namespace {

/// Two blocks of three PEs: 24 targets; the broadcast memory holds few sources at once.
const std::string chip = "emulator:threads=1,chips=1,blocks=2,pes=3,bm=32";

void give(gdr::Machine& machine, const SpringInput& in) {
  const std::vector<gdr::NamedInput> sources{{"xj", in.xj}, {"mj", in.mj}}, targets{{"xi", in.xi}};
  machine.load(spring());
  machine.set("k", in.k);
  machine.sources(in.xj.size(), sources);
  machine.targets(in.xi.size(), targets);
}

SpringResult results(const gdr::Machine& machine) {
  SpringResult out;
  out.force.assign(machine.target_count(), -77);
  out.mass.assign(machine.target_count(), -77);
  const std::vector<gdr::NamedResult> arrays{{"force", out.force}, {"mass", out.mass}};
  machine.results(arrays);
  return out;
}

}  // namespace

TEST_CASE("single-stepping a program gives the bits of a run") {
  for (const char* const engine : {"reference", "vector"})
    for (const std::size_t sources : {0, 1, 50}) {
      const SpringInput in = rough_input(24, sources);
      const std::string name = chip + ",engine=" + engine;
      INFO(name << ", " << sources << " sources");
      gdr::Machine machine(name);
      give(machine, in);
      CHECK(machine.target_slots() == 24);
      const std::size_t start = machine.instructions("start").size(),
                        body = machine.instructions("body").size();
      std::uint64_t steps = 0;
      while (machine.step()) ++steps;
      CHECK(steps == start + sources * body + machine.instructions("end").size());
      const SpringResult wanted = run_on(name + ",partition=targets", in);
      CHECK(results(machine) == wanted);
      machine.restart();
      CHECK(machine.run(3) == 3);
      CHECK(machine.run(1000000) == steps - 3);
      CHECK(results(machine) == wanted);
    }
}

TEST_CASE("a position has section, pass, instruction, text, line and clock") {
  gdr::Machine machine(chip);
  give(machine, exact_input(2, 3));
  gdr::MachinePosition at = machine.position();
  CHECK(at.section == "start");
  CHECK(at.instruction == 0);
  CHECK(at.clock == 0);
  CHECK(at.file == "spring.gds");
  CHECK(at.line == 10);  // "upass force 0"
  std::uint64_t clock = 0, passes = 0;
  for (;;) {
    at = machine.position();
    if (at.section.empty()) break;
    CHECK(at.clock >= clock);
    clock = at.clock;
    if (at.section == "body") {
      CHECK(at.text == machine.instructions("body").at(at.instruction));
      passes = at.pass + 1;
    }
    REQUIRE(machine.step());
  }
  CHECK(passes == 3);
  CHECK(at.clock > clock);
  CHECK(at.clock == machine.position().clock);
  CHECK_FALSE(machine.step());
}

TEST_CASE("memories of a machine can be read and written") {
  gdr::Machine machine(chip);
  give(machine, exact_input(2, 1));
  CHECK(machine.blocks() == 2);
  CHECK(machine.pes() == 3);
  using enum gdr::MachineMemory;
  CHECK(machine.memory(Registers, 0).size() == 64 * 3);
  CHECK(machine.memory(Broadcast, 1).size() == 64);
  machine.set_memory(Registers, 1, 5, 2, 0xabcdef123);
  CHECK(machine.memory(Registers, 1).at(5 * 3 + 2) == 0xabcdef123);
  CHECK(machine.memory(Registers, 1).at(5 * 3 + 1) == 0);
  CHECK(machine.memory(Registers, 0).at(5 * 3 + 2) == 0);
  machine.set_memory(Broadcast, 0, 63, 0, 9);
  CHECK(machine.memory(Broadcast, 0).back() == 9);
  has(refused([&] { machine.set_memory(Registers, 0, 64, 0, 1); }), "64");
  has(refused([&] { machine.set_memory(Registers, 0, 0, 3, 1); }), "3");
  has(refused([&] { machine.set_memory(Local, 0, 0, 0, std::uint64_t{1} << 36); }),
      "too many bits");
  has(refused([&] { machine.memory(T, 2); }), "2");
  machine.load(spring());  // clears the state
  CHECK(machine.memory(Registers, 1).at(5 * 3 + 2) == 0);
}

TEST_CASE("invalid arguments of a machine are errors") {
  CHECK_FALSE(refused([] { gdr::Machine("emulator:pess=3"); }).empty());
  has(refused([] { gdr::Machine("board:0"); }), "emulator");
  CHECK_THROWS_AS(gdr::Machine("emulator:engine=native"), gdr::Error);
  gdr::Machine machine(chip);
  has(refused([&] { machine.step(); }), "no program");
  machine.load(spring());
  has(refused([&] { machine.set("q", 1); }), "\"q\"");
  const std::vector<double> many(25, 1.0);
  const std::vector<gdr::NamedInput> targets{{"xi", many}};
  has(refused([&] { machine.targets(25, targets); }), "holds 24");
  has(refused([&] { machine.instructions("middle"); }), "middle");
}

TEST_CASE("flags accumulate since the last restart") {
  gdr::Machine machine(chip);
  SpringInput in = rough_input(3, 2);
  give(machine, in);
  machine.run(1000000);
  CHECK(machine.flags(0) == gdr::MachineFlags{});
  for (double& m : in.mj) m = 1e300;
  for (double& x : in.xj) x = 1e300;
  give(machine, in);
  machine.run(1000000);
  CHECK(machine.flags(0).overflow);
  machine.restart();
  CHECK(machine.flags(0) == gdr::MachineFlags{});
  has(refused([&] { static_cast<void>(machine.flags(2)); }), "block 2");
}

TEST_CASE("the reduction network reduces a memory over all blocks") {
  gdr::Machine machine("emulator:blocks=3,pes=2");
  using gdr::MachineMemory;
  for (std::size_t block = 0; block < 3; ++block) {
    machine.set_memory(MachineMemory::Local, block, 5, 1, 7 + block);
    machine.set_memory(MachineMemory::Broadcast, block, 9, 0, 0xfffffffff);
  }
  const auto local = machine.reduced(MachineMemory::Local, "iadd");
  CHECK(local.size() == machine.memory(MachineMemory::Local, 0).size());
  CHECK(local[5 * 2 + 1] == 7 + 8 + 9);
  CHECK(local[5 * 2] == 0);
  // A carry out of the lower short goes to the upper one.
  const auto broadcast = machine.reduced(MachineMemory::Broadcast, "iadd");
  CHECK(broadcast[9] == 0xffffffffd);
  CHECK(broadcast[8] == 2);
  CHECK(machine.reduced(MachineMemory::Broadcast, "pass")[9] == 0xfffffffff);
  has(refused([&] { machine.reduced(MachineMemory::Local, "add"); }), "did you mean");
  has(refused([&] { machine.reduced(MachineMemory::Masks, "ior"); }), "masks");
}

TEST_CASE("a snapshot restores state and position, also in the middle of a pass") {
  gdr::Machine machine(chip);
  give(machine, rough_input(24, 20));
  machine.run(40);
  const gdr::MachineSnapshot snapshot = machine.snapshot();
  CHECK(snapshot.bytes() > 2 * 3 * 64 * sizeof(std::uint64_t));
  const gdr::MachinePlace place = machine.place();
  CHECK(place.section == 2);
  CHECK(place.clock == machine.position().clock);
  machine.run(1000000);
  CHECK(machine.place().section == 4);
  const SpringResult wanted = results(machine);
  machine.restore(snapshot);
  CHECK(machine.place() == place);
  CHECK_FALSE(results(machine) == wanted);
  machine.run(1000000);
  CHECK(results(machine) == wanted);
  give(machine, rough_input(24, 20));
  has(refused([&] { machine.restore(snapshot); }), "the snapshot is of another program");
  has(refused([&] { machine.restore({}); }), "the snapshot is of another program");
}

TEST_CASE("variables are found at their locations, those of sources in the current group") {
  gdr::Machine machine(chip);
  const SpringInput in = exact_input(24, 20);
  give(machine, in);
  std::vector<std::string> names;
  for (const gdr::MachineVariable& v : machine.variables()) names.push_back(v.kind + " " + v.name);
  CHECK(names == std::vector<std::string>{"ivar xi", "jvar xj", "jvar mj", "param k", "fvar force",
                                          "fvar mass"});
  CHECK(machine.variables()[0].count == 4);
  CHECK(machine.variables()[4].conversion == "f64to72");
  CHECK(machine.variables()[4].reduction == "fadd");
  CHECK(machine.passes() == 20);
  while (machine.place().section == 1) machine.step();
  for (std::uint64_t pass = 0; pass < 20; ++pass) {
    const gdr::MachineVariable xj = machine.variables()[1];
    const std::uint64_t upper = machine.word(xj.memory, 1, xj.address, 0);
    const std::uint64_t lower = machine.word(xj.memory, 1, xj.address + 1, 0);
    // The 64 bits of a double are the upper ones of a long.
    CHECK(std::bit_cast<double>((upper << 28) | (lower >> 8)) == in.xj[pass]);
    machine.run(machine.instructions("body").size());
  }
}

TEST_CASE("a param is set from an array of its own type") {
  gdr::Machine machine(chip);
  give(machine, rough_input(24, 5));
  const double k = 0.25;
  machine.set_param({"k", gdr::ConstArray(&k)});
  const gdr::MachineVariable at = machine.variables()[3];
  CHECK(machine.word(at.memory, 0, at.address, 0) == 0x3fd000000);
  const std::int64_t wrong = 1;
  has(refused([&] { machine.set_param({"k", gdr::ConstArray(&wrong)}); }), "k");
  has(refused([&] { machine.set_param({"kk", gdr::ConstArray(&k)}); }), "unknown param");
}

TEST_CASE("the listing has source lines and clocks") {
  gdr::Machine machine(chip);
  give(machine, exact_input(2, 3));
  const auto body = machine.listing("body");
  CHECK(body.size() == machine.instructions("body").size());
  CHECK(body[0].text == "bget $lr0 xj");
  CHECK(body[0].file == "spring.gds");
  CHECK(body[0].clocks == 1);
  CHECK(machine.memory_size(gdr::MachineMemory::Registers) == 64);
  CHECK(machine.memory_size(gdr::MachineMemory::Broadcast) == 64);
  has(refused([&] { machine.word(gdr::MachineMemory::T, 0, 8, 0); }), "address 8 is out of range");
}
