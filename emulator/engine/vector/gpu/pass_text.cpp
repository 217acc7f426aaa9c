#include "emulator/engine/vector/gpu/pass_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "emulator/engine/vector/gpu/accumulator.hpp"
#include "emulator/engine/vector/gpu/bounds.hpp"
#include "emulator/engine/vector/gpu/simplify.hpp"

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
constexpr std::size_t most_waiting_values = 40;

/// Words of a group are loaded so many steps before the first one that reads them: all at once,
/// long loops spill registers.
constexpr std::size_t loads_ahead = 48;

class Writer {
 public:
  explicit Writer(Trace trace) : t_(std::move(trace)) {
    simplify(t_);
    fixed_words_by_thread();
    join_stores();
    find_rows();
    tests_ = loop_tests(t_, carried_);
    if (!tests_.suffice) throw UnsupportedPass{"a constant is too small to prove its products"};
    find_types();
    find_kept();
    accumulators_ = find_accumulators(t_, carried_, tests_);
    accumulator_of_.assign(t_.steps.size(), none);
    for (std::size_t k = 0; k < accumulators_.size(); ++k)
      for (const auto* steps : {&accumulators_[k].heads, &accumulators_[k].tails})
        for (const StepId n : *steps) accumulator_of_[n] = k;
  }

  PassText run() {
    made_.carried = static_cast<std::uint32_t>(carried_.size());
    made_.kept = static_cast<std::uint32_t>(kept_words());
    made_.sources = sources();
    made_.loop = loop();
    return std::move(made_);
  }

 private:
  enum class Type : std::uint8_t { Bits, Number, Flag };
  static constexpr std::size_t none = ~std::size_t{0};

  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  // --- preparation
  const Step& step(StepId n) const { return t_.steps[n]; }
  bool is_constant(StepId n) const { return step(n).kind == Step::Kind::Constant; }
  static bool is_operation(const Step& s) { return s.kind == Step::Kind::Operation; }
  bool is_read(StepId n) const {
    return step(n).kind == Step::Kind::Row || step(n).kind == Step::Kind::Broadcast;
  }

  /// Blocks differ in the fixed words of their memories: threads read these as they read rows.
  void fixed_words_by_thread() {
    for (Step& s : t_.steps) {
      if (s.kind == Step::Kind::Broadcast && s.memory == 2)
        throw UnsupportedPass{"it reads output items"};
      if (s.kind == Step::Kind::Broadcast && s.memory == 0) s.level = Level::Lanes;
      for (const StepId in : s.in)
        if (in != no_step) s.level = std::max(s.level, t_.steps[in].level);
    }
  }

  struct Span {
    std::uint64_t begin, end;
    bool meets(const Span& other) const { return begin < other.end && other.begin < end; }
    bool operator==(const Span&) const = default;
  };
  Span span(std::uint64_t offset, Level level) const {
    const std::uint64_t rows = level == Level::Element ? t_.elements : 1;
    return {offset, offset + rows * t_.row_bytes};
  }

  /// A value that is stored to the rows of all elements one by one is stored to all at once.
  void join_stores() {
    for (const Step& s : t_.steps) {
      if (s.kind != Step::Kind::Row || s.level != Level::Element) continue;
      const Span own = span(s.bits, s.level);
      std::vector<RowStore> parts;
      for (const RowStore& store : t_.stores)
        if (store.level == Level::Lanes && own.meets(span(store.offset, store.level)))
          parts.push_back(store);
      const auto is_part = [&](const RowStore& store) {
        return std::ranges::find(parts, store.offset, &RowStore::offset) != parts.end();
      };
      const bool whole =
          parts.size() == t_.elements && std::ranges::all_of(parts, [&](const RowStore& p) {
            return p.value == parts.front().value && p.offset >= own.begin;
          });
      const bool alone = std::ranges::none_of(t_.stores, [&](const RowStore& store) {
        return store.level == Level::Element && own.meets(span(store.offset, store.level));
      });
      if (!whole || !alone) continue;
      const StepId value = parts.front().value;
      std::erase_if(t_.stores, is_part);
      t_.stores.push_back({value, static_cast<std::uint32_t>(s.bits), Level::Element});
    }
  }

