// The tests of a loop's numbers, and the set of its failures, as OpenCL C.
#pragma once

#include <string>

#include "emulator/engine/vector/gpu/text_lines.hpp"
#include "emulator/engine/vector/gpu/traced_loop.hpp"
#include "emulator/engine/vector/gpu/value_text.hpp"

namespace gdr::codegen {

/// The functions that the tests call (bounds.hpp), on the bits of a number without its sign. Those
/// in the loop look at the upper half.
extern const char* const failure_functions;

/// Appends tests to a text; they are collected in local variables and stored at the end.
class FailureText {
 public:
  FailureText(const TracedLoop& loop, const ValueText& text_of, TextLines& out)
      : loop_(loop), text_of_(text_of), out_(out) {}

  /// Declares the variables.
  void begin();
  /// Adds the failures to a word in memory.
  void end(const char* word);
  /// Adds what a step collects.
  void collect(const Step& s);
  /// The tests of a value. In the loop, tests of numbers look at halves only.
  void test(StepId n, bool in_loop);
  /// Before the loop: the tests of rows that threads read.
  void test_rows();
  /// Before the loop: the tests of values that iterations do not change, but select.
  void test_selected_values();

 private:
  void collect(StepId n, const char* failure, Level level);
  bool is_settled(StepId n) const;
  StepId carried_to(StepId n) const;

  const TracedLoop& loop_;
  const ValueText& text_of_;
  TextLines& out_;
};

}  // namespace gdr::codegen
