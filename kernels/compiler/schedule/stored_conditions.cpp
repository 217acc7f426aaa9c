// Conditions in memory where there are too few mask registers.
//
// A mask that is read long after it was set is stored as an integer, 0 where it is set and 1 where
// it is clear, and a test of this integer sets another mask before the later readers. As in a
// linear scan of live ranges, the longest gap without a reader is left out first.
#include <algorithm>
#include <numeric>

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Where a mask is in a register, as positions of operations.
struct MaskRange {
  MaskId mask = none;
  int from = 0;                ///< first operation that sets it; of a test the first reader
  int last_set = 0;            ///< last operation that sets it, or `from`
  std::vector<int> uses = {};  ///< readers behind last_set, in order
  bool is_test = false;        ///< set by a test of the stored condition

  int to() const noexcept { return uses.empty() ? last_set : uses.back(); }
};

/// The readers of a range on both sides of a position.
struct Gap {
  std::size_t range = 0;
  int before = 0, after = 0;
  int length() const noexcept { return after - before; }
};

class ConditionStorage {
 public:
  ConditionStorage(MachineLoop& loop, unsigned capacity)
      : loop_(loop), capacity_(static_cast<int>(capacity)) {
    std::vector<OpId> order;
    for (const std::size_t op : topological_order(loop)) order.push_back(static_cast<OpId>(op));
    reorder(loop, order);
    for (std::size_t m = 0; m < loop.masks.size(); ++m) add_range(static_cast<MaskId>(m));
  }

  unsigned run() {
    std::vector<int> live;
    while (true) {
      live.assign(loop_.ops.size() + 1, 0);
      for (const MaskRange& r : ranges_) {
        ++live[index(r.from)];
        --live[index(r.to() + 1)];
      }
      std::partial_sum(live.begin(), live.end(), live.begin());
      const auto worst = std::ranges::max_element(live);
      if (*worst <= capacity_) break;
      const Gap gap = longest_gap(static_cast<int>(worst - live.begin()));
      if (gap.length() == 0) break;
      split(gap);
    }
    return rewrite();
  }

 private:
  void add_range(MaskId id) {
    const MachineMask& mask = loop_.mask(id);
    if (mask.defs.empty()) return;
    const auto [first, last] = std::minmax_element(mask.defs.begin(), mask.defs.end());
    MaskRange range{.mask = id, .from = *first, .last_set = *last};
    for (const OpId use : mask.uses)
      if (use > range.last_set) range.uses.push_back(use);
    std::ranges::sort(range.uses);
    ranges_.push_back(std::move(range));
  }

  /// The longest gap around a position, of length 0 if there is none.
  Gap longest_gap(int at) const {
    Gap longest;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const MaskRange& r = ranges_[i];
      const auto next = std::ranges::lower_bound(r.uses, at);
      if (r.last_set >= at || next == r.uses.end() || *next == at) continue;
      const Gap gap{i, next == r.uses.begin() ? r.last_set : *(next - 1), *next};
      if (gap.length() > longest.length()) longest = gap;
    }
    return longest;
  }

  /// Let the readers behind a gap have a range of their own.
  void split(const Gap& gap) {
    std::vector<int>& uses = ranges_[gap.range].uses;
    const auto late = std::ranges::lower_bound(uses, gap.after);
    MaskRange test{.mask = ranges_[gap.range].mask,
                   .from = gap.after,
                   .last_set = gap.after,
                   .uses = {late, uses.end()},
                   .is_test = true};
    uses.erase(late, uses.end());
    ranges_.push_back(std::move(test));
  }

  /// Insert the operations that store conditions and test them. Returns the number of conditions.
  unsigned rewrite() {
    const std::size_t count = loop_.ops.size();
    std::vector<std::vector<OpId>> before(count), behind(count);
    std::vector<ValueId> stored(loop_.masks.size(), none);
    for (const MaskRange& r : ranges_) {
      if (!r.is_test) continue;
      ValueId& value = stored[index(r.mask)];
      if (value == none) value = store(r.mask, behind);
      test(r, value, before);
    }
    std::vector<OpId> order;
    for (std::size_t op = 0; op < count; ++op) {
      order.insert(order.end(), before[op].begin(), before[op].end());
      order.push_back(static_cast<OpId>(op));
      order.insert(order.end(), behind[op].begin(), behind[op].end());
    }
    reorder(loop_, order);
    return static_cast<unsigned>(stored.size()) -
           static_cast<unsigned>(std::ranges::count(stored, none));
  }

  OpId append(const MachineOp& op) {
    loop_.ops.push_back(op);
    return static_cast<OpId>(loop_.ops.size() - 1);
  }

  /// Write 1, then 0 where the mask is set, behind the last operation that sets it.
  ValueId store(MaskId id, std::vector<std::vector<OpId>>& behind) {
    const OpId set = std::ranges::max(loop_.mask(id).defs);
    const auto value = static_cast<ValueId>(loop_.values.size());
    MachineOp op{.op = Op::Ipass,
                 .width = Width::Short,
                 .in = {Ref::immediate(1, Width::Short), {}},
                 .out = value,
                 .where = loop_.op(set).where};
    const OpId clear = append(op);
    op.in[0] = Ref::immediate(0, Width::Short);
    op.predicate = id;
    const OpId write = append(op);
    loop_.values.push_back({.width = Width::Short, .integer = true, .defs = {clear, write}});
    loop_.mask(id).uses.push_back(write);
    loop_.dependences.push_back({set, write, loop_.latency()});
    behind[index(set)] = {clear, write};
    return value;
  }

  /// Set a new mask where the stored integer is 0, and let the readers of the range read it.
  void test(const MaskRange& range, ValueId stored, std::vector<std::vector<OpId>>& before) {
    const auto id = static_cast<MaskId>(loop_.masks.size());
    const OpId set = append({.op = Op::Ipass,
                             .width = Width::Short,
                             .in = {Ref::of(stored), {}},
                             .sets = id,
                             .flag = MaskFlag::Zero,
                             .where = loop_.op(range.from).where});
    loop_.value(stored).uses.push_back(set);
    before[index(range.from)].push_back(set);
    MachineMask mask;
    mask.defs = {set};
    mask.off = loop_.mask(range.mask).off;
    for (const OpId use : range.uses) {
      loop_.op(use).predicate = id;
      std::erase(loop_.mask(range.mask).uses, use);
      mask.uses.push_back(use);
      loop_.dependences.push_back({set, use, loop_.latency()});
    }
    loop_.masks.push_back(std::move(mask));
  }

  MachineLoop& loop_;
  int capacity_;
  std::vector<MaskRange> ranges_;
};

}  // namespace

unsigned store_conditions(MachineLoop& loop, unsigned capacity) {
  return ConditionStorage(loop, capacity).run();
}

}  // namespace gdr::kc
