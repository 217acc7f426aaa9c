// The Hermite integrator: block steps whose forces are those of a job.
#include "gdr/hermite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "emulator/engine/api/capabilities.hpp"
#include "emulator/host/float_mode.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/particle/block_steps.hpp"
#include "libgdr/particle/hermite_checks.hpp"
#include "libgdr/particle/hermite_forces.hpp"
#include "libgdr/particle/hermite_scheme.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

using Vector = std::array<double, 3>;

constexpr std::uint32_t link_words = 8;  ///< words of a particle on the link

std::string kernel_for(const Device& device, const HermiteOptions& options) {
  if (options.kernel.empty())
    return numbers_of(device.statistics().engine) == EngineNumbers::Doubles ? "gravity_jerk_long"
                                                                            : "gravity_jerk";
  if (options.kernel == "gravity_jerk" || options.kernel == "gravity_jerk_long")
    return options.kernel;
  bad_input("kernel '{}': must be gravity_jerk or gravity_jerk_long", options.kernel);
}

/// A bound of the errors of accelerations and jerks, relative to the sizes of their terms. An error
/// above it could shorten steps without end; below, it has no effect on steps that are chosen for
/// accuracy.
double error_of_forces(const Device& device, const std::string& kernel) {
  const Capabilities engine = capabilities_of(device.statistics().engine);
  if (engine.rounds_inputs) return 1e-5;  // of rounded positions
  return engine.numbers == EngineNumbers::Floats || kernel == "gravity_jerk" ? 1e-6 : 1e-13;
}

double norm(const Vector& v) noexcept { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

}  // namespace

struct Hermite::Impl {
  Impl(Device& device, std::size_t n, const double* m, const HermiteOptions& o)
      : options(o),
        ranks(DeviceRanks::group(device)),
        kernel(kernel_for(device, o)),
        force_error(error_of_forces(device, kernel)),
        dt(n),
        corrected(n),
        steps(n),
        forces(device, kernel, o, std::vector<double>(m, m + n), statistics) {
    shortest = o.smallest_step > 0 ? std::max(round_up_to_block(o.smallest_step / o.largest_step),
                                              shortest_block_step)
                                   : shortest_block_step;
    particles.time.assign(n, 0.0);
    particles.step.assign(n, 1.0);
    particles.due.assign(n, 1.0);
  }

  static double round_up_to_block(double step) {
    const double down = round_down_to_block(step);
    return down < step ? 2 * down : down;
  }

  /// All particles form a block, with their first steps.
  void start(Device& device) {
    const std::size_t n = particles.size();
    forces.predicted_x = particles.x;
    forces.predicted_v = particles.v;
    forces.compute_first();
    collectively(ranks, [&] {
      for (std::size_t b = 0; b < n; ++b) forces.check(b);
    });
    const Components snap = forces.first_snaps(device);
    for (std::size_t i = 0; i < n; ++i) {
      const Vector a = at(block.a, i), j = at(block.j, i);
      put(particles.a, i, a);
      put(particles.j, i, j);
      const TermSizes terms = forces.terms_of(i);
      const AccelerationNorms norms{norm(a), norm(j), norm(at(snap, i)), 0};
      const double first =
          first_step(norms, terms, {force_error * terms.a, force_error * terms.j, 0, 0},
                     options.eta_start) /
          options.largest_step;
      particles.step[i] = std::max(round_down_to_block(first), shortest);
      particles.due[i] = particles.step[i];
    }
  }

  void resume(const HermiteState& state) {
    now = state.now;
    cycle = state.cycle;
    forces.set_tree_choice({state.tree_degree, state.tree_theta});
    particles.time = state.time;
    particles.step = state.step;
    for (std::size_t i = 0; i < state.size(); ++i) particles.due[i] = state.time[i] + state.step[i];
    particles.a = separate_triples(state.size(), state.acceleration.data());
    particles.j = separate_triples(state.size(), state.jerk.data());
    predict(now);
    forces.set_sources();
  }

  /// The earliest end of a step, on all ranks.
  double next_time() {
    double earliest = 1;
    const double* const due = particles.due.data();
    const std::size_t n = particles.size();
#pragma omp simd reduction(min : earliest)
    for (std::size_t i = 0; i < n; ++i) earliest = std::min(earliest, due[i]);
    if (ranks == nullptr) return earliest;
    rank_times.resize(ranks->size());
    ranks->gather(&earliest, sizeof earliest, rank_times.data());
    return *std::ranges::min_element(rank_times);
  }

