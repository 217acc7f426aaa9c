// Chains of operations on boundary words, equal in all lanes: only these numbers decide whether a
// run is verified, and intermediate results are not observable.
#include <cstdlib>
#include <memory>
#include <string>

#include "emulator/engine/vector/vector.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/selftest/case.hpp"
#include "emulator/selftest/operands.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr {
namespace {

using selftest::Rng;

Operand at(std::uint32_t address, Width width) {
  return {Space::Register, width, false, static_cast<std::uint16_t>(address)};
}

Width some_width(Rng& rng) { return rng.chance(60) ? Width::Long : Width::Short; }

/// The register that all operations of a chain write; they read the three words before it.
constexpr std::uint32_t result = 6;

/// Occasionally a constant.
Operand operand(Rng& rng, Arithmetic& slot, std::uint32_t address) {
  const Width width = some_width(rng);
  const bool taken = slot.a.space == Space::Immediate;
  if (taken || !rng.chance(15)) return at(address, width);
  const Long word = selftest::boundary_word(rng);
  slot.immediate = width == Width::Long ? word : Long{upper_half(word).bits};
  return {Space::Immediate, width};
}

Instruction operation(Rng& rng, bool first) {
  Instruction i;
  i.vlen = 1;
  const bool product = rng.chance(45);
  Arithmetic& slot = product ? i.mul : i.alu;
  slot.op = product ? rng.pick({Op::Fmul, Op::Dmul})
                    : rng.pick({Op::Fadd, Op::Fadd, Op::Fsub, Op::Fmax, Op::Fmin, Op::Fcvt});
  slot.width = some_width(rng);
  slot.dst = at(result, slot.width);
  slot.a = operand(rng, slot, first ? 0 : result);
  if (info(slot.op).operands == 2) slot.b = operand(rng, slot, first ? 2 : 4);
  if (info(slot.op).operands == 2 && rng.chance(30)) {
    // The immediate has the width of its operand.
    std::swap(slot.a, slot.b);
  }
  return i;
}

Program chain(Rng& rng) {
  Program p;
  p.name = "chain";
  for (unsigned n = rng.between(1, 3), k = 0; k < n; ++k)
    p.section(Section::Body).push_back(operation(rng, k == 0));
  return p;
}

/// Two related numbers and a third one.
void draw_operands(Rng& rng, BlockState& block) {
  const auto relation = static_cast<selftest::Relation>(rng.below(selftest::relation_count));
  const auto distribution =
      rng.pick({selftest::OperandDistribution::Edges, selftest::OperandDistribution::Edges,
                selftest::OperandDistribution::Moderate, selftest::OperandDistribution::Sparse});
  const selftest::WordPair pair =
      selftest::random_pair(rng, {distribution, relation, rng.chance(30)});
  const Long third = rng.chance(70)
                         ? selftest::boundary_word(rng)
                         : selftest::random_word(rng, selftest::OperandDistribution::Zeros);
  write_location(block, at(0, Width::Long), 0, 0, pair.a.bits);
  write_location(block, at(2, Width::Long), 0, 0, pair.b.bits);
  write_location(block, at(4, Width::Long), 0, 0, third.bits);
}

unsigned programs() { return static_cast<unsigned>(test::test_iterations(700)); }

}  // namespace

TEST_CASE("chains of operations at the ends of representations have the bits of the reference") {
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
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + programs(); ++seed) {
    Rng rng(seed);
    const Program program = chain(rng);
    const auto expect = reference->prepare(program, geometry);
    std::vector<std::shared_ptr<const Executable>> executables;
    for (const auto& engine : engines) executables.push_back(engine->prepare(program, geometry));
    for (unsigned n = 0; n < 40; ++n) {
      BlockState start = selftest::empty_block(geometry);
      draw_operands(rng, start);
      BlockRun run;
      run.iterations = rng.between(1, 2);
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
    proved += executables.front()->stats()[body].runs;
  }
  CAPTURE(proved, runs);
  CHECK((!can_verify_doubles(host_isas().front()) || proved > runs / 5));
}

TEST_CASE("a mask from the bits of a sum near the largest number is exact") {
  Geometry geometry;
  geometry.blocks = geometry.pes_per_block = 1;
  geometry.register_words = 8;
  geometry.local_words = geometry.broadcast_words = 1;
  const auto sum = [](std::uint32_t to, std::uint32_t a, std::uint32_t b) {
    Instruction i;
    i.vlen = 1;
    i.alu.op = Op::Fadd;
    i.alu.width = Width::Short;
    i.alu.dst = at(to, Width::Short);
    i.alu.a = at(a, Width::Short);
    i.alu.b = at(b, Width::Short);
    return i;
  };
  Instruction test;
  test.vlen = 1;
  test.alu.op = Op::Ipass;
  test.alu.width = Width::Short;
  test.alu.a = at(4, Width::Short);
  test.alu.mask.flag = MaskFlag::Negative;
  Program p;
  p.name = "mask";
  // The last instruction overwrites the tested sum, so that the block does not contain it.
  p.section(Section::Body) = {sum(4, 0, 1), test, sum(4, 2, 3)};
  const auto reference = make_engine("reference");
  for (const Isa isa : host_isas()) {
    for (const std::uint64_t exponent : {900U, 994U, 996U, 1000U, 1022U}) {
      CAPTURE(isa_name(isa), exponent);
      BlockState start = selftest::empty_block(geometry);
      for (std::uint32_t k = 0; k < 2; ++k)
        write_location(start, at(k, Width::Short), 0, 0, u128{(1023 + exponent) << 24});
      BlockState expected = start, got = start;
      reference->prepare(p, geometry)->run(expected, {});
      VectorEngine(isa).prepare(p, geometry)->run(got, {});
      CHECK((got == expected));
    }
  }
}

}  // namespace gdr
