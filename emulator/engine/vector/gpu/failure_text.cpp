#include "emulator/engine/vector/gpu/failure_text.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "emulator/engine/vector/gpu/loop_text.hpp"

namespace gdr::codegen {
namespace {

using jit::Op;

/// 2^exponent as bits without the sign.
std::uint64_t power(int exponent) { return static_cast<std::uint64_t>(1023 + exponent) << 53; }
std::string upper_half(int exponent) { return fmt::format("{:#x}u", power(exponent) >> 32); }
std::string outside(const std::string& bits, int least, int beyond) {
  return fmt::format("is_outside({}, {:#x}UL, {:#x}UL)", bits, power(least), power(beyond));
}

}  // namespace

const char* const failure_functions =
    R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define has_tail 1u
#define inexact 2u
bool is_outside(ulong x, ulong least, ulong beyond) {
  ulong size = x << 1;
  return size != 0UL && size - least >= beyond - least;
}
uint upper(double x) { return (uint)(as_ulong(x) >> 32) << 1; }
// The same, and not 0 unless all bits are.
uint upper_of_bits(ulong x) { return (uint)(x >> 32) << 1 | min((uint)x, 1u); }
double flushed(ulong x) {
  return as_double((x & 0x7ff0000000000000UL) != 0UL ? x : x & 0x8000000000000000UL);
}
ulong ones(bool x) { return x ? ~0UL : 0UL; }
ulong shifted_left(ulong a, ulong b) { return b < 64UL ? a << b : 0UL; }
ulong shifted_right(ulong a, ulong b) { return b < 64UL ? a >> b : 0UL; }
)";

void FailureText::begin() {
  out_.line("bool tailed = false, wrong = false;");
  out_.line("uint least = ~0u, min_tiny = ~0u, largest = 0u, largest_sum = 0u;");
}
void FailureText::end(const char* word) {
  out_.line("wrong |= least < {} - 1u | min_tiny < {} - 1u;", upper_half(min_factor),
            upper_half(min_tiny));
  out_.line("wrong |= largest >= {} | largest_sum >= {};", upper_half(size_tested),
            upper_half(size_of_sum));
  out_.line("if (tailed | wrong)");
  out_.line("  atomic_or({}, (tailed ? has_tail : 0u) | (wrong ? inexact : 0u));", word);
}

void FailureText::collect(const Step& s) {
  const char* const failure = s.detail == 0 ? "tailed" : "wrong";
  const StepId lanes = s.in[0];
  if (loop_.is_constant(lanes)) {
    if ((loop_.step(lanes).bits << 1) != 0) throw UnsupportedLoop{"it always fails"};
    return;
  }
  collect(lanes, failure, s.level);
}
/// Adds a value to a set of failures: part by part, which takes fewer instructions than bits.
void FailureText::collect(StepId n, const char* failure, Level level) {
  const Step& s = loop_.step(n);
  // The loop has no other steps of the program for sources than those that it reads.
  const bool has_parts =
      TracedLoop::is_operation(s) && (s.level != Level::Iteration || level == Level::Iteration);
  if (has_parts && s.op == Op::Or && loop_.types[n] == ValueType::Bits) {
    collect(s.in[0], failure, level);
    collect(s.in[1], failure, level);
  } else if (has_parts && s.op == Op::And && loop_.types[n] == ValueType::Bits &&
             (loop_.types[s.in[0]] == ValueType::Flag || loop_.types[s.in[1]] == ValueType::Flag)) {
    const bool first = loop_.types[s.in[0]] == ValueType::Flag;
    out_.line("{} |= v{} & {};", failure, s.in[first ? 0 : 1],
              text_of_.is_nonzero(s.in[first ? 1 : 0]));
  } else if (const StepId x = has_parts ? text_of_.asked_for_size(s) : no_step;
             x != no_step && failure == std::string_view("wrong")) {
    out_.line("largest_sum = max(largest_sum, upper({}));", text_of_.number(x));
  } else if (loop_.types[n] == ValueType::Flag) {
    out_.line("{} |= v{};", failure, n);
  } else {
    out_.line("{} |= {};", failure, text_of_.is_nonzero(n));
  }
}
void FailureText::test(StepId n, bool in_loop) {
  const std::uint8_t tests = loop_.tests.of_step[n];
  if ((tests & test_read) != 0 && !(in_loop && loop_.is_read(n)))
    out_.line("wrong |= {};", outside(text_of_.bits(n), min_read, size_of_read));
  if ((tests & test_bits) != 0 && !in_loop)
    out_.line("wrong |= {};", outside(text_of_.bits(n), min_tiny, size_tested));
  if ((tests & test_bits) != 0 && in_loop) {
    out_.line("const uint u{} = upper_of_bits({});", n, text_of_.bits(n));
    out_.line("{0} = min({0}, u{1} - 1u);", (tests & test_factor) != 0 ? "least" : "min_tiny", n);
    out_.line("largest = max(largest, u{});", n);
    return;
  }
  if ((tests & test_factor) != 0)
    out_.line("least = min(least, upper({}) - 1u);", text_of_.number(n));
  if ((tests & test_tiny) != 0)
    out_.line("min_tiny = min(min_tiny, upper({}) - 1u);", text_of_.number(n));
  if ((tests & test_size) != 0) out_.line("largest = max(largest, upper({}));", text_of_.number(n));
  if ((tests & test_selected) != 0) {
    const bool first = is_settled(loop_.step(n).in[1]);
    out_.line("wrong |= {}{} & bad{};", first ? "" : "!",
              text_of_.as(loop_.step(n).in[0], ValueType::Flag), n);
  }
}

/// A value that iterations do not change, or only the first one does.
bool FailureText::is_settled(StepId n) const {
  return loop_.tests.is_fixed[n] || carried_to(n) != no_step;
}
/// Of a row that every iteration overwrites with the same value: that value.
StepId FailureText::carried_to(StepId n) const {
  const auto row = std::ranges::find(loop_.carried, n, &CarriedRow::in);
  return row != loop_.carried.end() && loop_.tests.is_fixed[row->out] ? row->out : no_step;
}

void FailureText::test_rows() {
  // Later launches go on with numbers that the loop has tested.
  out_.line("if (begin == 0UL) {{");
  for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
    if (!loop_.is_read(n) || loop_.step(n).level == Level::Iteration) continue;
    if ((loop_.tests.of_step[n] & test_read) == 0) continue;
    const char name = loop_.row_of[n] < loop_.carried.size() ? 'r' : 'f';
    out_.line("wrong |= {};",
              outside(fmt::format("{}{}", name, loop_.row_of[n]), min_read, size_of_read));
  }
  out_.line("}}");
}

void FailureText::test_selected_values() {
  for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
    if ((loop_.tests.of_step[n] & test_selected) == 0) continue;
    const Step& s = loop_.step(n);
    const StepId x = is_settled(s.in[1]) ? s.in[1] : s.in[2];
    const StepId later = carried_to(x);
    const auto outside_of = [&](const std::string& bits) {
      return outside(bits, min_tiny, size_tested);
    };
    out_.line("const bool bad{} = {};", n,
              later == no_step ? outside_of(text_of_.bits(x))
                               : outside_of(fmt::format("r{}", loop_.row_of[x])) + " | " +
                                     outside_of(text_of_.bits(later)));
  }
}

}  // namespace gdr::codegen
