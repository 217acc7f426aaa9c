// Properties of the native engine: results close to exact ones, roots at any exponent, propagation
// of infinities and NaN, and reported fallback to the exact engine.
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/api/engine.hpp"
#include "support/assembled.hpp"
#include "support/catch.hpp"
#include "support/random_program.hpp"

namespace {

using namespace gdr;
using namespace gdr::test;

double long_at(const BlockState& block, unsigned address, unsigned pe) {
  Flags flags = no_flags;
  const Operand x{Space::Register, Width::Long, false, static_cast<std::uint16_t>(address)};
  return double_from_long(Long{read_location(block, x, pe, 0)}, flags);
}
void set_long(BlockState& block, unsigned address, unsigned pe, double value) {
  const Operand x{Space::Register, Width::Long, false, static_cast<std::uint16_t>(address)};
  write_location(block, x, pe, 0, long_from_double(value).bits);
}

/// Every engine with fast numerics on every instruction set of this host.
template <typename Test>
void for_all(Test test) {
  for (const Isa isa : host_isas()) {
    for (const std::string_view name : {"native", "native-mixed", "native-float"}) {
      INFO(name << ", " << isa_name(isa));
      test(*make_engine(name, isa_name(isa)), name == "native");
    }
  }
}

BlockState block_of(const Geometry& geometry) { return make_chip(geometry).blocks[0]; }

SectionStats body_stats(const Executable& executable) {
  return executable.stats()[static_cast<unsigned>(Section::Body)];
}

BlockRun body_run(std::uint64_t iterations = 1) {
  BlockRun run;
  run.iterations = iterations;
  return run;
}

// The sequence of the gravity kernel for 1 / sqrt, without its scale factor: y in $lr4.
const std::string rsqrt_text = R"(.kernel rsqrt
.body
    ishr $r8 $r0 1
    isub $r9 0x5fe400000 $r8
    fmul $r10 $r9 $r9
    fmul $r11 $lr0 $r10
    fadd $r12 $r11 -1.32769405841827392578125
    fmul $r13 $r12 $r12
    fadd $r14 $r13 1.407470285892486572265625
    fmul $r15 $r9 $r14
    fmul $r16 $r15 $r15
    fmul $r17 $lr0 $r16
    fsub $r18 6.8217227458953857421875 $r17
    fmul $lr4 $r18 $r15
)";
constexpr double rsqrt_scale = 6.857869399714055;

// Newton steps for 1 / x, with an initial value from the exponent; y in $lr4.
const std::string recip_text = R"(.kernel recip
.body
    isub $r8 0x7fde00000 $r0
    fmul $lr10 $lr0 $r8
    fsub $lr12 2.0 $lr10
    dmul $lr14 $lr12 $r8
    dmul $lr10 $lr0 $lr14
    fsub $lr12 2.0 $lr10
    dmul $lr16 $lr12 $lr14
    dmul $lr10 $lr0 $lr16
    fsub $lr12 2.0 $lr10
    dmul $lr18 $lr12 $lr16
    dmul $lr10 $lr0 $lr18
    fsub $lr12 2.0 $lr10
    dmul $lr4 $lr12 $lr18
)";

}  // namespace

TEST_CASE("native recognises hand-written reciprocal square roots at any exponent") {
  const Geometry geometry;
  const Program program = assembled(rsqrt_text);
  for_all([&](const Engine& engine, bool doubles) {
    const auto executable = engine.prepare(program, geometry);
    const int most = doubles ? 1000 : 120;
    for (int exponent = -most; exponent <= most; exponent += 7) {
      BlockState block = block_of(geometry);
      for (unsigned pe = 0; pe < 32; ++pe) {
        set_long(block, 0, pe, std::ldexp(1 + (pe + 0.3) / 33, exponent));
      }
      executable->run(block, body_run());
      for (unsigned pe = 0; pe < 32; ++pe) {
        INFO("exponent " << exponent << ", PE " << pe);
        const double right = rsqrt_scale / std::sqrt(std::ldexp(1 + (pe + 0.3) / 33, exponent));
        CHECK(long_at(block, 4, pe) == Approx(right).epsilon(doubles ? 1e-9 : 5e-7));
      }
    }
    CHECK(body_stats(*executable).runs > 0);
    CHECK(body_stats(*executable).fallback_runs == 0);
  });
}

