// Sums near rounding boundaries: every instruction set against the scalar arithmetic.
//
// The vector engine adds in the host's doubles and detects inexact lanes; random operands cause
// these once in millions of sums, the operands here in most sums.
#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "emulator/engine/api/engine.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr {
namespace {

using Random = std::mt19937_64;

Long long_of(bool negative, unsigned exponent, std::uint64_t fraction) {
  return {(u128{negative} << 71) | (u128{exponent} << 60) |
          (fraction & ((std::uint64_t{1} << 60) - 1))};
}

std::uint64_t below(Random& random, std::uint64_t below) { return random() % below; }

/// Blocks of random numbers, where few of them are cases of interest.
std::uint64_t many_rounds() { return test::test_iterations(400); }

struct Pair {
  Long a, b;
};

/// a and b with a - b within a few units of the 61st bit of a tie of 25 bits.
Pair near_short_tie(Random& random) {
  const auto exponent = static_cast<unsigned>(900 + below(random, 250));
  const std::uint64_t kept = random() & ((std::uint64_t{1} << 24) - 1);
  const std::uint64_t off = below(random, 5) - 2;
  const Long v =
      long_of(below(random, 2) != 0, exponent, (kept << 36) + (std::uint64_t{1} << 35) + off);
  const Long a =
      long_of(below(random, 2) != 0, exponent + static_cast<unsigned>(below(random, 5)) - 2,
              below(random, 4) == 0 ? 0 : random());
  Flags flags = no_flags;
  return {a, fsub(a, v, Width::Long, flags)};
}

/// Biased exponents, `first` the lowest.
struct Exponents {
  unsigned first, count;
};

/// A long and a short whose last bits overlap, often next to a power of two; occasionally zeros.
Pair near_long_tie(Random& random, Exponents among) {
  const auto exponent = static_cast<unsigned>(among.first + below(random, among.count));
  std::uint64_t fraction = random();
  if (below(random, 2) == 0) fraction = below(random, 9) - 4;  // just above, or all ones just below
  if (below(random, 8) == 0) fraction &= ~std::uint64_t{255};
  const auto distance =
      static_cast<unsigned>(below(random, 3) == 0 ? 34 + below(random, 5) : below(random, 84));
  const std::uint64_t short_fraction = below(random, 3) == 0 ? below(random, 3) : random();
  Pair p{long_of(below(random, 2) != 0, exponent, fraction),
         long_of(below(random, 2) != 0, exponent + 2 - distance, short_fraction << 36)};
  if (below(random, 16) == 0) p.a = long_of(below(random, 2) != 0, 0, 0);
  if (below(random, 16) == 0) p.b = long_of(below(random, 2) != 0, 0, 0);
  return p;
}

/// A tie of 25 bits, or a neighbour of it in 53 bits.
Long near_tie_of_doubles(Random& random, Exponents among) {
  const std::uint64_t kept = random() & ((std::uint64_t{1} << 24) - 1);
  const std::uint64_t off = (below(random, 3) - 1) << 8;
  return long_of(below(random, 2) != 0,
                 among.first + static_cast<unsigned>(below(random, among.count)),
                 (kept << 36) + (std::uint64_t{1} << 35) + off);
}

/// Two longs of 53 bits: the first near a tie of shorts and the second much smaller, or their sum
/// or difference near a tie; occasionally equal numbers and zeros.
Pair doubles_near_short_tie(Random& random, Exponents among) {
  const auto some = [&random](int exponent, std::uint64_t fraction) {
    return long_of(below(random, 2) != 0, static_cast<unsigned>(std::clamp(exponent, 1, 2046)),
                   fraction & ~std::uint64_t{255});
  };
  const Long tie = near_tie_of_doubles(random, among);
  const auto exponent = static_cast<int>(tie.bits >> 60 & 2047);
  Pair p{tie, some(exponent - 20 - static_cast<int>(below(random, 80)),
                   below(random, 3) == 0 ? 0 : random())};
  if (below(random, 2) == 0) {
    Flags flags = no_flags;
    p.a = some(exponent + static_cast<int>(below(random, 5)) - 2, random());
    p.b = below(random, 2) == 0 ? fsub(p.a, tie, Width::Long, flags)
                                : fsub(tie, p.a, Width::Long, flags);
    p.b.bits = p.b.bits >> 8 << 8;
  }
  if (below(random, 16) == 0) p.b = p.a;
  if (below(random, 16) == 0) p.a = long_of(below(random, 2) != 0, 0, 0);
  if (below(random, 16) == 0) p.b = long_of(below(random, 2) != 0, 0, 0);
  return p;
}

/// Factors of 50 and 25 bits with a product so near a tie of shorts that the nearest double is
/// often the tie itself.
Pair factors_near_short_tie(Random& random, Exponents among) {
  Flags flags = no_flags;
  const double tie = double_from_long(near_tie_of_doubles(random, among), flags);
  const Long b = long_of(below(random, 2) != 0, 1019 + static_cast<unsigned>(below(random, 9)),
                         random() << 36);
  Long a = long_from_double(tie / double_from_long(b, flags));
  a.bits = (a.bits >> 11 << 11) + (u128{below(random, 3)} << 11);
  if (below(random, 16) == 0) a = long_of(below(random, 2) != 0, 0, 0);
  return {a, b};
}

Operand row(Width width, std::uint16_t address) {
  return {Space::Register, width, true, address, 0, 0};
}

Program one_instruction(Op op, Width b, Width out) {
  Instruction i;
  auto& operation = op == Op::Fmul || op == Op::Dmul ? i.mul : i.alu;
  operation.op = op;
  operation.width = out;
  operation.dst = row(out, 0);
  operation.a = row(Width::Long, 8);
  operation.b = row(b, 16);
  Program p;
  p.name = "sum";
  p.section(Section::Body) = {i};
  return p;
}

template <class Rng>
void compare(Op op, Width b, Width out, Rng random_pair, std::uint64_t rounds = 200) {
  Geometry geometry;
  geometry.blocks = 1;
  const Program program = one_instruction(op, b, out);
  const auto reference = make_engine("reference")->prepare(program, geometry);
  std::map<Isa, std::shared_ptr<const Executable>> engines;
  for (const Isa isa : host_isas())
    engines[isa] = make_engine("vector", isa_name(isa))->prepare(program, geometry);
  Random random(20100601);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    ChipState chip = make_chip(geometry);
    BlockState& block = chip.blocks[0];
    for (unsigned pe = 0; pe < block.pes; ++pe) {
      for (unsigned k = 0; k < max_elements; ++k) {
        const Pair p = random_pair(random);
        write_location(block, row(Width::Long, 8), pe, k, p.a.bits);
        write_location(block, row(b, 16), pe, k,
                       b == Width::Long ? p.b.bits : u128{upper_half(p.b).bits});
      }
    }
    BlockState expected = block;
    reference->run(expected, {});
    for (const auto& [isa, engine] : engines) {
      BlockState state = block;
      engine->run(state, {});
      INFO(isa_name(isa) << ", round " << round);
      REQUIRE(state == expected);
    }
  }
}

