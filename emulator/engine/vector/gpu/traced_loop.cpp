#include "emulator/engine/vector/gpu/traced_loop.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/vector/gpu/simplify.hpp"

namespace gdr::codegen {
namespace {

using jit::Op;

class Preparation {
 public:
  explicit Preparation(Trace trace) { loop_.trace = std::move(trace); }

  TracedLoop run() {
    simplify(loop_.trace);
    fixed_words_by_thread();
    join_stores();
    find_rows();
    loop_.tests = loop_tests(loop_.trace, loop_.carried);
    if (!loop_.tests.suffice)
      throw UnsupportedLoop{"a constant is too small to prove its products"};
    find_types();
    find_kept();
    find_sums();
    return std::move(loop_);
  }

 private:
  /// Blocks differ in the fixed words of their memories: threads read these as they read rows.
  void fixed_words_by_thread() {
    for (Step& s : loop_.trace.steps) {
      if (s.kind == Step::Kind::Broadcast && s.memory == 2)
        throw UnsupportedLoop{"it reads output items"};
      if (s.kind == Step::Kind::Broadcast && s.memory == 0) s.level = Level::Lanes;
      for (const StepId in : s.in)
        if (in != no_step) s.level = std::max(s.level, loop_.trace.steps[in].level);
    }
  }

  struct Span {
    std::uint64_t begin, end;
    bool meets(const Span& other) const { return begin < other.end && other.begin < end; }
    bool operator==(const Span&) const = default;
  };
  Span span(std::uint64_t offset, Level level) const {
    const std::uint64_t rows = level == Level::Element ? loop_.trace.elements : 1;
    return {offset, offset + rows * loop_.trace.row_bytes};
  }

  /// A value that is stored to the rows of all elements one by one is stored to all at once.
  void join_stores() {
    for (const Step& s : loop_.trace.steps) {
      if (s.kind != Step::Kind::Row || s.level != Level::Element) continue;
      const Span own = span(s.bits, s.level);
      std::vector<RowStore> parts;
      for (const RowStore& store : loop_.trace.stores)
        if (store.level == Level::Lanes && own.meets(span(store.offset, store.level)))
          parts.push_back(store);
      const auto is_part = [&](const RowStore& store) {
        return std::ranges::find(parts, store.offset, &RowStore::offset) != parts.end();
      };
      const bool whole = parts.size() == loop_.trace.elements &&
                         std::ranges::all_of(parts, [&](const RowStore& p) {
                           return p.value == parts.front().value && p.offset >= own.begin;
                         });
      const bool alone = std::ranges::none_of(loop_.trace.stores, [&](const RowStore& store) {
        return store.level == Level::Element && own.meets(span(store.offset, store.level));
      });
      if (!whole || !alone) continue;
      const StepId value = parts.front().value;
      std::erase_if(loop_.trace.stores, is_part);
      loop_.trace.stores.push_back({value, static_cast<std::uint32_t>(s.bits), Level::Element});
    }
  }

  /// Rows that are read: a number for each; and which of them iterations overwrite.
  void find_rows() {
    std::vector<StepId> read, overwritten;
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) {
      const Step& s = loop_.step(n);
      if (s.kind == Step::Kind::Broadcast && s.memory == 0) read.push_back(n);
      if (s.kind != Step::Kind::Row) continue;
      const Span own = span(s.bits, s.level);
      const RowStore* overwrites = nullptr;
      for (const RowStore& store : loop_.trace.stores) {
        const Span other = span(store.offset, store.level);
        if (!own.meets(other)) continue;
        if (own != other)
          throw UnsupportedLoop{"it reads a part of what it wrote an iteration before"};
        overwrites = &store;
      }
      if (overwrites == nullptr) {
        read.push_back(n);
        continue;
      }
      overwritten.push_back(n);
      loop_.carried.push_back({n, overwrites->value, false});
    }
    loop_.row_of.assign(loop_.trace.steps.size(), 0);
    for (const auto* list : {&overwritten, &read})
      for (const StepId n : *list) {
        const Step& s = loop_.step(n);
        loop_.row_of[n] = static_cast<std::uint32_t>(loop_.rows.size());
        loop_.rows.push_back({static_cast<std::uint32_t>(s.bits), s.level == Level::Element,
                              s.kind == Step::Kind::Broadcast});
      }
    for (const RowStore& store : loop_.trace.stores) {
      const Span own = span(store.offset, store.level);
      const bool is_carried = std::ranges::any_of(overwritten, [&](StepId n) {
        return span(loop_.step(n).bits, loop_.step(n).level) == own;
      });
      if (is_carried) continue;
      loop_.results.push_back(store.value);
      loop_.result_rows.push_back({store.offset, store.level == Level::Element, false});
    }
  }

