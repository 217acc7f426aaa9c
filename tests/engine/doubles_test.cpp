// The vector engine on host doubles: verification, repetition on integers, and regressions.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "support/assembled.hpp"
#include "support/catch.hpp"

namespace gdr {
namespace {

using test::assembled;

/// x in the long $lr8, y in the short $r40, in every PE.
BlockState block_with(const Geometry& geometry, Long x, Short y) {
  BlockState block = make_chip(geometry).blocks[0];
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    write_location(block, {Space::Register, Width::Long, false, 8}, pe, 0, x.bits);
    write_location(block, {Space::Register, Width::Short, false, 40}, pe, 0, y.bits);
  }
  return block;
}

Long number(double x) { return long_from_double(x); }
Short short_number(double x) {
  Flags flags = no_flags;
  return upper_half(short_from_double(x, flags));
}

struct Outcome {
  SectionStats stats;
  bool same = false;
};
/// The body on the vector engine, and whether the state equals that of the reference engine.
Outcome run(Isa isa, const std::string& body, Long x, Short y, std::uint64_t iterations = 3) {
  Geometry geometry;
  geometry.blocks = 1;
  const Program program = assembled(".kernel k\n.body\n" + body);
  BlockRun body_run;
  body_run.iterations = iterations;
  BlockState expected = block_with(geometry, x, y), got = expected;
  make_engine("reference")->prepare(program, geometry)->run(expected, body_run);
  const auto executable = VectorEngine(isa).prepare(program, geometry);
  executable->run(got, body_run);
  return {executable->stats()[static_cast<unsigned>(Section::Body)], got == expected};
}

const std::string accumulation = "  vlen 1\n  fadd $lr8 $lr8 $r40\n";

}  // namespace

TEST_CASE("accumulation of ordinary numbers is exact in doubles") {
  for (const Isa isa : host_isas()) {
    const Outcome o = run(isa, accumulation, number(1.7), short_number(0.3));
    CAPTURE(isa_name(isa));
    CHECK(o.same);
    CHECK(o.stats.compiled == can_verify_doubles(isa));
    CHECK(o.stats.runs == (can_verify_doubles(isa) ? 1 : 0));
    CHECK(o.stats.fallback_runs == 0);
  }
}

TEST_CASE("runs that doubles cannot represent are repeated on integers") {
  struct Hard {
    const char* what;
    Long x;
    Short y;
  };
  const Hard cases[] = {
      {"the tail of the sum is 2^-200 below its head",
       {number(1.0).bits | 1},
       short_number(0x1p-200)},
      {"the sum overflows", number(0x1.fffffffffffffp1023), short_number(0x1.8p1023)},
      {"the sum is next to 2^-1022", number(0x1p-1018), short_number(0x1.8p-1021)},
      {"one is infinite", number(HUGE_VAL), short_number(1)},
      {"one is not a number", number(1), Short{0xfffffffff}},
  };
  for (const Isa isa : host_isas()) {
    for (const Hard& hard : cases) {
      const Outcome o = run(isa, accumulation, hard.x, hard.y);
      INFO(isa_name(isa) << ": " << hard.what);
      CHECK(o.same);
      CHECK(o.stats.runs == 0);
      CHECK(o.stats.fallback_runs == (can_verify_doubles(isa) ? 1 : 0));
    }
  }
}

TEST_CASE("sections without floats, or with T addresses, report how they run") {
  for (const Isa isa : host_isas()) {
    if (!can_verify_doubles(isa)) continue;
    const Outcome integers = run(isa, "  iadd $r41 $r40 $r40\n", number(1), short_number(1));
    CHECK(integers.same);
    CHECK(integers.stats.runs + integers.stats.fallback_runs == 0);
    CHECK(integers.stats.reason.empty());
    const Outcome longs = run(isa, "  vlen 1\n  iadd $lr12 $lr8 $lr8\n  fadd $lr8 $lr8 $r40\n",
                              number(1), short_number(1));
    CHECK(longs.same);
    CHECK(longs.stats.fallback_runs == 1);
    CHECK(longs.stats.reason.find("an integer operation on longs") != std::string::npos);
  }
}

TEST_CASE("the maximum of a long beyond 2^995 and a small one is not minus infinity") {
  for (const Isa isa : host_isas()) {
    const std::string body = "  vlen 1\n  fcvt $lr12 $r40\n  fmax $r44 $lr8 $lr12\n";
    CHECK(run(isa, body, {number(0x1.8p1016).bits | 0x40000001}, short_number(29.7)).same);
    CHECK(run(isa, "  vlen 1\n  fmul $r44 $lr8 $r40\n  fmin $r45 $r44 $r40\n", number(0x1.8p1016),
              short_number(1.5))
              .same);
  }
}

