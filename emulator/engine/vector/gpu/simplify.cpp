#include "emulator/engine/vector/gpu/simplify.hpp"

#include <optional>

namespace gdr::codegen {
namespace {

using jit::Op;
constexpr std::uint64_t word_bits = 64;

std::optional<std::uint64_t> value(const Step& s, std::uint64_t a, std::uint64_t b) {
  switch (s.op) {
    case Op::And:
      return a & b;
    case Op::AndNot:
      return ~a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::IntAdd:
      return a + b;
    case Op::IntSub:
      return a - b;
    case Op::ShiftLeft:
      return a << s.detail;
    case Op::ShiftRight:
      return a >> s.detail;
    case Op::ShiftLeftBy:
      return b < word_bits ? a << b : 0;
    case Op::ShiftRightBy:
      return b < word_bits ? a >> b : 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

void simplify(Trace& trace) {
  const auto constant = [&](StepId n) -> std::optional<std::uint64_t> {
    if (n == no_step) return 0;
    const Step& s = trace.steps[n];
    if (s.kind != Step::Kind::Constant) return std::nullopt;
    return s.bits;
  };
  for (Step& s : trace.steps) {
    if (s.kind != Step::Kind::Operation || s.in[2] != no_step) continue;
    const auto a = constant(s.in[0]), b = constant(s.in[1]);
    if (const auto folded = a && b ? value(s, *a, *b) : std::nullopt) {
      s = Step{};
      s.bits = *folded;
    } else if (b && *b < word_bits && (s.op == Op::ShiftLeftBy || s.op == Op::ShiftRightBy)) {
      s.op = s.op == Op::ShiftLeftBy ? Op::ShiftLeft : Op::ShiftRight;
      s.detail = static_cast<std::uint8_t>(*b);
      s.in[1] = no_step;
    }
  }
}

}  // namespace gdr::codegen
