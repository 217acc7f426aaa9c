// Properties of the generators: coverage, reproducibility and distributions.
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "emulator/isa/table.hpp"
#include "emulator/selftest/case.hpp"
#include "selftest/kernels.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

using selftest::Case;
using selftest::OperandDistribution;
using selftest::Rng;

void check_same(const Case& a, const Case& b) {
  CHECK(a.what == b.what);
  CHECK(a.program == b.program);
  CHECK(a.state == b.state);
  CHECK(a.geometry == b.geometry);
  CHECK(a.run.iterations == b.run.iterations);
}

/// Counts operands of programs by kind.
struct Uses {
  std::map<Space, unsigned> spaces;
  std::map<Op, unsigned> ops;
  std::map<MaskFlag, unsigned> flags;
  std::map<TTarget, unsigned> t;
  std::set<unsigned> vlens;

  void add(const Program& program) {
    for (const auto& section : program.sections) {
      for (const Instruction& i : section) add(i);
    }
  }

 private:
  void add(const Instruction& i) {
    vlens.insert(i.vlen);
    for (const Arithmetic* slot : {&i.mul, &i.alu}) {
      ++ops[slot->op];
      ++flags[slot->mask.flag];
      ++t[slot->t];
      for (const Operand* x : {&slot->dst, &slot->a, &slot->b}) ++spaces[x->space];
    }
    ++ops[i.move.op];
    ++spaces[i.move.bm.space];
  }
};

unsigned exponent_of(std::uint64_t short_bits) {
  return static_cast<unsigned>(short_bits >> 24) & 2047;
}

}  // namespace

TEST_CASE("a case is the same for the same seed") {
  const std::vector<Program> library = library_kernels();
  REQUIRE_FALSE(library.empty());
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    check_same(selftest::program_case(seed), selftest::program_case(seed));
    check_same(selftest::operation_case(seed), selftest::operation_case(seed));
    check_same(selftest::loop_case(seed), selftest::loop_case(seed));
    check_same(selftest::kernel_case(library[0], seed), selftest::kernel_case(library[0], seed));
  }
}

TEST_CASE("random programs use every operation, space and destination") {
  Uses uses;
  for (std::uint64_t seed = 0; seed < 300; ++seed) uses.add(selftest::program_case(seed).program);
  CHECK(uses.ops.size() == instruction_table().size());
  CHECK(uses.spaces.size() == static_cast<std::size_t>(Space::BmOutput) + 1);
  CHECK(uses.flags.size() == 4);
  CHECK(uses.t.size() == 4);
  CHECK(uses.vlens == std::set<unsigned>{1, 2, 3, 4});
  for (const auto& [op, count] : uses.ops) CHECK(count > 10);
  for (const auto& [space, count] : uses.spaces) CHECK(count > 10);
}

TEST_CASE("operation cases reach every operation, pair of formats and width of the result") {
  std::set<std::tuple<Op, Width, Width, Width>> seen;
  std::map<unsigned, unsigned> vlens;
  unsigned predicated = 0, masks = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Instruction i = selftest::operation_case(seed).program.section(Section::Body)[0];
    const Arithmetic& slot = i.mul.used() ? i.mul : i.alu;
    const bool two = info(slot.op).operands == 2;
    seen.insert({slot.op, slot.a.width, two ? slot.b.width : Width::Long, slot.width});
    ++vlens[i.vlen];
    predicated += i.predicate.used ? 1 : 0;
    masks += slot.mask.flag != MaskFlag::None ? 1 : 0;
  }
  std::size_t all = 0;
  for (const OpInfo& row : instruction_table()) {
    if (row.unit != Unit::Transfer) all += row.operands == 2 ? 8 : 4;
  }
  CHECK(seen.size() == all);
  CHECK(vlens.size() == 4);
  CHECK(predicated > 50);
  CHECK(masks > 40);
}

