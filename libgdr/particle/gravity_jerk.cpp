// Gravity and its derivative on a device: the kernel "gravity_jerk" on arrays of triples.
#include "gdr/gravity_jerk.hpp"

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/particle/gravity_checks.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "libgdr/tree/gravity_tree.hpp"

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

struct GravityJerk::Impl {
  std::shared_ptr<DeviceCore> core;
  SetJob sets;
  std::vector<std::int64_t> ids = {}, no_ids = {};

  /// Sums over all sources at targets from arrays of triples.
  void sum(const tree::GravityInput& in, std::size_t n, const double* at, const double* velocity,
           const std::int64_t* numbers, const tree::GravityResults& out) {
    constexpr std::ptrdiff_t triple = 3 * sizeof(double);
    std::vector<NamedInput> targets{{"idi", numbers}},
        sources{{"mj", in.mass}, {"idj", ids.data()}};
    std::vector<NamedResult> results;
    const char* const names[4][3] = {
        {"xi", "yi", "zi"}, {"vxi", "vyi", "vzi"}, {"xj", "yj", "zj"}, {"vxj", "vyj", "vzj"}};
    const char* const vectors[2][3] = {{"ax", "ay", "az"}, {"jx", "jy", "jz"}};
    for (int k = 0; k < 3; ++k) {
      targets.push_back({names[0][k], {at + k, triple}});
      targets.push_back({names[1][k], {velocity + k, triple}});
      sources.push_back({names[2][k], {in.source + k, triple}});
      sources.push_back({names[3][k], {in.source_velocity + k, triple}});
      if (out.acceleration != nullptr)
        results.push_back({vectors[0][k], {out.acceleration + k, triple}});
      if (out.jerk != nullptr) results.push_back({vectors[1][k], {out.jerk + k, triple}});
    }
    if (out.potential != nullptr) results.push_back({"pot", out.potential});
    const SourceSegment all{in.n_sources, sources};
    sets.run({{n, targets, {&all, 1}, results}});
  }

  /// Throws for arguments with errors.
  void check(const tree::GravityInput& in) {
    if (core->ranks)
      throw CollectiveError(ErrorCategory::Unsupported,
                            "jerks of gravity are computed by one process, and this device is of "
                            "kind \"mpi\"; use a Job with the kernel \"gravity_jerk\"");
    check_count(in.n_targets, jerk_words, "targets");
    check_count(in.n_sources, jerk_words, "sources");
    const char *const target = in.same ? "particle" : "target",
                      *source = in.same ? target : "source";
    check_particle_pointers(in.n_targets, in.target, in.target_velocity, "targets");
    check_particle_pointers(in.n_sources, in.source, in.mass, "sources");
    check_particle_pointers(in.n_sources, in.source, in.source_velocity, "sources");
    sets.set("eps2", checked_square(in.softening));
    if (in.same && in.n_targets == 0) throw Error(ErrorCategory::Input, "there are no particles");
    if (all_finite(in, core->threads)) return;
    name_bad_particle(in.n_targets, in.target, nullptr, target);
    name_bad_velocity(in.n_targets, in.target_velocity, target);
    name_bad_particle(in.n_sources, in.source, in.mass, source);
    name_bad_velocity(in.n_sources, in.source_velocity, source);
  }

  void compute_directly(const tree::GravityInput& in, const tree::GravityResults& out) {
    if (in.n_targets == 0) return;
    sum(in, in.n_targets, in.target, in.target_velocity, (in.same ? ids : no_ids).data(), out);
  }

  /// With a tree if there are options for it.
  TreeReport compute(const tree::GravityInput& in, const tree::GravityResults& out,
                     const TreeOptions* options) {
    if (options != nullptr) tree::check_options(*options);
    check(in);
    while (ids.size() < in.n_sources) ids.push_back(static_cast<std::int64_t>(ids.size()));
    if (!in.same && no_ids.size() < in.n_targets) no_ids.resize(in.n_targets, -1);
    TreeReport report = report_of_direct_sums(in.n_sources);
    const auto with_tree = options != nullptr ? compute_with_tree(in, out, *options) : std::nullopt;
    if (with_tree)
      report = *with_tree;
    else
      compute_directly(in, out);
    const NamedPositions targets{in.same ? "particle" : "target", {in.target, 3 * in.n_targets}};
    const NamedPositions sources{in.same ? "particle" : "source", {in.source, 3 * in.n_sources}};
    check_finite_results(in.n_targets, out.acceleration, 3, "acceleration", {targets, sources});
    check_finite_results(in.n_targets, out.jerk, 3, "jerk", {targets, sources});
    check_finite_results(in.n_targets, out.potential, 1, "potential", {targets, sources});
    return report;
  }