TEST_CASE("native recognises hand-written reciprocals of either sign") {
  const Geometry geometry;
  const Program program = assembled(recip_text);
  for_all([&](const Engine& engine, bool doubles) {
    const auto executable = engine.prepare(program, geometry);
    const int most = doubles ? 900 : 100;
    for (int exponent = -most; exponent <= most; exponent += 9) {
      BlockState block = block_of(geometry);
      for (unsigned pe = 0; pe < 32; ++pe) {
        set_long(block, 0, pe, std::ldexp(1 + (pe + 0.3) / 33, exponent));
      }
      executable->run(block, body_run());
      for (unsigned pe = 0; pe < 32; ++pe) {
        INFO("exponent " << exponent << ", PE " << pe);
        const double right = 1 / std::ldexp(1 + (pe + 0.3) / 33, exponent);
        CHECK(long_at(block, 4, pe) == Approx(right).epsilon(doubles ? 1e-12 : 5e-7));
      }
    }
  });
}

TEST_CASE("native reciprocal square roots are finite only where the program's are") {
  const Geometry geometry;
  const auto reference = make_engine("reference");
  const double special[] = {0.0, -0.0, INFINITY, NAN, -1.0, -INFINITY, 4.0};
  for (const std::string& text : {rsqrt_text, recip_text}) {
    const Program program = assembled(text);
    BlockState start = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) set_long(start, 0, pe, special[pe % std::size(special)]);
    BlockState expected = start;
    reference->prepare(program, geometry)->run(expected, body_run());
    for_all([&](const Engine& engine, bool) {
      BlockState got = start;
      engine.prepare(program, geometry)->run(got, body_run());
      for (unsigned pe = 0; pe < std::size(special); ++pe) {
        INFO(program.name << " of " << special[pe] << ": " << long_at(got, 4, pe) << ", exactly "
                          << long_at(expected, 4, pe));
        if (!std::isfinite(long_at(expected, 4, pe)))
          CHECK_FALSE(std::isfinite(long_at(got, 4, pe)));
      }
    });
  }
}

TEST_CASE("native keeps a root's value at zero where the program relies on it") {
  // m / r with m = 0 and r = 0 is zero on the chip, if the sequence for 1 / sqrt(0) stays finite.
  const Geometry geometry;
  std::string text =
      ".kernel newton\n.body\n    ishr $r8 $r0 1\n    isub $r9 0x5fe700000 $r8\n    fmul $lr10 "
      "$lr0 0.5\n"
      "    fcvt $lr4 $r9\n";
  for (int step = 0; step < 4; ++step) {
    text +=
        "    dmul $lr12 $lr10 $lr4\n    dmul $lr12 $lr12 $lr4\n    fsub $lr12 1.5 $lr12\n"
        "    dmul $lr4 $lr4 $lr12\n";
  }
  const Program program = assembled(text + "    fmul $lr6 $lr4 $lr20\n");
  for_all([&](const Engine& engine, bool doubles) {
    BlockState block = block_of(geometry);
    for (unsigned pe = 1; pe < 32; ++pe) set_long(block, 0, pe, pe);
    engine.prepare(program, geometry)->run(block, body_run());
    if (doubles) CHECK(long_at(block, 6, 0) == 0);
    for (unsigned pe = 1; pe < 32; ++pe) {
      CHECK(long_at(block, 4, pe) == Approx(1 / std::sqrt(pe)).epsilon(doubles ? 1e-13 : 5e-7));
    }
  });
}

