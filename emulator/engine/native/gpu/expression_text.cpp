#include "emulator/engine/native/gpu/expression_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "emulator/engine/native/gpu/scaled_roots.hpp"

namespace gdr::native {
namespace {

/// The text of an operation, whose operands are {0}, {1} and {2}.
struct OperationText {
  NodeOp op;
  const char* text;
};
constexpr OperationText operation_texts[] = {
    {NodeOp::Add, "{0} + {1}"},
    {NodeOp::IntAdd, "{0} + {1}"},
    {NodeOp::Sub, "{0} - {1}"},
    {NodeOp::IntSub, "{0} - {1}"},
    {NodeOp::Mul, "{0} * {1}"},
    {NodeOp::Divide, "{0} / {1}"},
    {NodeOp::Sqrt, "sqrt({0})"},
    {NodeOp::RsqrtEstimate, "rsqrt({0})"},
    {NodeOp::Max, "larger({0}, {1})"},
    {NodeOp::Min, "smaller({0}, {1})"},
    {NodeOp::Round, "as_number(round_to_short(as_bits({0})))"},
    {NodeOp::FromInt, "(number)as_signed({0})"},
    {NodeOp::ToInt, "to_int({0})"},
    {NodeOp::Select, "{0} ? {1} : {2}"},
    {NodeOp::AsBits, "as_bits({0})"},
    {NodeOp::AsNumber, "as_number({0})"},
    {NodeOp::And, "{0} & {1}"},
    {NodeOp::Or, "{0} | {1}"},
    {NodeOp::Xor, "{0} ^ {1}"},
    {NodeOp::ShiftLeft, "shifted_left({0}, {1})"},
    {NodeOp::ShiftRight, "shifted_right({0}, {1})"},
    {NodeOp::ShiftArith, "shifted_arithmetically({0}, {1})"},
    {NodeOp::SignedMax, "as_bits(max(as_signed({0}), as_signed({1})))"},
    {NodeOp::SignedMin, "as_bits(min(as_signed({0}), as_signed({1})))"},
    {NodeOp::UnsignedMax, "max({0}, {1})"},
    {NodeOp::UnsignedMin, "min({0}, {1})"},
    {NodeOp::Negative, "{0} < 0"},
    {NodeOp::IsZero, "{0} == 0"},
    {NodeOp::BitsNegative, "as_signed({0}) < 0"},
    {NodeOp::BitsEqual, "{0} == {1}"},
    {NodeOp::BitsAtLeast, "{0} >= {1}"},
    {NodeOp::Both, "{0} && {1}"}};

/// By Towards.
constexpr std::array truncations{"trunc", "rint", "floor"};

std::string fused_text(const Graph& g, const Node& node, const std::array<std::string, 3>& in) {
  if (const auto root = scaled_root(g, node))
    return fmt::format("scaled_root({}, {})", in[0],
                       root->scale != no_ref ? ValueText::operand(g, root->scale) : "1");
  return fmt::format("fma({}{}, {}, {}{})", (node.detail & fma_negate_product) != 0 ? "-" : "",
                     in[0], in[1], (node.detail & fma_negate_addend) != 0 ? "-" : "", in[2]);
}

std::string lookup_text(const CodeContext& context, const Node& node, const std::string& index) {
  const auto bytes = static_cast<std::uint32_t>(context.table(node).offset);
  return ValueText::loaded(
      node.kind, fmt::format("uniforms[{} + {}]", bytes / context.target.lane_bytes(), index));
}

}  // namespace

std::string expression_text(const CodeContext& context, const Graph& g, const Node& node) {
  if (is_leaf(node.op)) return ValueText(context).leaf(node);
  std::array<std::string, 3> in;
  std::ranges::transform(node.operands(), in.begin(),
                         [&](Ref r) { return ValueText::operand(g, r); });
  if (node.op == NodeOp::Fma) return fused_text(g, node, in);
  if (node.op == NodeOp::Truncate) return fmt::format("{}({})", truncations[node.detail], in[0]);
  if (node.op == NodeOp::Lookup) return lookup_text(context, node, in[0]);
  const auto* const found = std::ranges::find(operation_texts, node.op, &OperationText::op);
  if (found == std::end(operation_texts))
    throw Unsupported("it has an operation without a GPU instruction");
  return fmt::format(fmt::runtime(found->text), in[0], in[1], in[2]);
}

}  // namespace gdr::native
