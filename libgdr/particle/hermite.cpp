// The Hermite integrator: block steps whose forces are those of a job.
#include "gdr/hermite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "emulator/engine/api/capabilities.hpp"
#include "emulator/host/float_mode.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/particle/block_steps.hpp"
#include "libgdr/particle/block_trees.hpp"
#include "libgdr/particle/hermite_checks.hpp"
#include "libgdr/particle/hermite_scheme.hpp"
#include "libgdr/particle/overflow_diagnosis.hpp"
#include "libgdr/ranks/gathered.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

using Vector = std::array<double, 3>;

constexpr std::uint32_t link_words = 8;  ///< words of a particle on the link
constexpr std::ptrdiff_t triple = 3 * sizeof(double);

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

/// The particles whose steps end at one time: inputs and results of their forces, and their new
/// values until the step is known to be possible.
struct Block {
  std::vector<std::uint32_t> members;
  std::vector<std::int64_t> ids;
  Components x, v, a, j;
  std::vector<double> pot;
  std::vector<Corrected> corrected;
  std::vector<double> step;

  explicit Block(std::size_t n)
      : ids(n),
        x(make_components(n)),
        v(make_components(n)),
        a(make_components(n)),
        j(make_components(n)),
        pot(n),
        corrected(n),
        step(n) {
    members.reserve(n);
  }
  std::size_t size() const noexcept { return members.size(); }
};

Vector at(const Components& c, std::size_t i) noexcept { return {c[0][i], c[1][i], c[2][i]}; }
void put(Components& c, std::size_t i, const Vector& v) noexcept {
  for (std::size_t k = 0; k < 3; ++k) c[k][i] = v[k];
}
bool finite(const Vector& v) noexcept {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}
double norm(const Vector& v) noexcept { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

}  // namespace

struct Hermite::Impl {
  Impl(Device& device, std::size_t n, const double* m, const HermiteOptions& o)
      : options(o),
        ranks(DeviceRanks::group(device)),
        kernel(kernel_for(device, o)),
        force_error(error_of_forces(device, kernel)),
        job(device.job(Kernel::builtin(kernel))),
        mass(m, m + n),
        ids(n),
        dt(n),
        xp(make_components(n)),
        vp(make_components(n)),
        block(n) {
    job.set("eps2", o.eps * o.eps);
    if (o.accuracy > 0) {
      const std::size_t particles_of_all = sum_of_ranks(ranks, n);
      if (particles_of_all >= BlockTrees::min_particles)
        trees.emplace(device, o.accuracy, o.eps, mass, particles_of_all);
    }
    std::iota(ids.begin(), ids.end(), first_id(n));
    total_mass = mass_of_all();
    shortest = o.smallest_step > 0 ? std::max(round_up_to_block(o.smallest_step / o.largest_step),
                                              shortest_block_step)
                                   : shortest_block_step;
    particles.time.assign(n, 0.0);
    particles.step.assign(n, 1.0);
    particles.due.assign(n, 1.0);
    predicted = {{"xj", xp[0]},  {"yj", xp[1]},  {"zj", xp[2]},
                 {"vxj", vp[0]}, {"vyj", vp[1]}, {"vzj", vp[2]}};
    targets = {{"xi", block.x[0]},       {"yi", block.x[1]},  {"zi", block.x[2]},
               {"vxi", block.v[0]},      {"vyi", block.v[1]}, {"vzi", block.v[2]},
               {"idi", block.ids.data()}};
    results = {{"ax", block.a[0]}, {"ay", block.a[1]}, {"az", block.a[2]}, {"jx", block.j[0]},
               {"jy", block.j[1]}, {"jz", block.j[2]}, {"pot", block.pot}};
  }

  static double round_up_to_block(double step) {
    const double down = round_down_to_block(step);
    return down < step ? 2 * down : down;
  }

