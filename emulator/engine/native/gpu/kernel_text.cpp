#include "emulator/engine/native/gpu/kernel_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "emulator/engine/native/gpu/language_text.hpp"
#include "emulator/engine/native/gpu/segment_text.hpp"
#include "emulator/engine/native/gpu/unguarded_text.hpp"

namespace gdr::native {
namespace {

/// Iterations of the loop without rare conditions that the text has side by side.
constexpr unsigned unguarded_copies = 4;

/// Writes the function of a kernel: a thread's values, its iterations, and what it leaves.
class KernelTextEmitter {
 public:
  KernelTextEmitter(const CodeContext& context, std::span<const LeafKey> compared, LoopShare share)
      : c_(context),
        k_(context.kernel),
        share_(share),
        values_(context),
        lists_(context),
        unguarded_(context, compared),
        segments_(context, lists_, text_) {}

  std::string run() {
    begin_function();
    begin_thread();
    begin_places();
    begin_values();
    text_.add(lists_.begin());
    if (share_ == LoopShare::Join) {
      join_parts();
      last_iteration();
    } else if (k_.loops && k_.has_effects()) {
      loop();
    } else if (k_.loops) {
      // Only the last iteration is observable.
      line("source += (iterations - 1) * {};", values_.group_words());
    }
    if (share_ == LoopShare::Part)
      leave();
    else
      segments_.write(k_.once);
    text_.add(lists_.end());
    line("}}");
    return text_.take();
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_.line(format, std::forward<Arguments>(arguments)...);
  }

  // --- the beginning

  void begin_function() {
    const char* const share = share_ == LoopShare::All ? "ulong begin, ulong end"
                              : share_ == LoopShare::Part
                                  ? "ulong first_part, ulong parts, ulong length"
                                  : "ulong parts";
    line("{}{}", language_text(values_.floats()), lists_.function());
    line("__kernel void run(__global const bits* restrict items, __global bits* restrict results,");
    line("                  __global const bits* restrict words,");
    line("                  __global const bits* restrict uniforms, ulong threads,");
    line("                  ulong first_word, ulong iterations, {},", share);
    line(
        "                  __global bits* restrict left, __global const long* restrict ranges{}) "
        "{{",
        lists_.arguments());
  }

  /// The thread's lane, and its iterations: from `begin` to before `end`.
  void begin_thread() {
    if (share_ == LoopShare::Part) {
      line("const ulong part = first_part + get_global_id(0) / threads;");
      line("const ulong thread = get_global_id(0) % threads;");
      line("if (part >= parts) return;");
      line("const ulong begin = part * length, end = min(begin + length, iterations - 1);");
      line("left += part * threads * {};", left_words());
      return;
    }
    line("const ulong thread = get_global_id(0);");
    line("if (thread >= threads) return;");
    if (share_ == LoopShare::Join) line("const ulong begin = iterations - 1;");
  }

  /// The thread's words of its work item, its results, and what launches leave, and the first
  /// group.
  void begin_places() {
    const std::uint32_t lanes = values_.lanes();
    const auto of_thread = [&](const char* type, const char* name, std::uint32_t bytes) {
      line("__global {0}bits* restrict {1} = {1}s + thread / {2} * {3} + thread % {2};", type, name,
           lanes, values_.word(bytes));
    };
    of_thread("const ", "item", k_.layout.bytes());
    of_thread("", "result", k_.layout.outputs * k_.layout.vector_bytes);
    line("left += thread / {0} * {1} + thread % {0};", lanes, left_words() * lanes);
    line("__global const bits* restrict source = words + first_word + begin * {};",
         values_.group_words());
  }

  /// The carried values before the first iteration. The sums of a part other than the first one
  /// begin with zero.
  void begin_values() {
    const auto resumed = [&](Kind kind, std::uint32_t number) {
      return share_ == LoopShare::Part ? "0" : ValueText::loaded(kind, left(number));
    };
    for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c) {
      const Kind kind = values_.carried_kind(c);
      line("{} c{} = {};", ValueText::type_name(kind), c,
           ValueText::loaded(kind, values_.place(c_.carried(base_carried, c))));
      line("if (begin != 0) c{} = {};", c, resumed(kind, c));
    }
    for (std::uint32_t t = 0; t < k_.layout.totals; ++t)
      line("number total{} = begin != 0 ? {} : 0;", t,
           resumed(Kind::Number, k_.layout.carried + t));
  }

  // --- what launches and parts leave

  /// A word that a launch leaves for the next one. At a constant distance from the thread's first
  /// one, so that the loop does not keep its address.
  std::string left(std::uint32_t number) const {
    return fmt::format("left[{}]", number * values_.lanes());
  }
  std::uint32_t left_words() const { return k_.layout.carried + k_.layout.totals; }

  void leave() {
    for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c)
      line("{} = {};", left(c), ValueText::stored(values_.carried_kind(c), fmt::format("c{}", c)));
    for (std::uint32_t t = 0; t < k_.layout.totals; ++t)
      line("{} = {};", left(k_.layout.carried + t),
           ValueText::stored(Kind::Number, fmt::format("total{}", t)));
  }

