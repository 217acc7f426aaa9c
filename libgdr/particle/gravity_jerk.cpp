// Gravity and its derivative on a device: the kernel "gravity_jerk" on arrays of triples.
#include "gdr/gravity_jerk.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "libgdr/device/arrays.hpp"
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

constexpr std::uint32_t jerk_words = 8;  ///< link words of a particle

void name_bad_velocity(std::size_t n, const double* velocity, const char* what) {
  for (std::size_t k = 0; k < 3 * n; ++k)
    if (!std::isfinite(velocity[k]))
      throw Error(ErrorCategory::Input, std::string(what) + " " + std::to_string(k / 3) +
                                            ": component " + "xyz"[k % 3] +
                                            " of its velocity is not finite");
}

}  // namespace

namespace {

/// The arguments of a call.
struct JerkCall {
  tree::GravityInput in;
  tree::GravityResults out;
  SquareParts parts;  ///< squares of the softening, to which the input refers
};

}  // namespace

struct GravityJerk::Impl {
  Job job;  ///< direct sums
  std::shared_ptr<DeviceCore> core;
  RankGroup* ranks;                            ///< ranks of the device; null if it has one process
  SetJob sets;                                 ///< sums of trees with one softening length
  std::optional<SetJob> softened = {};         ///< all sums with that of each particle
  std::vector<std::int64_t> ids, no_ids = {};  ///< ids are numbered through the ranks

  explicit Impl(Device& device, const Kernel& kernel)
      : job(device.job(kernel)),
        core(DeviceRanks::core(device)),
        ranks(DeviceRanks::group(device)),
        sets(core, device.prepare(kernel), ranks != nullptr) {}

  /// The sums of trees with the softening of a call.
  SetJob& set_job_for(const tree::GravityInput& in) {
    if (!in.softening_of_each) {
      sets.set("eps2", in.softening * in.softening);
      return sets;
    }
    if (!softened)
      softened = SetJob(core, prepare_for(*core, softened_gravity_jerk()), ranks != nullptr);
    return *softened;
  }

  /// Sums at n targets from arrays of triples, of which every rank has some. The sources are those
  /// of this rank or, with softening of each particle, of all; `square` is null without it.
  void sum(const tree::GravityInput& own, std::size_t n, const double* at, const double* velocity,
           const double* square, const std::int64_t* numbers, const tree::GravityResults& out) {
    constexpr std::ptrdiff_t triple = 3 * sizeof(double);
    const auto column = [](const double* x, int k) -> ConstArray {
      return {x == nullptr ? x : x + k, triple};
    };
    std::vector<NamedInput> targets{{"idi", numbers}},
        sources{{"mj", own.mass}, {"idj", ids.data()}};
    std::vector<NamedResult> results;
    const char* const names[4][3] = {
        {"xi", "yi", "zi"}, {"vxi", "vyi", "vzi"}, {"xj", "yj", "zj"}, {"vxj", "vyj", "vzj"}};
    const char* const vectors[2][3] = {{"ax", "ay", "az"}, {"jx", "jy", "jz"}};
    for (int k = 0; k < 3; ++k) {
      targets.push_back({names[0][k], column(at, k)});
      targets.push_back({names[1][k], column(velocity, k)});
      sources.push_back({names[2][k], column(own.source, k)});
      sources.push_back({names[3][k], column(own.source_velocity, k)});
      if (out.acceleration != nullptr)
        results.push_back({vectors[0][k], {out.acceleration + k, triple}});
      if (out.jerk != nullptr) results.push_back({vectors[1][k], {out.jerk + k, triple}});
    }
    if (out.potential != nullptr) results.push_back({"pot", out.potential});
    if (own.softening_of_each) {
      if (n == 0) return;
      std::vector<std::int64_t> places(own.n_sources);
      std::iota(places.begin(), places.end(), std::int64_t{0});
      sources[1] = {"idj", places.data()};
      sources.push_back({"e2j", own.source_square});
      targets.push_back({"e2i", square});
      const SourceSegment all{own.n_sources, sources};
      set_job_for(own).run({{n, targets, {&all, 1}, results}});
      return;
    }
    job.set("eps2", own.softening * own.softening);
    job.sources(own.n_sources, sources);
    job.targets(n, targets);
    job.run(results);
  }

