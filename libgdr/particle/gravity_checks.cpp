#include "libgdr/particle/gravity_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "emulator/host/for_blocks.hpp"
#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/columns.hpp"
#include "libgdr/particle/overflow_diagnosis.hpp"
#include "libgdr/tree/size_range.hpp"

namespace gdr {
namespace {

[[noreturn]] void input_error(const std::string& message) {
  throw Error(ErrorCategory::Input, message);
}

}  // namespace

double checked_square(double eps) {
  if (!std::isfinite(eps) || eps < 0)
    input_error(fmt::format("the softening must be finite and not negative, it is {}", eps));
  const double square = eps * eps;
  if (!std::isfinite(square) || (eps > 0 && square < std::numeric_limits<double>::min()))
    input_error("the square of the softening is out of the range of a double; scale the units");
  return square;
}

namespace {

constexpr double min_square = std::numeric_limits<double>::min();
const double reach_of_axis = std::sqrt(min_square) * 0x1p54;

/// Whether the square of a distance other than 0 is too small for a double.
bool is_lost(const double* a, const double* b) {
  double square = 0, most = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double d = b[k] - a[k];
    square += d * d;
    most = std::max(most, std::abs(d));
  }
  return square < min_square && most > 0;
}

/// Particles with a coordinate so small, but not 0, that it may differ from another one by less
/// than the root of the least square: doubles that differ, differ by 2^-53 of their size.
std::vector<std::size_t> near_an_axis(std::size_t n, const double* x) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < n; ++i) {
    bool small = false;
    for (std::size_t k = 0; k < 3; ++k)
      small |= std::abs(x[3 * i + k]) < reach_of_axis && x[3 * i + k] != 0;
    if (small) found.push_back(i);
  }
  return found;
}

/// Searches the particles `some` of `x` among the m particles `others`.
void find_lost_pair(const tree::GravityInput& in, const std::vector<std::size_t>& some,
                    bool some_are_targets) {
  if (some.empty()) return;
  const double* const x = some_are_targets ? in.target : in.source;
  const double* const y = some_are_targets ? in.source : in.target;
  const std::size_t m = some_are_targets ? in.n_sources : in.n_targets;
  std::vector<std::size_t> sorted(m);
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  // Positions that are not finite have an error of their own, and no order.
  std::erase_if(sorted, [y](std::size_t j) { return !std::isfinite(y[3 * j]); });
  std::ranges::sort(sorted, {}, [y](std::size_t j) { return y[3 * j]; });
  const double reach = std::sqrt(min_square);
  for (const std::size_t i : some) {
    const auto first = std::ranges::lower_bound(sorted, x[3 * i] - reach, {},
                                                [y](std::size_t j) { return y[3 * j]; });
    for (auto at = first; at != sorted.end() && y[3 * *at] <= x[3 * i] + reach; ++at) {
      const std::size_t target = some_are_targets ? i : *at, source = some_are_targets ? *at : i;
      const bool softened =
          in.softening_of_each && in.target_square[target] + in.source_square[source] > 0;
      if ((in.same && target == source) || softened || !is_lost(x + 3 * i, y + 3 * *at)) continue;
      const std::string who =
          in.same ? "particles " + std::to_string(std::min(target, source)) + " and " +
                        std::to_string(std::max(target, source))
                  : "target " + std::to_string(target) + " and source " + std::to_string(source);
      input_error("the distance of " + who +
                  " is so small, but not 0, that its square is below the range of a double, and "
                  "their force cannot be computed; use a softening, or scale the units");
    }
  }
}

}  // namespace

void check_distances(const tree::GravityInput& in, unsigned threads) {
  const std::span<const double> sources{in.source, 3 * in.n_sources};
  const std::span<const double> targets{in.target, 3 * in.n_targets};
  const auto check = [](const char* what, std::span<const double> position,
                        const tree::SizeRange& sizes) {
    if (sizes.most <= max_coordinate) return;
    const std::optional<std::size_t> far = find_far_particle(position);
    // Infinite coordinates have an error of their own.
    if (far && std::ranges::all_of(position.subspan(3 * *far, 3),
                                   [](double x) { return std::isfinite(x); }))
      input_error("the acceleration cannot be computed: " + describe_overflow(what, position));
  };
  const tree::SizeRange of_sources = tree::size_range(sources, threads);
  const tree::SizeRange of_targets = in.same ? of_sources : tree::size_range(targets, threads);
  check(in.same ? "particle" : "source", sources, of_sources);
  if (!in.same) check("target", targets, of_targets);
  if (in.softening > 0) return;
  if (of_sources.least < reach_of_axis)
    find_lost_pair(in, near_an_axis(in.n_sources, in.source), false);
  if (!in.same && of_targets.least < reach_of_axis)
    find_lost_pair(in, near_an_axis(in.n_targets, in.target), true);
}

