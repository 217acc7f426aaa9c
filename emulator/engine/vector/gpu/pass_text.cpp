#include "emulator/engine/vector/gpu/pass_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "emulator/engine/vector/gpu/accumulator.hpp"
#include "emulator/engine/vector/gpu/bounds.hpp"
#include "emulator/engine/vector/gpu/traced_loop.hpp"
#include "emulator/engine/vector/gpu/value_text.hpp"
#include "emulator/host/gpu/few_registers.hpp"

namespace gdr::codegen {
namespace {

using jit::Op;

/// The tests of bounds.hpp, on the bits of a number without its sign. Those in the loop look at the
/// upper half.
constexpr const char* prelude = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
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

/// 2^exponent as bits without the sign.
std::uint64_t power(int exponent) { return static_cast<std::uint64_t>(1023 + exponent) << 53; }
std::string upper_half(int exponent) { return fmt::format("{:#x}u", power(exponent) >> 32); }
std::string outside(const std::string& bits, int least, int beyond) {
  return fmt::format("is_outside({}, {:#x}UL, {:#x}UL)", bits, power(least), power(beyond));
}

/// With more values that wait at a time, loops whose sums share branches spill registers.
constexpr std::size_t max_waiting_values = 40;

/// Words of a group are loaded so many steps before the first one that reads them: all at once,
/// long loops spill registers.
constexpr std::size_t loads_ahead = 48;

/// A longer loop asks for few registers: one of the library's kernels, the next one has 2900 lines.
constexpr std::ptrdiff_t max_lines_at_once = 4000;

class Writer {
 public:
  explicit Writer(Trace trace) : loop_(prepare_loop(std::move(trace))) {}

