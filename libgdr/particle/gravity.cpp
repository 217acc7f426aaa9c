// Gravity on a device: the kernel "gravity" on arrays of triples.
#include "gdr/gravity.hpp"

#include <algorithm>
#include <array>
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
#include "libgdr/device/prepare.hpp"
#include "libgdr/particle/gravity_checks.hpp"
#include "libgdr/particle/softening.hpp"
#include "libgdr/particle/tree_on_ranks.hpp"
#include "libgdr/ranks/gathered.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "libgdr/tree/gravity_tree.hpp"
#include "libgdr/tree/rank_share.hpp"

namespace gdr {
namespace {

constexpr std::ptrdiff_t triple = 3 * sizeof(double);
constexpr std::uint32_t words = 5;  ///< link words of a particle: position, mass and id
constexpr std::array<const char*, 3> axes{"ax", "ay", "az"};

/// The arguments of a call. The targets are the sources if `same`.
struct Arguments {
  bool same;
  std::size_t n_targets;
  const Numbers<const double>& target;
  std::size_t n_sources;
  const Numbers<const double>&source, &mass;
  const Softening& eps;
  const Numbers<double>&acceleration, &potential;
};

}  // namespace

struct Gravity::Impl {
  explicit Impl(Device& device)
      : job(device.job(Kernel::builtin("gravity"))),
        core(DeviceRanks::core(device)),
        ranks(DeviceRanks::group(device)) {}

  Job job;                           ///< direct sums with one softening length
  std::shared_ptr<DeviceCore> core;  ///< a queue of the device, for other sums
  RankGroup* ranks;                  ///< ranks of the device; null if it has one process
  std::int64_t first_id = 0;         ///< number of this rank's first particle among all
  std::vector<std::int64_t> ids;     ///< first_id, first_id + 1, ...
  std::vector<std::int64_t> no_ids;  ///< -1, -1, ...: different from the ids of all sources
  std::vector<NamedResult> results;
  std::optional<SetJob> sets;      ///< sums of trees
  std::optional<SetJob> softened;  ///< all sums with softening of each particle

  /// The sums of trees with the softening of a call.
  SetJob& set_job_for(const tree::GravityInput& in) {
    std::optional<SetJob>& to = in.softening_of_each ? softened : sets;
    if (!to) {
      const Kernel kernel = in.softening_of_each ? softened_gravity() : Kernel::builtin("gravity");
      to = SetJob(core, prepare_for(*core, kernel), ranks != nullptr);
    }
    if (!in.softening_of_each) to->set("eps2", in.softening * in.softening);
    return *to;
  }

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
  void set_sources(const tree::GravityInput& in) {
    job.sources(in.n_sources, {{"xj", column(in.source, 0)},
                               {"yj", column(in.source, 1)},
                               {"zj", column(in.source, 2)},
                               {"mj", in.mass},
                               {"idj", ids.data()}});
  }
  void set_targets(std::size_t n, const double* x, const std::int64_t* target_ids) {
    job.targets(
        n, {{"xi", column(x, 0)}, {"yi", column(x, 1)}, {"zi", column(x, 2)}, {"idi", target_ids}});
  }
  static std::vector<NamedResult> named(const tree::GravityResults& out) {
    std::vector<NamedResult> named;
    for (int k = 0; out.acceleration != nullptr && k < 3; ++k)
      named.push_back({axes[k], {out.acceleration + k, triple}});
    if (out.potential != nullptr) named.push_back({"pot", out.potential});
    return named;
  }

  /// Sums with softening of each particle over the sources of all ranks, at n targets, which are
  /// the sources with these numbers, or -1.
  void sum_softened(const tree::GravityInput& all, std::size_t n, const double* x,
                    const double* square, const std::int64_t* numbers,
                    const tree::GravityResults& out) {
    if (n == 0) return;
    std::vector<std::int64_t> places(all.n_sources);
    std::iota(places.begin(), places.end(), std::int64_t{0});
    const std::vector<NamedInput> targets{{"xi", column(x, 0)},
                                          {"yi", column(x, 1)},
                                          {"zi", column(x, 2)},
                                          {"e2i", square},
                                          {"idi", numbers}};
    const std::vector<NamedInput> sources{
        {"xj", column(all.source, 0)}, {"yj", column(all.source, 1)},
        {"zj", column(all.source, 2)}, {"mj", all.mass},
        {"e2j", all.source_square},    {"idj", places.data()}};
    const std::vector<NamedResult> filled = named(out);
    const SourceSegment segment{all.n_sources, sources};
    set_job_for(all).run({{n, targets, {&segment, 1}, filled}});
  }

