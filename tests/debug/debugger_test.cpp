// The debugger: states in both directions, conditions, and random programs against the reference
// engine.
#include "gdr/debugger.hpp"

#include <cstdlib>
#include <random>

#include "emulator/engine/reference/reference.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/selftest/case.hpp"
#include "library/kernels.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using gdr::Debugger;
using gdr::Machine;
using gdr::MachineBits;
using gdr::MachineMemory;
using gdr::MachineWord;
using gdr::StopReason;
using gdr::test::has;
using gdr::test::refused;
using library_test::spring;

namespace {

constexpr std::array memories{MachineMemory::Registers, MachineMemory::Local, MachineMemory::T,
                              MachineMemory::Masks, MachineMemory::Broadcast};

/// All words of a chip, and the position in the program.
struct State {
  std::vector<std::vector<std::uint64_t>> words;
  gdr::MachinePlace place;
  friend bool operator==(const State&, const State&) = default;
};
State state_of(const Machine& machine) {
  State state;
  for (std::size_t b = 0; b < machine.blocks(); ++b)
    for (const MachineMemory memory : memories) state.words.push_back(machine.memory(memory, b));
  state.place = machine.place();
  return state;
}

/// A chip with the kernel `spring`: the broadcast memory holds few sources, so that its halves are
/// filled several times.
Machine spring_machine(std::size_t targets = 24, std::size_t sources = 50) {
  const auto in = library_test::rough_input(targets, sources);
  Machine machine("emulator:threads=1,blocks=2,pes=3,bm=32");
  machine.load(spring());
  machine.set("k", in.k);
  const std::vector<gdr::NamedInput> from{{"xj", in.xj}, {"mj", in.mj}}, to{{"xi", in.xi}};
  machine.sources(in.xj.size(), from);
  machine.targets(in.xi.size(), to);
  return machine;
}
/// Instructions of its sections, with one that idles in the body.
constexpr std::size_t start_size = 3, body_size = 8;

MachineWord register_word(std::size_t address, std::size_t block = 0, std::size_t pe = 0) {
  return {MachineMemory::Registers, block, pe, address, true};
}
/// force[0] and mass[0] of the first PE.
const MachineWord force = register_word(24), mass = register_word(32);

/// The positions at which runs stop, until the end or the beginning.
std::vector<std::uint64_t> stops(Debugger& debugger, bool backwards) {
  std::vector<std::uint64_t> list;
  for (;;) {
    const gdr::StopReport report = backwards ? debugger.run_back() : debugger.run();
    if (report.reason != StopReason::Condition) {
      CHECK(report.reason == (backwards ? StopReason::Beginning : StopReason::End));
      return list;
    }
    list.push_back(debugger.position());
  }
}

}  // namespace

TEST_CASE("steps leave the states of single-stepping, in any order of movements") {
  Machine plain = spring_machine();
  std::vector<State> states{state_of(plain)};
  while (plain.step()) states.push_back(state_of(plain));
  Debugger debugger(spring_machine());
  std::mt19937_64 random(7);
  for (int k = 0; k < 200; ++k) {
    const std::uint64_t target = random() % states.size();
    if (target >= debugger.position() && random() % 2 == 0)
      debugger.step(target - debugger.position());
    else if (target <= debugger.position())
      debugger.back(debugger.position() - target);
    else
      debugger.go_to(target);
    REQUIRE(debugger.position() == target);
    REQUIRE(state_of(debugger.machine()) == states[target]);
  }
  CHECK(debugger.go_to(1000000).reason == StopReason::End);
  CHECK(debugger.position() == states.size() - 1);
  CHECK(debugger.at_end());
  CHECK(debugger.step().reason == StopReason::End);
  CHECK(state_of(debugger.machine()) == states.back());
  CHECK(debugger.back(~std::uint64_t{0}).reason == StopReason::Beginning);
  CHECK(state_of(debugger.machine()) == states.front());
}

TEST_CASE("movements by passes go to the beginnings of passes and sections") {
  Debugger debugger(spring_machine(24, 5));
  std::vector<std::uint64_t> beginnings{0};
  while (debugger.next_pass().reason == StopReason::Steps) {
    CHECK(debugger.machine().place().instruction == 0);
    beginnings.push_back(debugger.position());
  }
  const std::uint64_t end = debugger.position();
  CHECK(debugger.at_end());
  CHECK(beginnings == std::vector<std::uint64_t>{
                          0, start_size, start_size + body_size, start_size + 2 * body_size,
                          start_size + 3 * body_size, start_size + 4 * body_size});
  CHECK(end == start_size + 5 * body_size);
  CHECK(debugger.next_pass().reason == StopReason::End);
  for (std::size_t k = beginnings.size(); k-- > 0;) {
    CHECK(debugger.previous_pass().reason == StopReason::Steps);
    CHECK(debugger.position() == beginnings[k]);
  }
  CHECK(debugger.previous_pass().reason == StopReason::Beginning);
  // From the middle of a pass, its own beginning is the previous one.
  debugger.go_to(beginnings[2] + 3);
  debugger.previous_pass();
  CHECK(debugger.position() == beginnings[2]);
}

