// Values of a traced loop as expressions in OpenCL C. Step n is the variable vN.
#pragma once

#include <string>

#include "emulator/engine/vector/gpu/traced_loop.hpp"

namespace gdr::codegen {

/// "ulong", "double" or "bool".
const char* type_name(ValueType type);

/// The loop must live longer. Functions that find no text throw UnsupportedLoop.
class ValueText {
 public:
  explicit ValueText(const TracedLoop& loop) : loop_(loop) {}

  /// A value, converted where its type is another one.
  std::string as(StepId n, ValueType wanted) const;
  std::string bits(StepId n) const { return as(n, ValueType::Bits); }
  std::string number(StepId n) const { return as(n, ValueType::Number); }
  /// An operation on its operands.
  std::string expression(StepId n) const;
  /// Signs do not count.
  std::string is_nonzero(StepId n) const;
  /// x, if a comparison asks whether x is infinite or NaN; else no_step.
  StepId asked_for_size(const Step& s) const;

 private:
  /// An operand of a comparison, which may be any bits: the machine and the host read a number with
  /// an exponent of 0 as zero.
  std::string compared(StepId n) const;
  /// x, if a comparison asks whether x is 0, and x is no subnormal: its upper half tells.
  StepId compared_with_zero(const Step& s) const;
  /// x, if a comparison asks whether x has its exponent only (TestedSteps::round_tail).
  StepId is_power_of_two(const Step& s) const;

  const TracedLoop& loop_;
};

}  // namespace gdr::codegen
