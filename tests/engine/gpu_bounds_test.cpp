// Which steps of a loop the exact engine tests on a GPU (emulator/engine/vector/gpu/bounds.hpp).
#include <bit>
#include <string>
#include <vector>

#include "emulator/engine/vector/gpu/accumulator.hpp"
#include "emulator/engine/vector/gpu/bounds.hpp"
#include "emulator/engine/vector/gpu/loop_text.hpp"
#include "emulator/engine/vector/gpu/simplify.hpp"
#include "engine/trace_builder.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

using codegen::Level;
using codegen::Step;
using codegen::StepId;
using jit::Op;

/// A trace of one element, step by step.
struct Loop : TraceBuilder {
  StepId constant(std::uint64_t bits) {
    Step s;
    s.bits = bits;
    return add(s);
  }
  StepId constant(double x) { return constant(std::bit_cast<std::uint64_t>(x)); }
  StepId sum(Step::Kind kind, StepId a, StepId b, StepId c = codegen::no_step) {
    Step s;
    s.kind = kind;
    s.level = Level::Element;
    s.in = {a, b, c};
    return add(s);
  }
};

}  // namespace

TEST_CASE("sums over iterations are tested now and then, and their terms not at all") {
  Loop loop;
  const StepId sum = loop.row(0), x = loop.row(1);
  const StepId next = loop.step(Op::Add, sum, loop.step(Op::Mul, x, x));
  loop.store(0, next);
  std::vector<codegen::CarriedRow> carried{{sum, next, false}};
  const codegen::LoopTests tests = loop_tests(loop.trace, carried);
  CHECK(carried[0].sum);
  CHECK(tests.of_step[x] == codegen::test_read);
  CHECK(tests.of_step[sum] == codegen::test_read);
  for (StepId n = 0; n < loop.trace.steps.size(); ++n)
    if (n != x && n != sum) CHECK(tests.of_step[n] == 0);
}

TEST_CASE("a factor is tested where a product could be a subnormal number") {
  Loop loop;
  const StepId x = loop.row(0);
  std::vector<StepId> powers{x};
  for (int k = 1; k < 6; ++k) powers.push_back(loop.step(Op::Mul, powers.back(), x));
  loop.store(1, powers.back());
  std::vector<codegen::CarriedRow> carried;
  const codegen::LoopTests tests = loop_tests(loop.trace, carried);
  // Multiples of 2^-240, 2^-480, 2^-720, 2^-960, and the next would be too small.
  for (const int k : {1, 2}) CHECK(tests.of_step[powers[static_cast<std::size_t>(k)]] == 0);
  CHECK((tests.of_step[powers[3]] & (codegen::test_factor | codegen::test_tiny)) != 0);
}

TEST_CASE("a loop whose constants make subnormal numbers is refused") {
  for (const double tiny : {0x1p-900, 0x1p-1030}) {
    INFO(tiny);
    Loop loop;
    const StepId x = loop.row(0);
    loop.store(1, loop.step(Op::Mul, x, loop.constant(tiny)));
    std::vector<codegen::CarriedRow> carried;
    CHECK_FALSE(loop_tests(loop.trace, carried).suffice);
    CHECK_THROWS_AS(codegen::loop_text(loop.trace), codegen::UnsupportedLoop);
  }
}

TEST_CASE("a recurrence that multiplies is tested in every iteration") {
  Loop loop;
  const StepId x = loop.row(0);
  const StepId square = loop.step(Op::Mul, x, x);
  loop.store(0, square);
  std::vector<codegen::CarriedRow> carried{{x, square, false}};
  const codegen::LoopTests tests = loop_tests(loop.trace, carried);
  CHECK_FALSE(carried[0].sum);
  const int in_loop = tests.of_step[x] | tests.of_step[square];
  CHECK((in_loop & codegen::test_size) != 0);
  CHECK((in_loop & (codegen::test_factor | codegen::test_tiny)) != 0);
}

TEST_CASE("rounding to 25 bits enlarges no number's bounds much") {
  Loop loop;
  StepId x = loop.row(0);
  const StepId far = loop.constant(0x1p28);
  for (int k = 0; k < 20; ++k) {
    const StepId inner = loop.step(Op::Fma, x, far, x, jit::negate_addend);
    x = loop.step(Op::Fma, x, far, inner, jit::negate_addend);
  }
  const StepId bits = loop.step(Op::ShiftRight, x, codegen::no_step, codegen::no_step, 28);
  loop.store(1, bits);
  std::vector<codegen::CarriedRow> carried;
  const codegen::LoopTests tests = loop_tests(loop.trace, carried);
  for (StepId n = 1; n < loop.trace.steps.size(); ++n) CHECK(tests.of_step[n] == 0);
}

TEST_CASE("an infinity cannot iteration unnoticed into bits or comparisons") {
  for (const bool compared : {false, true}) {
    Loop loop;
    StepId x = loop.row(0);
    for (int k = 0; k < 4; ++k) x = loop.step(Op::Mul, x, x);
    const StepId one = loop.constant(1.0);
    const StepId used = compared ? loop.step(Op::Compare, x, one, codegen::no_step,
                                             static_cast<int>(jit::Predicate::Less))
                                 : loop.step(Op::Xor, x, one);
    loop.store(1, used);
    std::vector<codegen::CarriedRow> carried;
    const codegen::LoopTests tests = loop_tests(loop.trace, carried);
    unsigned limited = 0;
    for (const std::uint8_t t : tests.of_step) limited += (t & codegen::test_size) != 0 ? 1 : 0;
    CHECK(limited != 0);
  }
}