  /// Throws for arguments of this process with errors.
  void check(const tree::GravityInput& in, const TreeOptions* options) const {
    if (options != nullptr) tree::check_options(*options);
    check_count(in.n_targets, jerk_words, "targets");
    check_count(in.n_sources, jerk_words, "sources");
    const char *const target = in.same ? "particle" : "target",
                      *source = in.same ? target : "source";
    check_particle_pointers(in.n_targets, in.target, in.target_velocity, "targets");
    check_particle_pointers(in.n_sources, in.source, in.mass, "sources");
    check_particle_pointers(in.n_sources, in.source, in.source_velocity, "sources");
    checked_square(in.softening);
    if (all_finite(in, core->threads)) return check_distances(in, core->threads);
    name_bad_particle(in.n_targets, in.target, nullptr, target);
    name_bad_velocity(in.n_targets, in.target_velocity, target);
    name_bad_particle(in.n_sources, in.source, in.mass, source);
    name_bad_velocity(in.n_sources, in.source_velocity, source);
  }

  /// Numbers the sources after those of lower ranks; returns the number of all.
  std::size_t number_sources(std::size_t n) {
    const std::vector<std::size_t> offsets =
        ranks == nullptr ? std::vector<std::size_t>{0, n} : offsets_of_ranks(*ranks, n);
    std::iota(ids.begin(), ids.end(),
              static_cast<std::int64_t>(offsets[ranks == nullptr ? 0 : ranks->rank()]));
    return offsets.back();
  }

  /// With a tree if there are options for it. `name`: the function, as ranks compare it; `make`
  /// checks the sizes of the arrays.
  template <typename Make>
  TreeReport compute(const std::string& name, const TreeOptions* options, const Make& make) {
    return compute(name, options, make, true);
  }
  /// The method is Direct without results if there is no tree, and no direct sums are to be
  /// computed instead.
  template <typename Make>
  TreeReport compute(const std::string& name, const TreeOptions* options, const Make& make,
                     bool or_directly) {
    JerkCall call;
    const tree::GravityInput& in = call.in;
    const tree::GravityResults& out = call.out;
    collectively(ranks, options == nullptr ? name : name + " with a tree", [&] {
      call = make();
      call.in.engine_speed = engine_speed(*core);
      check(in, options);
      if (ids.size() < in.n_sources) ids.resize(in.n_sources);
      if (no_ids.size() < in.n_targets) no_ids.resize(in.n_targets, -1);
    });
    const std::size_t all_sources = number_sources(in.n_sources);
    if (in.same && all_sources == 0)
      throw CollectiveError(ErrorCategory::Input, "there are no particles");
    TreeReport report;
    if (options != nullptr) report = compute_with_tree(in, out, *options);
    if (report.method == TreeMethod::Direct) {
      if (!or_directly) return report;
      compute_directly(in, out);
      report.sources_per_target = static_cast<double>(all_sources);
    }
    const NamedPositions targets{in.same ? "particle" : "target", {in.target, 3 * in.n_targets}};
    const NamedPositions sources{in.same ? "particle" : "source", {in.source, 3 * in.n_sources}};
    collectively(ranks, [&] {
      check_finite_results(in.n_targets, out.acceleration, 3, "acceleration", {targets, sources},
                           core->threads);
      check_finite_results(in.n_targets, out.jerk, 3, "jerk", {targets, sources}, core->threads);
      check_finite_results(in.n_targets, out.potential, 1, "potential", {targets, sources},
                           core->threads);
    });
    return report;
  }

  void compute_directly(const tree::GravityInput& in, const tree::GravityResults& out) {
    const auto sum_over = [&](const tree::GravityInput& sources) {
      sum(sources, in.n_targets, in.target, in.target_velocity, in.target_square,
          (in.same ? ids : no_ids).data(), out);
    };
    if (ranks != nullptr && in.softening_of_each) {
      const AllParticles all(*ranks, in, true);
      collectively(ranks, "jerks with softening of each particle",
                   [&] { sum_over(all.input(in)); });
    } else if (ranks != nullptr || in.n_targets > 0) {
      // Without any targets, a job would need no sources either.
      sum_over(in);
    }
  }

