#include "emulator/engine/vector/gpu/sum_text.hpp"

#include <algorithm>
#include <vector>

#include "emulator/engine/vector/gpu/accumulator.hpp"

namespace gdr::codegen {

/// The sums to nearest, and the condition of the branch.
std::string SumText::begin_sums(std::span<const StepId> sums) {
  std::string rare;
  std::vector<std::string> heads(loop_.accumulators.size());  // before the next term
  for (const StepId n : sums) {
    const Step& s = loop_.step(n);
    if (s.kind == Step::Kind::RoundedSum) {
      out_.line("double s{} = {} + {};", n, text_of_.number(s.in[0]), text_of_.number(s.in[1]));
      rare += fmt::format("{}is_tie(s{})", rare.empty() ? "" : " | ", n);
    } else if (s.kind == Step::Kind::LongHead) {
      const std::size_t k = loop_.accumulator_of[n];
      if (std::ranges::all_of(heads, &std::string::empty)) out_.line("away = 0u;");
      if (heads[k].empty()) heads[k] = fmt::format("a{}.h", k);
      const StepId negated = negated_term(s);
      out_.line("double t{} = {};", n, text_of_.number(negated != no_step ? negated : s.in[2]));
      out_.line("double s{} = {} {} t{};", n, heads[k], negated != no_step ? '-' : '+', n);
      out_.line("away = max(away, leading(s{}) + a{}.place);", n, k);
      heads[k] = fmt::format("s{}", n);
    }
  }
  if (std::ranges::any_of(heads, [](const std::string& h) { return !h.empty(); }))
    rare += rare.empty() ? "away >= places" : " | (away >= places)";
  return rare;
}

void SumText::sums_with_branch(std::span<const StepId> sums) {
  const std::string rare = begin_sums(sums);
  out_.line("if ({}) {{", rare);
  for (const StepId n : sums) {
    const Step& s = loop_.step(n);
    if (s.kind == Step::Kind::RoundedSum)
      out_.line("s{0} = beside_tie({1}, {2}, s{0});", n, text_of_.number(s.in[0]),
                text_of_.number(s.in[1]));
    else if (s.kind == Step::Kind::LongHead)
      out_.line("a{0} = add_term(a{0}, {1});", loop_.accumulator_of[n], text_of_.number(s.in[2]));
  }
  // What follows adds nothing to these accumulators.
  for (const StepId n : sums)
    if (loop_.step(n).kind == Step::Kind::LongHead)
      out_.line("s{0} = a{1}.h, t{0} = 0.0;", n, loop_.accumulator_of[n]);
  out_.line("}}");
  finish_sums(sums);
}

/// The rounded values, and what accumulators keep of the terms.
void SumText::finish_sums(std::span<const StepId> sums) {
  for (const StepId n : sums) {
    if (loop_.step(n).kind == Step::Kind::RoundedSum) {
      out_.line("const double w{0} = fma(s{0}, 0x1p28, -s{0});", n);
      out_.line("const double v{0} = fma(s{0}, 0x1p28, -w{0});", n);
    } else if (loop_.step(n).kind == Step::Kind::LongHead) {
      if (negated_term(loop_.step(n)) != no_step)
        out_.line("a{0}.low += (a{0}.h - s{1}) - t{1};", loop_.accumulator_of[n], n);
      else
        out_.line("a{0}.low += t{1} - (s{1} - a{0}.h);", loop_.accumulator_of[n], n);
      out_.line("a{}.h = s{};", loop_.accumulator_of[n], n);
    }
  }
}

/// A negated term is subtracted: its negation would be an operation of its own.
StepId SumText::negated_term(const Step& sum) const {
  const Step& term = loop_.step(sum.in[2]);
  return TracedLoop::is_operation(term) && term.level != Level::Iteration ? loop_.negated_by(term)
                                                                          : no_step;
}

void SumText::sum_of_device(StepId n) {
  const Step& s = loop_.step(n);
  const auto is_other = [&](const Step& other) {
    return is_sum_of_device(other) && other.kind != s.kind && other.in == s.in;
  };
  const auto other = std::ranges::find_if(loop_.trace.steps, is_other);
  const auto m = static_cast<StepId>(other - loop_.trace.steps.begin());
  const bool both = other != loop_.trace.steps.end();
  if (both && m < n) return;
  const StepId head = s.kind == Step::Kind::LongHead ? n : m;
  out_.line("const accumulator l{} = add_carefully(unplaced({}, {}), {});", n,
            text_of_.number(s.in[0]), text_of_.number(s.in[1]), text_of_.number(s.in[2]));
  for (const StepId part : {n, m})
    if (part == n || both)
      out_.line("const double v{} = {}(l{});", part, part == head ? "head_of" : "tail_of", n);
  out_.line("wrong |= isnan(l{}.h);", n);
}

}  // namespace gdr::codegen
