// Gravity on a device: the kernel "gravity" on arrays of triples.
#include "gdr/gravity.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/columns.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/particle/gravity_checks.hpp"
#include "libgdr/particle/tree_on_ranks.hpp"
#include "libgdr/ranks/gathered.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "libgdr/tree/gravity_tree.hpp"
#include "libgdr/tree/rank_share.hpp"

namespace gdr {
namespace {

constexpr std::ptrdiff_t triple = 3 * sizeof(double);
constexpr std::uint32_t words = 5;  ///< link words of a particle: position, mass and id

}  // namespace

struct Gravity::Impl {
  Job job;
  std::shared_ptr<DeviceCore> core;  ///< a queue of the device, for trees
  Kernel kernel;                     ///< the job's kernel
  RankGroup* ranks;                  ///< ranks of the device; null if it has one process
  std::int64_t first_id = 0;         ///< number of this rank's first particle among all
  std::vector<std::int64_t> ids;     ///< first_id, first_id + 1, ...
  std::vector<std::int64_t> no_ids;  ///< -1, -1, ...: different from the ids of all sources
  std::vector<NamedResult> results;
  std::optional<SetJob> sets;  ///< sums of trees

  /// Coordinate k of triples; null for no particles.
  static ConstArray column(const double* x, int k) { return {x == nullptr ? x : x + k, triple}; }

  /// Reserves n ids.
  void reserve_ids(std::size_t n) {
    if (ids.size() >= n) return;
    ids.resize(n);
    first_id = -1;
  }
  /// Assigns ids to n particles, after those of lower ranks. Returns the number of particles of all
  /// ranks.
  std::size_t assign_ids(std::size_t n) {
    std::int64_t before = 0, all = static_cast<std::int64_t>(n);
    if (ranks != nullptr) {
      const std::int64_t mine = all;
      std::vector<std::int64_t> counts(ranks->size());
      ranks->gather(&mine, sizeof mine, counts.data());
      before = std::accumulate(counts.begin(), counts.begin() + ranks->rank(), std::int64_t{0});
      all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }
    if (before != first_id) std::iota(ids.begin(), ids.end(), before);
    first_id = before;
    return static_cast<std::size_t>(all);
  }
  void set_sources(std::size_t n, const double* x, const double* mass) {
    job.sources(n, {{"xj", column(x, 0)},
                    {"yj", column(x, 1)},
                    {"zj", column(x, 2)},
                    {"mj", mass},
                    {"idj", ids.data()}});
  }
  void set_targets(std::size_t n, const double* x, const std::int64_t* target_ids) {
    job.targets(
        n, {{"xi", column(x, 0)}, {"yi", column(x, 1)}, {"zi", column(x, 2)}, {"idi", target_ids}});
  }
  void run(std::size_t n, double square, double* acceleration, double* potential,
           std::initializer_list<NamedPositions> positions) {
    results.clear();
    if (acceleration != nullptr) {
      results.push_back({"ax", {acceleration, triple}});
      results.push_back({"ay", {acceleration + 1, triple}});
      results.push_back({"az", {acceleration + 2, triple}});
    }
    if (potential != nullptr) results.push_back({"pot", potential});
    job.set("eps2", square);
    job.run(results);
    collectively(ranks, [&] {
      check_finite_results(n, acceleration, 3, "acceleration", positions);
      check_finite_results(n, potential, 1, "potential", positions);
    });
  }