TEST_CASE("steps by clocks spend at least these clocks, and no instruction more") {
  Debugger debugger(spring_machine());
  for (const std::uint64_t clocks : {1, 4, 5, 100}) {
    const std::uint64_t before = debugger.machine().place().clock;
    CHECK(debugger.step_clocks(clocks).reason == StopReason::Steps);
    const std::uint64_t after = debugger.machine().place().clock;
    CHECK(after - before >= clocks);
    debugger.back();
    CHECK(debugger.machine().place().clock - before < clocks);
    debugger.step();
  }
}

TEST_CASE("breakpoints stop before instructions, in every pass or in one") {
  Debugger debugger(spring_machine(24, 4));
  const unsigned all = debugger.break_at("body", 5);
  const auto at = [](std::uint64_t pass) { return start_size + pass * body_size + 5; };
  CHECK(stops(debugger, false) == std::vector<std::uint64_t>{at(0), at(1), at(2), at(3)});
  CHECK(stops(debugger, true) == std::vector<std::uint64_t>{at(3), at(2), at(1), at(0)});
  CHECK(debugger.conditions().front().hits == 8);
  debugger.enable(all, false);
  CHECK(stops(debugger, false).empty());
  debugger.remove(all);
  CHECK(debugger.conditions().empty());
  debugger.break_at("body", 5, 2);
  CHECK(stops(debugger, true) == std::vector<std::uint64_t>{at(2)});
  const unsigned last = debugger.break_at_section("body");
  CHECK(debugger.conditions().back().number == last);
  CHECK(last == 3);  // numbers are not used again
  CHECK(stops(debugger, false) ==
        std::vector<std::uint64_t>{at(0) - 5, at(1) - 5, at(2) - 5, at(2), at(3) - 5});
}

TEST_CASE("breakpoints stop before a source line, and at a clock") {
  Debugger debugger(spring_machine(24, 3));
  const auto listing = debugger.machine().listing("body");
  CHECK(listing[2].line == listing[3].line);  // the first of them idles
  debugger.break_at_line(listing[3].line);
  for (std::size_t pass = 0; pass < 3; ++pass) {
    CHECK(debugger.run().reason == StopReason::Condition);
    CHECK(debugger.machine().place().instruction == 2);
    CHECK(debugger.machine().place().pass == pass);
    CHECK(debugger.machine().position().line == listing[3].line);
  }
  debugger.go_to(start_size);
  debugger.remove(1);
  const std::uint64_t clock = debugger.machine().place().clock + 10;
  debugger.break_at_clock(clock);
  CHECK(debugger.run().reason == StopReason::Condition);
  CHECK(debugger.machine().place().clock >= clock);
  debugger.back();
  CHECK(debugger.machine().place().clock < clock);
  debugger.go_to(1000);
  CHECK(stops(debugger, true).size() == 1);
}

TEST_CASE("watched words stop after the instruction that changes them, in both directions") {
  // Every kind of place: the positions are found by comparing the states of all positions.
  struct Watched {
    MachineMemory memory;
    std::size_t address;
    bool is_long;
  };
  for (const Watched& watched :
       {Watched{MachineMemory::Registers, 24, true}, Watched{MachineMemory::Registers, 9, false},
        Watched{MachineMemory::Local, 10, true}, Watched{MachineMemory::T, 3, false},
        Watched{MachineMemory::Masks, 5, false}, Watched{MachineMemory::Broadcast, 8, true}}) {
    const gdr::Kernel kernel = gdr::Kernel::assemble(R"(
.kernel places
ivar long xi f64to72
jvar long xj f64to72
fvar long sum f64to72 fadd at $lr24v
.start
    upass sum 0
.body
    vlen 1
    bget $lr0 xj
    vlen 4
    fsub $lr8v:$t:m1.neg $lr0 xi
    fadd sum sum $lr8v
    [m1] fadd $m16v $lr8v $lr0
    fadd $lm8v $lr8v $lr0
)");
    Machine machine("emulator:threads=1,blocks=2,pes=3,bm=32");
    machine.load(kernel);
    const auto in = library_test::rough_input(24, 40);
    const std::vector<gdr::NamedInput> from{{"xj", in.xj}}, to{{"xi", in.xi}};
    machine.sources(in.xj.size(), from);
    machine.targets(in.xi.size(), to);
    const MachineWord word{watched.memory, 1, 2, watched.address, watched.is_long};
    const MachineWord other{watched.memory, 0, 0, watched.address, watched.is_long};
    Debugger debugger(std::move(machine));
    std::vector<MachineBits> values{debugger.read(word)};
    std::vector<std::uint64_t> changes;
    MachineBits of_other = debugger.read(other);
    bool changed_other = false;
    while (debugger.step().reason == StopReason::Steps) {
      changed_other |= !(debugger.read(other) == of_other);
      values.push_back(debugger.read(word));
      if (!(values.back() == values[values.size() - 2])) changes.push_back(debugger.position());
    }
    INFO("memory " << static_cast<int>(watched.memory));
    REQUIRE(changes.size() > 1);
    debugger.watch({word}, "the word");
    // A run back does not stop where it begins.
    std::vector<std::uint64_t> backwards(changes.rbegin(), changes.rend());
    if (backwards.front() == debugger.position()) backwards.erase(backwards.begin());
    CHECK(stops(debugger, true) == backwards);
    CHECK(stops(debugger, false) == changes);
    debugger.go_to(0);
    const gdr::StopReport report = debugger.run();
    REQUIRE(report.changes.size() == 1);
    CHECK(report.changes[0].before == values[changes[0] - 1]);
    CHECK(report.changes[0].after == values[changes[0]]);
    CHECK(report.conditions == std::vector<unsigned>{1});
    CHECK(changed_other);
  }
}