  /// A launch that does not reach the last iteration ends here.
  void leave_unfinished() {
    line("if (end < iterations) {{");
    leave();
    text_.add(lists_.end());
    line("return;");
    line("}}");
  }

  /// Adds the sums of the other parts to those of the first one.
  void join_parts() {
    const bool blocks = k_.sums.count > 0;
    if (blocks) segments_.write(k_.sums.move);
    line("for (ulong part = 1; part < parts; ++part) {{");
    line("left += threads * {};", left_words());
    if (blocks) {
      join_blocked_sums();
    } else {
      for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c)
        line("c{} += {};", c, ValueText::loaded(Kind::Number, left(c)));
    }
    line("}}");
  }

  /// Adds those of one part, of each sum: what is not in a total yet, then the total's two parts.
  void join_blocked_sums() {
    std::vector<std::uint32_t> carried;
    for (const Store& store : k_.sums.move.stores)
      if (store.area == Store::Area::Carried) carried.push_back(store.slot);
    const auto move = [&](auto number_of) {
      for (std::uint32_t n = 0; n < carried.size(); ++n)
        line("c{} = {};", carried[n], ValueText::loaded(Kind::Number, left(number_of(n))));
      segments_.write(k_.sums.move);
    };
    const auto total = [&](std::uint32_t n) { return k_.layout.carried + 2 * n; };
    move([&](std::uint32_t n) { return carried[n]; });
    move(total);
    for (std::uint32_t n = 0; n < carried.size(); ++n)
      line("total{} += {};", 2 * n + 1, ValueText::loaded(Kind::Number, left(total(n) + 1)));
  }

  // --- iterations

  void last_iteration() {
    if (k_.sums.count > 0) segments_.write(k_.sums.finish);
    segments_.write(k_.last);
  }

  /// As the portable path (interpret.cpp).
  void loop() {
    const bool blocks = k_.sums.count > 0;
    line("if (iterations > 1) {{");
    line("if (begin == 0) {{");
    segments_.write(k_.first);
    line("source += {};", values_.group_words());
    if (blocks) segments_.write(k_.sums.begin);
    line("}}");
    line("const ulong stop = end < iterations ? end : iterations - 1;");
    if (unguarded_.usable()) unguarded_.begin(text_);
    line("for (ulong iteration = begin == 0 ? 1 : begin; iteration < stop;) {{");
    middle_iterations();
    line("}}");
    if (share_ == LoopShare::All) {
      line("if (end >= iterations) {{");
      last_iteration();
      line("}}");
    }
    line("}}");
    if (share_ == LoopShare::All) leave_unfinished();
  }

  /// Iterations up to the end of a block of sums, or of a window of groups.
  void middle_iterations() {
    const bool blocks = k_.sums.count > 0, may_be_free = unguarded_.usable();
    line("ulong until = min(stop, iteration + 0x40000000UL);");
    if (blocks)
      line("until = min(until, (iteration + {0}) / {1} * {1} + 1);", k_.sums.iterations - 1,
           k_.sums.iterations);
    if (may_be_free) {
      constexpr auto groups = SourceWindows::groups;
      line("const ulong window = (first_group + iteration) / {};", groups);
      line("until = min(until, (window + 1) * {} - first_group);", groups);
      line("if (is_free && {}", unguarded_.condition("window"));
      line("    && {}) {{",
           unguarded_.condition(fmt::format("(first_group + iteration - 1) / {}", groups)));
      iterations_before(k_.unguarded.loop, unguarded_copies);
      line("}} else {{");
    }
    iterations_before(k_.loop, 1);
    if (may_be_free) line("}}");
    if (blocks) {
      line("if ((iteration - 1) % {} == 0) {{", k_.sums.iterations);
      segments_.write(k_.sums.move);
      line("}}");
    }
  }

  /// `copies`: iterations at a time, in text, since compilers do not unroll loops with assembly.
  void iterations_before(const Segment& iteration, unsigned copies) {
    line("uint remaining = (uint)(until - iteration);");
    for (const unsigned at_once : copies > 1 ? std::vector{copies, 1U} : std::vector{1U}) {
      line("for (; remaining >= {0}u; remaining -= {0}u) {{", at_once);
      for (unsigned k = 0; k < at_once; ++k) {
        segments_.write(iteration);
        line("source += {};", values_.group_words());
      }
      line("}}");
    }
    line("iteration = until;");
  }

  const CodeContext& c_;
  const KernelCode& k_;
  const LoopShare share_;
  const ValueText values_;
  const ListText lists_;
  const UnguardedText unguarded_;
  TextLines text_;
  SegmentText segments_;
};

}  // namespace

std::string kernel_text(const CodeContext& context, std::span<const LeafKey> compared,
                        LoopShare share) {
  return KernelTextEmitter(context, compared, share).run();
}

}  // namespace gdr::native