  PassText run() {
    made_.carried = static_cast<std::uint32_t>(loop_.carried.size());
    made_.kept = static_cast<std::uint32_t>(loop_.kept_words());
    made_.sources = sources();
    made_.loop = loop();
    made_.rows = loop_.rows;
    made_.results = loop_.result_rows;
    return std::move(made_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  std::string bits(StepId n) const { return text_of_.bits(n); }
  std::string number(StepId n) const { return text_of_.number(n); }

  void collect(const Step& s) {
    const char* const failure = s.detail == 0 ? "tailed" : "wrong";
    const StepId lanes = s.in[0];
    if (loop_.is_constant(lanes)) {
      if ((loop_.step(lanes).bits << 1) != 0) throw UnsupportedPass{"it always fails"};
      return;
    }
    collect(lanes, failure, s.level);
  }
  /// Adds a value to a set of failures: part by part, which takes fewer instructions than bits.
  void collect(StepId n, const char* failure, Level level) {
    const Step& s = loop_.step(n);
    // The loop has no other steps of the program for sources than those that it reads.
    const bool has_parts =
        TracedLoop::is_operation(s) && (s.level != Level::Pass || level == Level::Pass);
    if (has_parts && s.op == Op::Or && loop_.types[n] == ValueType::Bits) {
      collect(s.in[0], failure, level);
      collect(s.in[1], failure, level);
    } else if (has_parts && s.op == Op::And && loop_.types[n] == ValueType::Bits &&
               (loop_.types[s.in[0]] == ValueType::Flag ||
                loop_.types[s.in[1]] == ValueType::Flag)) {
      const bool first = loop_.types[s.in[0]] == ValueType::Flag;
      line("{} |= v{} & {};", failure, s.in[first ? 0 : 1],
           text_of_.is_nonzero(s.in[first ? 1 : 0]));
    } else if (const StepId x = has_parts ? text_of_.asked_for_size(s) : no_step;
               x != no_step && failure == std::string_view("wrong")) {
      line("largest_sum = max(largest_sum, upper({}));", number(x));
    } else if (loop_.types[n] == ValueType::Flag) {
      line("{} |= v{};", failure, n);
    } else {
      line("{} |= {};", failure, text_of_.is_nonzero(n));
    }
  }
  /// The tests of a value. In the loop, tests of numbers look at halves only.
  void test(StepId n, bool in_loop) {
    const std::uint8_t tests = loop_.tests.of_step[n];
    if ((tests & test_read) != 0 && !(in_loop && loop_.is_read(n)))
      line("wrong |= {};", outside(bits(n), least_read, size_of_read));
    if ((tests & test_bits) != 0 && !in_loop)
      line("wrong |= {};", outside(bits(n), least_tiny, size_tested));
    if ((tests & test_bits) != 0 && in_loop) {
      line("const uint u{} = upper_of_bits({});", n, bits(n));
      line("{0} = min({0}, u{1} - 1u);", (tests & test_factor) != 0 ? "least" : "least_tiny", n);
      line("largest = max(largest, u{});", n);
      return;
    }
    if ((tests & test_factor) != 0) line("least = min(least, upper({}) - 1u);", number(n));
    if ((tests & test_tiny) != 0) line("least_tiny = min(least_tiny, upper({}) - 1u);", number(n));
    if ((tests & test_size) != 0) line("largest = max(largest, upper({}));", number(n));
    if ((tests & test_selected) != 0) {
      const bool first = is_settled(loop_.step(n).in[1]);
      line("wrong |= {}{} & bad{};", first ? "" : "!",
           text_of_.as(loop_.step(n).in[0], ValueType::Flag), n);
    }
  }
  /// A value that passes do not change, or only the first one does.
  bool is_settled(StepId n) const { return loop_.tests.is_fixed[n] || carried_to(n) != no_step; }
  /// Of a row that every pass overwrites with the same value: that value.
  StepId carried_to(StepId n) const {
    const auto row = std::ranges::find(loop_.carried, n, &CarriedRow::in);
    return row != loop_.carried.end() && loop_.tests.is_fixed[row->out] ? row->out : no_step;
  }
  /// Before the loop: what passes do not change, and the tests of what they select from it.
  void fixed_steps() {
    std::vector<StepId> computed;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      if (loop_.is_constant(n) || !loop_.tests.is_fixed[n]) continue;
      if (loop_.is_read(n))
        line("const ulong v{} = f{};", n, loop_.row_of[n]);
      else
        computed.push_back(n);
    }
    operations(computed, true);
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      if ((loop_.tests.of_step[n] & test_selected) == 0) continue;
      const Step& s = loop_.step(n);
      const StepId x = is_settled(s.in[1]) ? s.in[1] : s.in[2];
      const StepId later = carried_to(x);
      const auto outside_of = [&](const std::string& bits) {
        return outside(bits, least_tiny, size_tested);
      };
      line("const bool bad{} = {};", n,
           later == no_step
               ? outside_of(bits(x))
               : outside_of(fmt::format("r{}", loop_.row_of[x])) + " | " + outside_of(bits(later)));
    }
  }
  void operation(StepId n) {
    const Step& s = loop_.step(n);
    if (is_sum_of_device(s)) return sum_of_device(n);
    if (s.op == Op::Collect) return collect(s);
    line("const {} v{} = {};", type_name(loop_.types[n]), n, text_of_.expression(n));
  }
  /// A sum that a pass computes with few operations, unless a test asks for a branch.
  bool may_branch(StepId n) const {
    return loop_.step(n).kind == Step::Kind::RoundedSum ||
           loop_.accumulator_of[n] != TracedLoop::none;
  }
  /// Steps as lists in the order of the text: sums that may branch, which share a branch, after all
  /// that they depend on; and the steps between them. Few branches, but more values wait in
  /// registers.
  std::vector<std::vector<StepId>> with_sums_together(const std::vector<StepId>& steps) const {
    std::vector<unsigned> branches(loop_.trace.steps.size(), 0);  // that a step depends on
    std::vector<std::vector<StepId>> lists;
    for (const StepId n : steps) {
      unsigned before = 0;
      for (const StepId in : loop_.step(n).in)
        if (in != no_step) before = std::max(before, branches[in]);
      branches[n] = before + (loop_.step(n).kind == Step::Kind::RoundedSum ? 1 : 0);
      const std::size_t list = 2 * std::size_t{before} + (may_branch(n) ? 1 : 0);
      if (lists.size() <= list) lists.resize(list + 1);
      lists[list].push_back(n);
    }
    return lists;
  }
  /// The same in nearly the order of the trace, for long loops: rounded sums share a branch where
  /// they are close together, and the terms of accumulators take part in the next one.
  std::vector<std::vector<StepId>> in_traced_order(const std::vector<StepId>& steps) const {
    constexpr std::size_t close = 48;
    std::vector<bool> waits(loop_.trace.steps.size(), false);
    for (const StepId n : steps) waits[n] = true;
    const auto is_ready = [&](StepId n) {
      return std::ranges::none_of(loop_.step(n).in,
                                  [&](StepId in) { return in != no_step && waits[in]; });
    };
    std::vector<std::vector<StepId>> lists(1);
    std::vector<StepId> terms;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const StepId n = steps[k];
      if (!waits[n]) continue;
      if (loop_.accumulator_of[n] != TracedLoop::none) {
        terms.push_back(n);
      } else if (!may_branch(n)) {
        lists.back().push_back(n);
        waits[n] = false;
      } else {
        std::vector<StepId> sums;
        for (std::size_t m = k; m < std::min(steps.size(), k + close); ++m)
          if (loop_.step(steps[m]).kind == Step::Kind::RoundedSum && waits[steps[m]] &&
              is_ready(steps[m]))
            sums.push_back(steps[m]);
        for (const StepId sum : sums) waits[sum] = false;
        sums.insert(sums.end(), terms.begin(), terms.end());
        terms.clear();
        lists.push_back(std::move(sums));
        lists.emplace_back();
      }
    }
    lists.push_back(std::move(terms));
    return lists;
  }
  /// The most results of steps that are used later, at a time.
  std::size_t waiting_values(const std::vector<std::vector<StepId>>& lists) const {
    std::vector<unsigned> uses(loop_.trace.steps.size(), 0);
    for (const std::vector<StepId>& list : lists)
      for (const StepId n : list)
        for (const StepId in : loop_.step(n).in)
          if (in != no_step) ++uses[in];
    for (const CarriedRow& row : loop_.carried) ++uses[row.out];
    std::vector<bool> waits(loop_.trace.steps.size(), false);
    std::size_t waiting = 0, most = 0;
    for (const std::vector<StepId>& list : lists)
      for (const StepId n : list) {
        waits[n] = uses[n] != 0;
        waiting += waits[n] ? 1 : 0;
        most = std::max(most, waiting);
        for (const StepId in : loop_.step(n).in)
          if (in != no_step && --uses[in] == 0 && waits[in]) --waiting;
      }
    return most;
  }
  void operations(const std::vector<StepId>& steps, bool in_loop) {
    std::vector<std::vector<StepId>> lists = with_sums_together(steps);
    if (waiting_values(lists) > max_waiting_values) lists = in_traced_order(steps);
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
      const bool branch = !list.empty() && may_branch(list.front());
      if (branch) {
        load_ahead(list.size());
        sums_with_branch(list);
      }
      for (const StepId n : list) {
        if (!branch) {
          load_ahead(1);
          operation(n);
        }
        if (loop_.step(n).op != Op::Collect) test(n, in_loop);
        ++done;
      }
    }
  }
  /// Rounded sums: a sum to nearest, rounded again to 25 bits, is right unless it is a tie there:
  /// any other number that it was rounded from is on the same side of every tie, a double. A tie
  /// is moved to the side of the sum's error. Terms of accumulators: accumulator.hpp. Before the
  /// branch are sums only: all other results would occupy registers in it.
  void sums_with_branch(std::span<const StepId> sums) {
    std::string rare;
    std::vector<std::string> heads(loop_.accumulators.size());  // before the next term
    for (const StepId n : sums) {
      const Step& s = loop_.step(n);
      if (s.kind == Step::Kind::RoundedSum) {
        line("double s{} = {} + {};", n, number(s.in[0]), number(s.in[1]));
        rare += fmt::format("{}is_tie(s{})", rare.empty() ? "" : " | ", n);
      } else if (s.kind == Step::Kind::LongHead) {
        const std::size_t k = loop_.accumulator_of[n];
        if (std::ranges::all_of(heads, &std::string::empty)) line("away = 0u;");
        if (heads[k].empty()) heads[k] = fmt::format("a{}.h", k);
        const StepId negated = negated_term(s);
        line("double t{} = {};", n, number(negated != no_step ? negated : s.in[2]));
        line("double s{} = {} {} t{};", n, heads[k], negated != no_step ? '-' : '+', n);
        line("away = max(away, leading(s{}) + a{}.place);", n, k);
        heads[k] = fmt::format("s{}", n);
      }
    }
    if (std::ranges::any_of(heads, [](const std::string& h) { return !h.empty(); }))
      rare += rare.empty() ? "away >= places" : " | (away >= places)";
    line("if ({}) {{", rare);
    for (const StepId n : sums) {
      const Step& s = loop_.step(n);
      if (s.kind == Step::Kind::RoundedSum)
        line("s{0} = beside_tie({1}, {2}, s{0});", n, number(s.in[0]), number(s.in[1]));
      else if (s.kind == Step::Kind::LongHead)
        line("a{0} = add_term(a{0}, {1});", loop_.accumulator_of[n], number(s.in[2]));
    }
    // What follows adds nothing to these accumulators.
    for (const StepId n : sums)
      if (loop_.step(n).kind == Step::Kind::LongHead)
        line("s{0} = a{1}.h, t{0} = 0.0;", n, loop_.accumulator_of[n]);
    line("}}");
    for (const StepId n : sums) {
      if (loop_.step(n).kind == Step::Kind::RoundedSum) {
        line("const double w{0} = fma(s{0}, 0x1p28, -s{0});", n);
        line("const double v{0} = fma(s{0}, 0x1p28, -w{0});", n);
      } else if (loop_.step(n).kind == Step::Kind::LongHead) {
        if (negated_term(loop_.step(n)) != no_step)
          line("a{0}.low += (a{0}.h - s{1}) - t{1};", loop_.accumulator_of[n], n);
        else
          line("a{0}.low += t{1} - (s{1} - a{0}.h);", loop_.accumulator_of[n], n);
        line("a{}.h = s{};", loop_.accumulator_of[n], n);
      }
    }
  }
  /// A negated term is subtracted: its negation would be an operation of its own.
  StepId negated_term(const Step& sum) const {
    const Step& term = loop_.step(sum.in[2]);
    return TracedLoop::is_operation(term) && term.level != Level::Pass ? loop_.negated_by(term)
                                                                       : no_step;
  }
  /// A long that is no accumulator: both parts at once.
  void sum_of_device(StepId n) {
    const Step& s = loop_.step(n);
    const auto is_other = [&](const Step& other) {
      return is_sum_of_device(other) && other.kind != s.kind && other.in == s.in;
    };
    const auto other = std::ranges::find_if(loop_.trace.steps, is_other);
    const auto m = static_cast<StepId>(other - loop_.trace.steps.begin());
    const bool both = other != loop_.trace.steps.end();
    if (both && m < n) return;
    const StepId head = s.kind == Step::Kind::LongHead ? n : m;
    line("const accumulator l{} = add_carefully(unplaced({}, {}), {});", n, number(s.in[0]),
         number(s.in[1]), number(s.in[2]));
    for (const StepId part : {n, m})
      if (part == n || both)
        line("const double v{} = {}(l{});", part, part == head ? "head_of" : "tail_of", n);
    line("wrong |= isnan(l{}.h);", n);
  }
  void begin_failures() {
    line("bool tailed = false, wrong = false;");
    line("uint least = ~0u, least_tiny = ~0u, largest = 0u, largest_sum = 0u;");
  }
  void end_failures(const char* word) {
    line("wrong |= least < {} - 1u | least_tiny < {} - 1u;", upper_half(least_factor),
         upper_half(least_tiny));
    line("wrong |= largest >= {} | largest_sum >= {};", upper_half(size_tested),
         upper_half(size_of_sum));
    line("if (tailed | wrong)");
    line("  atomic_or({}, (tailed ? has_tail : 0u) | (wrong ? inexact : 0u));", word);
  }