TEST_CASE("a long constant near the smallest number keeps its last bits") {
  // Below 2^-969 they are subnormal doubles, which the kernels treat as zero.
  for (const Isa isa : host_isas()) {
    for (unsigned exponent = 1; exponent < 64; exponent += exponent < 52 ? 10 : 1) {
      for (const std::uint64_t last : {0x01U, 0x80U, 0xffU}) {
        for (const unsigned sign : {0U, 0x800U}) {
          const std::string constant =
              fmt::format("0x{:03x}eefdfffffbff0{:02x}", sign | exponent, last);
          INFO(isa_name(isa) << ' ' << constant);
          const auto same = [&](const std::string& body) {
            return run(isa, "  vlen 1\n  fmul $r44 $r40 $r40\n" + body, number(1), short_number(1),
                       1)
                .same;
          };
          CHECK(same("  fadd $lr12 " + constant + ' ' + constant + '\n'));
          CHECK(same("  ipass $lr12 " + constant + '\n'));
          CHECK(same("  dmul $lr12 $lr8 " + constant + '\n'));
        }
      }
    }
  }
}

TEST_CASE("a long that overflows is infinite as an operand of the next operation") {
  for (const Isa isa : host_isas()) {
    CAPTURE(isa_name(isa));
    // 2^512 squared; the second product is within the range again.
    const std::string square = "  vlen 1\n  dmul $lr12 $lr8 $lr8\n";
    for (const double x : {0x1p512, -0x1p512, 0x1.8p512, 0x1.0000000000001p512}) {
      CHECK(run(isa, square + "  dmul $lr12 $lr12 0x39b000000000000000\n", number(x),
                short_number(1), 1)
                .same);
      CHECK(run(isa, square + "  fsub $lr12 $lr12 0x7fefffffffffffffff\n", number(x),
                short_number(1), 1)
                .same);
    }
    // The largest number, and half a unit of its last place or more.
    for (const char* y : {"0x7c1000000", "0x7c2000000", "0x7c8abcdef"}) {
      const std::string sum = "  vlen 1\n  fadd $lr8 $lr8 " + std::string(y) + "\n";
      const Long largest{((u128{0x7ff} << 60) - 1)};
      CHECK(run(isa, sum + "  fsub $lr8 $lr8 0x7feffffff\n", largest, short_number(1), 1).same);
      CHECK(run(isa, sum + "  dmul $lr8 $lr8 0x39b000000000000000\n", largest, short_number(1), 1)
                .same);
    }
  }
}

TEST_CASE("a short NaN added to a long is detected") {
  for (const Isa isa : host_isas()) {
    CHECK(run(isa, accumulation, number(-145.71), Short{0xfffffffff}, 1).same);
    CHECK(run(isa, accumulation, number(-145.71), Short{0x7ff800000}, 1).same);
  }
}

TEST_CASE("a sum of two zeros has the sign of the contract") {
  for (const Isa isa : host_isas()) {
    for (const double x : {0.0, -0.0}) {
      for (const double y : {0.0, -0.0}) {
        INFO(isa_name(isa) << ' ' << x << ' ' << y);
        CHECK(run(isa, accumulation, number(x), short_number(y), 1).same);
        CHECK(run(isa, "  vlen 1\n  fsub $lr8 $lr8 $r40\n", number(x), short_number(y), 1).same);
      }
    }
  }
}

TEST_CASE("a failed run that stores to the broadcast memory restores it") {
  // Tails first, then an overflow: both translations fail.
  const std::string body =
      "  vlen 1\n  bget $lr12 xj\n  fadd $lr8 $lr8 $lr12\n  bput word $lr8 0\n";
  for (const Isa isa : host_isas()) {
    for (const double x : {1.0 / 3, 0x1.8p1023}) {
      Geometry geometry;
      geometry.blocks = 1;
      const Program program =
          assembled(".kernel k\njvar long xj raw\nbm long word\n.body\n" + body);
      BlockState start = block_with(geometry, {number(x).bits | 1}, short_number(1));
      write_bm(start, 8, Width::Long, number(x).bits | 3);
      BlockRun run;
      run.iterations = 3;
      run.source_base = 8;
      BlockState expected = start;
      make_engine("reference")->prepare(program, geometry)->run(expected, run);
      const std::uint64_t* const place = start.bm.data();
      make_engine("vector", isa_name(isa))->prepare(program, geometry)->run(start, run);
      CHECK(start == expected);
      CHECK(start.bm.data() == place);
    }
  }
}

}  // namespace gdr