  /// The number of particles of all ranks.
  std::size_t total(std::size_t n) const {
    return ranks == nullptr ? n : offsets_of_ranks(*ranks, n).back();
  }
  /// Accelerations at some of the targets. `own`: the sources that this process passes.
  void sum_directly(const tree::GravityInput& own, const tree::GravityInput& in,
                    std::span<const std::uint32_t> targets, double* acceleration) {
    std::vector<double> at(3 * targets.size());
    std::vector<std::int64_t> numbers(targets.size(), -1);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      for (std::size_t c = 0; c < 3; ++c)
        at[3 * k + c] = in.target[3 * std::size_t{targets[k]} + c];
      if (in.same) numbers[k] = targets[k];
    }
    job.set("eps2", in.softening * in.softening);
    set_sources(own.n_sources, own.source, own.mass);
    set_targets(targets.size(), at.data(), numbers.data());
    job.run({{"ax", {acceleration, triple}},
             {"ay", {acceleration + 1, triple}},
             {"az", {acceleration + 2, triple}}});
  }
  /// The same for targets that all ranks pass, each of which computes some. Collective.
  void sum_directly_on_ranks(const tree::GravityInput& own, const tree::GravityInput& all,
                             std::span<const std::uint32_t> targets, double* acceleration) {
    std::vector<std::size_t> offsets;
    for (unsigned r = 0; r <= ranks->size(); ++r)
      offsets.push_back(part_begin(targets.size(), r, ranks->size()));
    const std::size_t first = offsets[ranks->rank()], end = offsets[ranks->rank() + 1];
    sum_directly(own, all, targets.subspan(first, end - first), acceleration + 3 * first);
    gather_items(*ranks, acceleration, triple, offsets);
  }
  SetJob& set_job() {
    if (!sets) sets = SetJob(core, kernel, ranks != nullptr);
    return *sets;
  }
  /// Nothing if direct sums are to be used, also for arguments with errors.
  std::optional<TreeReport> run_with_tree(const tree::GravityInput& in, const TreeOptions& options,
                                          double* acceleration, double* potential,
                                          std::initializer_list<NamedPositions> positions) {
    std::optional<TreeReport> report;
    if (ranks != nullptr) {
      report = run_on_ranks(in, options, acceleration, potential);
    } else if (is_valid(in, core->threads)) {
      reserve_ids(in.n_sources);
      assign_ids(in.n_sources);
      set_job().set("eps2", in.softening * in.softening);
      const auto direct = [&](std::span<const std::uint32_t> targets, double* result) {
        sum_directly(in, in, targets, result);
      };
      report = tree::compute_with_tree(*sets, in, options, core->threads, direct, {},
                                       {.acceleration = acceleration, .potential = potential},
                                       host_steps(*core));
    }
    if (!report) return {};
    collectively(ranks, [&] {
      check_finite_results(in.n_targets, acceleration, 3, "acceleration", positions);
      check_finite_results(in.n_targets, potential, 1, "potential", positions);
    });
    return report;
  }
  std::optional<TreeReport> run_on_ranks(const tree::GravityInput& own, const TreeOptions& options,
                                         double* acceleration, double* potential) {
    RankReport work;
    std::optional<TreeReport> report;
    {
      const AddElapsed timer(work.seconds);
      require_equal_options(*ranks, options, own.softening);
      std::vector<char> valid(ranks->size());
      const char is_good = is_valid(own, core->threads) ? 1 : 0;
      ranks->gather(&is_good, 1, valid.data());
      if (std::ranges::find(valid, 0) != valid.end()) return {};
      collectively(ranks, [&] { reserve_ids(own.n_sources); });
      assign_ids(own.n_sources);
      AllParticles all(*ranks, own);
      const tree::GravityInput in = all.input(own.softening, own.same);
      tree::RankShare share(*ranks);
      const auto direct = [&](std::span<const std::uint32_t> targets, double* result) {
        sum_directly_on_ranks(own, in, targets, result);
      };
      collectively(ranks, "the end of a sum with a tree", [&] {
        set_job().set("eps2", in.softening * in.softening);
        report = tree::compute_with_tree(*sets, in, options, core->threads, direct, {},
                                         all.results(), host_steps(*core), &share);
      });
      if (report) all.copy_results(*ranks, {.acceleration = acceleration, .potential = potential});
      work.pairs = static_cast<std::uint64_t>(share.own_pairs);
      work.sources_bytes = all.sources_bytes();
      work.memory_bytes = all.bytes();
      work.bytes_received = share.bytes_received + all.bytes_received;
    }
    if (report) add_to_report(*core, work);
    return report;
  }
};

Gravity::Gravity(Device& device)
    : impl_(new Impl{device.job(Kernel::builtin("gravity")),
                     DeviceRanks::core(device),
                     device.prepare(Kernel::builtin("gravity")),
                     DeviceRanks::group(device),
                     0,
                     {},
                     {},
                     {},
                     {}}) {}
Gravity::~Gravity() = default;
Gravity::Gravity(Gravity&&) noexcept = default;
Gravity& Gravity::operator=(Gravity&&) noexcept = default;

void Gravity::compute(std::size_t n, Numbers<const double> positions, Numbers<const double> masses,
                      double eps, Numbers<double> accelerations, Numbers<double> potentials) {
  const HostFloatMode mode;
  const double* const position = positions.data();
  const double* const mass = masses.data();
  double* const acceleration = accelerations.data();
  double* const potential = potentials.data();
  double square = 0;
  collectively(impl_->ranks, "Gravity::compute", [&] {
    check_count(n, words, "particles");
    positions.need(3 * n, "position");
    masses.need(n, "mass");
    accelerations.need(3 * n, "acceleration");
    potentials.need(n, "potential");
    check_particle_pointers(n, position, mass, "particles");
    square = checked_square(eps);
    impl_->reserve_ids(n);
  });
  // All ranks have the same total.
  if (impl_->assign_ids(n) == 0)
    throw CollectiveError(ErrorCategory::Input, "there are no particles");
  try {
    impl_->set_sources(n, position, mass);
    impl_->set_targets(n, position, impl_->ids.data());
  } catch (const Error& e) {
    if (e.category() == ErrorCategory::Input)
      collectively(impl_->ranks, [&] { name_bad_particle(n, position, mass, "particle"); });
    throw;
  }
  impl_->run(n, square, acceleration, potential, {{"particle", {position, 3 * n}}});
}

