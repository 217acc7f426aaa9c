// Sums where rounding is a close call: every instruction set against the scalar arithmetic.
//
// The vector engine adds in the host's doubles and finds the doubtful lanes itself; random operands
// meet these once in millions of sums, the operands here all the time.
#include <random>

#include "emulator/engine/engine.hpp"
#include "support/catch.hpp"

namespace gdr {
namespace {

using Random = std::mt19937_64;

Long long_of(bool negative, unsigned exponent, std::uint64_t fraction) {
  return {(u128{negative} << 71) | (u128{exponent} << 60) |
          (fraction & ((std::uint64_t{1} << 60) - 1))};
}

std::uint64_t draw(Random& random, std::uint64_t below) { return random() % below; }

struct Pair {
  Long a, b;
};

/// a and b with a - b within a few units of the 61st bit of a tie of 25 bits.
Pair near_short_tie(Random& random) {
  const auto exponent = static_cast<unsigned>(900 + draw(random, 250));
  const std::uint64_t kept = random() & ((std::uint64_t{1} << 24) - 1);
  const std::uint64_t off = draw(random, 5) - 2;
  const Long v =
      long_of(draw(random, 2) != 0, exponent, (kept << 36) + (std::uint64_t{1} << 35) + off);
  const Long a =
      long_of(draw(random, 2) != 0, exponent + static_cast<unsigned>(draw(random, 5)) - 2,
              draw(random, 4) == 0 ? 0 : random());
  Flags flags = no_flags;
  return {a, fsub(a, v, Width::Long, flags)};
}

/// A long and a short whose last bits meet, often beside a power of two; zeros now and then.
Pair near_long_tie(Random& random) {
  const auto exponent = static_cast<unsigned>(900 + draw(random, 250));
  std::uint64_t fraction = random();
  if (draw(random, 2) == 0) fraction = draw(random, 9) - 4;  // just above, or all ones just below
  if (draw(random, 8) == 0) fraction &= ~std::uint64_t{255};
  const auto distance =
      static_cast<unsigned>(draw(random, 3) == 0 ? 34 + draw(random, 5) : draw(random, 84));
  const std::uint64_t short_fraction = draw(random, 3) == 0 ? draw(random, 3) : random();
  Pair p{long_of(draw(random, 2) != 0, exponent, fraction),
         long_of(draw(random, 2) != 0, exponent + 2 - distance, short_fraction << 36)};
  if (draw(random, 16) == 0) p.a = long_of(draw(random, 2) != 0, 0, 0);
  if (draw(random, 16) == 0) p.b = long_of(draw(random, 2) != 0, 0, 0);
  return p;
}

Program one_instruction(Op op, Width b, Width out) {
  const auto at = [](Width width, std::uint16_t address) {
    return Operand{Space::Register, width, true, address, 0, 0};
  };
  Instruction i;
  i.alu.op = op;
  i.alu.width = out;
  i.alu.dst = at(out, 0);
  i.alu.a = at(Width::Long, 8);
  i.alu.b = at(b, 16);
  Program p;
  p.name = "sum";
  p.section(Section::Body) = {i};
  return p;
}

template <class Draw>
void compare(Op op, Width b, Width out, Draw draw_pair) {
  Geometry geometry;
  geometry.blocks = 1;
  const Program program = one_instruction(op, b, out);
  const auto reference = make_engine("reference")->prepare(program, geometry);
  Random random(20100601);
  for (int round = 0; round < 200; ++round) {
    ChipState chip = make_chip(geometry);
    BlockState& block = chip.blocks[0];
    for (unsigned pe = 0; pe < block.pes; ++pe) {
      for (unsigned k = 0; k < max_elements; ++k) {
        const Pair p = draw_pair(random);
        write_location(block, program.section(Section::Body)[0].alu.a, pe, k, p.a.bits);
        write_location(block, program.section(Section::Body)[0].alu.b, pe, k,
                       b == Width::Long ? p.b.bits : u128{upper_half(p.b).bits});
      }
    }
    BlockState expected = block;
    reference->run(expected, {});
    for (Isa isa : host_isas()) {
      BlockState state = block;
      make_engine("vector", isa_name(isa))->prepare(program, geometry)->run(state, {});
      INFO(isa_name(isa) << ", round " << round);
      REQUIRE(state == expected);
    }
  }
}

}  // namespace

TEST_CASE("Differences of longs near a tie of shorts round as they should") {
  compare(Op::Fsub, Width::Long, Width::Short, near_short_tie);
}

TEST_CASE("Sums of longs near a tie of shorts round as they should") {
  const auto negated = [](Random& random) {
    Pair p = near_short_tie(random);
    p.b.bits ^= u128{1} << 71;
    return p;
  };
  compare(Op::Fadd, Width::Long, Width::Short, negated);
}

TEST_CASE("A short added to a long beside a power of two rounds as it should") {
  compare(Op::Fadd, Width::Short, Width::Long, near_long_tie);
  compare(Op::Fsub, Width::Short, Width::Long, near_long_tie);
}

}  // namespace gdr
