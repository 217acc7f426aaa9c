#include "emulator/engine/vector/gpu/value_text.hpp"

#include <fmt/format.h>

#include <array>

namespace gdr::codegen {
namespace {

using jit::Op;

std::string comparison(jit::Predicate p, const std::string& a, const std::string& b) {
  switch (p) {
    case jit::Predicate::Equal:
      return a + " == " + b;
    case jit::Predicate::NotEqual:
      return a + " != " + b;
    case jit::Predicate::Less:
      return a + " < " + b;
    case jit::Predicate::LessEqual:
      return a + " <= " + b;
    case jit::Predicate::NotLess:
      return "!(" + a + " < " + b + ")";
    case jit::Predicate::Unordered:
      return "isunordered(" + a + ", " + b + ")";
  }
  throw UnsupportedLoop{"it has an unknown comparison"};
}
std::string signed_comparison(jit::IntPredicate p, const std::string& a, const std::string& b) {
  const auto of = [&](const char* op) { return "(long)" + a + " " + op + " (long)" + b; };
  switch (p) {
    case jit::IntPredicate::Equal:
      return of("==");
    case jit::IntPredicate::NotEqual:
      return of("!=");
    case jit::IntPredicate::Less:
      return of("<");
    case jit::IntPredicate::NotLess:
      return of(">=");
    case jit::IntPredicate::Greater:
      return of(">");
  }
  throw UnsupportedLoop{"it has an unknown comparison"};
}

}  // namespace

const char* type_name(ValueType type) {
  constexpr std::array names{"ulong", "double", "bool"};
  return names[static_cast<std::size_t>(type)];
}

std::string ValueText::as(StepId n, ValueType wanted) const {
  const Step& s = loop_.step(n);
  if (s.kind == Step::Kind::Constant) {
    if (wanted == ValueType::Flag) return s.bits != 0 ? "true" : "false";
    const std::string bits = fmt::format("{:#x}UL", s.bits);
    return wanted == ValueType::Number ? "as_double(" + bits + ")" : bits;
  }
  const std::string name = fmt::format("v{}", n);
  const ValueType own = loop_.types[n];
  if (own == wanted) return name;
  if (wanted == ValueType::Flag)
    return own == ValueType::Bits ? "((long)" + name + " < 0)"
                                  : "((long)as_ulong(" + name + ") < 0)";
  if (own == ValueType::Flag)
    return wanted == ValueType::Bits ? "ones(" + name + ")" : "as_double(ones(" + name + "))";
  return wanted == ValueType::Number ? "as_double(" + name + ")" : "as_ulong(" + name + ")";
}

std::string ValueText::compared(StepId n) const {
  if (loop_.is_constant(n) || loop_.tests.is_normal[n]) return number(n);
  return "flushed(" + bits(n) + ")";
}

std::string ValueText::expression(StepId n) const {
  const Step& s = loop_.step(n);
  const auto &a = s.in[0], &b = s.in[1], &c = s.in[2];
  const auto numbers = [&](const char* op) { return number(a) + " " + op + " " + number(b); };
  const auto logic = [&](const char* op) {
    const ValueType own = loop_.types[n];
    return as(a, own) + " " + op + " " + as(b, own);
  };
  switch (s.op) {
    case Op::Add:
      return numbers("+");
    case Op::Sub:
      return numbers("-");
    case Op::Mul:
      return numbers("*");
    case Op::Fma:
      return fmt::format("fma({}{}, {}, {}{})", (s.detail & jit::negate_product) != 0 ? "-" : "",
                         number(a), number(b), (s.detail & jit::negate_addend) != 0 ? "-" : "",
                         number(c));
    case Op::And:
      if (loop_.types[n] == ValueType::Bits && loop_.types[a] == ValueType::Flag)
        return fmt::format("v{} ? {} : 0UL", a, bits(b));
      if (loop_.types[n] == ValueType::Bits && loop_.types[b] == ValueType::Flag)
        return fmt::format("v{} ? {} : 0UL", b, bits(a));
      return logic("&");
    case Op::AndNot:
      if (loop_.types[n] == ValueType::Bits && loop_.types[a] == ValueType::Flag)
        return fmt::format("v{} ? 0UL : {}", a, bits(b));
      return (loop_.types[n] == ValueType::Flag ? "!" : "~") + as(a, loop_.types[n]) + " & " +
             as(b, loop_.types[n]);
    case Op::Or:
      if (c != no_step) throw UnsupportedLoop{"it has a masked operation on bits"};
      return logic("|");
    case Op::Xor:
      if (const StepId x = loop_.negated_by(s); x != no_step) return "-" + number(x);
      return logic("^");
    case Op::IntAdd:
      return bits(a) + " + " + bits(b);
    case Op::IntSub:
      return bits(a) + " - " + bits(b);
    case Op::ShiftLeft:
      return fmt::format("{} << {}", bits(a), s.detail);
    case Op::ShiftRight:
      if (s.detail == 63 && loop_.types[a] == ValueType::Flag)
        return fmt::format("v{} ? 1UL : 0UL", a);
      return fmt::format("{} >> {}", bits(a), s.detail);
    case Op::ShiftLeftBy:
      return "shifted_left(" + bits(a) + ", " + bits(b) + ")";
    case Op::ShiftRightBy:
      return "shifted_right(" + bits(a) + ", " + bits(b) + ")";
    case Op::Select:
      return fmt::format("{} ? {} : {}", as(a, ValueType::Flag), as(b, loop_.types[n]),
                         as(c, loop_.types[n]));
    case Op::Compare:
      if (const StepId x = compared_with_zero(s); x != no_step)
        return fmt::format("upper({}) {} 0u", number(x),
                           s.detail == static_cast<int>(jit::Predicate::Equal) ? "==" : "!=");
      return comparison(static_cast<jit::Predicate>(s.detail), compared(a), compared(b));
    case Op::CompareSigned:
      if (const StepId x = is_power_of_two(s); x != no_step)
        return "(" + bits(x) + " << 12) == 0UL";
      return signed_comparison(static_cast<jit::IntPredicate>(s.detail), bits(a), bits(b));
    default:
      throw UnsupportedLoop{"it has an operation without a GPU instruction"};
  }
}

StepId ValueText::compared_with_zero(const Step& s) const {
  const auto predicate = static_cast<jit::Predicate>(s.detail);
  const bool asks = s.op == Op::Compare &&
                    (predicate == jit::Predicate::Equal || predicate == jit::Predicate::NotEqual);
  const bool zero =
      asks && loop_.is_constant(s.in[1]) && (loop_.step(s.in[1]).bits & ~sign_bit) == 0;
  return zero && !loop_.is_constant(s.in[0]) && loop_.tests.is_normal[s.in[0]] ? s.in[0] : no_step;
}

StepId ValueText::asked_for_size(const Step& s) const {
  if (s.op != Op::Compare || s.detail != static_cast<int>(jit::Predicate::NotLess)) return no_step;
  const Step &size = loop_.step(s.in[0]), &limit = loop_.step(s.in[1]);
  const bool asks = limit.kind == Step::Kind::Constant && limit.bits == 0x7ff0000000000000 &&
                    TracedLoop::is_operation(size) && size.op == Op::And &&
                    loop_.is_constant(size.in[1]) && loop_.step(size.in[1]).bits == ~sign_bit;
  return asks ? size.in[0] : no_step;
}

StepId ValueText::is_power_of_two(const Step& s) const {
  if (static_cast<jit::IntPredicate>(s.detail) != jit::IntPredicate::Equal) return no_step;
  const auto masked = [&](StepId n, std::uint64_t mask) {
    const Step& m = loop_.step(n);
    const bool is = TracedLoop::is_operation(m) && m.op == Op::And && loop_.is_constant(m.in[1]) &&
                    loop_.step(m.in[1]).bits == mask;
    return is ? m.in[0] : no_step;
  };
  const StepId x = masked(s.in[0], 0x7ff0000000000000), y = masked(s.in[1], 0x7fffffffffffffff);
  return x == y ? x : no_step;
}

std::string ValueText::is_nonzero(StepId n) const {
  if (loop_.types[n] == ValueType::Number)
    return loop_.tests.is_normal[n] ? fmt::format("(upper(v{}) != 0u)", n)
                                    : fmt::format("(v{} != 0.0)", n);
  return "((" + bits(n) + " << 1) != 0UL)";
}

}  // namespace gdr::codegen
