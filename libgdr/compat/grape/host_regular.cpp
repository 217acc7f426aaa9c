#include "libgdr/compat/grape/host_regular.hpp"

#include <algorithm>
#include <array>

#include "libgdr/compat/grape/calls.hpp"

namespace gdr::compat::grape {
namespace {

/// Sources of a block, and targets that share it: it stays in a second-level cache.
constexpr std::size_t block = 1024, max_together = 16;
/// Fewer pairs take less time than to have other threads help.
constexpr std::size_t pairs_for_threads = 8000;

/// Room for the neighbours of a target.
std::size_t room(const SourceColumns& sources, const RegularRequest& r) {
  return std::min(r.capacity, sources.size());
}

RegularTarget target_of(const RegularRequest& r, std::size_t i) {
  RegularTarget target{.h2 = r.h2[i], .dt = r.dt[i]};
  std::ranges::copy(r.x[i], target.x);
  std::ranges::copy(r.v[i], target.v);
  return target;
}

void leave_sums(const RegularRequest& r, std::size_t i, const PartialSums& sums) {
  const std::array<double, 7> total = sums.total();
  std::copy_n(total.begin(), 3, r.acc[i]);
  std::copy_n(total.begin() + 3, 3, r.jerk[i]);
  r.pot[i] = total[6];
}

}  // namespace

HostRegular::HostRegular(Isa isa, unsigned threads)
    : loops_(regular_loops(isa)), threads_(threads) {}

void HostRegular::run(const SourceColumns& sources, const RegularRequest& r) {
  require_finite_rows(r.x, r.n, {"xi", "yi", "zi"});
  require_finite_rows(r.v, r.n, {"vxi", "vyi", "vzi"});
  require_finite_input(r.h2, r.n, 1, "h2i");
  require_finite_input(r.dt, r.n, 1, "dti");
  const unsigned threads = r.n * sources.size() < pairs_for_threads ? 1 : threads_.count();
  // Every thread gets several groups, so that they end at about the same time.
  const std::size_t group =
      std::clamp<std::size_t>(r.n / (std::size_t{4} * threads), 1, max_together);
  const std::size_t length = group * room(sources, r), groups = (r.n + group - 1) / group;
  found_.resize(threads * length);
  threads_.run(groups, threads, [&](std::size_t slot, std::size_t g) {
    const std::size_t first = g * group;
    sum_group(sources, r, first, std::min(group, r.n - first), found_.data() + slot * length);
  });
}

void HostRegular::sum_group(const SourceColumns& sources, const RegularRequest& r,
                            std::size_t first, std::size_t n, int* found) const {
  std::array<PartialSums, max_together> sums{};
  std::array<RegularTarget, max_together> targets;
  std::array<NearList, max_together> near;
  for (std::size_t k = 0; k < n; ++k) {
    targets[k] = target_of(r, first + k);
    near[k] = {found + k * room(sources, r), room(sources, r)};
  }
  const RegularSources columns = sources.all();
  const RegularLoop loop = r.by_mass ? loops_.by_mass : loops_.by_radius;
  for (std::size_t begin = 0; begin < sources.padded_size(); begin += block) {
    const std::size_t end = std::min(begin + block, sources.padded_size());
    for (std::size_t k = 0; k < n; ++k) loop(columns, begin, end, targets[k], sums[k], near[k]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    leave_sums(r, first + k, sums[k]);
    leave_list(r, first + k, near[k].count, near[k].numbers);
  }
}

}  // namespace gdr::compat::grape
