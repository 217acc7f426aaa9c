// Chains of operations on numbers at the ends of what representations hold, one number in all
// lanes: a run is proved or not by these numbers alone, and what stands between is never seen
// outside.
#include <cstdlib>
#include <memory>
#include <string>

#include "emulator/engine/vector/vector.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/selftest/case.hpp"
#include "emulator/selftest/words.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr {
namespace {

using selftest::Draw;

Operand at(std::uint32_t address, Width width) {
  return {Space::Register, width, false, static_cast<std::uint16_t>(address)};
}

Width some_width(Draw& draw) { return draw.chance(60) ? Width::Long : Width::Short; }

/// The place that all operations of a chain write, behind three words that they read.
constexpr std::uint32_t result = 6;

/// Now and then a constant.
Operand operand(Draw& draw, Arithmetic& slot, std::uint32_t address) {
  const Width width = some_width(draw);
  const bool taken = slot.a.space == Space::Immediate;
  if (taken || !draw.chance(15)) return at(address, width);
  const Long word = selftest::edge_word(draw);
  slot.immediate = width == Width::Long ? word : Long{upper_half(word).bits};
  return {Space::Immediate, width};
}

Instruction operation(Draw& draw, bool first) {
  Instruction i;
  i.vlen = 1;
  const bool product = draw.chance(45);
  Arithmetic& slot = product ? i.mul : i.alu;
  slot.op = product ? draw.pick({Op::Fmul, Op::Dmul})
                    : draw.pick({Op::Fadd, Op::Fadd, Op::Fsub, Op::Fmax, Op::Fmin, Op::Fcvt});
  slot.width = some_width(draw);
  slot.dst = at(result, slot.width);
  slot.a = operand(draw, slot, first ? 0 : result);
  if (info(slot.op).operands == 2) slot.b = operand(draw, slot, first ? 2 : 4);
  if (info(slot.op).operands == 2 && draw.chance(30)) {
    // The immediate goes with the width of its operand.
    std::swap(slot.a, slot.b);
  }
  return i;
}

Program chain(Draw& draw) {
  Program p;
  p.name = "chain";
  for (unsigned n = draw.between(1, 3), k = 0; k < n; ++k)
    selftest::append(p, Section::Body, operation(draw, k == 0));
  return p;
}

/// Two numbers that stand in some way to each other, and a third one.
void draw_operands(Draw& draw, BlockState& block) {
  const auto relation = static_cast<selftest::Relation>(draw.below(selftest::relation_count));
  const auto mood = draw.pick({selftest::Mood::Edges, selftest::Mood::Edges,
                               selftest::Mood::Moderate, selftest::Mood::Sparse});
  const selftest::WordPair pair = selftest::draw_pair(draw, {mood, relation, draw.chance(30)});
  const Long third = draw.chance(70) ? selftest::edge_word(draw)
                                     : selftest::draw_word(draw, selftest::Mood::Zeros);
  write_location(block, at(0, Width::Long), 0, 0, pair.a.bits);
  write_location(block, at(2, Width::Long), 0, 0, pair.b.bits);
  write_location(block, at(4, Width::Long), 0, 0, third.bits);
}

unsigned programs() { return static_cast<unsigned>(test::test_iterations(1500)); }

}  // namespace

TEST_CASE("Chains of operations at the ends of representations have the bits of the reference") {
  Geometry geometry;
  geometry.blocks = geometry.pes_per_block = 1;
  geometry.register_words = 8;
  geometry.local_words = geometry.broadcast_words = 1;
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Isa isa : host_isas()) engines.push_back(std::make_unique<VectorEngine>(isa));
  if (host_isas().front() == Isa::Avx512)
    engines.push_back(std::make_unique<VectorEngine>(Isa::Avx512, false));
  const auto reference = make_engine("reference");
  std::uint64_t proved = 0, runs = 0;
  for (unsigned seed = 0; seed < programs(); ++seed) {
    Draw draw(seed);
    const Program program = chain(draw);
    const auto expect = reference->prepare(program, geometry);
    std::vector<std::shared_ptr<const Executable>> executables;
    for (const auto& engine : engines) executables.push_back(engine->prepare(program, geometry));
    for (unsigned n = 0; n < 40; ++n) {
      BlockState start = selftest::empty_block(geometry);
      draw_operands(draw, start);
      BlockRun run;
      run.iterations = draw.between(1, 2);
      BlockState expected = start;
      expect->run(expected, run);
      for (std::size_t e = 0; e < engines.size(); ++e) {
        BlockState got = start;
        executables[e]->run(got, run);
        if (got == expected) continue;
        FAIL(isa_name(engines[e]->isa()) << ", engine " << e << ", seed " << seed << ", run " << n);
      }
      ++runs;
    }
    const auto body = static_cast<unsigned>(Section::Body);
    proved += executables.front()->notes()[body].runs;
  }
  CAPTURE(proved, runs);
  CHECK((!proves_doubles(host_isas().front()) || proved > runs / 5));
}

}  // namespace gdr