  std::optional<TreeReport> compute_with_tree(const tree::GravityInput& in,
                                              const tree::GravityResults& out,
                                              const TreeOptions& options) {
    std::vector<double> jerks;  // of the sample
    const auto direct = [&](std::span<const std::uint32_t> targets, double* acceleration) {
      std::vector<double> at, velocity;
      std::vector<std::int64_t> numbers;
      for (const std::uint32_t i : targets) {
        at.insert(at.end(), in.target + 3 * std::size_t{i}, in.target + 3 * std::size_t{i} + 3);
        const double* const v = in.target_velocity + 3 * std::size_t{i};
        velocity.insert(velocity.end(), v, v + 3);
        numbers.push_back(in.same ? std::int64_t{i} : -1);
      }
      jerks.resize(3 * targets.size());
      sum(in, targets.size(), at.data(), velocity.data(), numbers.data(),
          {.acceleration = acceleration, .jerk = jerks.data()});
    };
    const auto direct_jerk = [&](std::span<const std::uint32_t>, double* jerk) {
      std::ranges::copy(jerks, jerk);
    };
    return tree::compute_with_tree(sets, in, options, core->threads, direct, direct_jerk, out,
                                   host_steps(*core));
  }
};

GravityJerk::GravityJerk(Device& device)
    : impl_(new Impl{DeviceRanks::core(device), SetJob(device, Kernel::builtin("gravity_jerk"))}) {}
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

tree::GravityInput jerk_input(std::size_t n, const Numbers<const double>& position,
                              const Numbers<const double>& velocity,
                              const Numbers<const double>& mass, double eps) {
  const double *const x = position.need(3 * n, "position"), *v = velocity.need(3 * n, "velocity");
  return {.n_targets = n,
          .target = x,
          .n_sources = n,
          .source = x,
          .mass = mass.need(n, "mass"),
          .softening = eps,
          .target_velocity = v,
          .source_velocity = v,
          .same = true};
}

tree::GravityInput jerk_input_on(std::size_t n_targets, const Numbers<const double>& target,
                                 const Numbers<const double>& target_velocity,
                                 std::size_t n_sources, const Numbers<const double>& source,
                                 const Numbers<const double>& source_velocity,
                                 const Numbers<const double>& mass, double eps) {
  return {.n_targets = n_targets,
          .target = target.need(3 * n_targets, "target"),
          .n_sources = n_sources,
          .source = source.need(3 * n_sources, "source"),
          .mass = mass.need(n_sources, "mass"),
          .softening = eps,
          .target_velocity = target_velocity.need(3 * n_targets, "target_velocity"),
          .source_velocity = source_velocity.need(3 * n_sources, "source_velocity")};
}

}  // namespace

void GravityJerk::compute(std::size_t n, Numbers<const double> position,
                          Numbers<const double> velocity, Numbers<const double> mass, double eps,
                          Numbers<double> acceleration, Numbers<double> jerk,
                          Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute(jerk_input(n, position, velocity, mass, eps),
                 jerk_results(n, acceleration, jerk, potential), nullptr);
}

void GravityJerk::compute_on(std::size_t n_targets, Numbers<const double> target,
                             Numbers<const double> target_velocity, std::size_t n_sources,
                             Numbers<const double> source, Numbers<const double> source_velocity,
                             Numbers<const double> mass, double eps, Numbers<double> acceleration,
                             Numbers<double> jerk, Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute(jerk_input_on(n_targets, target, target_velocity, n_sources, source,
                               source_velocity, mass, eps),
                 jerk_results(n_targets, acceleration, jerk, potential), nullptr);
}

TreeReport GravityJerk::compute(std::size_t n, Numbers<const double> position,
                                Numbers<const double> velocity, Numbers<const double> mass,
                                double eps, Numbers<double> acceleration, Numbers<double> jerk,
                                Numbers<double> potential, const TreeOptions& options) {
  const HostFloatMode mode;
  return impl_->compute(jerk_input(n, position, velocity, mass, eps),
                        jerk_results(n, acceleration, jerk, potential), &options);
}

TreeReport GravityJerk::compute_on(std::size_t n_targets, Numbers<const double> target,
                                   Numbers<const double> target_velocity, std::size_t n_sources,
                                   Numbers<const double> source,
                                   Numbers<const double> source_velocity,
                                   Numbers<const double> mass, double eps,
                                   Numbers<double> acceleration, Numbers<double> jerk,
                                   Numbers<double> potential, const TreeOptions& options) {
  const HostFloatMode mode;
  return impl_->compute(jerk_input_on(n_targets, target, target_velocity, n_sources, source,
                                      source_velocity, mass, eps),
                        jerk_results(n_targets, acceleration, jerk, potential), &options);
}

}  // namespace gdr
