#include "kernels/compiler/schedule/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace gdr::kc {
namespace {

/// Maximum durations of an item relative to its critical path, but at least the interval. Short
/// items have short lifetimes; long ones leave more freedom. None is best for all kernels.
constexpr std::array<double, 4> lengths{1.3, 2.0, 1.1, 1.6};

/// Intervals of the first attempts, relative to the smallest lower bound.
constexpr std::array<double, 6> first_ratios{1.25, 1.5, 2, 2.7, 3.6, 5};
/// Intervals of the first attempts relative to the lower bound of the alternative, at least.
constexpr double min_ratio = 1.2;

/// The first schedule of an alternative is built from nothing. Every later attempt begins with the
/// last one, from which it removes instructions at random, and places what was there again. Of the
/// configurations (an alternative and a length) some make a short attempt; the half that left fewer
/// operations waiting makes one twice as long, and so on (successive halving: K. Jamieson and A.
/// Talwalkar, "Non-stochastic best arm identification", 2016).
class AlternativeSearch {
 public:
  AlternativeSearch(std::span<const Alternative> alternatives, const SearchOptions& options)
      : alternatives_(alternatives),
        options_(options),
        left_(options.changes),
        known_(alternatives.size()) {
    for (std::size_t a = 0; a < alternatives.size(); ++a)
      for (const double length : lengths) configurations_.push_back({a, length});
    std::ranges::stable_sort(configurations_, {},
                             [&](const Configuration& c) { return bound(c.alternative); });
    least_ = configurations_.empty() ? 0 : bound(configurations_.front().alternative);
  }

  std::optional<std::size_t> run() {
    if (find_first() && !options_.ends_at_first) descend();
    return found_;
  }

 private:
  struct Configuration {
    std::size_t alternative = 0;
    double length = 1;
    std::size_t waiting = 0;     ///< operations that the last attempt left waiting
    std::uint64_t attempts = 0;  ///< number of attempts so far
    std::size_t expected = 0;    ///< operations that another one probably leaves waiting
  };

  unsigned bound(std::size_t a) const { return alternatives_[a].bounds.least(); }

  /// Changes of a short attempt. Most attempts begin with a schedule that is one instruction too
  /// long, so that many short ones find more than few long ones.
  std::uint64_t short_attempt(const Configuration& c) const {
    return 200 * (alternatives_[c.alternative].problem->loop->ops.size() + 10);
  }

  bool attempt(Configuration& c, unsigned ii, std::uint64_t changes) {
    const Alternative& alternative = alternatives_[c.alternative];
    const double longest =
        std::max(alternative.bounds.item_length * c.length, static_cast<double>(ii)) + 2;
    std::optional<Schedule>& known = known_[c.alternative];
    std::optional<Schedule> found;
    const ScheduleAttempt result =
        find_schedule(*alternative.problem,
                      {.ii = ii,
                       .length = static_cast<unsigned>(std::min(longest, 9000.0)),
                       .changes = std::min(changes, left_),
                       .sequence = attempts_++,
                       .start = known ? &*known : nullptr},
                      [&](const Schedule& s) {
                        const Verdict verdict = alternative.judge(s);
                        if (verdict == Verdict::Accepted) found = s;
                        return verdict;
                      });
    if (found) known = std::move(found);
    ++c.attempts;
    // What was rejected once will be rejected again.
    c.waiting = result.found ? 0 : result.waiting + 2 * result.rejected;
    // An attempt that ends at once has its price, too: the search ends.
    const std::uint64_t min_changes = 10 * alternative.problem->loop->ops.size() + 10;
    left_ -= std::min(left_, std::max(result.changes, min_changes));
    if (options_.progress)
      options_.progress(1 - static_cast<double>(left_) / static_cast<double>(options_.changes));
    if (!result.found) return false;
    found_ = c.alternative;
    best_ = ii;
    return true;
  }

  /// The first schedule: intervals grow until an attempt succeeds.
  bool find_first() {
    for (const double ratio : first_ratios) {
      const auto ii = static_cast<unsigned>(std::ceil(least_ * ratio));
      for (Configuration& c : configurations_) {
        if (left_ == 0 || bound(c.alternative) * min_ratio > ii) continue;
        if (attempt(c, ii, short_attempt(c) / 2)) return true;
      }
    }
    return false;
  }

  /// Number of operations that an attempt probably leaves waiting. Of an alternative without any
  /// attempt, the first configuration comes first.
  std::size_t expected_waiting(const Configuration& c) const {
    if (c.attempts > 0) return c.waiting;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const Configuration& other : configurations_)
      if (other.alternative == c.alternative && other.attempts > 0)
        least = std::min(least, other.waiting + 2);
    if (least < std::numeric_limits<std::size_t>::max()) return least;
    return c.length == lengths.front() ? 0 : least;
  }

  /// Whether one of the `count` most promising configurations has a schedule with this interval.
  bool try_interval(unsigned ii, std::size_t count) {
    for (Configuration& c : configurations_) c.expected = expected_waiting(c);
    std::ranges::stable_sort(configurations_, {}, &Configuration::expected);
    std::vector<Configuration*> active;
    for (Configuration& c : configurations_)
      if (active.size() < count && bound(c.alternative) <= ii) active.push_back(&c);
    for (std::uint64_t factor = 1; !active.empty(); factor *= 2) {
      for (Configuration* c : active) {
        if (left_ == 0) return false;
        if (attempt(*c, ii, factor * short_attempt(*c))) return true;
      }
      std::ranges::stable_sort(active, {}, [](const Configuration* c) { return c->waiting; });
      active.resize(active.size() / 2);
    }
    return false;
  }

  void descend() {
    const auto third = [&] { return std::max(1U, (best_ - least_) / 3); };
    std::size_t count = 4;
    for (unsigned step = third(); best_ > least_ && left_ > 0;) {
      if (try_interval(best_ - step, count)) {
        step = std::min(step, third());
      } else if (step > 1) {
        step /= 2;
      } else {
        count = 2;
      }
    }
  }

  std::span<const Alternative> alternatives_;
  const SearchOptions& options_;
  std::uint64_t left_;  ///< changes that may still be made
  std::vector<Configuration> configurations_;
  unsigned least_ = 0;  ///< smallest lower bound
  std::optional<std::size_t> found_;
  unsigned best_ = 0;
  std::uint64_t attempts_ = 0;                  ///< number of all attempts
  std::vector<std::optional<Schedule>> known_;  ///< the last schedule of each alternative
};

}  // namespace

std::optional<std::size_t> find_least_ii(std::span<const Alternative> alternatives,
                                         const SearchOptions& options) {
  return AlternativeSearch(alternatives, options).run();
}

}  // namespace gdr::kc
