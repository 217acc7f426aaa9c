#include "libgdr/particle/hermite_forces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "libgdr/device/arrays.hpp"
#include "libgdr/particle/hermite_checks.hpp"
#include "libgdr/particle/overflow_diagnosis.hpp"
#include "libgdr/ranks/gathered.hpp"

namespace gdr {
namespace {

constexpr std::ptrdiff_t triple = 3 * sizeof(double);

bool finite(const std::array<double, 3>& v) noexcept {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

}  // namespace

HermiteBlock::HermiteBlock(std::size_t n)
    : ids(n),
      x(make_components(n)),
      v(make_components(n)),
      a(make_components(n)),
      j(make_components(n)),
      pot(n) {
  members.reserve(n);
}

void HermiteBlock::take_all(std::size_t n) {
  members.resize(n);
  std::iota(members.begin(), members.end(), 0U);
}

HermiteForces::HermiteForces(Device& device, const std::string& kernel,
                             const HermiteOptions& options, std::vector<double> mass,
                             HermiteStatistics& statistics)
    : predicted_x(make_components(mass.size())),
      predicted_v(make_components(mass.size())),
      block(mass.size()),
      ranks_(DeviceRanks::group(device)),
      eps_(options.eps),
      statistics_(statistics),
      job_(device.job(Kernel::builtin(kernel))),
      mass_(std::move(mass)),
      ids_(mass_.size()) {
  job_.set("eps2", eps_ * eps_);
  if (options.accuracy > 0) {
    const std::size_t particles_of_all = sum_of_ranks(ranks_, mass_.size());
    if (particles_of_all >= BlockTrees::min_particles)
      trees_.emplace(device, options.accuracy, eps_, mass_, particles_of_all);
  }
  std::iota(ids_.begin(), ids_.end(), first_id());
  total_mass_ = mass_of_all();
  const Components &x = predicted_x, &v = predicted_v;
  predicted_ = {{"xj", x[0]},  {"yj", x[1]},  {"zj", x[2]},
                {"vxj", v[0]}, {"vyj", v[1]}, {"vzj", v[2]}};
  targets_ = {{"xi", block.x[0]},       {"yi", block.x[1]},  {"zi", block.x[2]},
              {"vxi", block.v[0]},      {"vyi", block.v[1]}, {"vzi", block.v[2]},
              {"idi", block.ids.data()}};
  results_ = {{"ax", block.a[0]}, {"ay", block.a[1]}, {"az", block.a[2]}, {"jx", block.j[0]},
              {"jy", block.j[1]}, {"jz", block.j[2]}, {"pot", block.pot}};
}

/// Number of this rank's first particle among those of all ranks.
std::int64_t HermiteForces::first_id() const {
  if (ranks_ == nullptr) return 0;
  const auto own = static_cast<std::int64_t>(mass_.size());
  std::vector<std::int64_t> counts(ranks_->size());
  ranks_->gather(&own, sizeof own, counts.data());
  if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 0)
    throw CollectiveError(ErrorCategory::Input, "there are no particles");
  return std::accumulate(counts.begin(), counts.begin() + ranks_->rank(), std::int64_t{0});
}

/// The sum of the masses of all ranks, which does not depend on their number.
double HermiteForces::mass_of_all() const {
  std::vector<double> all = mass_;
  if (ranks_ != nullptr) {
    std::vector<std::int64_t> counts(ranks_->size());
    const auto own = static_cast<std::int64_t>(mass_.size());
    ranks_->gather(&own, sizeof own, counts.data());
    const auto most = static_cast<std::size_t>(*std::ranges::max_element(counts));
    std::vector<double> padded(mass_);
    padded.resize(most);  // with zeros
    all.resize(most * ranks_->size());
    ranks_->gather(padded.data(), most * sizeof(double), all.data());
  }
  return std::accumulate(all.begin(), all.end(), 0.0);
}

TermSizes HermiteForces::terms_of(std::size_t b) const {
  return sizes_of_terms(block.pot[b], total_mass_ - mass_[block.members[b]]);
}

void HermiteForces::set_sources() {
  std::vector<NamedInput> all = predicted_;
  all.push_back({"mj", mass_});
  all.push_back({"idj", ids_.data()});
  job_.sources(mass_.size(), all);
}

void HermiteForces::compute_first() {
  block.take_all(mass_.size());
  set_sources();
  if (!trees_ || !compute_with_tree(true)) compute_directly();
}

Components HermiteForces::first_snaps(Device& device) {
  Job snaps = device.job(Kernel::builtin("gravity_snap"));
  snaps.set("eps2", eps_ * eps_);
  std::vector<NamedInput> sources = predicted_, at_start = targets_;
  sources.insert(sources.end(), {{"mj", mass_},
                                 {"idj", ids_.data()},
                                 {"axj", block.a[0]},
                                 {"ayj", block.a[1]},
                                 {"azj", block.a[2]}});
  at_start.insert(at_start.end(), {{"axi", block.a[0]}, {"ayi", block.a[1]}, {"azi", block.a[2]}});
  Components snap = make_components(mass_.size());
  snaps.sources(mass_.size(), sources);
  snaps.targets(block.size(), at_start);
  snaps.run({{"sx", snap[0]}, {"sy", snap[1]}, {"sz", snap[2]}});
  return snap;
}

void HermiteForces::compute_block(bool ends_cycle) {
  if (trees_ && (ends_cycle || trees_->serves(block.size()))) {
    if (compute_with_tree(ends_cycle)) {
      statistics_.tree_steps += block.size();
      return;
    }
  }
  job_.update_sources(0, mass_.size(), predicted_);
  compute_directly();
}

/// False if direct sums are to be computed: they are faster, or a force is not finite, whose
/// particle they find.
bool HermiteForces::compute_with_tree(bool anew) {
  for (std::size_t b = 0; b < block.size(); ++b) {
    put(block.x, b, at(predicted_x, block.members[b]));
    put(block.v, b, at(predicted_v, block.members[b]));
  }
  try {
    const auto report = trees_->compute(block.members, predicted_x, predicted_v, anew,
                                        {block.a, block.j, block.pot});
    if (!report) return false;
    statistics_.tree_error = std::max(statistics_.tree_error, report->error);
    statistics_.tree_jerk_error = std::max(statistics_.tree_jerk_error, report->jerk_error);
    ++statistics_.evaluations;
    return true;
  } catch (const Error& error) {
    if (error.category() != ErrorCategory::Input) throw;
    return false;
  }
}

void HermiteForces::compute_directly() {
  for (std::size_t b = 0; b < block.size(); ++b) {
    const std::size_t i = block.members[b];
    put(block.x, b, at(predicted_x, i));
    put(block.v, b, at(predicted_v, i));
    block.ids[b] = ids_[i];
  }
  job_.targets(block.size(), targets_);
  job_.run(results_);
  ++statistics_.evaluations;
}

void HermiteForces::check(std::size_t b) const {
  // Engines in doubles find no force where the square of a distance overflows.
  if (!finite(at(block.a, b)) || !finite(at(block.j, b)) || find_far_particle(at(block.x, b)))
    refuse(block.members[b]);
}

/// The error for a particle whose force is not finite.
void HermiteForces::refuse(std::size_t particle) const {
  std::vector<double> position(3 * mass_.size());
  join_triples(predicted_x, position.data());
  if (const std::string far = describe_overflow("particle", position); !far.empty())
    bad_input("the forces are not finite: {}", far);
  bad_input(
      "the force on particle {} is not finite: it is too close to another one, or positions, "
      "velocities and masses exceed the range of the numbers; use a larger eps, or scale the "
      "units",
      particle);
}

/// False if a tree cannot compute them.
bool HermiteForces::compute_all_with_tree(double* acceleration, double* potential) {
  const BlockTreeChoice kept = trees_->choice;
  block.take_all(mass_.size());
  const bool done = compute_with_tree(false);
  trees_->choice = kept;
  if (!done) return false;
  if (acceleration != nullptr) join_triples(block.a, acceleration);
  if (potential != nullptr) std::copy_n(block.pot.data(), mass_.size(), potential);
  return true;
}

void HermiteForces::compute_all(double* acceleration, double* potential) {
  const std::size_t n = mass_.size();
  if (trees_ && trees_->choice.degree > 0 && compute_all_with_tree(acceleration, potential)) return;
  std::vector<NamedResult> wanted;
  if (acceleration != nullptr)
    wanted = {{"ax", {acceleration, triple}},
              {"ay", {acceleration + 1, triple}},
              {"az", {acceleration + 2, triple}}};
  if (potential != nullptr) wanted.push_back({"pot", potential});
  job_.update_sources(0, n, predicted_);
  job_.targets(n, {{"xi", predicted_x[0]},
                   {"yi", predicted_x[1]},
                   {"zi", predicted_x[2]},
                   {"vxi", predicted_v[0]},
                   {"vyi", predicted_v[1]},
                   {"vzi", predicted_v[2]},
                   {"idi", ids_.data()}});
  job_.run(wanted);
  ++statistics_.evaluations;
  collectively(ranks_, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      const bool a =
          acceleration == nullptr ||
          finite({acceleration[3 * i], acceleration[3 * i + 1], acceleration[3 * i + 2]});
      if (!a || (potential != nullptr && !std::isfinite(potential[i]))) refuse(i);
    }
  });
}

}  // namespace gdr