TEST_CASE("native overflow gives infinity, and operations on it give NaN") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel over
.body
    fmul $lr2 $lr0 $lr0
    fsub $lr4 $lr2 $lr2
    fmax $lr6 $lr4 1.0
    fmin $lr8 1.0 $lr4
    fmax $lr10 $lr4 $lr0
    fmax $lr12 $lr0 $lr4
)");
  for_all([&](const Engine& engine, bool) {
    BlockState block = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) set_long(block, 0, pe, pe % 2 == 0 ? 1e300 : 2.0);
    engine.prepare(program, geometry)->run(block, body_run());
    CHECK(long_at(block, 2, 0) == INFINITY);
    for (const unsigned address : {4U, 6U, 8U, 10U, 12U})
      CHECK(std::isnan(long_at(block, address, 0)));
    CHECK(long_at(block, 2, 1) == 4);
    CHECK(long_at(block, 4, 1) == 0);
    CHECK(long_at(block, 6, 1) == 1);
    CHECK(long_at(block, 8, 1) == 0);
    CHECK(long_at(block, 10, 1) == 2);
    CHECK(long_at(block, 12, 1) == 2);
  });
}

TEST_CASE("native rounds where a program adds and subtracts a large constant") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel rounding
.body
    fadd $r8 $r0 25165824.0
    fsub $r9 $r8 25165824.0
    fsub $lr4 $r0 $r9
)");
  for_all([&](const Engine& engine, bool) {
    BlockState block = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) set_long(block, 0, pe, pe * 0.375);
    engine.prepare(program, geometry)->run(block, body_run());
    for (unsigned pe = 0; pe < 32; ++pe) {
      CHECK(long_at(block, 4, pe) == pe * 0.375 - std::nearbyint(pe * 0.375));
    }
  });
}

TEST_CASE("native rounds where one pass adds a large constant and the next subtracts it") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel rounding
.body
    fsub $r9 $r8 25165824.0
    fsub $lr4 $r0 $r9
    fadd $r8 $r0 25165824.0
)");
  for_all([&](const Engine& engine, bool) {
    BlockState block = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) set_long(block, 0, pe, pe * 0.375);
    engine.prepare(program, geometry)->run(block, body_run(4));
    for (unsigned pe = 0; pe < 32; ++pe) {
      CHECK(long_at(block, 4, pe) == pe * 0.375 - std::nearbyint(pe * 0.375));
    }
  });
}

TEST_CASE("native moves what the pass before left, if that is the same in all PEs") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel move
.body
    ipass $lr8v $t
    upass $lnull:$t 0x3fe127158
)");
  for_all([&](const Engine& engine, bool) {
    for (const std::uint64_t passes : {1U, 4U}) {
      BlockState block = block_of(geometry);
      std::ranges::fill(block.t, 7);
      engine.prepare(program, geometry)->run(block, body_run(passes));
      const Operand moved{Space::Register, Width::Long, false, 8};
      for (unsigned pe = 0; pe < 32; ++pe)
        CHECK(read_location(block, moved, pe, 0) ==
              (passes == 1 ? u128{7} << 36 | 7 : u128{0x3fe127158}));
    }
  });
}

TEST_CASE("native runs loops that leave an unused half of a long beside a short") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel half
fvar long sum f64to72 fadd at $lr8v
.body
    fadd $lr8v $lr8v $th
    nop
    nop
    fmul $t $lr16v $lr16v
    nop
    nop
    fadd $th $th 1.0
)");
  const auto reference = make_engine("reference");
  BlockState start = block_of(geometry);
  for (unsigned pe = 0; pe < 32; ++pe)
    for (const unsigned address : {8U, 10U, 12U, 14U, 16U, 18U, 20U, 22U})
      set_long(start, address, pe, pe + address);
  BlockState expected = start;
  reference->prepare(program, geometry)->run(expected, body_run(4));
  for_all([&](const Engine& engine, bool) {
    BlockState got = start;
    const auto executable = engine.prepare(program, geometry);
    executable->run(got, body_run(4));
    CHECK(body_stats(*executable).fallback_runs == 0);
    for (unsigned pe = 0; pe < 32; ++pe) CHECK(long_at(got, 8, pe) == long_at(expected, 8, pe));
  });
}

