#include "emulator/engine/vector/gpu/loop_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emulator/engine/vector/gpu/accumulator.hpp"
#include "emulator/engine/vector/gpu/bounds.hpp"
#include "emulator/engine/vector/gpu/failure_text.hpp"
#include "emulator/engine/vector/gpu/step_order.hpp"
#include "emulator/engine/vector/gpu/sum_text.hpp"
#include "emulator/engine/vector/gpu/text_lines.hpp"
#include "emulator/engine/vector/gpu/traced_loop.hpp"
#include "emulator/engine/vector/gpu/value_text.hpp"
#include "emulator/host/gpu/few_registers.hpp"

namespace gdr::codegen {
namespace {

using jit::Op;

/// Words of a group are loaded so many steps before the first one that reads them: all at once,
/// long loops spill registers.
constexpr std::size_t loads_ahead = 48;

/// A longer loop asks for few registers: one of the library's kernels, the next one has 2900 lines.
constexpr std::ptrdiff_t max_lines_at_once = 4000;

class LoopEmitter {
 public:
  explicit LoopEmitter(Trace trace) : loop_(prepare_loop(std::move(trace))) {}

  LoopText run() {
    made_.carried = static_cast<std::uint32_t>(loop_.carried.size());
    made_.kept = static_cast<std::uint32_t>(loop_.kept_words());
    made_.sources = sources();
    made_.loop = loop();
    made_.rows = loop_.rows;
    made_.results = loop_.result_rows;
    return std::move(made_);
  }

 private:
  std::string bits(StepId n) const { return text_of_.bits(n); }
  /// Before the loop: what iterations do not change, and the tests of what they select from it.
  void fixed_steps() {
    std::vector<StepId> computed;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      if (loop_.is_constant(n) || !loop_.tests.is_fixed[n]) continue;
      if (loop_.is_read(n))
        out_.line("const ulong v{} = f{};", n, loop_.row_of[n]);
      else
        computed.push_back(n);
    }
    operations(computed, true);
    failures_.test_selected_values();
  }
  void operation(StepId n) {
    const Step& s = loop_.step(n);
    if (is_sum_of_device(s)) return sums_.sum_of_device(n);
    if (s.op == Op::Collect) return failures_.collect(s);
    out_.line("const {} v{} = {};", type_name(loop_.types[n]), n, text_of_.expression(n));
  }
  void operations(const std::vector<StepId>& steps, bool in_loop) {
    const StepLists lists = step_lists(loop_, steps);
    std::vector<StepId> order;
    for (const std::vector<StepId>& list : lists)
      order.insert(order.end(), list.begin(), list.end());
    std::size_t done = 0, loaded = 0;
    const auto load_ahead = [&](std::size_t next) {
      if (loaded_.empty()) return;
      for (; loaded < std::min(order.size(), done + next + loads_ahead); ++loaded)
        for (const StepId in : loop_.step(order[loaded]).in)
          if (in != no_step) load(in);
    };
    for (const std::vector<StepId>& list : lists) {
      const bool branch = !list.empty() && may_branch(loop_, list.front());
      if (branch) {
        load_ahead(list.size());
        sums_.sums_with_branch(list);
      }
      for (const StepId n : list) {
        if (!branch) {
          load_ahead(1);
          operation(n);
        }
        if (loop_.step(n).op != Op::Collect) failures_.test(n, in_loop);
        ++done;
      }
    }
  }
  std::string sources() {
    out_.text = failure_functions;
    out_.text += accumulator_functions;
    out_.line(
        "__kernel void run(__global const ulong* restrict words, __global ulong* restrict kept,");
    out_.line("                  __global uint* restrict failures, ulong first, ulong groups,");
    out_.line("                  ulong group_words) {{");
    out_.line("const ulong group = get_global_id(0);");
    out_.line("if (group >= groups) return;");
    out_.line("words += group * group_words;");
    out_.line("kept += (first + group) * {};", loop_.kept_words());
    failures_.begin();
    std::vector<StepId> computed;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      const Step& s = loop_.step(n);
      if (s.level != Level::Iteration || loop_.is_constant(n)) continue;
      if (!loop_.is_read(n)) {
        computed.push_back(n);
        continue;
      }
      out_.line("const ulong v{} = words[{}];", n, s.bits / sizeof(std::uint64_t));
      failures_.test(n, false);
    }
    operations(computed, false);
    for (std::size_t k = 0; k < loop_.kept.size(); ++k)
      out_.line("kept[{}] = {};", k, bits(loop_.kept[k]));
    failures_.end("failures");
    out_.line("}}");
    return std::move(out_.text);
  }