  /// The number of particles of all ranks.
  std::size_t total(std::size_t n) const {
    return ranks == nullptr ? n : offsets_of_ranks(*ranks, n).back();
  }
  /// Accelerations at some of the targets. `own`: the sources that this process passes.
  void sum_directly(const tree::GravityInput& own, const tree::GravityInput& in,
                    std::span<const std::uint32_t> targets, double* acceleration) {
    std::vector<double> at(3 * targets.size()), square(in.softening_of_each ? targets.size() : 0);
    std::vector<std::int64_t> numbers(targets.size(), -1);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      for (std::size_t c = 0; c < 3; ++c)
        at[3 * k + c] = in.target[3 * std::size_t{targets[k]} + c];
      if (in.same) numbers[k] = targets[k];
      if (in.softening_of_each) square[k] = in.target_square[targets[k]];
    }
    if (in.softening_of_each) {
      sum_softened(in, targets.size(), at.data(), square.data(), numbers.data(),
                   {.acceleration = acceleration});
      return;
    }
    job.set("eps2", in.softening * in.softening);
    set_sources(own);
    set_targets(targets.size(), at.data(), numbers.data());
    job.run(named({.acceleration = acceleration}));
  }
  /// The same for targets that all ranks pass, each of which computes some. Collective.
  void sum_directly_on_ranks(const tree::GravityInput& own, const tree::GravityInput& all,
                             std::span<const std::uint32_t> targets, double* acceleration) {
    std::vector<std::size_t> offsets;
    for (unsigned r = 0; r <= ranks->size(); ++r)
      offsets.push_back(part_begin(targets.size(), r, ranks->size()));
    const std::size_t first = offsets[ranks->rank()], end = offsets[ranks->rank() + 1];
    const auto sum = [&] {
      sum_directly(own, all, targets.subspan(first, end - first), acceleration + 3 * first);
    };
    // Without softening of each particle it is a job of all ranks.
    if (all.softening_of_each)
      collectively(ranks, "sums at a sample", sum);
    else
      sum();
    gather_items(*ranks, acceleration, triple, offsets);
  }
  /// The method is Direct if direct sums are to be used, also for arguments with errors.
  TreeReport run_with_tree(const tree::GravityInput& in, const TreeOptions& options,
                           const tree::GravityResults& out) {
    TreeReport report;
    if (ranks != nullptr) {
      report = run_on_ranks(in, options, out.acceleration, out.potential);
    } else if (is_valid(in, core->threads)) {
      check_distances(in, core->threads);
      reserve_ids(in.n_sources);
      assign_ids(in.n_sources);
      const auto direct = [&](std::span<const std::uint32_t> targets, double* result) {
        sum_directly(in, in, targets, result);
      };
      report = tree::compute_with_tree(set_job_for(in), in, options, core->threads, direct, {}, out,
                                       host_steps(*core));
    }
    if (report.method != TreeMethod::Direct) check_results(in, out);
    return report;
  }
  TreeReport run_on_ranks(const tree::GravityInput& own, const TreeOptions& options,
                          double* acceleration, double* potential) {
    RankReport work;
    TreeReport report;
    {
      const AddElapsed timer(work.seconds);
      require_equal_options(*ranks, options, own.softening);
      std::vector<char> valid(ranks->size());
      const char is_good = is_valid(own, core->threads) ? 1 : 0;
      ranks->gather(&is_good, 1, valid.data());
      if (std::ranges::find(valid, 0) != valid.end()) return {};
      collectively(ranks, [&] {
        check_distances(own, core->threads);
        reserve_ids(own.n_sources);
      });
      assign_ids(own.n_sources);
      AllParticles all(*ranks, own);
      const tree::GravityInput in = all.input(own);
      tree::RankShare share(*ranks);
      const auto direct = [&](std::span<const std::uint32_t> targets, double* result) {
        sum_directly_on_ranks(own, in, targets, result);
      };
      collectively(ranks, "the end of a sum with a tree", [&] {
        report = tree::compute_with_tree(set_job_for(in), in, options, core->threads, direct, {},
                                         all.results(), host_steps(*core), &share);
      });
      if (report.method != TreeMethod::Direct)
        all.copy_results(*ranks, {.acceleration = acceleration, .potential = potential});
      work.pairs = static_cast<std::uint64_t>(share.own_pairs);
      work.sources_bytes = all.sources_bytes();
      work.memory_bytes = all.bytes();
      work.bytes_received = share.bytes_received + all.bytes_received;
    }
    if (report.method != TreeMethod::Direct) add_to_report(*core, work);
    return report;
  }