TEST_CASE("a value that is only compared and selected may be of any size") {
  // The least so far, which begins at the largest number.
  Loop loop;
  const StepId least = loop.row(0), x = loop.row(1);
  const StepId square = loop.step(Op::Mul, x, x);
  const StepId less = loop.step(Op::Compare, square, least, codegen::no_step,
                                static_cast<int>(jit::Predicate::Less));
  const StepId next = loop.step(Op::Select, less, square, least);
  loop.store(0, next);
  std::vector<codegen::CarriedRow> carried{{least, next, false}};
  const codegen::LoopTests tests = loop_tests(loop.trace, carried);
  CHECK(tests.of_step[least] == 0);
  CHECK(tests.of_step[next] == 0);
  CHECK_FALSE(tests.is_normal[least]);
  // Its subnormals are zeros to the machine.
  const std::string text = codegen::loop_text(loop.trace).loop;
  CHECK(text.find("< flushed(") != std::string::npos);
}

TEST_CASE("a loop that reads a part of what it stores is refused") {
  Loop loop;
  loop.trace.elements = 4;
  const StepId x = loop.row(0);
  loop.trace.stores.push_back({loop.step(Op::Add, x, x), loop.trace.row_bytes, Level::Lanes});
  CHECK_THROWS_AS(codegen::loop_text(loop.trace), codegen::UnsupportedLoop);
}

TEST_CASE(
    "a long that iterations add two terms to is an accumulator, unless something else reads it") {
  for (const bool is_read : {false, true}) {
    INFO(is_read);
    Loop loop;
    const StepId h = loop.row(0), l = loop.row(1), x = loop.row(2);
    const StepId square = loop.step(Op::Mul, x, x);
    const StepId h1 = loop.sum(Step::Kind::LongHead, h, l, x);
    const StepId l1 = loop.sum(Step::Kind::LongTail, h, l, x);
    const StepId h2 = loop.sum(Step::Kind::LongHead, h1, l1, square);
    const StepId l2 = loop.sum(Step::Kind::LongTail, h1, l1, square);
    loop.store(0, h2);
    loop.store(1, l2);
    if (is_read) loop.store(3, loop.step(Op::Mul, h1, x));
    std::vector<codegen::CarriedRow> carried{{h, h2, false}, {l, l2, false}};
    const codegen::LoopTests tests = loop_tests(loop.trace, carried);
    const auto found = codegen::find_accumulators(loop.trace, carried, tests);
    const std::string text = codegen::loop_text(loop.trace).loop;
    if (is_read) {
      CHECK(found.empty());
      CHECK(text.find("add_carefully(unplaced(") != std::string::npos);
    } else {
      REQUIRE(found.size() == 1);
      CHECK(found[0].heads.size() == 2);
      CHECK(carried[0].sum);
      // Both terms share a branch.
      const std::size_t branch = text.find("if (away >= places) {");
      REQUIRE(branch != std::string::npos);
      CHECK(text.find("if (away >= places) {", branch + 1) == std::string::npos);
    }
  }
}

TEST_CASE("rounded sums that do not depend on each other share a branch") {
  Loop loop;
  const StepId x = loop.row(0), y = loop.row(1), z = loop.row(2);
  const StepId a = loop.sum(Step::Kind::RoundedSum, x, y);
  const StepId square = loop.step(Op::Mul, a, a);
  const StepId b = loop.sum(Step::Kind::RoundedSum, x, z);
  const StepId c = loop.sum(Step::Kind::RoundedSum, square, b);
  const StepId sum = loop.row(4);
  const StepId d = loop.sum(Step::Kind::RoundedSum, c, sum);
  loop.store(4, d);
  const std::string text = codegen::loop_text(loop.trace).loop;
  std::size_t branches = 0;
  for (std::size_t at = 0; (at = text.find("if (is_tie(", at)) != std::string::npos; ++at)
    ++branches;
  CHECK(branches == 3);
}

TEST_CASE("a value that iterations do not change is tested once, where it is selected") {
  Loop loop;
  const StepId x = loop.row(0), word = loop.row(1), least = loop.row(2);
  const StepId sum = loop.row(3);
  const StepId square = loop.step(Op::Mul, x, x);
  const StepId less =
      loop.step(Op::Compare, sum, least, codegen::no_step, static_cast<int>(jit::Predicate::Less));
  const StepId chosen = loop.step(Op::Select, less, loop.step(Op::ShiftLeft, word), square);
  const StepId next = loop.step(Op::Add, sum, chosen);
  loop.store(3, next);
  std::vector<codegen::CarriedRow> carried{{sum, next, false}};
  const codegen::LoopTests tests = loop_tests(loop.trace, carried);
  CHECK(tests.of_step[chosen] == codegen::test_selected);
  CHECK(tests.is_fixed[word]);
  CHECK_FALSE(tests.is_fixed[chosen]);
}

TEST_CASE("operations on constants are folded") {
  Loop loop;
  const StepId x = loop.row(0);
  const StepId count = loop.step(Op::ShiftRight, loop.constant(std::uint64_t{3} << 28),
                                 codegen::no_step, codegen::no_step, 28);
  const StepId shifted = loop.step(Op::ShiftRightBy, x, count);
  loop.store(1, shifted);
  codegen::simplify(loop.trace);
  CHECK(loop.trace.steps[count].kind == Step::Kind::Constant);
  CHECK(loop.trace.steps[count].bits == 3);
  CHECK(loop.trace.steps[shifted].op == Op::ShiftRight);
  CHECK(loop.trace.steps[shifted].detail == 3);
}

}  // namespace gdr::test
