#include "libgdr/pairs/skin_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace gdr {
namespace {

/// The first skin, the least one, its growth from one that is tried to the next, and the largest
/// one, relative to the cut-off.
constexpr double first_skin = 0.12, min_skin = 0.01, growth = 1.15, max_skin = 0.5;
/// Cut-offs that are longer than any system have none.
constexpr double longest_with_skin = 1e100;
/// Runs that lists serve at most: estimates of slower motion are not reliable.
constexpr double max_runs = 1000;

// Host times on engine native with AVX-512, nanoseconds: of a pair of the Lennard-Jones kernel,
// which has so many clocks for each, of a source in a list in a run, and of a particle and of a
// source in a list in new lists.
constexpr double ns_a_kernel_pair = 0.4, clocks_of_kernel = 63;
// Of a pair of a list where an engine leaves out far ones, whatever the kernel: those that it
// computes do not depend on the skin.
constexpr double ns_a_far_pair = 0.12;
constexpr double ns_source_in_run = 5, ns_new_particle = 50, ns_new_source = 5;

/// The volume within a distance of a cube.
double volume_around(double edge, double distance) noexcept {
  constexpr double pi = std::numbers::pi;
  return edge * edge * edge + 6 * edge * edge * distance + 3 * pi * edge * distance * distance +
         4 * pi / 3 * distance * distance * distance;
}

}  // namespace

SkinChoice::SkinChoice(double clocks, bool leaves_out) noexcept
    : ns_a_pair_(leaves_out ? ns_a_far_pair : ns_a_kernel_pair * clocks / clocks_of_kernel),
      relative_(first_skin) {}

double SkinChoice::skin(double cutoff) const noexcept {
  return cutoff < longest_with_skin ? relative_ * cutoff : 0;
}

void SkinChoice::follow(double distance) noexcept {
  ++runs_;
  a_run_ = distance / static_cast<double>(runs_);
}

void SkinChoice::choose(const ListCounts& counts, double cutoff, bool moved) noexcept {
  const std::size_t runs = std::exchange(runs_, 0);
  if (!(cutoff < longest_with_skin)) return;
  // Of a box that changes in every run, lists serve one run only.
  if (!moved && runs == 0) relative_ = 0;
  if (!a_run_ || !moved) return;
  double least = cost(counts, cutoff, 0);
  relative_ = 0;
  for (double relative = min_skin; relative < max_skin; relative *= growth) {
    const double one = cost(counts, cutoff, relative * cutoff);
    if (!(one < least)) continue;
    least = one;
    relative_ = relative;
  }
}

/// Host time of a run with its share of new lists.
double SkinChoice::cost(const ListCounts& counts, double cutoff, double skin) const noexcept {
  const double edge = counts.edge / cutoff;
  const double longer =
      volume_around(edge, 1 + skin / cutoff) / volume_around(edge, 1 + counts.skin / cutoff);
  const double served = *a_run_ > 0 ? skin / (2 * *a_run_) : max_runs;
  const double runs = 1 + std::floor(std::min(max_runs, served));
  const double a_run = ns_a_pair_ * counts.pairs + ns_source_in_run * counts.sources;
  const double listed = ns_new_source * counts.sources;
  return longer * a_run + (longer * listed + ns_new_particle * counts.particles) / runs;
}

}  // namespace gdr