TEST_CASE("native finds the smallest number of a loop and the integer that belongs to it") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel nearest
.body
    ishl $lr8v $r0v 36
    nop
    nop
    ior $lr16v $lr8v $r4v
    nop
    nop
    imin $lr24v $lr24v $lr16v
    imax $lr32v $lr32v $lr16v
    iadd $r4v $r4v 1
    isub $r0v $r0v 5
)");
  const auto reference = make_engine("reference");
  BlockState start = block_of(geometry);
  Rng rng(3);
  for (unsigned pe = 0; pe < 32; ++pe)
    for (std::uint16_t r = 0; r < 64; ++r)
      write_location(start, {Space::Register, Width::Short, false, r}, pe, 0,
                     rng.below(1U << 30) << rng.below(7));
  BlockState expected = start;
  reference->prepare(program, geometry)->run(expected, body_run(5));
  for_all([&](const Engine& engine, bool is_float) {
    BlockState got = start;
    const auto executable = engine.prepare(program, geometry);
    executable->run(got, body_run(5));
    CHECK((is_float || body_stats(*executable).compiled));
    CHECK(got == expected);
  });
}

TEST_CASE("native runs unsupported sections on the exact engine and reports the reason") {
  struct Case {
    std::string body, reason;
  };
  const Case cases[] = {
      {"    ishl $lr0v $lr8v $r16\n", "test.gds:3: a long is shifted by a variable number of bits"},
      {"    fadd $lr0 $lr8 1.0\n    nop\n    nop\n    nop\n    ipass $r16 $r1\n    iadd $r17 $r1 "
       "5\n",
       "lower half of a long"},
      {"    ipass $t 5\n    nop\n    nop\n    nop\n    fadd $lr0v $lm[$t] $lr8v\n", "through T"},
      {"    bput $b4 $r0 0\n", "stores words"},
  };
  const auto reference = make_engine("reference");
  for (const Case& c : cases) {
    const Geometry geometry;
    const AssembleResult made = assemble(".kernel odd\n.body\n" + c.body, "test.gds");
    INFO(c.body);
    if (!made.ok()) {
      std::string text;
      for (const auto& d : made.diagnostics.list) text += d.message + '\n';
      FAIL(text);
    }
    Rng rng(7);
    BlockState start = block_of(geometry);
    randomize(start, rng, selftest::OperandDistribution::Hostile);
    BlockState expected = start;
    reference->prepare(*made.program, geometry)->run(expected, body_run(3));
    for_all([&](const Engine& engine, bool) {
      BlockState got = start;
      const auto executable = engine.prepare(*made.program, geometry);
      executable->run(got, body_run(3));
      CHECK(got == expected);
      const SectionStats stats = body_stats(*executable);
      CHECK_FALSE(stats.compiled);
      CHECK(stats.fallback_runs == 1);
      INFO(stats.reason);
      CHECK(stats.reason.find(c.reason) != std::string::npos);
    });
  }
}