  void check_results(const tree::GravityInput& in, const tree::GravityResults& out) {
    const NamedPositions targets{in.same ? "particle" : "target", {in.target, 3 * in.n_targets}};
    const NamedPositions sources{in.same ? "particle" : "source", {in.source, 3 * in.n_sources}};
    collectively(ranks, [&] {
      check_finite_results(in.n_targets, out.acceleration, 3, "acceleration", {targets, sources},
                           core->threads);
      check_finite_results(in.n_targets, out.potential, 1, "potential", {targets, sources},
                           core->threads);
    });
  }
  /// Checks the arguments of direct sums.
  void check(const tree::GravityInput& in) {
    const char* const sources = in.same ? "particles" : "sources";
    if (!in.same) check_particle_pointers(in.n_targets, in.target, in.target, "targets");
    check_particle_pointers(in.n_sources, in.source, in.mass, sources);
    checked_square(in.softening);
    check_distances(in, core->threads);
    if (!in.same && no_ids.size() < in.n_targets) no_ids.resize(in.n_targets, -1);
    reserve_ids(in.n_sources);
  }
  void compute_directly(const tree::GravityInput& in, const tree::GravityResults& out) {
    // All ranks have the same total.
    if (assign_ids(in.n_sources) == 0 && in.same)
      throw CollectiveError(ErrorCategory::Input, "there are no particles");
    try {
      if (in.softening_of_each) {
        compute_softened(in, out);
        return;
      }
      set_targets(in.n_targets, in.target, (in.same ? ids : no_ids).data());
      set_sources(in);
    } catch (const Error& e) {
      if (e.category() == ErrorCategory::Input) name_bad_input(in);
      throw;
    }
    if (in.n_targets == 0 && ranks == nullptr) return;
    job.set("eps2", in.softening * in.softening);
    results = named(out);
    job.run(results);
    check_results(in, out);
  }
  /// Every rank gets the particles of all.
  void compute_softened(const tree::GravityInput& in, const tree::GravityResults& out) {
    const std::int64_t* const numbers = (in.same ? ids : no_ids).data();
    if (ranks != nullptr) {
      const AllParticles all(*ranks, in);
      collectively(ranks, "sums with softening of each particle", [&] {
        sum_softened(all.input(in), in.n_targets, in.target, in.target_square, numbers, out);
      });
    } else if (in.n_targets > 0) {
      sum_softened(in, in.n_targets, in.target, in.target_square, numbers, out);
    }
    check_results(in, out);
  }
  void name_bad_input(const tree::GravityInput& in) {
    collectively(ranks, [&] {
      if (!in.same) name_bad_particle(in.n_targets, in.target, nullptr, "target");
      name_bad_particle(in.n_sources, in.source, in.mass, in.same ? "particle" : "source");
    });
  }

  /// With a tree if there are options for it.
  TreeReport compute(const Arguments& a, const TreeOptions* options) {
    const std::string function = a.same ? "Gravity::compute" : "Gravity::compute_on";
    const std::string name =
        name_with_softening(options != nullptr ? function + " with a tree" : function, a.eps);
    SquareParts parts;
    tree::GravityInput in;
    tree::GravityResults out;
    collectively(ranks, name, [&] {
      const std::uint32_t each = a.eps.of_each() ? words + 1 : words;
      check_count(a.n_targets, each, a.same ? "particles" : "targets");
      if (!a.same) check_count(a.n_sources, each, "sources");
      in = {.n_targets = a.n_targets,
            .target = a.target.need(3 * a.n_targets, a.same ? "position" : "target"),
            .n_sources = a.n_sources,
            .source = a.source.need(3 * a.n_sources, a.same ? "position" : "source"),
            .mass = a.mass.need(a.n_sources, "mass"),
            .engine_speed = engine_speed(*core),
            .same = a.same};
      out = {.acceleration = a.acceleration.need(3 * a.n_targets, "acceleration"),
             .potential = a.potential.need(a.n_targets, "potential")};
      parts = square_parts(a.eps, a.n_sources, a.n_targets, a.same);
      set_softening(in, a.eps, parts);
      if (options != nullptr)
        tree::check_options(*options);
      else
        check(in);
    });
    if (options == nullptr) {
      compute_directly(in, out);
      return {};
    }
    TreeReport report = run_with_tree(in, *options, out);
    if (report.method != TreeMethod::Direct) return report;
    collectively(ranks, [&] { check(in); });
    compute_directly(in, out);
    report.sources_per_target = static_cast<double>(total(in.n_sources));
    return report;
  }
};

Gravity::Gravity(Device& device) : impl_(new Impl(device)) {}
Gravity::~Gravity() = default;
Gravity::Gravity(Gravity&&) noexcept = default;
Gravity& Gravity::operator=(Gravity&&) noexcept = default;

void Gravity::compute(std::size_t n, Numbers<const double> position, Numbers<const double> mass,
                      const Softening& eps, Numbers<double> acceleration,
                      Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute({true, n, position, n, position, mass, eps, acceleration, potential}, nullptr);
}

void Gravity::compute_on(std::size_t n_targets, Numbers<const double> target, std::size_t n_sources,
                         Numbers<const double> source, Numbers<const double> mass,
                         const Softening& eps, Numbers<double> acceleration,
                         Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute({false, n_targets, target, n_sources, source, mass, eps, acceleration, potential},
                 nullptr);
}

TreeReport Gravity::compute(std::size_t n, Numbers<const double> position,
                            Numbers<const double> mass, const Softening& eps,
                            Numbers<double> acceleration, Numbers<double> potential,
                            const TreeOptions& options) {
  const HostFloatMode mode;
  return impl_->compute({true, n, position, n, position, mass, eps, acceleration, potential},
                        &options);
}

TreeReport Gravity::compute_on(std::size_t n_targets, Numbers<const double> target,
                               std::size_t n_sources, Numbers<const double> source,
                               Numbers<const double> mass, const Softening& eps,
                               Numbers<double> acceleration, Numbers<double> potential,
                               const TreeOptions& options) {
  const HostFloatMode mode;
  return impl_->compute(
      {false, n_targets, target, n_sources, source, mass, eps, acceleration, potential}, &options);
}

}  // namespace gdr