  /// Rows that are read: a number for each; and which of them passes overwrite.
  void find_rows() {
    std::vector<StepId> read, overwritten;
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      const Step& s = step(n);
      if (s.kind == Step::Kind::Broadcast && s.memory == 0) read.push_back(n);
      if (s.kind != Step::Kind::Row) continue;
      const Span own = span(s.bits, s.level);
      const RowStore* same = nullptr;
      for (const RowStore& store : t_.stores) {
        const Span other = span(store.offset, store.level);
        if (!own.meets(other)) continue;
        if (own != other) throw UnsupportedPass{"it reads a part of what it wrote a pass before"};
        same = &store;
      }
      if (same == nullptr) {
        read.push_back(n);
        continue;
      }
      overwritten.push_back(n);
      carried_.push_back({n, same->value, false});
    }
    row_of_.assign(t_.steps.size(), 0);
    for (const auto* list : {&overwritten, &read})
      for (const StepId n : *list) {
        const Step& s = step(n);
        row_of_[n] = static_cast<std::uint32_t>(made_.rows.size());
        made_.rows.push_back({static_cast<std::uint32_t>(s.bits), s.level == Level::Element,
                              s.kind == Step::Kind::Broadcast});
      }
    for (const RowStore& store : t_.stores) {
      const Span own = span(store.offset, store.level);
      const bool is_carried = std::ranges::any_of(
          overwritten, [&](StepId n) { return span(step(n).bits, step(n).level) == own; });
      if (is_carried) continue;
      results_.push_back(store.value);
      made_.results.push_back({store.offset, store.level == Level::Element, false});
    }
  }

  void find_types() {
    types_.assign(t_.steps.size(), Type::Bits);
    for (StepId n = 0; n < t_.steps.size(); ++n) types_[n] = type(step(n));
  }
  Type type(const Step& s) const {
    if (is_sum_of_device(s)) return Type::Number;
    if (!is_operation(s)) return Type::Bits;
    const auto all = [&](unsigned first, unsigned end, Type wanted) {
      bool any = false;
      for (unsigned k = first; k < end; ++k) {
        const StepId n = s.in[k];
        const bool ones = is_constant(n) && (step(n).bits == 0 || ~step(n).bits == 0);
        if (!is_constant(n) && types_[n] != wanted) return false;
        if (is_constant(n) && wanted == Type::Flag && !ones) return false;
        any = any || !is_constant(n);
      }
      return any;
    };
    switch (s.op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Fma:
        return Type::Number;
      case Op::Compare:
      case Op::CompareSigned:
        return Type::Flag;
      case Op::And:
      case Op::Or:
      case Op::AndNot:
        return all(0, 2, Type::Flag) ? Type::Flag : Type::Bits;
      case Op::Xor:
        if (negated_by(s) != no_step) return Type::Number;
        return all(0, 2, Type::Flag) ? Type::Flag : Type::Bits;
      case Op::Select:
        return all(1, 3, Type::Number) ? Type::Number
               : all(1, 3, Type::Flag) ? Type::Flag
                                       : Type::Bits;
      default:
        return Type::Bits;
    }
  }

  /// The operand of a change of sign.
  StepId negated_by(const Step& s) const {
    const bool is = s.op == Op::Xor && is_constant(s.in[1]) && step(s.in[1]).bits == sign_bit;
    return is ? s.in[0] : no_step;
  }

  /// Words of a group that the loop reads.
  void find_kept() {
    slot_.assign(t_.steps.size(), 0);
    const auto keep = [&](StepId n) {
      if (n == no_step || is_constant(n) || step(n).level != Level::Pass) return;
      if (std::ranges::find(kept_, n) != kept_.end()) return;
      slot_[n] = static_cast<std::uint32_t>(kept_.size());
      kept_.push_back(n);
    };
    for (const Step& s : t_.steps)
      if (s.level != Level::Pass)
        for (const StepId in : s.in) keep(in);
    for (const RowStore& store : t_.stores) keep(store.value);
  }
  /// They are loaded in pairs.
  std::size_t kept_words() const { return std::max<std::size_t>(2, (kept_.size() + 1) / 2 * 2); }

  // --- values
  static const char* type_name(Type type) {
    constexpr std::array names{"ulong", "double", "bool"};
    return names[static_cast<std::size_t>(type)];
  }
  std::string as(StepId n, Type wanted) const {
    const Step& s = step(n);
    if (s.kind == Step::Kind::Constant) {
      if (wanted == Type::Flag) return s.bits != 0 ? "true" : "false";
      const std::string bits = fmt::format("{:#x}UL", s.bits);
      return wanted == Type::Number ? "as_double(" + bits + ")" : bits;
    }
    const std::string name = fmt::format("v{}", n);
    const Type own = types_[n];
    if (own == wanted) return name;
    if (wanted == Type::Flag)
      return own == Type::Bits ? "((long)" + name + " < 0)" : "((long)as_ulong(" + name + ") < 0)";
    if (own == Type::Flag)
      return wanted == Type::Bits ? "ones(" + name + ")" : "as_double(ones(" + name + "))";
    return wanted == Type::Number ? "as_double(" + name + ")" : "as_ulong(" + name + ")";
  }
  std::string bits(StepId n) const { return as(n, Type::Bits); }
  std::string number(StepId n) const { return as(n, Type::Number); }
  /// An operand of a comparison, which may be any bits: the machine and the host read a number with
  /// an exponent of 0 as zero.
  std::string compared(StepId n) const {
    if (is_constant(n) || tests_.is_normal[n]) return number(n);
    return "flushed(" + bits(n) + ")";
  }

  std::string expression(StepId n) const {
    const Step& s = step(n);
    const auto &a = s.in[0], &b = s.in[1], &c = s.in[2];
    const auto numbers = [&](const char* op) { return number(a) + " " + op + " " + number(b); };
    const auto logic = [&](const char* op) {
      const Type own = types_[n];
      return as(a, own) + " " + op + " " + as(b, own);
    };
    switch (s.op) {
      case Op::Add:
        return numbers("+");
      case Op::Sub:
        return numbers("-");
      case Op::Mul:
        return numbers("*");
      case Op::Fma:
        return fmt::format("fma({}{}, {}, {}{})", (s.detail & jit::negate_product) != 0 ? "-" : "",
                           number(a), number(b), (s.detail & jit::negate_addend) != 0 ? "-" : "",
                           number(c));
      case Op::And:
        if (types_[n] == Type::Bits && types_[a] == Type::Flag)
          return fmt::format("v{} ? {} : 0UL", a, bits(b));
        if (types_[n] == Type::Bits && types_[b] == Type::Flag)
          return fmt::format("v{} ? {} : 0UL", b, bits(a));
        return logic("&");
      case Op::AndNot:
        if (types_[n] == Type::Bits && types_[a] == Type::Flag)
          return fmt::format("v{} ? 0UL : {}", a, bits(b));
        return (types_[n] == Type::Flag ? "!" : "~") + as(a, types_[n]) + " & " + as(b, types_[n]);
      case Op::Or:
        if (c != no_step) throw UnsupportedPass{"it has a masked operation on bits"};
        return logic("|");
      case Op::Xor:
        if (const StepId x = negated_by(s); x != no_step) return "-" + number(x);
        return logic("^");
      case Op::IntAdd:
        return bits(a) + " + " + bits(b);
      case Op::IntSub:
        return bits(a) + " - " + bits(b);
      case Op::ShiftLeft:
        return fmt::format("{} << {}", bits(a), s.detail);
      case Op::ShiftRight:
        if (s.detail == 63 && types_[a] == Type::Flag) return fmt::format("v{} ? 1UL : 0UL", a);
        return fmt::format("{} >> {}", bits(a), s.detail);
      case Op::ShiftLeftBy:
        return "shifted_left(" + bits(a) + ", " + bits(b) + ")";
      case Op::ShiftRightBy:
        return "shifted_right(" + bits(a) + ", " + bits(b) + ")";
      case Op::Select:
        return fmt::format("{} ? {} : {}", as(a, Type::Flag), as(b, types_[n]), as(c, types_[n]));
      case Op::Compare:
        if (const StepId x = compared_with_zero(s); x != no_step)
          return fmt::format("upper({}) {} 0u", number(x),
                             s.detail == static_cast<int>(jit::Predicate::Equal) ? "==" : "!=");
        return comparison(static_cast<jit::Predicate>(s.detail), compared(a), compared(b));
      case Op::CompareSigned:
        if (const StepId x = is_power_of_two(s); x != no_step)
          return "(" + bits(x) + " << 12) == 0UL";
        return signed_comparison(static_cast<jit::IntPredicate>(s.detail), bits(a), bits(b));
      default:
        throw UnsupportedPass{"it has an operation without a GPU instruction"};
    }
  }
  /// x, if a comparison asks whether x is 0, and x is no subnormal: its upper half tells.
  StepId compared_with_zero(const Step& s) const {
    const auto predicate = static_cast<jit::Predicate>(s.detail);
    const bool asks = s.op == Op::Compare &&
                      (predicate == jit::Predicate::Equal || predicate == jit::Predicate::NotEqual);
    const bool zero = asks && is_constant(s.in[1]) && (step(s.in[1]).bits & ~sign_bit) == 0;
    return zero && !is_constant(s.in[0]) && tests_.is_normal[s.in[0]] ? s.in[0] : no_step;
  }
  /// x, if a comparison asks whether x is infinite or NaN.
  StepId asked_for_size(const Step& s) const {
    if (s.op != Op::Compare || s.detail != static_cast<int>(jit::Predicate::NotLess))
      return no_step;
    const Step &size = step(s.in[0]), &limit = step(s.in[1]);
    const bool asks = limit.kind == Step::Kind::Constant && limit.bits == 0x7ff0000000000000 &&
                      is_operation(size) && size.op == Op::And && is_constant(size.in[1]) &&
                      step(size.in[1]).bits == ~sign_bit;
    return asks ? size.in[0] : no_step;
  }
  /// x, if a comparison asks whether x has its exponent only (TestedSteps::round_tail).
  StepId is_power_of_two(const Step& s) const {
    if (static_cast<jit::IntPredicate>(s.detail) != jit::IntPredicate::Equal) return no_step;
    const auto masked = [&](StepId n, std::uint64_t mask) {
      const Step& m = step(n);
      const bool is =
          is_operation(m) && m.op == Op::And && is_constant(m.in[1]) && step(m.in[1]).bits == mask;
      return is ? m.in[0] : no_step;
    };
    const StepId x = masked(s.in[0], 0x7ff0000000000000), y = masked(s.in[1], 0x7fffffffffffffff);
    return x == y ? x : no_step;
  }
  static std::string comparison(jit::Predicate p, const std::string& a, const std::string& b) {
    switch (p) {
      case jit::Predicate::Equal:
        return a + " == " + b;
      case jit::Predicate::NotEqual:
        return a + " != " + b;
      case jit::Predicate::Less:
        return a + " < " + b;
      case jit::Predicate::NotLess:
        return "!(" + a + " < " + b + ")";
      case jit::Predicate::Unordered:
        return "isunordered(" + a + ", " + b + ")";
    }
    throw UnsupportedPass{"it has an unknown comparison"};
  }
  static std::string signed_comparison(jit::IntPredicate p, const std::string& a,
                                       const std::string& b) {
    const auto of = [&](const char* op) { return "(long)" + a + " " + op + " (long)" + b; };
    switch (p) {
      case jit::IntPredicate::Equal:
        return of("==");
      case jit::IntPredicate::NotEqual:
        return of("!=");
      case jit::IntPredicate::Less:
        return of("<");
      case jit::IntPredicate::NotLess:
        return of(">=");
      case jit::IntPredicate::Greater:
        return of(">");
    }
    throw UnsupportedPass{"it has an unknown comparison"};
  }

  // --- statements
  void collect(const Step& s) {
    const char* const failure = s.detail == 0 ? "tailed" : "wrong";
    const StepId lanes = s.in[0];
    if (is_constant(lanes)) {
      if ((step(lanes).bits << 1) != 0) throw UnsupportedPass{"it always fails"};
      return;
    }
    collect(lanes, failure, s.level);
  }
  /// Adds a value to a set of failures: part by part, which takes fewer instructions than bits.
  void collect(StepId n, const char* failure, Level level) {
    const Step& s = step(n);
    // The loop has no other steps of the program for sources than those that it reads.
    const bool has_parts = is_operation(s) && (s.level != Level::Pass || level == Level::Pass);
    if (has_parts && s.op == Op::Or && types_[n] == Type::Bits) {
      collect(s.in[0], failure, level);
      collect(s.in[1], failure, level);
    } else if (has_parts && s.op == Op::And && types_[n] == Type::Bits &&
               (types_[s.in[0]] == Type::Flag || types_[s.in[1]] == Type::Flag)) {
      const bool first = types_[s.in[0]] == Type::Flag;
      line("{} |= v{} & {};", failure, s.in[first ? 0 : 1], is_nonzero(s.in[first ? 1 : 0]));
    } else if (const StepId x = has_parts ? asked_for_size(s) : no_step;
               x != no_step && failure == std::string_view("wrong")) {
      line("largest_sum = max(largest_sum, upper({}));", number(x));
    } else if (types_[n] == Type::Flag) {
      line("{} |= v{};", failure, n);
    } else {
      line("{} |= {};", failure, is_nonzero(n));
    }
  }
  /// Signs do not count.
  std::string is_nonzero(StepId n) const {
    if (types_[n] == Type::Number)
      return tests_.is_normal[n] ? fmt::format("(upper(v{}) != 0u)", n)
                                 : fmt::format("(v{} != 0.0)", n);
    return "((" + bits(n) + " << 1) != 0UL)";
  }
  /// The tests of a value. In the loop, tests of numbers look at halves only.
  void test(StepId n, bool in_loop) {
    const std::uint8_t tests = tests_.of_step[n];
    if ((tests & test_read) != 0 && !(in_loop && is_read(n)))
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
      const bool first = is_settled(step(n).in[1]);
      line("wrong |= {}{} & bad{};", first ? "" : "!", as(step(n).in[0], Type::Flag), n);
    }
  }
  /// A value that passes do not change, or only the first one does.
  bool is_settled(StepId n) const { return tests_.is_fixed[n] || carried_to(n) != no_step; }
  /// Of a row that every pass overwrites with the same value: that value.
  StepId carried_to(StepId n) const {
    const auto row = std::ranges::find(carried_, n, &CarriedRow::in);
    return row != carried_.end() && tests_.is_fixed[row->out] ? row->out : no_step;
  }
  /// Before the loop: what passes do not change, and the tests of what they select from it.
  void fixed_steps() {
    std::vector<StepId> computed;
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if (is_constant(n) || !tests_.is_fixed[n]) continue;
      if (is_read(n))
        line("const ulong v{} = f{};", n, row_of_[n]);
      else
        computed.push_back(n);
    }
    operations(computed, true);
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if ((tests_.of_step[n] & test_selected) == 0) continue;
      const Step& s = step(n);
      const StepId x = is_settled(s.in[1]) ? s.in[1] : s.in[2];
      const StepId later = carried_to(x);
      const auto outside_of = [&](const std::string& bits) {
        return outside(bits, least_tiny, size_tested);
      };
      line("const bool bad{} = {};", n,
           later == no_step
               ? outside_of(bits(x))
               : outside_of(fmt::format("r{}", row_of_[x])) + " | " + outside_of(bits(later)));
    }
  }
  void operation(StepId n) {
    const Step& s = step(n);
    if (is_sum_of_device(s)) return sum_of_device(n);
    if (s.op == Op::Collect) return collect(s);
    line("const {} v{} = {};", type_name(types_[n]), n, expression(n));
  }
  /// A sum that a pass computes with few operations, unless a test asks for a branch.
  bool may_branch(StepId n) const {
    return step(n).kind == Step::Kind::RoundedSum || accumulator_of_[n] != none;
  }
  /// Steps as lists in the order of the text: sums that may branch, which share a branch, after all
  /// that they depend on; and the steps between them. Few branches, but more values wait in
  /// registers.
  std::vector<std::vector<StepId>> with_sums_together(const std::vector<StepId>& steps) const {
    std::vector<unsigned> branches(t_.steps.size(), 0);  // that a step depends on
    std::vector<std::vector<StepId>> lists;
    for (const StepId n : steps) {
      unsigned before = 0;
      for (const StepId in : step(n).in)
        if (in != no_step) before = std::max(before, branches[in]);
      branches[n] = before + (step(n).kind == Step::Kind::RoundedSum ? 1 : 0);
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
    std::vector<bool> waits(t_.steps.size(), false);
    for (const StepId n : steps) waits[n] = true;
    const auto is_ready = [&](StepId n) {
      return std::ranges::none_of(step(n).in,
                                  [&](StepId in) { return in != no_step && waits[in]; });
    };
    std::vector<std::vector<StepId>> lists(1);
    std::vector<StepId> terms;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const StepId n = steps[k];
      if (!waits[n]) continue;
      if (accumulator_of_[n] != none) {
        terms.push_back(n);
      } else if (!may_branch(n)) {
        lists.back().push_back(n);
        waits[n] = false;
      } else {
        std::vector<StepId> sums;
        for (std::size_t m = k; m < std::min(steps.size(), k + close); ++m)
          if (step(steps[m]).kind == Step::Kind::RoundedSum && waits[steps[m]] &&
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
    std::vector<unsigned> uses(t_.steps.size(), 0);
    for (const std::vector<StepId>& list : lists)
      for (const StepId n : list)
        for (const StepId in : step(n).in)
          if (in != no_step) ++uses[in];
    for (const CarriedRow& row : carried_) ++uses[row.out];
    std::vector<bool> waits(t_.steps.size(), false);
    std::size_t waiting = 0, most = 0;
    for (const std::vector<StepId>& list : lists)
      for (const StepId n : list) {
        waits[n] = uses[n] != 0;
        waiting += waits[n] ? 1 : 0;
        most = std::max(most, waiting);
        for (const StepId in : step(n).in)
          if (in != no_step && --uses[in] == 0 && waits[in]) --waiting;
      }
    return most;
  }
  void operations(const std::vector<StepId>& steps, bool in_loop) {
    std::vector<std::vector<StepId>> lists = with_sums_together(steps);
    if (waiting_values(lists) > most_waiting_values) lists = in_traced_order(steps);
    std::vector<StepId> order;
    for (const std::vector<StepId>& list : lists)
      order.insert(order.end(), list.begin(), list.end());
    std::size_t done = 0, loaded = 0;
    const auto load_ahead = [&](std::size_t next) {
      if (loaded_.empty()) return;
      for (; loaded < std::min(order.size(), done + next + loads_ahead); ++loaded)
        for (const StepId in : step(order[loaded]).in)
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
        if (step(n).op != Op::Collect) test(n, in_loop);
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
    std::vector<std::string> heads(accumulators_.size());  // before the next term
    for (const StepId n : sums) {
      const Step& s = step(n);
      if (s.kind == Step::Kind::RoundedSum) {
        line("double s{} = {} + {};", n, number(s.in[0]), number(s.in[1]));
        rare += fmt::format("{}is_tie(s{})", rare.empty() ? "" : " | ", n);
      } else if (s.kind == Step::Kind::LongHead) {
        const std::size_t k = accumulator_of_[n];
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
      const Step& s = step(n);
      if (s.kind == Step::Kind::RoundedSum)
        line("s{0} = beside_tie({1}, {2}, s{0});", n, number(s.in[0]), number(s.in[1]));
      else if (s.kind == Step::Kind::LongHead)
        line("a{0} = add_term(a{0}, {1});", accumulator_of_[n], number(s.in[2]));
    }
    // What follows adds nothing to these accumulators.
    for (const StepId n : sums)
      if (step(n).kind == Step::Kind::LongHead)
        line("s{0} = a{1}.h, t{0} = 0.0;", n, accumulator_of_[n]);
    line("}}");
    for (const StepId n : sums) {
      if (step(n).kind == Step::Kind::RoundedSum) {
        line("const double w{0} = fma(s{0}, 0x1p28, -s{0});", n);
        line("const double v{0} = fma(s{0}, 0x1p28, -w{0});", n);
      } else if (step(n).kind == Step::Kind::LongHead) {
        if (negated_term(step(n)) != no_step)
          line("a{0}.low += (a{0}.h - s{1}) - t{1};", accumulator_of_[n], n);
        else
          line("a{0}.low += t{1} - (s{1} - a{0}.h);", accumulator_of_[n], n);
        line("a{}.h = s{};", accumulator_of_[n], n);
      }
    }
  }
  /// A negated term is subtracted: its negation would be an operation of its own.
  StepId negated_term(const Step& sum) const {
    const Step& term = step(sum.in[2]);
    return is_operation(term) && term.level != Level::Pass ? negated_by(term) : no_step;
  }
  /// A long that is no accumulator: both parts at once.
  void sum_of_device(StepId n) {
    const Step& s = step(n);
    const auto is_other = [&](const Step& other) {
      return is_sum_of_device(other) && other.kind != s.kind && other.in == s.in;
    };
    const auto other = std::ranges::find_if(t_.steps, is_other);
    const auto m = static_cast<StepId>(other - t_.steps.begin());
    const bool both = other != t_.steps.end();
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
    text_ = std::string(prelude) + accumulator_functions;
    line("__kernel void run(__global const ulong* restrict words, __global ulong* restrict kept,");
    line("                  __global uint* restrict failures, ulong first, ulong groups,");
    line("                  ulong group_words) {{");
    line("const ulong group = get_global_id(0);");
    line("if (group >= groups) return;");
    line("words += group * group_words;");
    line("kept += (first + group) * {};", kept_words());
    begin_failures();
    std::vector<StepId> computed;
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      const Step& s = step(n);
      if (s.level != Level::Pass || is_constant(n)) continue;
      if (!is_read(n)) {
        computed.push_back(n);
        continue;
      }
      line("const ulong v{} = words[{}];", n, s.bits / sizeof(std::uint64_t));
      test(n, false);
    }
    operations(computed, false);
    for (std::size_t k = 0; k < kept_.size(); ++k) line("kept[{}] = {};", k, bits(kept_[k]));
    end_failures("failures");
    line("}}");
    return std::move(text_);
  }

  /// The steps of a pass.
  void pass() {
    loaded_.assign((kept_.size() + 1) / 2, false);
    std::vector<StepId> computed;
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if (step(n).level == Level::Pass || tests_.is_fixed[n]) continue;
      if (!is_read(n)) {
        computed.push_back(n);
        continue;
      }
      if (is_accumulator_row(row_of_[n])) continue;
      line("const ulong v{} = r{};", n, row_of_[n]);
      test(n, true);
    }
    if (!accumulators_.empty()) line("uint away;");
    operations(computed, true);
    for (const CarriedRow& row : carried_) load(row.out);
    for (const StepId n : results_) load(n);
    for (const CarriedRow& row : carried_)
      if (!is_accumulator_row(row_of_[row.in])) line("r{} = {};", row_of_[row.in], bits(row.out));
    for (std::size_t k = 0; k < results_.size(); ++k) line("o{} = {};", k, bits(results_[k]));
  }
  /// A word of the group, with the one beside it, unless it is there.
  void load(StepId n) {
    if (is_constant(n) || step(n).level != Level::Pass) return;
    const std::size_t pair = slot_[n] / 2;
    if (loaded_[pair]) return;
    loaded_[pair] = true;
    line("const ulong2 g{0} = group[{0}];", pair);
    for (std::size_t k = 2 * pair; k < std::min(kept_.size(), 2 * pair + 2); ++k)
      line("const {} v{} = {};", type_name(types_[kept_[k]]), kept_[k],
           from_bits(fmt::format("g{}.{}", pair, k % 2 == 0 ? 'x' : 'y'), types_[kept_[k]]));
  }
  bool is_accumulator_row(std::uint32_t row) const {
    return std::ranges::any_of(accumulators_, [&](const Accumulator& a) {
      return row == row_of_[carried_[a.head].in] || row == row_of_[carried_[a.tail].in];
    });
  }
  static std::string from_bits(const std::string& text, Type type) {
    if (type == Type::Number) return "as_double(" + text + ")";
    return type == Type::Flag ? text + " != 0UL" : text;
  }

  /// Rows of a block are at constant distances, so that the loop does not keep their addresses.
  std::size_t threads_of_block() const {
    return std::size_t{t_.row_bytes} / sizeof(std::uint64_t) * t_.elements;
  }
  std::size_t word_of_row(std::size_t row) const { return row * threads_of_block(); }

  std::string loop() {
    text_ = std::string(prelude) + accumulator_functions;
    line("// A thread has {}.", t_.elements > 1 ? "one element of a PE" : "all elements of a PE");
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
    line("rows += (ulong)block * {} + own;", word_of_row(made_.rows.size()));
    line("results += (ulong)block * {} + own;", word_of_row(made_.results.size()));
    line("__global const ulong2* restrict group = (__global const ulong2*)kept +");
    line("                                        (runs[2 * block] + begin) * {};",
         kept_words() / 2);
    begin_failures();
    for (std::size_t r = 0; r < made_.rows.size(); ++r)
      line("{}ulong {}{} = rows[{}];", r < carried_.size() ? "" : "const ",
           r < carried_.size() ? 'r' : 'f', r, word_of_row(r));
    for (std::size_t k = 0; k < results_.size(); ++k) line("ulong o{} = 0UL;", k);
    // Later launches go on with numbers that the loop has tested.
    line("if (begin == 0UL) {{");
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if (!is_read(n) || step(n).level == Level::Pass) continue;
      if ((tests_.of_step[n] & test_read) == 0) continue;
      const char name = row_of_[n] < carried_.size() ? 'r' : 'f';
      line("wrong |= {};",
           outside(fmt::format("{}{}", name, row_of_[n]), least_read, size_of_read));
    }
    line("}}");
    fixed_steps();
    for (std::size_t k = 0; k < accumulators_.size(); ++k)
      line("accumulator a{} = begin_sum(as_double(r{}), as_double(r{}));", k,
           row_of_[carried_[accumulators_[k].head].in],
           row_of_[carried_[accumulators_[k].tail].in]);
    line("while (remaining != 0u) {{");
    line("uint left = min({}u, remaining);", passes_between_tests);
    line("remaining -= left;");
    line("for (; left != 0u; --left, group += {}) {{", kept_words() / 2);
    pass();
    line("}}");
    for (const CarriedRow& row : carried_)
      if (row.sum && !is_accumulator_row(row_of_[row.in]))
        line("largest_sum = max(largest_sum, upper(as_double(r{})));", row_of_[row.in]);
    // The tail of an accumulator is far smaller.
    for (std::size_t k = 0; k < accumulators_.size(); ++k)
      line("largest_sum = max(largest_sum, upper(a{}.h));", k);
    line("}}");
    for (std::size_t k = 0; k < accumulators_.size(); ++k) {
      const Accumulator& a = accumulators_[k];
      line("r{} = as_ulong(head_of(a{}));", row_of_[carried_[a.head].in], k);
      line("r{} = as_ulong(tail_of(a{}));", row_of_[carried_[a.tail].in], k);
    }
    for (std::size_t r = 0; r < carried_.size(); ++r) line("rows[{}] = r{};", word_of_row(r), r);
    for (std::size_t k = 0; k < results_.size(); ++k) line("results[{}] = o{};", word_of_row(k), k);
    // What leaves the loop is finite.
    for (const CarriedRow& row : carried_)
      if (tests_.is_normal[row.out])
        line("largest_sum = max(largest_sum, upper(as_double(r{})));", row_of_[row.in]);
    for (std::size_t k = 0; k < results_.size(); ++k)
      if (tests_.is_normal[results_[k]])
        line("largest_sum = max(largest_sum, upper(as_double(o{})));", k);
    end_failures("failures + block");
    line("}}");
    return std::move(text_);
  }

  Trace t_;
  PassText made_;
  std::vector<CarriedRow> carried_;
  std::vector<std::uint32_t> row_of_;  ///< by step that reads a row: its number
  std::vector<StepId> results_;
  LoopTests tests_;
  std::vector<Type> types_;
  std::vector<Accumulator> accumulators_;
  std::vector<std::size_t> accumulator_of_;  ///< by step: whose sum it is, or none
  std::vector<StepId> kept_;
  std::vector<std::uint32_t> slot_;
  std::vector<bool> loaded_;  ///< pairs of these, by the text of a pass so far
  std::string text_;
};

}  // namespace

PassText pass_text(Trace trace) { return Writer(std::move(trace)).run(); }

}  // namespace gdr::codegen