TEST_CASE("loops use both formats, masks, transfers, integers and many iterations") {
  Uses uses;
  std::uint64_t longest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Case test = selftest::loop_case(seed);
    uses.add(test.program);
    longest = std::max(longest, test.run.iterations);
  }
  CHECK(longest >= 200);
  for (const Op op : {Op::Fmul, Op::Dmul, Op::Fadd, Op::Fsub, Op::Fmax, Op::Fmin, Op::Fcvt,
                      Op::Ishr, Op::Isub, Op::Iadd, Op::Ixor, Op::Bget, Op::Bput}) {
    INFO(info(op).mnemonic);
    CHECK(uses.ops[op] > 10);
  }
  CHECK(uses.flags[MaskFlag::Negative] > 10);
  CHECK(uses.t[TTarget::Whole] > 10);
}

TEST_CASE("most loops on moderate numbers stay in range") {
  const auto reference = make_engine("reference");
  unsigned moderate = 0, in_range = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Case test = selftest::loop_case(seed);
    const bool plain = test.what.find("moderate numbers") != std::string::npos &&
                       test.what.find("hard") == std::string::npos &&
                       test.what.find("fed") == std::string::npos &&
                       test.what.find("halves") == std::string::npos;
    if (!plain || test.run.iterations > 20) continue;
    ++moderate;
    const BlockState state = run_case(*reference, test);
    // Written words are at even addresses, or are lower halves of longs, which are not checked.
    bool ok = true;
    for (std::size_t row = 0; row < state.registers.size() / state.pes; row += 2) {
      for (std::size_t pe = 0; pe < state.pes; ++pe) {
        const unsigned before = exponent_of(test.state.registers[row * state.pes + pe]);
        const unsigned after = exponent_of(state.registers[row * state.pes + pe]);
        if (after == 2047 && before != 2047) ok = false;
      }
    }
    in_range += ok ? 1 : 0;
  }
  INFO(in_range << " of " << moderate);
  CHECK(moderate > 50);
  CHECK(in_range * 10 > moderate * 8);
}

TEST_CASE("words follow their distribution") {
  Rng rng(3);
  for (int n = 0; n < 2000; ++n) {
    const auto exponent = [&](OperandDistribution distribution) {
      return static_cast<unsigned>(selftest::random_word(rng, distribution).bits >> 60) & 2047;
    };
    const unsigned moderate = exponent(OperandDistribution::Moderate);
    CHECK((moderate >= 1023 - 8 && moderate <= 1023 + 8));
    const unsigned large = exponent(OperandDistribution::Large);
    CHECK((large >= 1023 + 960 && large <= 2046));
    const unsigned small = exponent(OperandDistribution::Small);
    CHECK((small >= 1 && small <= 122));
    CHECK((selftest::random_word(rng, OperandDistribution::Doubles).bits & 255) == 0);
  }
}

TEST_CASE("boundary words cover every exponent at which a representation ends") {
  Rng rng(5);
  std::set<unsigned> seen;
  for (int n = 0; n < 4000; ++n) {
    const Long word = selftest::random_word(rng, OperandDistribution::Edges);
    const unsigned exponent = static_cast<unsigned>(word.bits >> 60) & 2047;
    CHECK((exponent >= 1 && exponent <= 2046));
    seen.insert(exponent);
  }
  for (const unsigned exponent : {1U, 2U, 9U, 52U, 53U, 60U, 61U, 62U, 511U, 512U, 1535U, 2018U,
                                  2019U, 2044U, 2045U, 2046U}) {
    CAPTURE(exponent);
    CHECK(seen.count(exponent) == 1);
  }
}

TEST_CASE("products next to the limits of the range lie on the requested side") {
  Rng rng(4);
  for (const OperandDistribution distribution :
       {OperandDistribution::Moderate, OperandDistribution::Wide, OperandDistribution::Sparse}) {
    for (int n = 0; n < 500; ++n) {
      Flags flags = no_flags;
      const auto low =
          selftest::random_pair(rng, {distribution, selftest::Relation::ProductLow, true});
      CHECK_FALSE(is_zero(dmul(low.a, low.b, Width::Long, flags)));
      const auto high =
          selftest::random_pair(rng, {distribution, selftest::Relation::ProductHigh, false});
      const unsigned top =
          static_cast<unsigned>(dmul(high.a, high.b, Width::Long, flags).bits >> 60) & 2047;
      CHECK(top >= 2043);
    }
  }
}

}  // namespace gdr::test
