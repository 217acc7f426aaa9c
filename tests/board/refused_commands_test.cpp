// Malformed commands are refused without any effect.
#include <limits>

#include "board/programs.hpp"
#include "gdr/error.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t memory_words = (1 << 20) / 8;

/// Executes the list, which must throw without any effect; returns the category of the error.
ErrorCategory refused(Rig& rig) {
  const ChipState before = rig.board.chip(0);
  const WorkCounts counts = rig.board.counts();
  std::vector<std::uint64_t> results;
  const CommandList list = std::move(rig.list);
  rig.list = {};
  try {
    rig.board.execute(list, results);
  } catch (const Error& e) {
    INFO(e.what());
    REQUIRE(results.empty());
    REQUIRE(rig.board.chip(0) == before);
    REQUIRE(rig.board.counts() == counts);
    return e.category();
  }
  FAIL("the list was executed");
  return ErrorCategory::Internal;
}

Rig loaded_rig() {
  Rig rig(small_geometry(2));
  rig.load(pair_program({.outputs = true}));
  rig.execute();
  return rig;
}

}  // namespace

TEST_CASE("commands without a program are refused", "[board]") {
  Rig rig(small_geometry());
  REQUIRE(rig.board.program() == nullptr);
  for (const CommandKind kind : {CommandKind::WriteTargets, CommandKind::WriteParam,
                                 CommandKind::Run, CommandKind::ReadTargets}) {
    rig.add(kind, 1, {0});
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
}

TEST_CASE("unknown kinds, chips, partitions and flags are refused", "[board]") {
  Rig rig = loaded_rig();
  const auto kind = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u);
  CAPTURE(kind);
  rig.add(static_cast<CommandKind>(kind), 4);
  REQUIRE(refused(rig) == ErrorCategory::Device);
  if (kind > 1) {
    rig.add(static_cast<CommandKind>(kind), 0);
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  rig.add(static_cast<CommandKind>(kind + 7), 1);
  REQUIRE(refused(rig) == ErrorCategory::Device);
  rig.add(static_cast<CommandKind>(0), 1);
  REQUIRE(refused(rig) == ErrorCategory::Device);
  if (kind == 3 || kind == 5 || kind == 6) {
    rig.add(static_cast<CommandKind>(kind), 1).partition =
        static_cast<ChipPartition>(kind == 5 ? 3 : 2);
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  if (kind == 5 || kind == 6) {
    rig.add(static_cast<CommandKind>(kind), 1).flags = 64;
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  if (kind == 6 || kind == 7) {
    rig.add(static_cast<CommandKind>(kind), 3);
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
}

TEST_CASE("memory ranges beyond the end, or that overflow, are refused", "[board]") {
  Rig rig = loaded_rig();
  const auto [address, count] = GENERATE(table<std::uint64_t, std::uint64_t>({{memory_words, 1},
                                                                              {memory_words - 3, 4},
                                                                              {huge, 1},
                                                                              {huge, huge},
                                                                              {1, huge},
                                                                              {huge - 2, 8},
                                                                              {0, huge / 2 + 1}}));
  CAPTURE(address, count);
  for (const CommandKind kind :
       {CommandKind::WriteMemory, CommandKind::ReadMemory, CommandKind::Run}) {
    Command& c = rig.add(kind, 1);
    c.address = address;
    c.count = count;
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  Command& c = rig.add(CommandKind::Run, 1);
  c.count = count > 10 ? 10 : count;
  c.output_address = address > 1 ? address : memory_words - 5;
  REQUIRE(refused(rig) == ErrorCategory::Device);
}

TEST_CASE("output items that overlap the j-items of the run are refused", "[board]") {
  Rig rig = loaded_rig();
  for (const std::uint64_t output : {0, 91, 109}) {
    Command& c = rig.add(CommandKind::Run, 1);
    c.address = 100;
    c.count = output == 0 ? 101 : 10;
    c.output_address = output;
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  for (const std::uint64_t output : {90, 110}) {
    Command& c = rig.add(CommandKind::Run, 1);
    c.address = 100;
    c.count = 10;
    c.output_address = output;
    REQUIRE_NOTHROW(rig.execute());
  }
}

TEST_CASE("slots beyond those of a chip are refused", "[board]") {
  Rig rig = loaded_rig();
  const auto kind = GENERATE(CommandKind::WriteTargets, CommandKind::ReadTargets);
  const auto partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  const std::uint64_t slots = partition == ChipPartition::TargetsOverBlocks ? 60 : 20;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges = {
      {0, slots + 1}, {slots, 1},     {huge, 1},
      {1, huge},      {slots + 1, 0}, {huge / 2 + 1, huge / 2 + 1}};
  for (const auto& [first, count] : ranges) {
    Command& c = rig.add(kind, 1, {1, 2, 3});
    c.payload_words = 0;
    c.partition = partition;
    c.first = first;
    c.count = count;
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  Command& run = rig.add(CommandKind::Run, 1);
  run.partition = partition;
  run.targets = slots + 1;
  REQUIRE(refused(rig) == ErrorCategory::Device);
}

TEST_CASE("payloads that are missing or have the wrong length are refused", "[board]") {
  Rig rig = loaded_rig();
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> places = {
      {0, 2}, {0, 4}, {1, 0}, {4, 3}, {huge, 3}, {huge - 1, 0}, {0, huge}};
  for (const auto& [payload, words] : places) {
    Command& c = rig.add(CommandKind::WriteMemory, 1, {1, 2, 3});
    c.count = 3;
    c.payload = payload;
    c.payload_words = words;
    REQUIRE(refused(rig) == ErrorCategory::Device);
  }
  rig.add(CommandKind::WriteParam, 1, {1}).variable = 1;
  REQUIRE(refused(rig) == ErrorCategory::Device);
  rig.add(CommandKind::WriteParam, 1).variable = 0;
  REQUIRE(refused(rig) == ErrorCategory::Device);
  rig.add(CommandKind::LoadProgram, 0, {1, 2, 3}).count = 25;
  REQUIRE(refused(rig) == ErrorCategory::Device);
}

TEST_CASE("borrowed buffers are written like the payload, and reads beyond them are refused",
          "[board]") {
  Rig rig(small_geometry());
  const std::vector<std::uint64_t> buffer{7, 8, 9}, others{1, 2};
  rig.list.borrow(others);
  const std::uint64_t place = rig.list.borrow(buffer);
  Command& write = rig.add(CommandKind::WriteMemory);
  write.address = 100;
  write.count = 2;
  write.payload = place + 1;
  Command& read = rig.add(CommandKind::ReadMemory);
  read.address = 100;
  read.count = 3;
  REQUIRE(rig.execute() == std::vector<std::uint64_t>{8, 9, 0});
  REQUIRE(rig.list.borrowed.empty());

  const std::uint64_t beyond =
      GENERATE(std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{1} << 40,
               std::uint64_t{1} << 48, huge - (std::uint64_t{1} << 49));
  CAPTURE(beyond);
  rig.list.borrow(others);
  Command& wrong = rig.add(CommandKind::WriteMemory);
  wrong.count = 2;
  wrong.payload = rig.list.borrow(buffer) + beyond;
  REQUIRE(refused(rig) == ErrorCategory::Device);
}

TEST_CASE("a write of no words from a buffer that the list does not have does nothing", "[board]") {
  Rig rig = loaded_rig();
  const std::vector<std::uint64_t> buffer{7, 8, 9};
  if (GENERATE(false, true)) rig.list.borrow(buffer);
  Command& write = rig.add(CommandKind::WriteMemory, 3);
  write.payload = GENERATE(std::uint64_t{2} << 48, huge);
  Command& read = rig.add(CommandKind::ReadMemory);
  read.count = 1;
  REQUIRE(rig.execute() == std::vector<std::uint64_t>{0});
}

TEST_CASE("unreadable objects leave the loaded program unchanged", "[board]") {
  Rig rig = loaded_rig();
  rig.add(CommandKind::LoadProgram, 0, {1, 2, 3}).count = 24;
  REQUIRE(refused(rig) == ErrorCategory::Program);
  REQUIRE(rig.board.program()->name == "pairs");
  rig.add(CommandKind::LoadProgram, 0).count = 0;
  REQUIRE(refused(rig) == ErrorCategory::Program);
}

TEST_CASE("programs that do not fit the geometry are refused", "[board]") {
  Rig rig = loaded_rig();
  const Program before = *rig.board.program();
  Program p = pair_program();
  SECTION("a group larger than half of the broadcast memory") {
    p = pair_program({.group = 16});  // 32 shorts; a half has 30
  }
  SECTION("a fixed part larger than the broadcast memory") { p.fixed_shorts = 66; }
  SECTION("a variable outside its memory") { p.variables[0].location.address = 26; }
  SECTION("an instruction outside the group") { p.section(Section::Body)[0].move.bm.address = 2; }
  SECTION("an instruction outside the PE's memory") {
    p.section(Section::Body)[1].mul.a.address = 30;
  }
  rig.load(p);
  REQUIRE(refused(rig) == ErrorCategory::Program);
  REQUIRE(*rig.board.program() == before);
}

TEST_CASE("commands before a refused one are executed", "[board]") {
  const std::vector<double> masses = {1, 2, 3};
  Rig rig(small_geometry());
  Rig whole(small_geometry());
  for (Rig* r : {&rig, &whole}) {
    r->load(pair_program());
    r->write(1, 0, masses);
    r->targets(1, ChipPartition::TargetsOverBlocks, {4, 5});
    r->run(1, ChipPartition::TargetsOverBlocks, 0, 3);
    r->read(1, ChipPartition::TargetsOverBlocks, 2);
  }
  const auto expected = whole.execute();
  rig.run(2, ChipPartition::TargetsOverBlocks, 0, 3);
  std::vector<std::uint64_t> results;
  REQUIRE_THROWS_AS(rig.board.execute(rig.list, results), Error);
  REQUIRE(results == expected);
  REQUIRE(rig.board.chip(0) == whole.board.chip(0));
  REQUIRE(rig.board.counts() == whole.board.counts());
}

TEST_CASE("impossible geometries are refused", "[board]") {
  const auto make = [](auto change) {
    Geometry g = small_geometry();
    change(g);
    return Board(g, make_engine("reference"));
  };
  REQUIRE_THROWS_AS(make([](Geometry& g) { g.chips_per_board = 0; }), Error);
  REQUIRE_THROWS_AS(make([](Geometry& g) { g.chips_per_board = 65; }), Error);
  REQUIRE_THROWS_AS(make([](Geometry& g) { g.blocks = 0; }), Error);
  REQUIRE_THROWS_AS(make([](Geometry& g) { g.clock_hz = 0; }), Error);
  Board board = make([](Geometry& g) { g.chips_per_board = 64; });
  REQUIRE_THROWS_AS(board.chip(64), Error);
  REQUIRE_NOTHROW(board.chip(63));
}

TEST_CASE("loading a program clears the machine and runs section Init", "[board]") {
  Rig rig(small_geometry(2));
  rig.load(pair_program());
  rig.write(3, 0, {1, 2});
  rig.targets(3, ChipPartition::TargetsOverBlocks, std::vector<double>(60, 7));
  rig.run(3, ChipPartition::TargetsOverBlocks, 0, 2);
  rig.execute();
  Program p = pair_program();
  p.section(Section::Init) = {p.section(Section::Body).back()};  // increments the counter
  rig.load(p);
  Rig fresh(small_geometry(2));
  fresh.load(p);
  fresh.execute();
  rig.execute();
  for (unsigned c = 0; c < 2; ++c) {
    REQUIRE(rig.board.chip(c) == fresh.board.chip(c));
    Operand counter = p.variables[3].location;
    REQUIRE(read_location(rig.board.chip(c).blocks[2], counter, 4, 3) == 1);
  }
  // Data in the control processors' memory stays.
  Command& read = rig.add(CommandKind::ReadMemory);
  read.count = 2;
  REQUIRE(rig.execute() == std::vector<std::uint64_t>{bits(1), bits(2)});
}

TEST_CASE("parameters reach every block, or every PE", "[board]") {
  Program p = pair_program();
  Operand in_pe = p.variables[0].location;
  in_pe.space = Space::Register;
  in_pe.address = 50;
  in_pe.width = Width::Short;
  in_pe.vector = false;
  p.variables.push_back(
      {"everywhere", VarKind::Param, in_pe, *find_conversion("i64int"), Reduce::Pass, 0});
  Rig rig(small_geometry(2));
  rig.load(p);
  rig.add(CommandKind::WriteParam, 2, {bits(1.0)}).variable = 0;
  rig.add(CommandKind::WriteParam, 2, {5}).variable = 1;
  rig.execute();
  for (const BlockState& block : rig.board.chip(1).blocks) {
    REQUIRE(read_bm(block, 0, Width::Long) == long_from_double(1.0).bits);
    for (unsigned pe = 0; pe < 5; ++pe) {
      for (unsigned e = 0; e < 4; ++e) REQUIRE(read_location(block, in_pe, pe, e) == 5);
    }
  }
  REQUIRE(read_bm(rig.board.chip(0).blocks[0], 0, Width::Long) == 0);
}