TEST_CASE("native runs sections exactly if they exchange a long that is not a double") {
  struct Case {
    std::string start, body, end, reason;
  };
  const std::string add = "    iadd $lr8v 0x43b800000000000000 $r0\n";
  const std::string take = "    fsub $lr24v $lr8v 0x43b800000\n";
  const std::string integers = "made by integer operations", bits = "lower half of a long number";
  const Case cases[] = {
      {add, take, "", integers},
      {add, "    upass $lr16v $lr8v\n", "    fsub $lr24v $lr16v 0x43b800000\n", integers},
      {"", take + add, "", integers},
      {"", add, take, integers},
      {"", add + "    nop\n    nop\n    nop\n    fsub $lr24v $lr8v 0x43c000000\n", "", integers},
      {add + "    nop\n    nop\n    nop\n    bput $lb8 $lr8 0\n",
       "    bget $lr10 $lb8\n    nop\n    nop\n    nop\n    fsub $lr24 $lr10 0x43b800000\n", "",
       integers},
      {"    ishl $lr8v $lr0v 1\n", "    fadd $lr24v $lr8v 1.5\n", "", integers},
      {"    fmul $lr8v $lr40v $lr42\n", "    iadd $r24v $r9v 1\n", "", bits},
      {"    fmul $lr8 $lr40 $lr42\n", "", "    isub $lr24 $lr8 $lr0\n", bits},
      {"    fadd $lr8v $lr40v 0x43b800000\n", take, "", "is rounded"},
      {"", "    fadd $lr8v $lr40v 0x43b800000\n", take, "is rounded"},
      {"", take + "    fadd $lr8v $lr40v 0x43b800000\n", "", "is rounded"},
      {"    fadd $lr8v $lr40v 0x43b800000\n", "", take + "    ishl $lr30 $lr32 1\n", "is rounded"},
  };
  const auto reference = make_engine("reference");
  const Geometry geometry;
  for (const Case& c : cases) {
    const std::string text =
        ".kernel cross_section\n.start\n" + c.start + ".body\n" + c.body + ".end\n" + c.end;
    INFO(text);
    const Program program = assembled(text);
    BlockState start = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) {
      for (const unsigned address : {40U, 42U, 44U, 46U, 8U, 10U})
        set_long(start, address, pe, std::sqrt(pe + address) * 1e6);
      const Operand integer{Space::Register, Width::Short, false, 0};
      write_location(start, integer, pe, 0, pe * 12345 + 3);
    }
    const auto run_all = [&](const Executable& executable) {
      BlockState block = start;
      for (const Section section : {Section::Start, Section::Body, Section::End}) {
        BlockRun run = body_run(section == Section::Body ? 3 : 1);
        run.section = section;
        executable.run(block, run);
      }
      return block;
    };
    const BlockState expected = run_all(*reference->prepare(program, geometry));
    for_all([&](const Engine& engine, bool) {
      const auto executable = engine.prepare(program, geometry);
      const BlockState got = run_all(*executable);
      std::string reasons;
      for (const SectionStats& stats : executable->stats()) reasons += stats.reason + '\n';
      INFO(reasons);
      CHECK(reasons.find(c.reason) != std::string::npos);
      for (unsigned pe = 0; pe < 32; ++pe) {
        for (const unsigned address : {24U, 26U, 28U, 30U}) {
          const Operand x{Space::Register, Width::Long, false, static_cast<std::uint16_t>(address)};
          CHECK(read_location(got, x, pe, 0) == read_location(expected, x, pe, 0));
        }
      }
    });
  }
}

TEST_CASE("native runs with sticky flags use the exact engine") {
  const Geometry geometry;
  const Program program = assembled(".kernel flags\n.body\n    fmul $lr2 $lr0 $lr0\n");
  for_all([&](const Engine& engine, bool) {
    BlockState block = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) set_long(block, 0, pe, 1e300);
    const auto executable = engine.prepare(program, geometry);
    BlockRun run = body_run();
    run.collect_flags = true;
    executable->run(block, run);
    CHECK((block.flags & flag_overflow) != 0);
    CHECK(body_stats(*executable).fallback_runs == 1);
    CHECK(body_stats(*executable).compiled);
  });
}

TEST_CASE("native compiles a program once, by its content") {
  const Geometry geometry;
  const std::string text = ".kernel once\n.body\n    fmul $lr2v $lr0 0.1234567890123\n";
  const auto engine = make_engine("native");
  BlockState block = block_of(geometry);
  const auto first = engine->prepare(assembled(text), geometry);
  first->run(block, body_run());
  const double seconds = body_stats(*first).compile_seconds;
  CHECK(seconds > 0);
  const auto second = make_engine("native")->prepare(assembled(text), geometry);
  second->run(block, body_run());
  CHECK(body_stats(*second).compile_seconds == seconds);
}