// --- repeated sums into one word

constexpr unsigned terms = 3;

/// acc = acc + x_0, acc - x_1, ... in place, each x_k a product with one that was rounded to a
/// short; some sums under a mask that is set in every other element.
Program random_accumulation(Random& random) {
  Program p;
  p.name = "accumulation";
  auto& body = p.section(Section::Body);
  Instruction mask;
  mask.alu.op = Op::Ipass;
  mask.alu.width = Width::Short;
  mask.alu.a = row(Width::Short, 32);
  mask.alu.mask = {MaskFlag::Zero, 0};
  body.push_back(mask);
  for (unsigned k = 0; k < terms; ++k) {
    const auto x = static_cast<std::uint16_t>(8 + 4 * k);
    Instruction product, sum;
    product.mul.op = Op::Fmul;
    product.mul.width = Width::Short;
    product.mul.dst = row(Width::Short, 24);
    product.mul.a = row(Width::Short, x);
    product.mul.b = row(Width::Short, 28);
    sum.alu.op = below(random, 2) == 0 ? Op::Fadd : Op::Fsub;
    sum.alu.width = Width::Long;
    sum.alu.dst = sum.alu.a = row(Width::Long, 0);
    sum.alu.b = product.mul.dst;
    if (below(random, 3) == 0) sum.predicate = {true, 0, below(random, 2) == 0};
    body.push_back(product);
    body.push_back(sum);
  }
  return p;
}

/// A short near the sum so far, near its negative, or near the `first` term.
Long term_beside(Random& random, Long sum, Long first) {
  Flags flags = no_flags;
  const Long x = fadd(sum, {}, Width::Short, flags);
  if (below(random, 3) == 0) return {x.bits ^ u128{below(random, 2)} << 71};
  const Long beside = below(random, 3) == 0 ? first : sum;
  const auto exponent = static_cast<int>(beside.bits >> 60) & 2047;
  const auto distance = static_cast<int>(below(random, 2) == 0 ? below(random, 70) : 33);
  const std::uint64_t fraction = below(random, 3) == 0 ? below(random, 3) : random();
  return long_of(below(random, 2) != 0,
                 static_cast<unsigned>(std::clamp(exponent + 8 - distance, 1, 2046)),
                 fraction << 36);
}