  void select_block(double time) {
    block.members.clear();
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (particles.due[i] == time) block.members.push_back(static_cast<std::uint32_t>(i));
  }

  /// The new values of the block, and its next steps. Throws without having changed a particle.
  void correct_block(double time) {
    for (std::size_t b = 0; b < block.size(); ++b) {
      forces.check(b);
      const std::size_t i = block.members[b];
      const Vector a0 = at(particles.a, i), j0 = at(particles.j, i);
      const Vector a1 = at(block.a, b), j1 = at(block.j, b);
      const TermSizes terms = forces.terms_of(b);
      TermSizes rounding{force_error * std::max({terms.a, norm(a0), norm(a1)}),
                         force_error * std::max({terms.j, norm(j0), norm(j1)})};
      if (forces.has_trees())
        include_tree_errors(rounding, {norm(a0), norm(a1)}, {norm(j0), norm(j1)});
      const Corrected& c = corrected[b] =
          correct_particle(particles.step[i] * options.largest_step, options.eta, rounding,
                           at(block.x, b), at(block.v, b), a0, j0, a1, j1);
      double next = next_block_step(particles.step[i], time, c.criterion / options.largest_step);
      if (next < shortest) {
        if (options.smallest_step == 0)
          throw StepTooShort(fmt::format(
              "at {} after the start of the integration, particle {} needs a step of {:.3g}, below "
              "2^-40 of the largest one: two particles are too close; use a larger eps, or limit "
              "the steps with a smallest one (--dt-min, dt_min, smallest_step)",
              (static_cast<double>(cycle) + time) * options.largest_step, i, c.criterion));
        next = shortest;
        ++statistics.limited_steps;
      }
      steps[b] = next;
    }
  }

  /// Errors of trees are relative to the sums; those of jerks are some times larger.
  void include_tree_errors(TermSizes& rounding, const std::array<double, 2>& a,
                           const std::array<double, 2>& j) const {
    constexpr double jerk_errors = 5;
    rounding.a = std::max(rounding.a, options.accuracy * std::max(a[0], a[1]));
    rounding.j = std::max(rounding.j, jerk_errors * options.accuracy * std::max(j[0], j[1]));
  }

  void accept_block(double time) {
    for (std::size_t b = 0; b < block.size(); ++b) {
      const std::size_t i = block.members[b];
      const double taken = particles.step[i] * options.largest_step;
      if (statistics.smallest_step == 0 || taken < statistics.smallest_step)
        statistics.smallest_step = taken;
      statistics.largest_step = std::max(statistics.largest_step, taken);
      put(particles.x, i, corrected[b].x);
      put(particles.v, i, corrected[b].v);
      put(particles.a, i, at(block.a, b));
      put(particles.j, i, at(block.j, b));
      particles.time[i] = time;
      particles.step[i] = steps[b];
      particles.due[i] = time + steps[b];
    }
    statistics.particle_steps += block.size();
    ++statistics.block_steps;
    now = time;
  }

  /// At the end of a cycle the times of all particles are 1: they begin the next one at 0.
  void begin_cycle() {
    ++cycle;
    now = 0;
    std::fill(particles.time.begin(), particles.time.end(), 0.0);
    particles.due = particles.step;
  }

  bool step() {
    const double time = next_time();
    select_block(time);
    predict(time);
    const BlockTreeChoice kept = forces.tree_choice();
    try {
      forces.compute_block(time == 1);
      collectively(ranks, [&] { correct_block(time); });
    } catch (...) {
      forces.set_tree_choice(kept);
      throw;
    }
    accept_block(time);
    if (time < 1) return false;
    begin_cycle();
    return true;
  }

  /// Positions and velocities of all particles at a time of this cycle.
  void predict(double time) {
    predict_particles(particles, time, options.largest_step, dt, forces.predicted_x,
                      forces.predicted_v);
  }

  void compute_all(double* acceleration, double* potential) {
    predict(now);
    forces.compute_all(acceleration, potential);
  }

  HermiteOptions options;
  RankGroup* ranks;  ///< null if the device belongs to this process only
  std::string kernel;
  double force_error;  ///< bound, relative to the sizes of the terms
  HermiteParticles particles;
  double now = 0;          ///< time in the present cycle, in cycles
  std::int64_t cycle = 0;  ///< number of complete cycles
  double shortest = shortest_block_step;
  HermiteStatistics statistics;
  // Memory of a step.
  std::vector<double> dt, rank_times;
  std::vector<Corrected> corrected;  ///< new values of the block until its step is known to succeed
  std::vector<double> steps;         ///< next steps of the block
  HermiteForces forces;
  HermiteBlock& block = forces.block;
};