  /// Accelerations and jerks of direct sums at some of the targets of all ranks, each of which
  /// computes a part of them.
  void sum_directly(const tree::GravityInput& own, const tree::GravityInput& all,
                    std::span<const std::uint32_t> targets, double* acceleration, double* jerk) {
    const std::size_t parts = ranks == nullptr ? 1 : ranks->size();
    std::vector<std::size_t> offsets;
    for (std::size_t r = 0; r <= parts; ++r)
      offsets.push_back(part_begin(targets.size(), r, parts));
    const std::size_t r = ranks == nullptr ? 0 : ranks->rank();
    const std::size_t first = offsets[r], n = offsets[r + 1] - first;
    std::vector<double> at, velocity, square;
    std::vector<std::int64_t> numbers;
    for (const std::uint32_t i : targets.subspan(first, n)) {
      const double *const x = all.target + 3 * std::size_t{i},
                          *v = all.target_velocity + 3 * std::size_t{i};
      at.insert(at.end(), x, x + 3);
      velocity.insert(velocity.end(), v, v + 3);
      const bool is_source = all.target_source != nullptr;
      numbers.push_back(all.same ? std::int64_t{i} : is_source ? all.target_source[i] : -1);
      if (all.softening_of_each) square.push_back(all.target_square[i]);
    }
    const auto sum_part = [&] {
      sum(all.softening_of_each ? all : own, n, at.data(), velocity.data(), square.data(),
          numbers.data(), {.acceleration = acceleration + 3 * first, .jerk = jerk + 3 * first});
    };
    // Without softening of each particle it is a job of all ranks.
    if (all.softening_of_each)
      collectively(ranks, "jerks at a sample", sum_part);
    else
      sum_part();
    if (ranks == nullptr) return;
    gather_items(*ranks, acceleration, 3 * sizeof(double), offsets);
    gather_items(*ranks, jerk, 3 * sizeof(double), offsets);
  }

  TreeReport compute_with_tree(const tree::GravityInput& own, const tree::GravityResults& out,
                               const TreeOptions& options) {
    if (ranks == nullptr) return compute_tree(own, own, out, options, nullptr);
    RankReport work;
    TreeReport report;
    {
      const AddElapsed timer(work.seconds);
      require_equal_options(*ranks, options, own.softening);
      AllParticles all(*ranks, own, true);
      tree::RankShare share(*ranks);
      const tree::GravityInput in = all.input(own);
      collectively(ranks, "the end of jerks with a tree",
                   [&] { report = compute_tree(own, in, all.results(), options, &share); });
      if (report.method != TreeMethod::Direct) all.copy_results(*ranks, out);
      work.pairs = static_cast<std::uint64_t>(share.own_pairs);
      work.sources_bytes = all.sources_bytes();
      work.memory_bytes = all.bytes();
      work.bytes_received = share.bytes_received + all.bytes_received;
    }
    if (report.method != TreeMethod::Direct) add_to_report(*core, work);
    return report;
  }

  TreeReport compute_tree(const tree::GravityInput& own, const tree::GravityInput& all,
                          const tree::GravityResults& out, const TreeOptions& options,
                          tree::GroupShare* share) {
    std::vector<double> jerks;  // of the sample
    const auto direct = [&](std::span<const std::uint32_t> targets, double* acceleration) {
      jerks.resize(3 * targets.size());
      sum_directly(own, all, targets, acceleration, jerks.data());
    };
    const auto direct_jerk = [&](std::span<const std::uint32_t>, double* jerk) {
      std::ranges::copy(jerks, jerk);
    };
    return tree::compute_with_tree(set_job_for(all), all, options, core->threads, direct,
                                   direct_jerk, out, host_steps(*core), share);
  }
};

GravityJerk::GravityJerk(Device& device)
    : impl_(new Impl(device, Kernel::builtin("gravity_jerk"))) {}
GravityJerk::~GravityJerk() = default;
GravityJerk::GravityJerk(GravityJerk&&) noexcept = default;
GravityJerk& GravityJerk::operator=(GravityJerk&&) noexcept = default;

namespace {

tree::GravityResults jerk_results(std::size_t n, const Numbers<double>& acceleration,
                                  const Numbers<double>& jerk, const Numbers<double>& potential) {
  return {.acceleration = acceleration.need(3 * n, "acceleration"),
          .potential = potential.need(n, "potential"),
          .jerk = jerk.need(3 * n, "jerk")};
}

/// Moving particles of a call.
struct MovingParticles {
  std::size_t n;
  const Numbers<const double>&position, &velocity;
};

JerkCall with_softening(const tree::GravityInput& in, const Softening& eps,
                        const tree::GravityResults& results) {
  JerkCall call{in, results, square_parts(eps, in.n_sources, in.n_targets, in.same)};
  set_softening(call.in, eps, call.parts);
  return call;
}

JerkCall call_on_all(const MovingParticles& p, const Numbers<const double>& mass,
                     const Softening& eps, const tree::GravityResults& results) {
  const double* const x = p.position.need(3 * p.n, "position");
  const double* const v = p.velocity.need(3 * p.n, "velocity");
  return with_softening({.n_targets = p.n,
                         .target = x,
                         .n_sources = p.n,
                         .source = x,
                         .mass = mass.need(p.n, "mass"),
                         .target_velocity = v,
                         .source_velocity = v,
                         .same = true},
                        eps, results);
}

JerkCall call_on_targets(const MovingParticles& targets, const MovingParticles& sources,
                         const Numbers<const double>& mass, const Softening& eps,
                         const tree::GravityResults& results) {
  return with_softening(
      {.n_targets = targets.n,
       .target = targets.position.need(3 * targets.n, "target"),
       .n_sources = sources.n,
       .source = sources.position.need(3 * sources.n, "source"),
       .mass = mass.need(sources.n, "mass"),
       .target_velocity = targets.velocity.need(3 * targets.n, "target_velocity"),
       .source_velocity = sources.velocity.need(3 * sources.n, "source_velocity")},
      eps, results);
}

}  // namespace