void check_particle_pointers(std::size_t n, const double* position, const double* mass,
                             const char* what) {
  if (n > 0 && (position == nullptr || mass == nullptr))
    throw Error(ErrorCategory::Usage, std::string("the array of ") + what + " is a null pointer");
}

void name_bad_particle(std::size_t n, const double* position, const double* mass,
                       const char* what) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      if (!std::isfinite(position[3 * i + k]))
        input_error(std::string(what) + " " + std::to_string(i) + ": coordinate " + "xyz"[k] +
                    (std::isnan(position[3 * i + k]) ? " is not a number" : " is infinite"));
    if (mass != nullptr && !std::isfinite(mass[i]))
      input_error(std::string(what) + " " + std::to_string(i) + ": its mass is not finite");
  }
}

namespace {

/// Whether n numbers are finite, or there are none.
bool finite_numbers(const double* x, std::size_t n, unsigned threads) {
  if (x == nullptr) return true;
  constexpr std::size_t each = 1 << 15;
  std::vector<char> good((n + each - 1) / each);
  for_blocks(n, each, threads, [&](std::size_t first, std::size_t last) {
    FiniteTest<double> test;
    for (std::size_t k = first; k < last; ++k) test.add(x[k]);
    good[first / each] = test.all_good() ? 1 : 0;
  });
  return std::ranges::find(good, 0) == good.end();
}

}  // namespace

void check_finite_results(std::size_t n, const double* values, std::size_t each, const char* what,
                          std::initializer_list<NamedPositions> positions, unsigned threads) {
  if (finite_numbers(values, each * n, threads)) return;
  for (const NamedPositions& p : positions)
    if (const std::string cause = describe_overflow(p.what, p.position); !cause.empty())
      input_error(std::string("the ") + what + " is not finite: " + cause);
  for (std::size_t k = 0; k < each * n; ++k)
    if (!std::isfinite(values[k]))
      input_error(
          std::string("the ") + what + " of particle " + std::to_string(k / each) +
          " is not finite: the particle is too close to another one, or positions and masses "
          "exceed the range of the chip's numbers; use a softening, or scale the units");
}

bool all_finite(const tree::GravityInput& in, unsigned threads) {
  const auto finite = [&](const double* x, std::size_t n) { return finite_numbers(x, n, threads); };
  return finite(in.target, 3 * in.n_targets) && finite(in.source, 3 * in.n_sources) &&
         finite(in.mass, in.n_sources) && finite(in.target_velocity, 3 * in.n_targets) &&
         finite(in.source_velocity, 3 * in.n_sources);
}

bool is_valid(const tree::GravityInput& in, unsigned threads) {
  const double square = in.softening * in.softening;
  const bool given = (in.n_targets == 0 || in.target != nullptr) &&
                     (in.n_sources == 0 || (in.source != nullptr && in.mass != nullptr));
  return given && in.softening >= 0 && (in.softening == 0 || std::isnormal(square)) &&
         all_finite(in, threads);
}

double engine_speed(const DeviceCore& core) {
  // Rounded ratios of the rates of gravity. Exact engines of all hosts count as one, since the
  // processes of a device may have different ones.
  if (core.engine.exact()) return 0.1;
  if (core.engine.uses_gpu) return 100;
  return core.computes_in_floats() ? 2 : 1;
}

tree::HostSteps host_steps(DeviceCore& core) {
  return [&core](const std::function<void()>& step) {
    Work work;
    work.body = [&](const std::stop_token& stop) {
      const WorkMonitor monitor{.stop = stop};
      const MonitoredScope scope(monitor);
      step();
    };
    core.queue.run(work);
  };
}

}  // namespace gdr