Hermite::Hermite(Device& device, std::size_t n, Numbers<const double> positions,
                 Numbers<const double> velocities, Numbers<const double> masses,
                 const HermiteOptions& options) {
  const HostFloatMode mode;
  const double* const position = positions.data();
  const double* const velocity = velocities.data();
  const double* const mass = masses.data();
  RankGroup* const ranks = DeviceRanks::group(device);
  collectively(ranks, ranks != nullptr ? shared_values(options) : "", [&] {
    check_options(options);
    check_count(n, link_words, "particles");
    if (n == 0 && ranks == nullptr) bad_input("there are no particles");
    positions.need(3 * n, "position");
    velocities.need(3 * n, "velocity");
    masses.need(n, "mass");
    check_finite(n, position, 3, "position");
    check_finite(n, velocity, 3, "velocity");
    check_finite(n, mass, 1, "mass");
  });
  impl_ = std::make_unique<Impl>(device, n, mass, options);
  impl_->particles.x = separate_triples(n, position);
  impl_->particles.v = separate_triples(n, velocity);
  impl_->particles.a = impl_->particles.j = make_components(n);
  impl_->start(device);
}

Hermite::Hermite(Device& device, const HermiteState& state, Numbers<const double> masses,
                 const HermiteOptions& options) {
  const HostFloatMode mode;
  const double* const mass = masses.data();
  RankGroup* const ranks = DeviceRanks::group(device);
  collectively(ranks, ranks != nullptr ? shared_values(options, state.cycle, state.now) : "", [&] {
    check_options(options);
    check_count(state.size(), link_words, "particles");
    if (state.size() == 0 && ranks == nullptr) bad_input("there are no particles");
    check_state(state);
    masses.need(state.size(), "mass");
    check_finite(state.size(), mass, 1, "mass");
  });
  impl_ = std::make_unique<Impl>(device, state.size(), mass, options);
  impl_->particles.x = separate_triples(state.size(), state.position.data());
  impl_->particles.v = separate_triples(state.size(), state.velocity.data());
  impl_->resume(state);
}

Hermite::~Hermite() = default;
Hermite::Hermite(Hermite&&) noexcept = default;
Hermite& Hermite::operator=(Hermite&&) noexcept = default;

bool Hermite::step() {
  const HostFloatMode mode;
  return impl_->step();
}

bool Hermite::advance(const std::function<bool()>& stop) {
  for (;;) {
    if (step()) return true;
    if (stop && stop()) return false;
  }
}

std::size_t Hermite::size() const noexcept { return impl_->particles.size(); }

double Hermite::time() const noexcept {
  return (static_cast<double>(impl_->cycle) + impl_->now) * impl_->options.largest_step;
}

double Hermite::fraction() const noexcept { return impl_->now; }

void Hermite::predict(Numbers<double> position, Numbers<double> velocity) const {
  const HostFloatMode mode;
  const std::size_t n = size();
  double* const to_position = position.need(3 * n, "position");
  double* const to_velocity = velocity.need(3 * n, "velocity");
  std::vector<double> dt(n);
  Components x = make_components(n), v = make_components(n);
  predict_particles(impl_->particles, impl_->now, impl_->options.largest_step, dt, x, v);
  join_triples(x, to_position);
  join_triples(v, to_velocity);
}

void Hermite::forces(Numbers<double> acceleration, Numbers<double> potential) {
  const HostFloatMode mode;
  impl_->compute_all(acceleration.need(3 * size(), "acceleration"),
                     potential.need(size(), "potential"));
}

HermiteState Hermite::state() const {
  const HermiteParticles& p = impl_->particles;
  HermiteState s;
  s.cycle = impl_->cycle;
  s.now = impl_->now;
  const BlockTreeChoice tree = impl_->forces.tree_choice();
  s.tree_degree = tree.degree;
  s.tree_theta = tree.theta;
  s.time = p.time;
  s.step = p.step;
  const auto triples = [&](const Components& from, std::vector<double>& to) {
    to.resize(3 * size());
    join_triples(from, to.data());
  };
  triples(p.x, s.position);
  triples(p.v, s.velocity);
  triples(p.a, s.acceleration);
  triples(p.j, s.jerk);
  return s;
}

HermiteStatistics Hermite::statistics() const noexcept { return impl_->statistics; }

const std::string& Hermite::kernel() const noexcept { return impl_->kernel; }

}  // namespace gdr