void Gravity::compute_on(std::size_t n_targets, Numbers<const double> targets,
                         std::size_t n_sources, Numbers<const double> sources,
                         Numbers<const double> masses, double eps, Numbers<double> accelerations,
                         Numbers<double> potentials) {
  const HostFloatMode mode;
  const double* const target = targets.data();
  const double* const source = sources.data();
  const double* const mass = masses.data();
  double* const acceleration = accelerations.data();
  double* const potential = potentials.data();
  double square = 0;
  collectively(impl_->ranks, "Gravity::compute_on", [&] {
    check_count(n_targets, words, "targets");
    check_count(n_sources, words, "sources");
    targets.need(3 * n_targets, "target");
    sources.need(3 * n_sources, "source");
    masses.need(n_sources, "mass");
    accelerations.need(3 * n_targets, "acceleration");
    potentials.need(n_targets, "potential");
    check_particle_pointers(n_targets, target, target, "targets");
    check_particle_pointers(n_sources, source, mass, "sources");
    square = checked_square(eps);
    if (impl_->no_ids.size() < n_targets) impl_->no_ids.resize(n_targets, -1);
    impl_->reserve_ids(n_sources);
  });
  impl_->assign_ids(n_sources);
  try {
    impl_->set_targets(n_targets, target, impl_->no_ids.data());
    impl_->set_sources(n_sources, source, mass);
  } catch (const Error& e) {
    if (e.category() == ErrorCategory::Input)
      collectively(impl_->ranks, [&] {
        name_bad_particle(n_targets, target, nullptr, "target");
        name_bad_particle(n_sources, source, mass, "source");
      });
    throw;
  }
  if (n_targets == 0 && impl_->ranks == nullptr) return;
  impl_->run(n_targets, square, acceleration, potential,
             {{"target", {target, 3 * n_targets}}, {"source", {source, 3 * n_sources}}});
}

TreeReport Gravity::compute(std::size_t n, Numbers<const double> position,
                            Numbers<const double> mass, double eps, Numbers<double> acceleration,
                            Numbers<double> potential, const TreeOptions& options) {
  const HostFloatMode mode;
  collectively(impl_->ranks, "Gravity::compute with a tree", [&] {
    check_count(n, words, "particles");
    position.need(3 * n, "position");
    mass.need(n, "mass");
    acceleration.need(3 * n, "acceleration");
    potential.need(n, "potential");
    tree::check_options(options);
  });
  const tree::GravityInput input{.n_targets = n,
                                 .target = position.data(),
                                 .n_sources = n,
                                 .source = position.data(),
                                 .mass = mass.data(),
                                 .softening = eps,
                                 .same = true};
  const std::optional<TreeReport> report =
      impl_->run_with_tree(input, options, acceleration.data(), potential.data(),
                           {{"particle", {position.data(), 3 * n}}});
  if (report) return *report;
  compute(n, position, mass, eps, acceleration, potential);
  return report_of_direct_sums(impl_->total(n));
}

TreeReport Gravity::compute_on(std::size_t n_targets, Numbers<const double> target,
                               std::size_t n_sources, Numbers<const double> source,
                               Numbers<const double> mass, double eps, Numbers<double> acceleration,
                               Numbers<double> potential, const TreeOptions& options) {
  const HostFloatMode mode;
  collectively(impl_->ranks, "Gravity::compute_on with a tree", [&] {
    check_count(n_targets, words, "targets");
    check_count(n_sources, words, "sources");
    target.need(3 * n_targets, "target");
    source.need(3 * n_sources, "source");
    mass.need(n_sources, "mass");
    acceleration.need(3 * n_targets, "acceleration");
    potential.need(n_targets, "potential");
    tree::check_options(options);
  });
  const tree::GravityInput input{.n_targets = n_targets,
                                 .target = target.data(),
                                 .n_sources = n_sources,
                                 .source = source.data(),
                                 .mass = mass.data(),
                                 .softening = eps};
  const std::optional<TreeReport> report = impl_->run_with_tree(
      input, options, acceleration.data(), potential.data(),
      {{"target", {target.data(), 3 * n_targets}}, {"source", {source.data(), 3 * n_sources}}});
  if (report) return *report;
  compute_on(n_targets, target, n_sources, source, mass, eps, acceleration, potential);
  return report_of_direct_sums(impl_->total(n_sources));
}

}  // namespace gdr
