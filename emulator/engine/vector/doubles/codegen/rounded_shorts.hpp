// Steps of a trace that round a number to a short.
#pragma once

#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// Finds x c - (x c - x), which is x rounded to a short (round_short), among the steps of a trace.
class RoundedShorts {
 public:
  explicit RoundedShorts(const Trace& trace);

  /// The x that an Fma rounds, for steps of one level; no_step for others.
  StepId rounded_by(StepId n) const;
  /// Whether only a step that rounds reads this one, its x c - x.
  bool is_inner(StepId n) const { return is_inner_[n]; }
  /// Whether a step is never -0: squares, and constants without a sign. A sum or a negative
  /// constant may be: tiny ones are flushed to the zero of their sign.
  bool is_never_minus_zero(StepId n) const;

 private:
  bool is_difference(StepId n, StepId a, StepId b) const;

  const std::vector<Step>& steps_;
  std::vector<std::uint32_t> readers_;  ///< uses of each step
  std::vector<bool> is_inner_;          ///< whether each step is part of another one
};

}  // namespace gdr::codegen
