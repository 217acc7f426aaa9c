// A trace of all elements of a PE as one of a single element.
#include "emulator/engine/vector/gpu/split_elements.hpp"

#include <algorithm>
#include <vector>

#include "engine/trace_builder.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

using codegen::Level;
using codegen::RowStore;
using codegen::Step;
using codegen::StepId;
using codegen::Trace;
using jit::Op;

/// Numbers of the first rows of two strips, with a row for each element, and of a row for all.
constexpr std::uint32_t from = 0, to = 4, single = 8;
constexpr std::uint32_t row_bytes = 256;

void no_kernel(const DoublesOp& /*op*/, DoublesRun& /*run*/) {}

/// An operation on two elements: the strip `from` to the strip `to`.
DoublesOp operation_on_strips() {
  DoublesOp op;
  op.kernel = no_kernel;
  op.elements = 2;
  op.a = {from * row_bytes, 0, row_bytes};
  op.out = {to * row_bytes, 0, row_bytes};
  return op;
}

/// A trace of both elements.
struct Together : TraceBuilder {
  Together() : TraceBuilder{.level = Level::Lanes} {}
  std::optional<Trace> split() const {
    const std::vector<DoublesOp> ops{operation_on_strips()};
    return codegen::split_elements(ops, trace);
  }
};

/// What a row of a trace receives.
const Step& stored_in(const Trace& trace, std::uint32_t row) {
  const auto found = std::ranges::find(trace.stores, row * row_bytes, &RowStore::offset);
  REQUIRE(found != trace.stores.end());
  return trace.steps.at(found->value);
}

}  // namespace

TEST_CASE("elements that do the same become the steps of one") {
  Together both;
  const StepId factor = both.row(single);
  for (const std::uint32_t k : {0U, 1U})
    both.store(to + k, both.step(Op::Mul, both.row(from + k), factor));
  const std::optional<Trace> one = both.split();
  REQUIRE(one);
  CHECK(one->elements == 2);
  CHECK(one->steps.size() == 3);
  REQUIRE(one->stores.size() == 1);
  CHECK(one->stores[0].level == Level::Element);
  const Step& product = stored_in(*one, to);
  CHECK(product.op == Op::Mul);
  CHECK(product.level == Level::Element);
  CHECK(one->steps.at(product.in[0]).bits == from * row_bytes);
  CHECK(one->steps.at(product.in[0]).level == Level::Element);
  CHECK(one->steps.at(product.in[1]).bits == single * row_bytes);
  CHECK(one->steps.at(product.in[1]).level == Level::Lanes);
}

TEST_CASE("a row that all elements read and one step overwrites stays a row of lanes") {
  Together both;
  const StepId shared = both.row(single);
  both.store(single, both.step(Op::Add, shared, shared));
  for (const std::uint32_t k : {0U, 1U})
    both.store(to + k, both.step(Op::Add, both.row(from + k), shared));
  const std::optional<Trace> one = both.split();
  REQUIRE(one);
  CHECK(one->stores.size() == 2);
  CHECK(stored_in(*one, single).level == Level::Lanes);
  CHECK(stored_in(*one, to).level == Level::Element);
}

TEST_CASE("elements that do different things or exchange words are not split") {
  SECTION("different operations") {
    Together both;
    const StepId x = both.row(single);
    both.store(to, both.step(Op::Mul, both.row(from), x));
    both.store(to + 1, both.step(Op::Add, both.row(from + 1), x));
    CHECK_FALSE(both.split());
  }
  SECTION("another element's word") {
    Together both;
    const StepId first = both.row(from), second = both.row(from + 1);
    both.store(to, both.step(Op::Add, first, second));
    both.store(to + 1, both.step(Op::Add, second, first));
    CHECK_FALSE(both.split());
  }
  SECTION("only one element stores") {
    Together both;
    const StepId first = both.row(from);
    both.store(to, both.step(Op::Add, first, first));
    CHECK_FALSE(both.split());
  }
  SECTION("only one element is tested") {
    Together both;
    for (const std::uint32_t k : {0U, 1U}) {
      const StepId x = both.row(from + k);
      both.store(to + k, both.step(Op::Add, x, x));
    }
    both.step(Op::Collect, 1);
    CHECK_FALSE(both.split());
  }
}

TEST_CASE("a program of one element is not split") {
  Together alone;
  const StepId x = alone.row(from);
  alone.store(to, alone.step(Op::Add, x, x));
  DoublesOp op = operation_on_strips();
  op.elements = 1;
  CHECK_FALSE(codegen::split_elements(std::vector<DoublesOp>{op}, alone.trace));
}

}  // namespace gdr::test