TEST_CASE("a word that the user sets is part of the run") {
  Debugger debugger(spring_machine(24, 30));
  debugger.go_to(60);
  const MachineBits old = debugger.read(force);
  const MachineBits set{0x400000000, 0};
  debugger.write(force, set);
  CHECK(debugger.read(force) == set);
  debugger.step(100);
  const State later = state_of(debugger.machine());
  debugger.back(100);
  CHECK(debugger.read(force) == set);
  debugger.back();
  CHECK(debugger.read(force) == old);
  debugger.go_to(160);
  CHECK(state_of(debugger.machine()) == later);
  // A change at an earlier position discards those that follow.
  debugger.go_to(0);
  debugger.write(mass, {0x3ff000000, 0});
  debugger.go_to(60);
  CHECK(debugger.read(force) == old);
  CHECK_FALSE(state_of(debugger.machine()) == later);
  // Conditions are about instructions: the change itself does not stop a run.
  debugger.go_to(40);
  debugger.watch({force});
  debugger.write(force, set);
  debugger.go_to(30);
  const auto all = stops(debugger, false);
  CHECK(std::ranges::find(all, 40U) == all.end());
}

TEST_CASE("checkpoints stay few in a long run, and a step back is short") {
  Debugger debugger(spring_machine(24, 20000));
  debugger.go_to(130000);
  CHECK(debugger.checkpoints() <= 512);
  CHECK(debugger.checkpoints() > 100);
  CHECK(debugger.checkpoint_bytes() < (std::size_t{256} << 20));
  const State here = state_of(debugger.machine());
  debugger.back(64321);
  debugger.step(64321);
  CHECK(state_of(debugger.machine()) == here);
}

TEST_CASE("a requested stop ends a movement at a position from which others go on") {
  Debugger debugger(spring_machine());
  std::stop_source stop;
  stop.request_stop();
  debugger.go_to(100);
  CHECK(debugger.run(stop.get_token()).reason == StopReason::Interrupted);
  CHECK(debugger.position() == 100);
  CHECK(debugger.run_back(stop.get_token()).reason == StopReason::Interrupted);
  CHECK(debugger.step(5, stop.get_token()).reason == StopReason::Interrupted);
  CHECK(debugger.next_pass(stop.get_token()).reason == StopReason::Interrupted);
  CHECK(debugger.step_clocks(5, stop.get_token()).reason == StopReason::Interrupted);
  debugger.go_to(100);
  Machine plain = spring_machine();
  plain.run(100);
  CHECK(state_of(debugger.machine()) == state_of(plain));
}

TEST_CASE("wrong conditions and locations are refused with the reason") {
  has(refused([] { Debugger{Machine{}}; }), "no program is loaded");
  Debugger d(spring_machine());
  has(refused([&] { d.break_at("boby", 1); }), "did you mean \"body\"?");
  has(refused([&] { d.break_at("body", 8); }), "has no instruction 8; it has 8");
  has(refused([&] { d.break_at("start", 0, 1); }), "only the body has several passes");
  has(refused([&] { d.break_at_section("end"); }), "section end has no instructions");
  has(refused([&] { d.break_at_line(1); }), "line 1 of spring.gds has no instructions; the");
  has(refused([&] { d.break_at_line(9999); }), "has no instructions");
  has(refused([&] { d.break_at_line(10, "springs.gds"); }), "did you mean \"spring.gds\"?");
  has(refused([&] { d.watch({}); }), "give at least one word");
  has(refused([&] { d.watch({register_word(3)}); }), "a long has an even address, not 3");
  has(refused([&] { d.watch({register_word(64)}); }), "address 64 is out of range");
  has(refused([&] { d.read(register_word(0, 2)); }), "block 2: the chip has 2");
  has(refused([&] { d.read(register_word(0, 0, 3)); }), "PE 3: a block has 3");
  has(refused([&] { d.remove(1); }), "there is no breakpoint or watch with the number 1");
  has(refused([&] { d.enable(2, true); }), "number 2");
  const MachineBits before = d.read(force);
  has(refused([&] { d.write(force, {1, std::uint64_t{1} << 36}); }), "too many bits");
  CHECK(d.read(force) == before);
  CHECK(d.conditions().empty());
}

