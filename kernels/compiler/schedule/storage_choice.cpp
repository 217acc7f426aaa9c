#include "kernels/compiler/schedule/storage_choice.hpp"

#include <algorithm>
#include <optional>

namespace gdr::kc {

bool StorageChoice::repair(std::size_t op) {
  if (s_.violations() == 0) return true;
  values_.assign(s_.values_of(op).begin(), s_.values_of(op).end());
  s_.values_in_row(s_.row_of(s_.time(op)), values_);
  for (int round = 0; round < 2; ++round) {
    bool improved = false;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      improved = improve(values_[k]) || improved;
      if (s_.violations() == 0) return true;
    }
    if (s_.register_excess() > 0 && spill()) {
      improved = true;
      if (s_.violations() == 0) return true;
    }
    if (!improved) break;
  }
  return false;
}

/// The best other storage class of a value, if it reduces the violations.
bool StorageChoice::improve(ValueId v) {
  const std::optional<Placement> better = s_.better_placement(v);
  if (better) log_.set_placement(v, *better);
  return better.has_value();
}

void StorageChoice::leave_local_memory(int time) {
  values_.clear();
  s_.values_in_row(s_.row_of(time), values_);
  for (const ValueId v : values_) {
    const MachineValue& value = loop_.value(v);
    const Placement old = s_.placement(v);
    if (old.storage != StorageClass::Local || old.has_t_copy || value.permanent()) continue;
    const auto fits = [&](StorageClass storage) {
      s_.set_placement(v, {.storage = storage});
      return s_.violations() == 0 && (value.origin == Origin::Computed || s_.keeps_latency(v));
    };
    const bool moved = fits(StorageClass::TUpper) ||
                       (value.width == Width::Short && fits(StorageClass::TLower)) ||
                       fits(StorageClass::Register);
    if (!moved) s_.set_placement(v, old);
  }
}

/// Move values with long lifetimes out of the register file while it is too full.
bool StorageChoice::spill() {
  spillable_.clear();
  for (std::size_t v = 0; v < loop_.values.size(); ++v) {
    const auto id = static_cast<ValueId>(v);
    const MachineValue& value = loop_.values[v];
    if (s_.placement(id).storage != StorageClass::Register || value.origin == Origin::Accumulator)
      continue;
    const bool always = value.origin == Origin::Invariant;
    const PartialSchedule::Lifetime live = s_.lifetime(id);
    const int length = always ? s_.ii() : live.to - live.from;
    if (length > 0) spillable_.push_back({length, id});
  }
  std::ranges::sort(spillable_, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  bool any = false;
  for (const auto& [length, v] : spillable_) {
    if (s_.register_excess() == 0) break;
    any = improve(v) || any;
  }
  return any;
}

void reduce_register_load(const MachineLoop& loop, const IssueWindows& windows,
                          PartialSchedule& s) {
  std::vector<Placement> alternatives;
  std::vector<int> times;
  constexpr int rounds = 3;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t before = s.register_load();
    for (std::size_t v = 0; v < loop.values.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      const bool counts = s.placement(id).storage == StorageClass::Register ||
                          s.placement(id).storage == StorageClass::Scalar;
      if (!counts || loop.values[v].permanent()) continue;
      s.alternatives(id, alternatives);
      for (const Placement& p : alternatives) {
        const Placement old = s.placement(id);
        const std::int64_t load = s.register_load();
        s.set_placement(id, p);
        const bool valid = loop.values[v].origin != Origin::Field || s.keeps_latency(id);
        if (!valid || s.violations() > 0 || s.register_load() >= load) s.set_placement(id, old);
      }
    }
    for (std::size_t op = 0; op < s.op_count(); ++op) {
      if (!s.is_active(op)) continue;
      const int old = s.time(op);
      const std::int64_t load = s.register_load();
      s.remove(op);
      windows.candidate_times(op, windows.window(op), times);
      int best_time = old;
      std::int64_t best = load;
      for (const int t : times) {
        if (!s.may_enter(op, s.row_of(t)) || windows.accumulator_too_close(op, t)) continue;
        s.place(op, t);
        if (s.violations() == 0 && s.register_load() < best) {
          best = s.register_load();
          best_time = t;
        }
        s.remove(op);
      }
      s.place(op, best_time);
    }
    if (s.register_load() == before) break;
  }
}

}  // namespace gdr::kc