  /// Number of this rank's first particle among those of all ranks.
  std::int64_t first_id(std::size_t n) const {
    if (ranks == nullptr) return 0;
    const auto own = static_cast<std::int64_t>(n);
    std::vector<std::int64_t> counts(ranks->size());
    ranks->gather(&own, sizeof own, counts.data());
    if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == 0)
      throw CollectiveError(ErrorCategory::Input, "there are no particles");
    return std::accumulate(counts.begin(), counts.begin() + ranks->rank(), std::int64_t{0});
  }

  /// The sum of the masses of all ranks, which does not depend on their number.
  double mass_of_all() const {
    std::vector<double> all = mass;
    if (ranks != nullptr) {
      std::vector<std::int64_t> counts(ranks->size());
      const auto own = static_cast<std::int64_t>(mass.size());
      ranks->gather(&own, sizeof own, counts.data());
      const auto most = static_cast<std::size_t>(*std::ranges::max_element(counts));
      std::vector<double> padded(mass);
      padded.resize(most);  // with zeros
      all.resize(most * ranks->size());
      ranks->gather(padded.data(), most * sizeof(double), all.data());
    }
    return std::accumulate(all.begin(), all.end(), 0.0);
  }

  TermSizes terms_of(std::size_t b) const {
    return sizes_of_terms(block.pot[b], total_mass - mass[block.members[b]]);
  }

  /// Sets all sources, with masses and ids.
  void set_sources() {
    std::vector<NamedInput> all = predicted;
    all.push_back({"mj", mass});
    all.push_back({"idj", ids.data()});
    job.sources(mass.size(), all);
  }

  /// The accelerations and jerks of the block, at its predicted positions; those of trees if it is
  /// large, with a new choice at the end of a cycle, where it has all particles.
  void compute_block_forces(bool ends_cycle) {
    if (trees && (ends_cycle || trees->serves(block.size()))) {
      if (compute_with_tree(ends_cycle)) {
        statistics.tree_steps += block.size();
        return;
      }
    }
    job.update_sources(0, mass.size(), predicted);
    compute_directly();
  }

  /// False if direct sums are to be computed: they are faster, or a force is not finite, whose
  /// particle they find.
  bool compute_with_tree(bool anew) {
    for (std::size_t b = 0; b < block.size(); ++b) {
      put(block.x, b, at(xp, block.members[b]));
      put(block.v, b, at(vp, block.members[b]));
    }
    try {
      const auto report =
          trees->compute(block.members, xp, vp, anew, {block.a, block.j, block.pot});
      if (!report) return false;
      statistics.tree_error = std::max(statistics.tree_error, report->error);
      statistics.tree_jerk_error = std::max(statistics.tree_jerk_error, report->jerk_error);
      ++statistics.evaluations;
      return true;
    } catch (const Error& error) {
      if (error.category() != ErrorCategory::Input) throw;
      return false;
    }
  }

  void compute_directly() {
    for (std::size_t b = 0; b < block.size(); ++b) {
      const std::size_t i = block.members[b];
      put(block.x, b, at(xp, i));
      put(block.v, b, at(vp, i));
      block.ids[b] = ids[i];
    }
    job.targets(block.size(), targets);
    job.run(results);
    ++statistics.evaluations;
  }

  void check_force(std::size_t b) const {
    // Engines in doubles find no force where the square of a distance overflows.
    if (!finite(at(block.a, b)) || !finite(at(block.j, b)) || find_far_particle(at(block.x, b)))
      refuse_force(block.members[b]);
  }

  /// The error for a particle whose force is not finite.
  [[noreturn]] void refuse_force(std::size_t particle) const {
    std::vector<double> position(3 * mass.size());
    join_triples(xp, position.data());
    if (const std::string far = describe_overflow("particle", position); !far.empty())
      bad_input("the forces are not finite: {}", far);
    bad_input(
        "the force on particle {} is not finite: it is too close to another one, or positions, "
        "velocities and masses exceed the range of the numbers; use a larger eps, or scale the "
        "units",
        particle);
  }

  /// All particles form a block, with their first steps.
  void start(Device& device) {
    const std::size_t n = mass.size();
    xp = particles.x;
    vp = particles.v;
    block.members.resize(n);
    std::iota(block.members.begin(), block.members.end(), 0U);
    set_sources();
    if (!trees || !compute_with_tree(true)) compute_directly();
    collectively(ranks, [&] {
      for (std::size_t b = 0; b < n; ++b) check_force(b);
    });
    const Components snap = snap_at_start(device);
    for (std::size_t i = 0; i < n; ++i) {
      const Vector a = at(block.a, i), j = at(block.j, i);
      put(particles.a, i, a);
      put(particles.j, i, j);
      const TermSizes terms = terms_of(i);
      const AccelerationNorms norms{norm(a), norm(j), norm(at(snap, i)), 0};
      const double first =
          first_step(norms, terms, {force_error * terms.a, force_error * terms.j, 0, 0},
                     options.eta_start) /
          options.largest_step;
      particles.step[i] = std::max(round_down_to_block(first), shortest);
      particles.due[i] = particles.step[i];
    }
  }

  /// Second derivatives of the first accelerations, which the block has.
  Components snap_at_start(Device& device) {
    Job snaps = device.job(Kernel::builtin("gravity_snap"));
    snaps.set("eps2", options.eps * options.eps);
    std::vector<NamedInput> sources = predicted, at_start = targets;
    sources.insert(sources.end(), {{"mj", mass},
                                   {"idj", ids.data()},
                                   {"axj", block.a[0]},
                                   {"ayj", block.a[1]},
                                   {"azj", block.a[2]}});
    at_start.insert(at_start.end(),
                    {{"axi", block.a[0]}, {"ayi", block.a[1]}, {"azi", block.a[2]}});
    Components snap = make_components(mass.size());
    snaps.sources(mass.size(), sources);
    snaps.targets(block.size(), at_start);
    snaps.run({{"sx", snap[0]}, {"sy", snap[1]}, {"sz", snap[2]}});
    return snap;
  }

  void resume(const HermiteState& state) {
    now = state.now;
    cycle = state.cycle;
    if (trees) trees->choice = {state.tree_degree, state.tree_theta};
    particles.time = state.time;
    particles.step = state.step;
    for (std::size_t i = 0; i < state.size(); ++i) particles.due[i] = state.time[i] + state.step[i];
    particles.a = separate_triples(state.size(), state.acceleration.data());
    particles.j = separate_triples(state.size(), state.jerk.data());
    predict_particles(particles, now, options.largest_step, dt, xp, vp);
    set_sources();
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
      check_force(b);
      const std::size_t i = block.members[b];
      const Vector a0 = at(particles.a, i), j0 = at(particles.j, i);
      const Vector a1 = at(block.a, b), j1 = at(block.j, b);
      const TermSizes terms = terms_of(b);
      TermSizes rounding{force_error * std::max({terms.a, norm(a0), norm(a1)}),
                         force_error * std::max({terms.j, norm(j0), norm(j1)})};
      if (trees) include_tree_errors(rounding, {norm(a0), norm(a1)}, {norm(j0), norm(j1)});
      const Corrected& c = block.corrected[b] =
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
      block.step[b] = next;
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
      put(particles.x, i, block.corrected[b].x);
      put(particles.v, i, block.corrected[b].v);
      put(particles.a, i, at(block.a, b));
      put(particles.j, i, at(block.j, b));
      particles.time[i] = time;
      particles.step[i] = block.step[b];
      particles.due[i] = time + block.step[b];
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
    predict_particles(particles, time, options.largest_step, dt, xp, vp);
    const BlockTreeChoice kept = trees ? trees->choice : BlockTreeChoice();
    try {
      compute_block_forces(time == 1);
      collectively(ranks, [&] { correct_block(time); });
    } catch (...) {
      if (trees) trees->choice = kept;
      throw;
    }
    accept_block(time);
    if (time < 1) return false;
    begin_cycle();
    return true;
  }

  /// Forces of all particles with a tree; false if it cannot compute them. The choice, which the
  /// integration depends on, stays.
  bool forces_with_tree(double* acceleration, double* potential) {
    const BlockTreeChoice kept = trees->choice;
    block.members.resize(mass.size());
    std::iota(block.members.begin(), block.members.end(), 0U);
    const bool done = compute_with_tree(false);
    trees->choice = kept;
    if (!done) return false;
    if (acceleration != nullptr) join_triples(block.a, acceleration);
    if (potential != nullptr) std::copy_n(block.pot.data(), mass.size(), potential);
    return true;
  }

  void forces(double* acceleration, double* potential) {
    const std::size_t n = mass.size();
    predict_particles(particles, now, options.largest_step, dt, xp, vp);
    if (trees && trees->choice.degree > 0 && forces_with_tree(acceleration, potential)) return;
    std::vector<NamedResult> wanted;
    if (acceleration != nullptr)
      wanted = {{"ax", {acceleration, triple}},
                {"ay", {acceleration + 1, triple}},
                {"az", {acceleration + 2, triple}}};
    if (potential != nullptr) wanted.push_back({"pot", potential});
    job.update_sources(0, n, predicted);
    job.targets(n, {{"xi", xp[0]},
                    {"yi", xp[1]},
                    {"zi", xp[2]},
                    {"vxi", vp[0]},
                    {"vyi", vp[1]},
                    {"vzi", vp[2]},
                    {"idi", ids.data()}});
    job.run(wanted);
    ++statistics.evaluations;
    collectively(ranks, [&] {
      for (std::size_t i = 0; i < n; ++i) {
        const bool a =
            acceleration == nullptr ||
            finite({acceleration[3 * i], acceleration[3 * i + 1], acceleration[3 * i + 2]});
        if (!a || (potential != nullptr && !std::isfinite(potential[i]))) refuse_force(i);
      }
    });
  }

  HermiteOptions options;
  RankGroup* ranks;  ///< null if the device belongs to this process only
  std::string kernel;
  double force_error;     ///< bound, relative to the sizes of the terms
  double total_mass = 0;  ///< mass of all ranks' particles
  Job job;
  std::vector<double> mass;
  std::optional<BlockTrees> trees;  ///< trees for large blocks of a run to an accuracy
  std::vector<std::int64_t> ids;    ///< numbers of the particles among those of all ranks
  HermiteParticles particles;
  double now = 0;          ///< time in the present cycle, in cycles
  std::int64_t cycle = 0;  ///< number of complete cycles
  double shortest = shortest_block_step;
  HermiteStatistics statistics;
  // Memory of a step; its arrays are the inputs and results of the job.
  std::vector<double> dt, rank_times;
  Components xp, vp;  ///< predicted positions and velocities of all particles
  Block block;
  std::vector<NamedInput> predicted, targets;
  std::vector<NamedResult> results;
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

std::size_t Hermite::size() const noexcept { return impl_->mass.size(); }

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
  impl_->forces(acceleration.need(3 * size(), "acceleration"), potential.need(size(), "potential"));
}

HermiteState Hermite::state() const {
  const HermiteParticles& p = impl_->particles;
  HermiteState s;
  s.cycle = impl_->cycle;
  s.now = impl_->now;
  if (impl_->trees) {
    s.tree_degree = impl_->trees->choice.degree;
    s.tree_theta = impl_->trees->choice.theta;
  }
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
