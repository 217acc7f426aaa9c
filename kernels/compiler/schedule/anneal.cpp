// The schedule search: simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983) over issue times
// and storage classes.
#include <algorithm>

#include "kernels/compiler/schedule/cost.hpp"

namespace gdr::kc {
namespace {

/// xorshift64*: reproducible on all hosts.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x1234567) {
    for (int i = 0; i < 8; ++i) next();
  }
  std::uint64_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return (state_ * 0x2545f4914f6cdd1dULL) >> 16;
  }
  std::size_t below(std::size_t n) noexcept { return static_cast<std::size_t>(next() % n); }
  double unit() noexcept { return static_cast<double>(next() & 0xffffffff) / 4294967296.0; }

 private:
  std::uint64_t state_;
};

/// e^-x to a few per cent; reproducible on all hosts, unlike std::exp.
double decay(double x) noexcept {
  if (x > 30) return 0;
  const double part = 1 + x / 32 + x * x / 2048;
  const double p2 = part * part, p4 = p2 * p2, p8 = p4 * p4, p16 = p8 * p8;
  return 1 / (p16 * p16);
}

class Search {
 public:
  Search(const Problem& problem, unsigned ii, std::uint64_t seed)
      : cost_(problem, ii), loop_(*problem.loop), random_(seed), ii_(static_cast<int>(ii)) {
    for (std::size_t v = 0; v < loop_.values.size(); ++v) {
      if (cost_.choosable(static_cast<ValueId>(v)) && !loop_.values[v].uses.empty())
        placeable_values_.push_back(static_cast<ValueId>(v));
    }
  }

  /// Anneal for `steps` steps. If `accept_schedule` rejects a schedule without violations, the
  /// search is reheated and continues.
  bool run(std::uint64_t steps, const std::function<bool(const Schedule&)>& accept_schedule) {
    // The initial schedule of a long loop is nearly right: a high temperature would destroy it.
    const double hot = ii_ > long_loop_ii ? 1.0 : 2.2;
    constexpr double cold = 0.6, reheated = 1.2;
    constexpr int shakes = 24;
    double warmest = 0;
    int shaken = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (i % 1024 == 0) throw_if_stopped(cost_.problem().stop);
      if (cost_.cost() == 0 && shaken == 0) {
        if (accept_schedule(cost_.schedule())) return true;
        warmest = reheated;
        shaken = shakes;
      }
      const double cooling = static_cast<double>(i) / static_cast<double>(steps);
      temperature_ = shaken > 0 ? 4 * hot : std::max(warmest, hot + (cold - hot) * cooling);
      if (shaken > 0) --shaken;
      const std::size_t kind = random_.below(10);
      if (kind < 5) {
        move_op();
      } else if (kind < 9) {
        move_value();
      } else {
        swap_ops();
      }
    }
    return cost_.cost() == 0 && accept_schedule(cost_.schedule());
  }
  const Schedule& schedule() const { return cost_.schedule(); }

 private:
  bool accept(int before) {
    const int worse = cost_.cost() - before;
    return worse <= 0 || random_.unit() < decay(worse / temperature_);
  }

  /// Range of new issue times after the operands are ready: a later result would only extend
  /// lifetimes. In a long loop many operations are ready at the start and must spread.
  int reach() const {
    constexpr int near = 24;
    return ii_ > long_loop_ii ? ii_ : std::min(ii_, near);
  }

  void move_op() {
    const std::size_t op = random_.below(cost_.op_count());
    if (!cost_.schedule().active[op]) return;
    const int old = cost_.schedule().time[op];
    const int from = cost_.earliest(op);
    const int to = std::min(cost_.latest(op), from + reach());
    int time = old;
    if (to < from || random_.below(4) == 0) {
      time += static_cast<int>(random_.below(7)) - 3;
    } else {
      time = from + static_cast<int>(random_.below(index(to - from + 1)));
    }
    if (time < 0 || time == old) return;
    const int before = cost_.cost();
    cost_.set_time(op, time);
    if (!accept(before)) cost_.set_time(op, old);
  }

  Placement random_placement(const MachineValue& value, ValueId v) {
    Placement p;
    switch (value.origin) {
      case Origin::Invariant:
        p.storage = random_.below(2) == 0 ? StorageClass::Register : StorageClass::Local;
        return p;
      case Origin::Field: {
        constexpr StorageClass classes[] = {StorageClass::Block,  StorageClass::TUpper,
                                            StorageClass::TLower, StorageClass::Register,
                                            StorageClass::Local,  StorageClass::Scalar};
        p.storage = classes[random_.below(6)];
        if (value.width == Width::Long && p.storage == StorageClass::TLower)
          p.storage = StorageClass::TUpper;
        if (p.storage == StorageClass::Block && !cost_.has_block(v))
          p.storage = StorageClass::Scalar;
        return p;
      }
      default:
        break;
    }
    constexpr StorageClass classes[] = {StorageClass::Register, StorageClass::Local,
                                        StorageClass::TUpper, StorageClass::TLower};
    p.storage = classes[random_.below(4)];
    const bool is_long = value.width == Width::Long;
    if (is_long && p.storage == StorageClass::TLower) p.storage = StorageClass::TUpper;
    const bool may_copy =
        value.defs.size() == 1 && value.uses.size() > 1 && loop_.op(value.defs[0]).op != Op::Bget;
    if (may_copy && (p.storage == StorageClass::Register || p.storage == StorageClass::Local) &&
        random_.below(2) == 0) {
      p.has_t_copy = true;
      p.t_copy_storage =
          is_long || random_.below(2) == 0 ? StorageClass::TUpper : StorageClass::TLower;
      p.t_copy_readers = static_cast<std::uint32_t>(1 + random_.below(value.uses.size() - 1));
    }
    return p;
  }

  void move_value() {
    if (placeable_values_.empty()) return;
    const ValueId v = placeable_values_[random_.below(placeable_values_.size())];
    const Placement old = cost_.schedule().placement_of(v);
    const Placement next = random_placement(loop_.value(v), v);
    if (next == old) return;
    const int before = cost_.cost();
    cost_.set_placement(v, next);
    if (!accept(before)) cost_.set_placement(v, old);
  }

  void swap_ops() {
    const std::size_t a = random_.below(cost_.op_count()), b = random_.below(cost_.op_count());
    const Schedule& s = cost_.schedule();
    const int ta = s.time[a], tb = s.time[b];
    if (a == b || ta == tb || !s.active[a] || !s.active[b]) return;
    const int before = cost_.cost();
    cost_.set_time(a, tb);
    cost_.set_time(b, ta);
    if (accept(before)) return;
    cost_.set_time(a, ta);
    cost_.set_time(b, tb);
  }

  ScheduleCost cost_;
  const MachineLoop& loop_;
  Random random_;
  int ii_;
  double temperature_ = 1;
  std::vector<ValueId> placeable_values_;
};

}  // namespace

unsigned min_ii(const Problem& problem) {
  unsigned units[3] = {0, 0, 0};
  for (const MachineOp& op : problem.loop->ops) ++units[op.slot()];
  return std::max({units[0], units[1], 1U});
}

std::optional<Schedule> find_schedule(const Problem& problem, unsigned ii, std::uint64_t seed,
                                      std::uint64_t steps,
                                      const std::function<bool(const Schedule&)>& accept_schedule) {
  Search search(problem, ii, seed);
  if (!search.run(steps, accept_schedule)) return std::nullopt;
  return search.schedule();
}

}  // namespace gdr::kc