void write_terms(Random& random, BlockState& block, Exponents among) {
  const Pair first = near_long_tie(random, among);
  Flags flags = no_flags;
  std::array<Long, terms> x{below(random, 2) == 0 ? first.b
                                                  : term_beside(random, first.a, first.a)};
  Long sum = fadd(first.a, x[0], Width::Long, flags);
  for (unsigned k = 1; k < terms; ++k) {
    x[k] = term_beside(random, sum, first.a);
    sum = fadd(sum, x[k], Width::Long, flags);
  }
  const Long one = long_of(false, 1023, 0);
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    for (unsigned k = 0; k < max_elements; ++k) {
      write_location(block, row(Width::Long, 0), pe, k, first.a.bits);
      for (unsigned n = 0; n < terms; ++n)
        write_location(block, row(Width::Short, static_cast<std::uint16_t>(8 + 4 * n)), pe, k,
                       upper_half(x[n]).bits);
      write_location(block, row(Width::Short, 28), pe, k, upper_half(one).bits);
      write_location(block, row(Width::Short, 32), pe, k, k % 2);
    }
  }
}

/// Compares all instruction sets on repeated sums; returns the number of runs that each verified in
/// doubles.
std::map<Isa, std::uint64_t> proved_sums_in_a_row(Exponents among, int programs) {
  Geometry geometry;
  geometry.blocks = 1;
  Random random(20100602);
  std::map<Isa, std::uint64_t> proved;
  for (int p = 0; p < programs; ++p) {
    geometry.pes_per_block = 8 * (1 + static_cast<unsigned>(p) % 4);
    const Program program = random_accumulation(random);
    const auto reference = make_engine("reference")->prepare(program, geometry);
    std::map<Isa, std::shared_ptr<const Executable>> engines;
    for (const Isa isa : host_isas())
      engines[isa] = make_engine("vector", isa_name(isa))->prepare(program, geometry);
    for (std::uint64_t round = 0; round < many_rounds(); ++round) {
      ChipState chip = make_chip(geometry);
      BlockState& block = chip.blocks[0];
      write_terms(random, block, among);
      BlockRun run;
      run.iterations = 1 + below(random, 4);
      BlockState expected = block;
      reference->run(expected, run);
      for (const auto& [isa, engine] : engines) {
        BlockState state = block;
        engine->run(state, run);
        INFO(isa_name(isa) << ", program " << p << ", round " << round);
        REQUIRE(state == expected);
      }
    }
    for (const auto& [isa, engine] : engines)
      proved[isa] += engine->stats()[static_cast<unsigned>(Section::Body)].runs;
  }
  return proved;
}

}  // namespace

TEST_CASE("consecutive sums into one word round each time") {
  for (const auto& [isa, runs] : proved_sums_in_a_row({900, 250}, 12)) {
    INFO(isa_name(isa));
    if (isa != Isa::Portable) CHECK(runs > 3 * many_rounds());
  }
}

TEST_CASE("consecutive sums into one word drop terms that underflow") {
  for (const auto& [isa, runs] : proved_sums_in_a_row({40, 80}, 24)) {
    INFO(isa_name(isa));
    if (isa != Isa::Portable) CHECK(runs > 0);
  }
}

TEST_CASE("consecutive sums into one word overflow to infinity") {
  proved_sums_in_a_row({1980, 66}, 12);
}

TEST_CASE("differences of longs near a tie of shorts round to nearest even") {
  compare(Op::Fsub, Width::Long, Width::Short, near_short_tie);
}

TEST_CASE("sums of longs near a tie of shorts round to nearest even") {
  const auto negated = [](Random& random) {
    Pair p = near_short_tie(random);
    p.b.bits ^= u128{1} << 71;
    return p;
  };
  compare(Op::Fadd, Width::Long, Width::Short, negated);
}

TEST_CASE("sums of doubles near a tie of shorts round once") {
  for (const Exponents among : {Exponents{900, 250}, {1, 80}, {1980, 67}}) {
    const auto pair = [among](Random& random) { return doubles_near_short_tie(random, among); };
    for (const Op op : {Op::Fadd, Op::Fsub}) {
      compare(op, Width::Long, Width::Short, pair, many_rounds());
      compare(op, Width::Short, Width::Short, pair, many_rounds());
    }
  }
}

TEST_CASE("products of doubles near a tie of shorts round once") {
  for (const Exponents among : {Exponents{900, 250}, {1, 80}, {1980, 67}}) {
    const auto pair = [among](Random& random) { return factors_near_short_tie(random, among); };
    for (const Op op : {Op::Fmul, Op::Dmul}) {
      compare(op, Width::Long, Width::Short, pair, many_rounds());
      compare(op, Width::Short, Width::Short, pair, many_rounds());
    }
  }
}

TEST_CASE("a short added to a long next to a power of two rounds to nearest even") {
  const auto moderate = [](Random& random) { return near_long_tie(random, {900, 250}); };
  compare(Op::Fadd, Width::Short, Width::Long, moderate);
  compare(Op::Fsub, Width::Short, Width::Long, moderate);
}

}  // namespace gdr
