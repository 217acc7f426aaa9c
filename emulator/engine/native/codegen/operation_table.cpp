#include "emulator/engine/native/codegen/operation_table.hpp"

#include <algorithm>
#include <iterator>

namespace gdr::native {
namespace {

using jit::IntPredicate;
using jit::Op;
using jit::Predicate;

constexpr Comparison comparisons[] = {
    {NodeOp::Negative, Op::Compare, code_of(Predicate::Less), code_of(Predicate::NotLess)},
    {NodeOp::IsZero, Op::Compare, code_of(Predicate::Equal), code_of(Predicate::NotEqual)},
    {NodeOp::BitsNegative, Op::CompareSigned, code_of(IntPredicate::Less),
     code_of(IntPredicate::NotLess)},
    {NodeOp::BitsEqual, Op::CompareSigned, code_of(IntPredicate::Equal),
     code_of(IntPredicate::NotEqual)},
    {NodeOp::BitsAtLeast, Op::CompareUnsigned, code_of(IntPredicate::NotLess),
     code_of(IntPredicate::Less)}};

struct SimpleOp {
  NodeOp node;
  Op op;
};
constexpr SimpleOp simple_ops[] = {{NodeOp::Add, Op::Add},
                                   {NodeOp::Sub, Op::Sub},
                                   {NodeOp::Mul, Op::Mul},
                                   {NodeOp::Scale, Op::Scale},
                                   {NodeOp::Divide, Op::Divide},
                                   {NodeOp::Sqrt, Op::Sqrt},
                                   {NodeOp::FromInt, Op::IntToFloat},
                                   {NodeOp::RsqrtEstimate, Op::RsqrtEstimate},
                                   {NodeOp::RecipEstimate, Op::RecipEstimate},
                                   {NodeOp::RsqrtStep, Op::RsqrtStep},
                                   {NodeOp::RecipStep, Op::RecipStep},
                                   {NodeOp::And, Op::And},
                                   {NodeOp::Or, Op::Or},
                                   {NodeOp::Xor, Op::Xor},
                                   {NodeOp::IntAdd, Op::IntAdd},
                                   {NodeOp::IntSub, Op::IntSub},
                                   {NodeOp::SignedMax, Op::SignedMax},
                                   {NodeOp::SignedMin, Op::SignedMin},
                                   {NodeOp::UnsignedMax, Op::UnsignedMax},
                                   {NodeOp::UnsignedMin, Op::UnsignedMin}};

}  // namespace

const Comparison* comparison_of(NodeOp op) noexcept {
  const auto* const found = std::ranges::find(comparisons, op, &Comparison::node);
  return found == std::end(comparisons) ? nullptr : found;
}

Op simple_operation(NodeOp op) {
  const auto* const found = std::ranges::find(simple_ops, op, &SimpleOp::node);
  if (found == std::end(simple_ops)) throw Unsupported("an operation that has no instruction");
  return found->op;
}

Ref value_behind(const Graph& graph, Ref r) noexcept {
  while (is_free(graph[r].op)) r = graph[r].a;
  return r;
}

}  // namespace gdr::native