  void find_types() {
    loop_.types.assign(loop_.trace.steps.size(), ValueType::Bits);
    for (StepId n = 0; n < loop_.trace.steps.size(); ++n) loop_.types[n] = type(loop_.step(n));
  }
  ValueType type(const Step& s) const {
    if (is_sum_of_device(s)) return ValueType::Number;
    if (!TracedLoop::is_operation(s)) return ValueType::Bits;
    const auto all = [&](unsigned first, unsigned end, ValueType wanted) {
      bool any = false;
      for (unsigned k = first; k < end; ++k) {
        const StepId n = s.in[k];
        const bool ones =
            loop_.is_constant(n) && (loop_.step(n).bits == 0 || ~loop_.step(n).bits == 0);
        if (!loop_.is_constant(n) && loop_.types[n] != wanted) return false;
        if (loop_.is_constant(n) && wanted == ValueType::Flag && !ones) return false;
        any = any || !loop_.is_constant(n);
      }
      return any;
    };
    switch (s.op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Fma:
        return ValueType::Number;
      case Op::Compare:
      case Op::CompareSigned:
        return ValueType::Flag;
      case Op::And:
      case Op::Or:
      case Op::AndNot:
        return all(0, 2, ValueType::Flag) ? ValueType::Flag : ValueType::Bits;
      case Op::Xor:
        if (loop_.negated_by(s) != no_step) return ValueType::Number;
        return all(0, 2, ValueType::Flag) ? ValueType::Flag : ValueType::Bits;
      case Op::Select:
        return all(1, 3, ValueType::Number) ? ValueType::Number
               : all(1, 3, ValueType::Flag) ? ValueType::Flag
                                            : ValueType::Bits;
      default:
        return ValueType::Bits;
    }
  }

  /// Words of a group that the loop reads.
  void find_kept() {
    loop_.slot.assign(loop_.trace.steps.size(), 0);
    const auto keep = [&](StepId n) {
      if (n == no_step || loop_.is_constant(n) || loop_.step(n).level != Level::Iteration) return;
      if (std::ranges::find(loop_.kept, n) != loop_.kept.end()) return;
      loop_.slot[n] = static_cast<std::uint32_t>(loop_.kept.size());
      loop_.kept.push_back(n);
    };
    for (const Step& s : loop_.trace.steps)
      if (s.level != Level::Iteration)
        for (const StepId in : s.in) keep(in);
    for (const RowStore& store : loop_.trace.stores) keep(store.value);
  }

  void find_sums() {
    loop_.accumulators = find_accumulators(loop_.trace, loop_.carried, loop_.tests);
    loop_.accumulator_of.assign(loop_.trace.steps.size(), TracedLoop::none);
    for (std::size_t k = 0; k < loop_.accumulators.size(); ++k)
      for (const auto* steps : {&loop_.accumulators[k].heads, &loop_.accumulators[k].tails})
        for (const StepId n : *steps) loop_.accumulator_of[n] = k;
  }

  TracedLoop loop_;
};

}  // namespace

StepId TracedLoop::negated_by(const Step& s) const {
  const bool is = s.op == Op::Xor && is_constant(s.in[1]) && step(s.in[1]).bits == sign_bit;
  return is ? s.in[0] : no_step;
}

std::size_t TracedLoop::kept_words() const {
  return std::max<std::size_t>(2, (kept.size() + 1) / 2 * 2);
}

TracedLoop prepare_loop(Trace trace) { return Preparation(std::move(trace)).run(); }

}  // namespace gdr::codegen
