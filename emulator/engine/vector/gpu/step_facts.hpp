// What a loop's steps are, regardless of their numbers: for the analysis of bounds (bounds.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/gpu/bounds.hpp"

namespace gdr::codegen {

/// Properties of the steps of a trace, by step.
class StepFacts {
 public:
  StepFacts(const Trace& trace, const std::vector<CarriedRow>& carried);

  static constexpr std::size_t none = ~std::size_t{0};
  const Step& step(StepId n) const { return steps_[n]; }
  StepId count() const { return static_cast<StepId>(steps_.size()); }
  /// The number of the carried row that a step reads, or none.
  std::size_t carried_of(StepId n) const { return carried_of_[n]; }
  bool is_constant(StepId n) const { return steps_[n].kind == Step::Kind::Constant; }
  /// The same in all iterations.
  bool is_fixed(StepId n) const { return is_fixed_[n]; }
  const std::vector<bool>& fixed() const { return is_fixed_; }
  /// As a fixed one from the second iteration on.
  bool becomes_fixed(StepId n) const {
    const std::size_t c = carried_of_[n];
    return is_fixed_[n] || (c != none && is_fixed_[carried_[c].out]);
  }
  static bool is_arithmetic(const Step& s);
  /// A result of floating-point operations, also one that was selected or carried.
  bool is_number(StepId n) const { return is_number_[n]; }
  bool is_number_or_constant(StepId n) const { return is_number_[n] || is_constant(n); }
  /// A value that floating-point operations use, perhaps after a selection or in a later iteration.
  /// Others, such as the least distance so far, may be of any size.
  bool is_operand(StepId n) const { return is_operand_[n]; }
  /// A value whose infinities and NaN would not be noticed: an operand of others than
  /// floating-point operations. Where a comparison that is true of them ends up in the set of
  /// failures, they are.
  bool escapes(StepId n) const { return escapes_[n]; }
  /// A value of the program for sources that the loop's threads read.
  bool is_read_by_threads(StepId n) const { return is_read_by_threads_[n]; }

  /// The operand that an operation on bits leaves a number of nearly the same size with the same
  /// unit, or a zero.
  StepId same_but_for_low_bits(const Step& s) const;
  /// Whether an operation on bits selects a number or zero.
  bool selects(const Step& s) const {
    return (s.op == jit::Op::And || s.op == jit::Op::AndNot) &&
           (is_flag(s.in[0]) || is_flag(s.in[1]));
  }
  bool has_sign_only(StepId n) const;

 private:
  void find_fixed();
  void find_numbers();
  void find_operands();
  void find_escapes(const Trace& trace);
  void find_read_by_threads(const Trace& trace);
  std::vector<StepId> passed_on(StepId n) const;
  bool keeps_number(StepId n) const;
  bool is_flag(StepId n) const;
  bool is_last_bit(StepId n) const;

  const std::vector<Step>& steps_;
  const std::vector<CarriedRow>& carried_;
  std::vector<std::size_t> carried_of_;
  std::vector<bool> is_fixed_, is_number_, is_operand_, escapes_, is_read_by_threads_;
};

}  // namespace gdr::codegen