TEST_CASE("random programs leave the reference engine's states, and going back restores them") {
  const gdr::ReferenceEngine reference;
  const std::uint64_t cases = gdr::test::test_iterations(60);
  const std::uint64_t from = gdr::test::first_seed();
  for (std::uint64_t seed = from; seed < from + cases; ++seed) {
    const gdr::selftest::Case test =
        seed % 2 == 0 ? gdr::selftest::loop_case(seed) : gdr::selftest::program_case(seed);
    INFO(test.what << ", seed " << seed);
    gdr::Geometry geometry = test.geometry;
    geometry.blocks = 1;
    // The layout of a board: passes as on a chip that reads its sources from the memory's halves.
    std::optional<gdr::LoadedProgram> loaded;
    try {
      loaded = gdr::load_program(test.program, geometry, gdr::Isa::Portable);
    } catch (const gdr::Error&) {
      continue;  // does not fit a board
    }
    constexpr std::uint64_t passes = 5;
    const std::string name =
        "emulator:threads=1,blocks=1,pes=" + std::to_string(geometry.pes_per_block) +
        ",registers=" + std::to_string(geometry.register_words) +
        ",local=" + std::to_string(geometry.local_words) +
        ",bm=" + std::to_string(geometry.broadcast_words);
    for (const char* const engine : {",engine=vector", ",engine=reference"}) {
      Machine machine(name + engine);
      machine.load(gdr::Kernel(test.program));
      machine.sources(passes * test.program.group, {});
      gdr::BlockState expected = test.state;
      expected.number = 0;
      for (std::size_t m = 0; m < memories.size(); ++m) {
        const auto& lanes = expected.*gdr::block_memories[m].lanes;
        const std::size_t width = memories[m] == MachineMemory::Broadcast ? 1 : machine.pes();
        for (std::size_t k = 0; k < lanes.size(); ++k)
          machine.set_memory(memories[m], 0, k / width, k % width,
                             memories[m] == MachineMemory::Masks ? lanes[k] & 1 : lanes[k]);
      }
      machine.restart();
      Debugger debugger(std::move(machine));
      const auto executable = reference.prepare(test.program, geometry);
      const auto compare = [&] {
        for (std::size_t m = 0; m < memories.size(); ++m) {
          const auto words = debugger.machine().memory(memories[m], 0);
          const auto& lanes = expected.*gdr::block_memories[m].lanes;
          for (std::size_t k = 0; k < lanes.size(); ++k) {
            const bool mask = memories[m] == MachineMemory::Masks;
            if (words[k] != (mask ? lanes[k] & 1 : lanes[k])) return false;
          }
        }
        return true;
      };
      REQUIRE(compare());
      const State first = state_of(debugger.machine());
      std::vector<State> at_passes;
      for (const gdr::Section section :
           {gdr::Section::Start, gdr::Section::Body, gdr::Section::End}) {
        const std::size_t size = test.program.section(section).size();
        if (size == 0) continue;
        for (std::uint64_t pass = 0; pass < (section == gdr::Section::Body ? passes : 1); ++pass) {
          const gdr::BmHalves& halves = loaded->halves;
          const bool endless = halves.groups == gdr::unlimited_groups;
          const std::uint64_t half = endless ? 0 : pass / halves.groups % 2;
          const auto group = static_cast<std::uint32_t>(endless ? 0 : pass % halves.groups);
          gdr::BlockRun run;
          run.section = section;
          run.source_base = halves.source_base[half] + group * halves.source_step;
          run.output_base = halves.output_base[half] + group * halves.output_step;
          executable->run(expected, run);
          debugger.step(size);
          at_passes.push_back(state_of(debugger.machine()));
          REQUIRE(compare());
        }
      }
      CHECK(debugger.at_end());
      const State last = state_of(debugger.machine());
      const std::uint64_t end = debugger.position();
      for (const std::uint64_t n : {std::uint64_t{1}, end / 3, end / 2, end}) {
        debugger.back(n);
        debugger.step(n);
        REQUIRE(state_of(debugger.machine()) == last);
      }
      debugger.go_to(0);
      CHECK(state_of(debugger.machine()) == first);
    }
  }
}