void GravityJerk::compute(std::size_t n, Numbers<const double> position,
                          Numbers<const double> velocity, Numbers<const double> mass,
                          const Softening& eps, Numbers<double> acceleration, Numbers<double> jerk,
                          Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute(name_with_softening("GravityJerk::compute", eps), nullptr, [&] {
    return call_on_all({n, position, velocity}, mass, eps,
                       jerk_results(n, acceleration, jerk, potential));
  });
}

void GravityJerk::compute_on(std::size_t n_targets, Numbers<const double> target,
                             Numbers<const double> target_velocity, std::size_t n_sources,
                             Numbers<const double> source, Numbers<const double> source_velocity,
                             Numbers<const double> mass, const Softening& eps,
                             Numbers<double> acceleration, Numbers<double> jerk,
                             Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute(name_with_softening("GravityJerk::compute_on", eps), nullptr, [&] {
    return call_on_targets({n_targets, target, target_velocity},
                           {n_sources, source, source_velocity}, mass, eps,
                           jerk_results(n_targets, acceleration, jerk, potential));
  });
}

TreeReport GravityJerk::compute(std::size_t n, Numbers<const double> position,
                                Numbers<const double> velocity, Numbers<const double> mass,
                                const Softening& eps, Numbers<double> acceleration,
                                Numbers<double> jerk, Numbers<double> potential,
                                const TreeOptions& options) {
  const HostFloatMode mode;
  return impl_->compute(name_with_softening("GravityJerk::compute", eps), &options, [&] {
    return call_on_all({n, position, velocity}, mass, eps,
                       jerk_results(n, acceleration, jerk, potential));
  });
}

TreeReport GravityJerk::compute_on(std::size_t n_targets, Numbers<const double> target,
                                   Numbers<const double> target_velocity, std::size_t n_sources,
                                   Numbers<const double> source,
                                   Numbers<const double> source_velocity,
                                   Numbers<const double> mass, const Softening& eps,
                                   Numbers<double> acceleration, Numbers<double> jerk,
                                   Numbers<double> potential, const TreeOptions& options) {
  const HostFloatMode mode;
  return impl_->compute(name_with_softening("GravityJerk::compute_on", eps), &options, [&] {
    return call_on_targets({n_targets, target, target_velocity},
                           {n_sources, source, source_velocity}, mass, eps,
                           jerk_results(n_targets, acceleration, jerk, potential));
  });
}

std::optional<TreeReport> GravityJerk::compute_members(
    std::size_t n, std::span<const std::uint32_t> members, const double* position,
    const double* velocity, const double* mass, const Softening& eps, const double* member_position,
    const double* member_velocity, double* acceleration, double* jerk, double* potential,
    const TreeOptions& options) {
  const HostFloatMode mode;
  const auto make = [&] {
    tree::GravityInput in{.n_targets = n,
                          .target = position,
                          .n_sources = n,
                          .source = position,
                          .mass = mass,
                          .target_velocity = velocity,
                          .source_velocity = velocity,
                          .same = true};
    if (members.data() != nullptr) {
      in.n_targets = members.size();
      in.target = member_position;
      in.target_velocity = member_velocity;
      in.target_source = members.data();
      in.same = false;
    }
    return with_softening(in, eps,
                          {.acceleration = acceleration, .potential = potential, .jerk = jerk});
  };
  const TreeReport report = impl_->compute(name_with_softening("GravityJerk::compute_members", eps),
                                           &options, make, false);
  if (report.method == TreeMethod::Direct) return {};
  return report;
}

}  // namespace gdr