  std::string sources() {
    text_ = prelude;
    text_ += accumulator_functions;
    line("__kernel void run(__global const ulong* restrict words, __global ulong* restrict kept,");
    line("                  __global uint* restrict failures, ulong first, ulong groups,");
    line("                  ulong group_words) {{");
    line("const ulong group = get_global_id(0);");
    line("if (group >= groups) return;");
    line("words += group * group_words;");
    line("kept += (first + group) * {};", loop_.kept_words());
    begin_failures();
    std::vector<StepId> computed;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      const Step& s = loop_.step(n);
      if (s.level != Level::Pass || loop_.is_constant(n)) continue;
      if (!loop_.is_read(n)) {
        computed.push_back(n);
        continue;
      }
      line("const ulong v{} = words[{}];", n, s.bits / sizeof(std::uint64_t));
      test(n, false);
    }
    operations(computed, false);
    for (std::size_t k = 0; k < loop_.kept.size(); ++k)
      line("kept[{}] = {};", k, bits(loop_.kept[k]));
    end_failures("failures");
    line("}}");
    return std::move(text_);
  }

  /// The steps of a pass.
  void pass() {
    loaded_.assign((loop_.kept.size() + 1) / 2, false);
    std::vector<StepId> computed;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      if (loop_.step(n).level == Level::Pass || loop_.tests.is_fixed[n]) continue;
      if (!loop_.is_read(n)) {
        computed.push_back(n);
        continue;
      }
      if (is_accumulator_row(loop_.row_of[n])) continue;
      line("const ulong v{} = r{};", n, loop_.row_of[n]);
      test(n, true);
    }
    if (!loop_.accumulators.empty()) line("uint away;");
    operations(computed, true);
    for (const CarriedRow& row : loop_.carried) load(row.out);
    for (const StepId n : loop_.results) load(n);
    for (const CarriedRow& row : loop_.carried)
      if (!is_accumulator_row(loop_.row_of[row.in]))
        line("r{} = {};", loop_.row_of[row.in], bits(row.out));
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      line("o{} = {};", k, bits(loop_.results[k]));
  }
  /// A word of the group, with the one beside it, unless it is there.
  void load(StepId n) {
    if (loop_.is_constant(n) || loop_.step(n).level != Level::Pass) return;
    const std::size_t pair = loop_.slot[n] / 2;
    if (loaded_[pair]) return;
    loaded_[pair] = true;
    line("const ulong2 g{0} = group[{0}];", pair);
    for (std::size_t k = 2 * pair; k < std::min(loop_.kept.size(), 2 * pair + 2); ++k)
      line("const {} v{} = {};", type_name(loop_.types[loop_.kept[k]]), loop_.kept[k],
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
    text_ = prelude;
    text_ += accumulator_functions;
    line("// A thread has {}.",
         loop_.trace.elements > 1 ? "one element of a PE" : "all elements of a PE");
    line("__kernel void run(__global ulong* restrict rows, __global ulong* restrict results,");
    line("                  __global const ulong* restrict kept,");
    line(
        "                  __global const ulong* restrict runs, __global uint* restrict failures,");
    line("                  ulong threads, ulong begin, ulong passes) {{");
    line("const ulong thread = get_global_id(0);");
    line("if (thread >= threads) return;");
    line("const uint block = (uint)(thread / {0}), own = (uint)(thread % {0});",
         threads_of_block());
    line("if (begin >= runs[2 * block + 1]) return;");
    line("uint remaining = (uint)min(runs[2 * block + 1] - begin, passes);");
    line("rows += (ulong)block * {} + own;", word_of_row(loop_.rows.size()));
    line("results += (ulong)block * {} + own;", word_of_row(loop_.result_rows.size()));
    line("__global const ulong2* restrict group = (__global const ulong2*)kept +");
    line("                                        (runs[2 * block] + begin) * {};",
         loop_.kept_words() / 2);
    begin_failures();
    for (std::size_t r = 0; r < loop_.rows.size(); ++r)
      line("{}ulong {}{} = rows[{}];", r < loop_.carried.size() ? "" : "const ",
           r < loop_.carried.size() ? 'r' : 'f', r, word_of_row(r));
    for (std::size_t k = 0; k < loop_.results.size(); ++k) line("ulong o{} = 0UL;", k);
    // Later launches go on with numbers that the loop has tested.
    line("if (begin == 0UL) {{");
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      if (!loop_.is_read(n) || loop_.step(n).level == Level::Pass) continue;
      if ((loop_.tests.of_step[n] & test_read) == 0) continue;
      const char name = loop_.row_of[n] < loop_.carried.size() ? 'r' : 'f';
      line("wrong |= {};",
           outside(fmt::format("{}{}", name, loop_.row_of[n]), least_read, size_of_read));
    }
    line("}}");
    fixed_steps();
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k)
      line("accumulator a{} = begin_sum(as_double(r{}), as_double(r{}));", k,
           loop_.row_of[loop_.carried[loop_.accumulators[k].head].in],
           loop_.row_of[loop_.carried[loop_.accumulators[k].tail].in]);
    line("while (remaining != 0u) {{");
    line("uint left = min({}u, remaining);", passes_between_tests);
    line("remaining -= left;");
    line("for (; left != 0u; --left, group += {}) {{", loop_.kept_words() / 2);
    pass();
    line("}}");
    for (const CarriedRow& row : loop_.carried)
      if (row.sum && !is_accumulator_row(loop_.row_of[row.in]))
        line("largest_sum = max(largest_sum, upper(as_double(r{})));", loop_.row_of[row.in]);
    // The tail of an accumulator is far smaller.
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k)
      line("largest_sum = max(largest_sum, upper(a{}.h));", k);
    line("}}");
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k) {
      const Accumulator& a = loop_.accumulators[k];
      line("r{} = as_ulong(head_of(a{}));", loop_.row_of[loop_.carried[a.head].in], k);
      line("r{} = as_ulong(tail_of(a{}));", loop_.row_of[loop_.carried[a.tail].in], k);
    }
    for (std::size_t r = 0; r < loop_.carried.size(); ++r)
      line("rows[{}] = r{};", word_of_row(r), r);
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      line("results[{}] = o{};", word_of_row(k), k);
    // What leaves the loop is finite.
    for (const CarriedRow& row : loop_.carried)
      if (loop_.tests.is_normal[row.out])
        line("largest_sum = max(largest_sum, upper(as_double(r{})));", loop_.row_of[row.in]);
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      if (loop_.tests.is_normal[loop_.results[k]])
        line("largest_sum = max(largest_sum, upper(as_double(o{})));", k);
    end_failures("failures + block");
    line("}}");
    const bool is_long = std::ranges::count(text_, '\n') > max_lines_at_once;
    return (is_long ? std::string(gpu::few_registers) : "") + std::move(text_);
  }

  TracedLoop loop_;
  const ValueText text_of_{loop_};
  PassText made_;
  std::vector<bool> loaded_;  ///< pairs of words of a group, by the text of a pass so far
  std::string text_;
};

}  // namespace

PassText pass_text(Trace trace) { return Writer(std::move(trace)).run(); }

}  // namespace gdr::codegen
