// Sums that a GPU rounds as the machine does, as OpenCL C.
#pragma once

#include <span>
#include <string>

#include "emulator/engine/vector/gpu/text_lines.hpp"
#include "emulator/engine/vector/gpu/traced_loop.hpp"
#include "emulator/engine/vector/gpu/value_text.hpp"

namespace gdr::codegen {

/// Appends sums to a text.
class SumText {
 public:
  SumText(const TracedLoop& loop, const ValueText& text_of, TextLines& out)
      : loop_(loop), text_of_(text_of), out_(out) {}

  /// Rounded sums: a sum to nearest, rounded again to 25 bits, is right unless it is a tie there:
  /// any other number that it was rounded from is on the same side of every tie, a double. A tie
  /// is moved to the side of the sum's error. Terms of accumulators: accumulator.hpp. Before the
  /// branch are sums only: all other results would occupy registers in it.
  void sums_with_branch(std::span<const StepId> sums);
  /// A long that is no accumulator: both parts at once.
  void sum_of_device(StepId n);

 private:
  std::string begin_sums(std::span<const StepId> sums);
  void finish_sums(std::span<const StepId> sums);
  StepId negated_term(const Step& sum) const;

  const TracedLoop& loop_;
  const ValueText& text_of_;
  TextLines& out_;
};

}  // namespace gdr::codegen
