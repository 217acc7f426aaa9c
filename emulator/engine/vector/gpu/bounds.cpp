#include "emulator/engine/vector/gpu/bounds.hpp"

#include <algorithm>

#include "emulator/engine/vector/gpu/bound_rules.hpp"
#include "emulator/engine/vector/gpu/step_facts.hpp"

namespace gdr::codegen {
namespace {

/// Finds assumptions about carried rows that every iteration preserves.
class Analysis {
 public:
  Analysis(const Trace& trace, std::vector<CarriedRow>& carried)
      : carried_(carried), facts_(trace, carried), rules_(facts_), rows_(carried.size()) {}

  LoopTests run() {
    settle();
    LoopTests made;
    made.of_step = rules_.tests();
    for (std::size_t c = 0; c < carried_.size(); ++c)
      made.of_step[carried_[c].out] |= rows_[c].out_tests;
    made.is_fixed = facts_.fixed();
    made.is_normal.resize(facts_.count());
    for (StepId n = 0; n < facts_.count(); ++n) {
      const std::optional<Bounds>& b = rules_.at(n);
      made.is_normal[n] = b.has_value();
      if (b && b->unit < smallest_unit) made.suffice = false;
    }
    return made;
  }

 private:
  /// One iteration with the present assumptions about carried rows. False if they do not hold.
  bool holds() {
    rules_.compute(rows_, carried_);
    for (std::size_t c = 0; c < carried_.size(); ++c)
      if (rules_.at(carried_[c].in) && either(rows_[c].in, out(c)) != rows_[c].in) return false;
    return true;
  }

  /// The value of a carried row after the iteration, with its tests.
  Bounds out(std::size_t c) const {
    return BoundRules::tested(*rules_.at(carried_[c].out), rows_[c].out_tests);
  }

  /// Finds assumptions that hold. Factors are tested where a product could be larger than
  /// 2^largest_product: rather few of them, if sums stay finite nevertheless.
  void settle() {
    for (const int largest : {1000, 800, 650}) {
      rules_.set_largest_product(largest);
      if (settles()) return;
    }
    // Whatever changes is tested in every iteration.
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (!rules_.at(carried_[c].in) || !facts_.is_number(carried_[c].out)) continue;
      rows_[c].out_tests = test_factor | test_size;
      rows_[c].in = {std::min(read_bounds.unit, unit_of_factor), size_tested};
    }
    holds();
  }

  bool settles() {
    constexpr int rounds = 8;
    rows_.assign(carried_.size(), {});
    for (int round = 0; round < rounds; ++round) {
      if (holds()) return true;
      for (std::size_t c = 0; c < carried_.size(); ++c)
        if (rules_.at(carried_[c].in)) rows_[c].in = either(rows_[c].in, out(c));
    }
    // What still changes is a sum, or its unit is tested.
    if (holds()) return true;
    std::vector<std::size_t> sums;
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (!rules_.at(carried_[c].in)) continue;
      const Bounds b = out(c);
      if (b.unit < rows_[c].in.unit) {
        rows_[c].out_tests |= test_factor;
        rows_[c].in.unit = std::min(read_bounds.unit, unit_of_factor);
      }
      if (b.size > rows_[c].in.size) sums.push_back(c);
    }
    const auto growth_from = [&](int size) {
      for (const std::size_t c : sums) rows_[c].in.size = size;
      holds();
      int most = 0;
      for (const std::size_t c : sums) most = std::max(most, out(c).size - size);
      return most;
    };
    const int growth = growth_from(size_of_sum);
    const int top = size_of_sum + growth * static_cast<int>(iterations_between_tests);
    if (top > largest_size) return false;
    for (const std::size_t c : sums) rows_[c].in.size = top;
    if (!holds_but_for(sums)) return false;
    // With these tests, sums grow by at most `growth` in an iteration, wherever they are.
    rules_.freeze(true);
    int grown = 0;
    for (int size = size_of_sum; size < top; ++size) grown = std::max(grown, growth_from(size));
    rules_.freeze(false);
    if (grown > growth) return false;
    for (const std::size_t c : sums) carried_[c].sum = true;
    return true;
  }
  /// As holds, for carried rows that are not sums, whose size at the end of an iteration is the
  /// same or tested.
  bool holds_but_for(const std::vector<std::size_t>& sums) {
    holds();
    for (std::size_t c = 0; c < carried_.size(); ++c) {
      if (!rules_.at(carried_[c].in)) continue;
      Bounds b = out(c);
      if (std::ranges::count(sums, c) != 0) b.size = rows_[c].in.size;
      if (either(rows_[c].in, b) != rows_[c].in) return false;
    }
    return true;
  }

  std::vector<CarriedRow>& carried_;
  const StepFacts facts_;
  BoundRules rules_;
  std::vector<RowAssumption> rows_;  ///< assumption about each carried row
};

}  // namespace

LoopTests loop_tests(const Trace& trace, std::vector<CarriedRow>& carried) {
  return Analysis(trace, carried).run();
}

}  // namespace gdr::codegen