  /// The steps of an iteration.
  void iteration() {
    loaded_.assign((loop_.kept.size() + 1) / 2, false);
    std::vector<StepId> computed;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      if (loop_.step(n).level == Level::Iteration || loop_.tests.is_fixed[n]) continue;
      if (!loop_.is_read(n)) {
        computed.push_back(n);
        continue;
      }
      if (is_accumulator_row(loop_.row_of[n])) continue;
      out_.line("const ulong v{} = r{};", n, loop_.row_of[n]);
      failures_.test(n, true);
    }
    if (!loop_.accumulators.empty()) out_.line("uint away;");
    operations(computed, true);
    for (const CarriedRow& row : loop_.carried) load(row.out);
    for (const StepId n : loop_.results) load(n);
    for (const CarriedRow& row : loop_.carried)
      if (!is_accumulator_row(loop_.row_of[row.in]))
        out_.line("r{} = {};", loop_.row_of[row.in], bits(row.out));
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      out_.line("o{} = {};", k, bits(loop_.results[k]));
  }
  /// A word of the group, with the one beside it, unless it is there.
  void load(StepId n) {
    if (loop_.is_constant(n) || loop_.step(n).level != Level::Iteration) return;
    const std::size_t pair = loop_.slot[n] / 2;
    if (loaded_[pair]) return;
    loaded_[pair] = true;
    out_.line("const ulong2 g{0} = group[{0}];", pair);
    for (std::size_t k = 2 * pair; k < std::min(loop_.kept.size(), 2 * pair + 2); ++k)
      out_.line("const {} v{} = {};", type_name(loop_.types[loop_.kept[k]]), loop_.kept[k],
                from_bits(fmt::format("g{}.{}", pair, k % 2 == 0 ? 'x' : 'y'),
                          loop_.types[loop_.kept[k]]));
  }
  bool is_accumulator_row(std::uint32_t row) const {
    return std::ranges::any_of(loop_.accumulators, [&](const Accumulator& a) {
      return row == loop_.row_of[loop_.carried[a.head].in] ||
             row == loop_.row_of[loop_.carried[a.tail].in];
    });
  }
  static std::string from_bits(const std::string& text, ValueType type) {
    if (type == ValueType::Number) return "as_double(" + text + ")";
    return type == ValueType::Flag ? text + " != 0UL" : text;
  }

  /// Rows of a block are at constant distances, so that the loop does not keep their addresses.
  std::size_t threads_of_block() const {
    return std::size_t{loop_.trace.row_bytes} / sizeof(std::uint64_t) * loop_.trace.elements;
  }
  std::size_t word_of_row(std::size_t row) const { return row * threads_of_block(); }

  std::string loop() {
    out_.text = failure_functions;
    out_.text += accumulator_functions;
    out_.line("// A thread has {}.",
              loop_.trace.elements > 1 ? "one element of a PE" : "all elements of a PE");
    out_.line("__kernel void run(__global ulong* restrict rows, __global ulong* restrict results,");
    out_.line("                  __global const ulong* restrict kept,");
    out_.line(
        "                  __global const ulong* restrict runs, __global uint* restrict failures,");
    out_.line("                  ulong threads, ulong begin, ulong iterations) {{");
    out_.line("const ulong thread = get_global_id(0);");
    out_.line("if (thread >= threads) return;");
    out_.line("const uint block = (uint)(thread / {0}), own = (uint)(thread % {0});",
              threads_of_block());
    out_.line("if (begin >= runs[2 * block + 1]) return;");
    out_.line("uint remaining = (uint)min(runs[2 * block + 1] - begin, iterations);");
    out_.line("rows += (ulong)block * {} + own;", word_of_row(loop_.rows.size()));
    out_.line("results += (ulong)block * {} + own;", word_of_row(loop_.result_rows.size()));
    out_.line("__global const ulong2* restrict group = (__global const ulong2*)kept +");
    out_.line("                                        (runs[2 * block] + begin) * {};",
              loop_.kept_words() / 2);
    failures_.begin();
    for (std::size_t r = 0; r < loop_.rows.size(); ++r)
      out_.line("{}ulong {}{} = rows[{}];", r < loop_.carried.size() ? "" : "const ",
                r < loop_.carried.size() ? 'r' : 'f', r, word_of_row(r));
    for (std::size_t k = 0; k < loop_.results.size(); ++k) out_.line("ulong o{} = 0UL;", k);
    failures_.test_rows();
    fixed_steps();
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k)
      out_.line("accumulator a{} = begin_sum(as_double(r{}), as_double(r{}));", k,
                loop_.row_of[loop_.carried[loop_.accumulators[k].head].in],
                loop_.row_of[loop_.carried[loop_.accumulators[k].tail].in]);
    out_.line("while (remaining != 0u) {{");
    out_.line("uint left = min({}u, remaining);", iterations_between_tests);
    out_.line("remaining -= left;");
    out_.line("for (; left != 0u; --left, group += {}) {{", loop_.kept_words() / 2);
    iteration();
    out_.line("}}");
    for (const CarriedRow& row : loop_.carried)
      if (row.sum && !is_accumulator_row(loop_.row_of[row.in]))
        out_.line("largest_sum = max(largest_sum, upper(as_double(r{})));", loop_.row_of[row.in]);
    // The tail of an accumulator is far smaller.
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k)
      out_.line("largest_sum = max(largest_sum, upper(a{}.h));", k);
    out_.line("}}");
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k) {
      const Accumulator& a = loop_.accumulators[k];
      out_.line("r{} = as_ulong(head_of(a{}));", loop_.row_of[loop_.carried[a.head].in], k);
      out_.line("r{} = as_ulong(tail_of(a{}));", loop_.row_of[loop_.carried[a.tail].in], k);
    }
    for (std::size_t r = 0; r < loop_.carried.size(); ++r)
      out_.line("rows[{}] = r{};", word_of_row(r), r);
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      out_.line("results[{}] = o{};", word_of_row(k), k);
    // What leaves the loop is finite.
    for (const CarriedRow& row : loop_.carried)
      if (loop_.tests.is_normal[row.out])
        out_.line("largest_sum = max(largest_sum, upper(as_double(r{})));", loop_.row_of[row.in]);
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      if (loop_.tests.is_normal[loop_.results[k]])
        out_.line("largest_sum = max(largest_sum, upper(as_double(o{})));", k);
    failures_.end("failures + block");
    out_.line("}}");
    const bool is_long = std::ranges::count(out_.text, '\n') > max_lines_at_once;
    return (is_long ? std::string(gpu::few_registers) : "") + std::move(out_.text);
  }

  TracedLoop loop_;
  const ValueText text_of_{loop_};
  TextLines out_;
  FailureText failures_{loop_, text_of_, out_};
  SumText sums_{loop_, text_of_, out_};
  LoopText made_;
  std::vector<bool> loaded_;  ///< pairs of words of a group, by the text of an iteration so far
};

}  // namespace

LoopText loop_text(Trace trace) { return LoopEmitter(std::move(trace)).run(); }

}  // namespace gdr::codegen
