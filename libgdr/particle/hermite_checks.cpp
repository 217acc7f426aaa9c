#include "libgdr/particle/hermite_checks.hpp"

#include <cmath>
#include <limits>

#include "libgdr/particle/block_steps.hpp"

namespace gdr {
namespace {

void check_number(const char* name, double value, bool zero_allowed) {
  if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) return;
  bad_input("{} must be finite and {}, it is {}", name, zero_allowed ? "at least 0" : "above 0",
            value);
}

}  // namespace

void check_options(const HermiteOptions& o) {
  check_number("eps", o.eps, true);
  check_number("eta", o.eta, false);
  check_number("eta_start", o.eta_start, false);
  check_number("largest_step", o.largest_step, false);
  check_number("smallest_step", o.smallest_step, true);
  if (!(o.accuracy >= 0 && o.accuracy < 1))
    bad_input("accuracy must be above 0 and below 1, or 0 for direct sums, it is {}", o.accuracy);
  const double square = o.eps * o.eps;
  if (!std::isfinite(square) || (o.eps > 0 && square < std::numeric_limits<double>::min()))
    bad_input("the square of eps = {} is out of the range of a double; scale the units", o.eps);
  if (o.smallest_step > o.largest_step)
    bad_input("smallest_step {} is above largest_step {}", o.smallest_step, o.largest_step);
  if (o.smallest_step > 0 && o.smallest_step < o.largest_step * shortest_block_step)
    bad_input("smallest_step {} is below 2^-40 of largest_step, the resolution of times",
              o.smallest_step);
}

void check_finite(std::size_t n, const double* values, std::size_t each, const char* what) {
  if (n > 0 && values == nullptr)
    throw Error(ErrorCategory::Usage, fmt::format("the array of {} is a null pointer", what));
  for (std::size_t k = 0; k < each * n; ++k)
    if (!std::isfinite(values[k])) bad_input("particle {}: its {} is not finite", k / each, what);
}

void check_state(const HermiteState& s) {
  const std::size_t n = s.size();
  if (s.time.size() != n || s.position.size() != 3 * n || s.velocity.size() != 3 * n ||
      s.acceleration.size() != 3 * n || s.jerk.size() != 3 * n)
    bad_input("the arrays of a state have different numbers of particles");
  if (!(s.now >= 0 && s.now < 1) || !commensurate(s.now, shortest_block_step) || s.cycle < 0)
    bad_input("the time of a state, {} + {} cycles, is out of range", s.cycle, s.now);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = s.time[i], step = s.step[i];
    const bool block = step >= shortest_block_step && round_down_to_block(step) == step;
    if (!block || !(t >= 0 && t <= s.now && t + step > s.now) || !commensurate(t, step))
      bad_input("particle {}: time {} and step {} (in cycles) are not of a state at {}", i, t, step,
                s.now);
  }
  constexpr unsigned largest_degree = 6;
  constexpr double largest_theta = 0.95;
  if (s.tree_degree > largest_degree || !(s.tree_theta >= 0 && s.tree_theta <= largest_theta) ||
      (s.tree_degree > 0) != (s.tree_theta > 0))
    bad_input("degree {} and theta {} are not those of a tree", s.tree_degree, s.tree_theta);
  check_finite(n, s.position.data(), 3, "position");
  check_finite(n, s.velocity.data(), 3, "velocity");
  check_finite(n, s.acceleration.data(), 3, "acceleration");
  check_finite(n, s.jerk.data(), 3, "jerk");
}

std::string shared_values(const HermiteOptions& o, std::int64_t cycle, double now) {
  return fmt::format(
      "Hermite with eps {}, eta {}, eta_start {}, steps {} to {} {}, accuracy {}, at {} + {}",
      o.eps, o.eta, o.eta_start, o.smallest_step, o.largest_step, o.kernel, o.accuracy, cycle, now);
}

}  // namespace gdr
