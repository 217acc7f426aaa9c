// The search for a schedule: simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983) over the
// times of operations and the places of values.
#include <algorithm>

#include "emulator/isa/table.hpp"
#include "kernels/compiler/schedule/cost.hpp"
#include "kernels/compiler/stop.hpp"

namespace gdr::kc {
namespace {

/// xorshift64*: the same numbers on any host.
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

/// e^-x to a few per cent. Not the library's: every host has to draw the same path.
double decay(double x) noexcept {
  if (x > 30) return 0;
  const double part = 1 + x / 32 + x * x / 2048;
  const double p2 = part * part, p4 = p2 * p2, p8 = p4 * p4, p16 = p8 * p8;
  return 1 / (p16 * p16);
}

class Search {
 public:
  Search(const Problem& problem, unsigned interval, std::uint64_t seed)
      : cost_(problem, interval),
        loop_(*problem.loop),
        random_(seed),
        interval_(static_cast<int>(interval)) {
    for (std::size_t v = 0; v < loop_.values.size(); ++v) {
      if (cost_.choosable(static_cast<ValueId>(v)) && !loop_.values[v].uses.empty())
        places_.push_back(static_cast<ValueId>(v));
    }
  }

  /// Cools down over `steps` moves. A schedule without violations that the caller does not like is
  /// shaken, and the search goes on from there.
  bool run(std::uint64_t steps, const std::function<bool(const Schedule&)>& good) {
    // A long loop begins with a schedule that is nearly right: heat would only undo it.
    const double hot = interval_ > long_interval ? 1.0 : 2.2;
    constexpr double cold = 0.6, reheated = 1.2;
    constexpr int shakes = 24;
    double warmest = 0;
    int shaken = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      if (i % 1024 == 0) throw_if_stopped(cost_.problem().stop);
      if (cost_.cost() == 0 && shaken == 0) {
        if (good(cost_.schedule())) return true;
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
    return cost_.cost() == 0 && good(cost_.schedule());
  }
  const Schedule& schedule() const { return cost_.schedule(); }
  int cost() const { return cost_.cost(); }

 private:
  bool accept(int before) {
    const int worse = cost_.cost() - before;
    return worse <= 0 || random_.unit() < decay(worse / temperature_);
  }

  /// How far behind its operands an operation goes: further away a value would only wait. In a long
  /// loop, though, many operations may have their operands from the beginning, and must spread.
  int reach() const {
    constexpr int near = 24;
    return interval_ > long_interval ? interval_ : std::min(interval_, near);
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
      time = from + static_cast<int>(random_.below(static_cast<std::size_t>(to - from + 1)));
    }
    if (time < 0 || time == old) return;
    const int before = cost_.cost();
    cost_.set_time(op, time);
    if (!accept(before)) cost_.set_time(op, old);
  }

  Placement draw(const MachineValue& value, ValueId v) {
    Placement p;
    switch (value.origin) {
      case Origin::Resident:
        p.home = random_.below(2) == 0 ? Home::Register : Home::Local;
        return p;
      case Origin::Field: {
        constexpr Home homes[] = {Home::Block,    Home::TUpper, Home::TLower,
                                  Home::Register, Home::Local,  Home::Scalar};
        p.home = homes[random_.below(6)];
        if (value.width == Width::Long && p.home == Home::TLower) p.home = Home::TUpper;
        if (p.home == Home::Block && !has_block(v)) p.home = Home::Scalar;
        return p;
      }
      default:
        break;
    }
    constexpr Home homes[] = {Home::Register, Home::Local, Home::TUpper, Home::TLower};
    p.home = homes[random_.below(4)];
    const bool is_long = value.width == Width::Long;
    if (is_long && p.home == Home::TLower) p.home = Home::TUpper;
    const bool may_copy = value.defs.size() == 1 && value.uses.size() > 1 &&
                          loop_.ops[static_cast<std::size_t>(value.defs[0])].op != Op::Bget;
    if (may_copy && (p.home == Home::Register || p.home == Home::Local) && random_.below(2) == 0) {
      p.copy = true;
      p.copy_home = is_long || random_.below(2) == 0 ? Home::TUpper : Home::TLower;
      p.copy_reads = static_cast<std::uint8_t>(1 + random_.below(value.uses.size() - 1));
    }
    return p;
  }

  void move_value() {
    if (places_.empty()) return;
    const ValueId v = places_[random_.below(places_.size())];
    const Placement old = cost_.schedule().place[static_cast<std::size_t>(v)];
    const Placement next = draw(loop_.values[static_cast<std::size_t>(v)], v);
    if (next == old) return;
    const int before = cost_.cost();
    cost_.set_place(v, next);
    if (!accept(before)) cost_.set_place(v, old);
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

  bool has_block(ValueId v) const {
    for (const Block& b : cost_.problem().blocks)
      if (std::find(b.fields.begin(), b.fields.end(), v) != b.fields.end()) return true;
    return false;
  }

  ScheduleCost cost_;
  const MachineLoop& loop_;
  Random random_;
  int interval_;
  double temperature_ = 1;
  std::vector<ValueId> places_;
};

}  // namespace

unsigned least_interval(const Problem& problem) {
  unsigned units[3] = {0, 0, 0};
  for (const MachineOp& op : problem.loop->ops) {
    const Unit unit = info(op.op).unit;
    if (unit == Unit::Transfer) continue;
    ++units[unit == Unit::Multiplier ? 0 : 1];
  }
  return std::max({units[0], units[1], 1U});
}

std::optional<Schedule> find_schedule(const Problem& problem, unsigned interval, std::uint64_t seed,
                                      std::uint64_t steps,
                                      const std::function<bool(const Schedule&)>& good) {
  Search search(problem, interval, seed);
  if (!search.run(steps, good)) return std::nullopt;
  return search.schedule();
}

}  // namespace gdr::kc
