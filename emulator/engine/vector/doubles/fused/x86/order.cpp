#include "emulator/engine/vector/doubles/fused/x86/order.hpp"

#include <algorithm>

namespace gdr::fused {
namespace {

/// Steps in their order, each store as soon as nothing reads its rows.
std::vector<Block::Item> items_of(const Function& f, Level level) {
  const Recording& r = f.recording;
  std::vector<std::size_t> last_read(r.steps.size());  // of a row, by the step that loads it
  for (StepId n = 0; n < r.steps.size(); ++n) {
    for (const StepId in : r.steps[n].in) {
      if (in != no_step && r.steps[n].level == level) last_read[in] = n;
    }
  }
  std::vector<std::vector<const RowStore*>> stores(r.steps.size() + 1);
  for (const RowStore& s : r.stores) {
    if (s.level != Level::Element || level != Level::Element) continue;
    std::size_t at = r.steps[s.value].level == level ? s.value : 0;
    for (StepId n = 0; n < r.steps.size(); ++n) {
      const Step& other = r.steps[n];
      if (other.kind == StepKind::Load && other.level == level && other.bits == s.offset) {
        at = std::max({at, last_read[n], std::size_t{n}});
      }
    }
    stores[at].push_back(&s);
  }
  std::vector<Block::Item> items;
  const unsigned copies = level == Level::Pass ? 1 : f.copies;
  for (StepId n = 0; n < r.steps.size(); ++n) {
    const Step& s = r.steps[n];
    const bool found_at_home = f.homes[n * f.copies].kind != Home::Kind::None;
    if (s.level == level && !found_at_home) {
      for (unsigned c = 0; c < copies; ++c) items.push_back({n, nullptr, c});
    }
    for (const RowStore* store : stores[n]) {
      for (unsigned c = 0; c < copies; ++c) items.push_back({no_step, store, c});
    }
  }
  return items;
}

/// Clocks from a step to what needs it, as the hosts have them.
int latency(StepKind k) {
  switch (k) {
    case StepKind::And:
    case StepKind::Or:
    case StepKind::Xor:
    case StepKind::Logic:
    case StepKind::SetLast:
    case StepKind::Select:
    case StepKind::IntegerAdd:
    case StepKind::IntegerSub:
    case StepKind::ShiftLeft:
    case StepKind::ShiftRight:
      return 1;
    default:
      return makes_mask(k) ? 3 : 4;
  }
}

constexpr unsigned steps_a_clock = 2;
/// Items that are looked at: of those that are left, in their first order. More overlap costs more
/// registers. Gravity: 117, 105, 101, 102, 99 and 101 clocks for 0, 32, 64, 128, 256 and 1000.
constexpr std::size_t window = 128;

/// Which items must come before which.
class Dependences {
 public:
  Dependences(const Function& f, const std::vector<Block::Item>& items)
      : f_(f),
        after_(items.size()),
        waits_(items.size()),
        made_by_(f.homes.size(), nobody),
        readers_(f.homes.size()) {
    for (std::uint32_t n = 0; n < items.size(); ++n) {
      if (items[n].store != nullptr) {
        add_store(n, items[n]);
      } else {
        add_step(n, items[n]);
      }
    }
  }
  const std::vector<std::uint32_t>& after(std::size_t n) const { return after_[n]; }
  bool waits(std::size_t n) const { return waits_[n] != 0; }
  void done(std::size_t n) {
    for (const std::uint32_t m : after_[n]) --waits_[m];
  }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  void depend(std::uint32_t first, std::uint32_t second) {
    if (first == nobody) return;
    after_[first].push_back(second);
    ++waits_[second];
  }
  /// What reads the row as it was comes before.
  void add_store(std::uint32_t n, const Block::Item& item) {
    depend(made_by_[f_.value(item.store->value, item.copy)], n);
    const std::vector<Step>& steps = f_.recording.steps;
    for (StepId s = 0; s < steps.size(); ++s) {
      if (steps[s].kind != StepKind::Load || steps[s].bits != item.store->offset) continue;
      for (const std::uint32_t r : readers_[f_.value(s, item.copy)]) depend(r, n);
    }
  }
  void add_step(std::uint32_t n, const Block::Item& item) {
    const Step& step = f_.recording.steps[item.step];
    for (const StepId in : step.in) {
      if (in == no_step) continue;
      const Value v = f_.value(in, item.copy);
      depend(made_by_[v], n);
      readers_[v].push_back(n);
    }
    const Value made = f_.value(item.step, item.copy);
    made_by_[made] = n;
    if (step.kind == StepKind::Load) readers_[made].push_back(n);
  }

  const Function& f_;
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<std::uint32_t> waits_;    ///< how many items must still come before
  std::vector<std::uint32_t> made_by_;  ///< by value
  std::vector<std::vector<std::uint32_t>> readers_;
};

/// A list schedule: of what is ready, the item with the longest way to the end.
std::vector<Block::Item> scheduled(const Function& f, const std::vector<Block::Item>& items) {
  const std::size_t count = items.size();
  Dependences dependences(f, items);
  const auto clocks = [&](std::size_t n) {
    return items[n].store != nullptr ? 0 : latency(f.recording.steps[items[n].step].kind);
  };
  std::vector<int> height(count), ready(count);
  for (std::size_t n = count; n-- > 0;) {
    for (const std::uint32_t m : dependences.after(n)) height[n] = std::max(height[n], height[m]);
    height[n] += clocks(n);
  }
  std::vector<Block::Item> out;
  std::vector<bool> done(count);
  std::size_t first = 0;
  const auto best_at = [&](int now) {
    std::size_t best = count, seen = 0;
    for (std::size_t n = first; n < count && seen < window; ++n) {
      if (done[n]) continue;
      ++seen;
      if (dependences.waits(n) || ready[n] > now) continue;
      if (items[n].store != nullptr) return n;
      if (best == count || height[n] > height[best]) best = n;
    }
    return best;
  };
  for (int now = 0; out.size() < count; ++now) {
    for (unsigned steps = 0; steps < steps_a_clock;) {
      const std::size_t n = best_at(now);
      if (n == count) break;
      done[n] = true;
      out.push_back(items[n]);
      dependences.done(n);
      for (const std::uint32_t m : dependences.after(n))
        ready[m] = std::max(ready[m], now + clocks(n));
      while (first < count && done[first]) ++first;
      if (items[n].store == nullptr) ++steps;
    }
  }
  return out;
}

}  // namespace

std::vector<Block::Item> items_in_order(const Function& f, Level level) {
  return scheduled(f, items_of(f, level));
}

}  // namespace gdr::fused