TEST_CASE("native programs run in many threads at once") {
  const Geometry geometry;
  const Program program = assembled(rsqrt_text + "    fadd $lr20v $lr20v $lr4\n");
  for_all([&](const Engine& engine, bool) {
    const auto executable = engine.prepare(program, geometry);
    std::vector<BlockState> blocks(8, block_of(geometry));
    std::vector<std::thread> threads;
    for (BlockState& block : blocks) {
      for (unsigned pe = 0; pe < 32; ++pe) set_long(block, 0, pe, pe + 0.5);
      threads.emplace_back([&] {
        for (int k = 0; k < 50; ++k) executable->run(block, body_run(20));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const BlockState& block : blocks) CHECK(block == blocks[0]);
    CHECK(body_stats(*executable).runs == 400);
  });
}

TEST_CASE("native computes the same bits from a stream of items as from the broadcast memory") {
  AssembleOptions options;
  options.geometry.pes_per_block = 13;
  const Geometry& geometry = options.geometry;
  const Program program = assembled(R"(.kernel sum
.group 2
jvar long  xj f64to72 pad 0
jvar short mj f64to36
fvar long  sum f64to72 fadd at $lr0v
.body
    fadd $lr0v $lr0v $lr18
    bget $lr16 xj@0
    bget $r40 mj@0
    bget $lr18 xj@1
    fadd $lr0v $lr0v $lr16
    fmul $t $lr16 $r40
    fadd $lr0v $lr0v $t
)",
                                    options);
  constexpr std::uint32_t groups = 40;
  for_all([&](const Engine& engine, bool) {
    const auto executable =
        std::dynamic_pointer_cast<const StreamingExecutable>(engine.prepare(program, geometry));
    REQUIRE(executable->stream_bytes() > 0);
    const std::uint32_t real_step = program.item_shorts * 2;
    BlockState block = block_of(geometry);
    for (std::uint32_t i = 0; i < groups * 2; ++i) {
      const std::uint32_t at = i * program.item_shorts;
      write_bm(block, at, Width::Long, long_from_double(std::sin(i)).bits);
      Flags flags = no_flags;
      write_bm(block, at + 2, Width::Short,
               upper_half(short_from_double(1 + std::cos(i), flags)).bits);
    }
    for (const std::uint32_t count : {1U, 2U, 3U, groups}) {
      BlockState through_memory = block, streamed = block;
      BlockRun run = body_run(count);
      run.source_step = real_step;
      executable->run(through_memory, run);
      std::vector<std::byte> items(executable->stream_bytes() * count);
      REQUIRE(executable->convert_sources(block.bm.data(), count, real_step, items.data()));
      BlockRun stream = body_run(count);
      stream.stream = {items.data(), (count - 1) * real_step};
      executable->run(streamed, stream);
      CHECK(streamed == through_memory);
    }
  });
}

TEST_CASE("native skips PEs without targets and no others") {
  const Geometry geometry;
  const Program program = assembled(".kernel some\n.body\n    fadd $lr0v $lr0v 1.0\n");
  for_all([&](const Engine& engine, bool) {
    BlockState block = block_of(geometry);
    BlockRun run = body_run(5);
    run.live_pes = 9;
    engine.prepare(program, geometry)->run(block, run);
    for (unsigned pe = 0; pe < 9; ++pe) CHECK(long_at(block, 0, pe) == 5);
  });
}

TEST_CASE("native stores words of one PE to the broadcast memory outside the loop") {
  const Geometry geometry;
  const Program program = assembled(R"(.kernel put
.start
    fadd $lr2 $lr0 1.5
    nop
    nop
    nop
    bput $lb8 $lr2 5
    bput $b20v $r8v 7
.body
    nop
)");
  for_all([&](const Engine& engine, bool) {
    BlockState block = block_of(geometry);
    for (unsigned pe = 0; pe < 32; ++pe) set_long(block, 0, pe, pe);
    const auto executable = engine.prepare(program, geometry);
    BlockRun run;
    run.section = Section::Start;
    run.live_pes = 2;
    executable->run(block, run);
    INFO(executable->stats()[static_cast<unsigned>(Section::Start)].reason);
    CHECK(executable->stats()[static_cast<unsigned>(Section::Start)].runs == 1);
    CHECK(read_bm(block, 8, Width::Long) == long_from_double(6.5).bits);
    CHECK(read_bm(block, 20, Width::Long) == 0);
  });
}
