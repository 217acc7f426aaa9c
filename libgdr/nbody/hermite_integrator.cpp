// The Hermite scheme as the integrator of a run: every rank has the state of all particles.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "libgdr/nbody/integrator.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// Elements first .. end - 1 of an array with `width` numbers for each particle.
std::vector<double> part_of(const std::vector<double>& all, std::size_t width, std::size_t first,
                            std::size_t end) {
  const auto at = [&](std::size_t i) {
    return all.begin() + static_cast<std::ptrdiff_t>(i * width);
  };
  return {at(first), at(end)};
}

HermiteOptions options_of(const RunState& run) {
  HermiteOptions options;
  options.eps = run.softening;
  options.eta = run.eta;
  options.eta_start = run.eta_start;
  options.largest_step = run.time_step;
  options.smallest_step = run.smallest_step;
  options.accuracy = run.accuracy;
  return options;
}

class HermiteIntegrator : public Integrator {
 public:
  HermiteIntegrator(Device& device, const Snapshot& snapshot, const RunState& run, bool restarted)
      : device_(device),
        options_(options_of(run)),
        scaled_mass_(snapshot.mass),
        particles_(particles_of(snapshot)) {
    for (double& m : scaled_mass_) m *= run.gravity;
    if (restarted) state_ = *snapshot.hermite;
    attempt([&] { create(); });
  }

  const Particles& particles() const override { return particles_; }
  double fraction() const noexcept override { return state_.now; }
  void save(Snapshot& snapshot) const override {
    snapshot.hermite = state_;
    if (!snapshot.run) return;
    snapshot.run->tree_degree = state_.tree_degree;
    snapshot.run->tree_theta = state_.tree_theta;
  }
  std::string kernel() const override { return kernel_; }
  std::uint64_t force_calls() const noexcept override { return statistics_.evaluations; }
  std::optional<HermiteStatistics> block_statistics() const override { return statistics_; }

  void step(const WithinStep& within) override {
    try {
      attempt([&] { advance(within); });
    } catch (...) {
      // The particles stay as they were; the next step begins there.
      hermite_.reset();
      throw;
    }
  }

 private:
  /// Runs `work` and collects its results. After a rank failure it is repeated from the last state
  /// by the remaining ranks.
  template <typename Work>
  void attempt(const Work& work) {
    bool first = true;
    device_.retry_on_rank_failure([&] {
      if (!std::exchange(first, false)) hermite_.reset();
      do {
        if (hermite_ && ranks_ != device_.ranks()) hermite_.reset();
        work();
        collect();
        // `within` may communicate as well, and shrink the device.
      } while (ranks_ != device_.ranks());
    });
    state_ = std::move(collected_.state);
    particles_ = std::move(collected_.particles);
    statistics_ = collected_.statistics;
  }

  RankGroup* group() { return DeviceRanks::group(device_); }
  std::pair<std::size_t, std::size_t> part() { return part_of_rank(group(), scaled_mass_.size()); }

  /// The integrator of this rank's part of the particles, at the last state.
  void create() {
    if (hermite_) return;
    const auto [first, end] = part();
    ranks_ = device_.ranks();
    const double* const mass = scaled_mass_.data() + first;
    if (state_.size() == 0) {
      hermite_.emplace(device_, end - first, particles_.position.data() + 3 * first,
                       particles_.velocity.data() + 3 * first, mass, options_);
    } else {
      HermiteState own{state_.cycle, state_.now, {}, {}, {}, {}, {}, {}};
      own.tree_degree = state_.tree_degree;
      own.tree_theta = state_.tree_theta;
      for (const HermiteArray& array : hermite_arrays)
        own.*array.values = part_of(state_.*array.values, array.width, first, end);
      hermite_.emplace(device_, own, mass, options_);
    }
    kernel_ = hermite_->kernel();
    before_ = statistics_;
  }

  void advance(const WithinStep& within) {
    create();
    hermite_->advance([&] {
      const bool stop = within && within(hermite_->fraction());
      return stop || ranks_ != device_.ranks();
    });
  }

  /// State, particles and counters of all ranks, in `collected_`.
  void collect() {
    if (ranks_ != device_.ranks()) return;
    const auto [first, end] = part();
    const std::size_t n = scaled_mass_.size();
    Collected& c = collected_;
    c.state = HermiteState();
    c.particles = particles_;
    hermite_->predict(c.particles.position.data() + 3 * first,
                      c.particles.velocity.data() + 3 * first);
    hermite_->forces(c.particles.acceleration.data() + 3 * first,
                     c.particles.potential.data() + first);
    const HermiteState own = hermite_->state();
    c.state.cycle = own.cycle;
    c.state.now = own.now;
    c.state.tree_degree = own.tree_degree;
    c.state.tree_theta = own.tree_theta;
    for (const HermiteArray& array : hermite_arrays) {
      std::vector<double>& all = c.state.*array.values;
      all.resize(array.width * n);
      std::ranges::copy(own.*array.values,
                        all.begin() + static_cast<std::ptrdiff_t>(array.width * first));
      if (group() != nullptr) gather_parts(*group(), all.data(), n, array.width);
    }
    if (group() != nullptr) {
      gather_parts(*group(), c.particles.position.data(), n, 3);
      gather_parts(*group(), c.particles.velocity.data(), n, 3);
      gather_parts(*group(), c.particles.acceleration.data(), n, 3);
      gather_parts(*group(), c.particles.potential.data(), n, 1);
    }
    collectively(group(), [&] {
      check_forces(c.particles.position, c.particles.acceleration, c.particles.potential);
    });
    c.statistics = total_statistics();
  }

  /// Counters of all ranks, with those of earlier integrators of this run.
  HermiteStatistics total_statistics() {
    HermiteStatistics all = hermite_->statistics();
    if (group() != nullptr) {
      const std::array<double, 5> own = {
          static_cast<double>(all.particle_steps), static_cast<double>(all.tree_steps),
          static_cast<double>(all.limited_steps), all.smallest_step, all.largest_step};
      std::vector<std::array<double, 5>> each(group()->size());
      group()->gather(&own, sizeof own, each.data());
      all.particle_steps = all.tree_steps = all.limited_steps = 0;
      for (const auto& [steps, with_trees, limited, smallest, largest] : each) {
        all.particle_steps += static_cast<std::uint64_t>(steps);
        all.tree_steps += static_cast<std::uint64_t>(with_trees);
        all.limited_steps += static_cast<std::uint64_t>(limited);
        include_steps(all, smallest, largest);
      }
    }
    all.block_steps += before_.block_steps;
    all.particle_steps += before_.particle_steps;
    all.limited_steps += before_.limited_steps;
    all.evaluations += before_.evaluations;
    all.tree_steps += before_.tree_steps;
    all.tree_error = std::max(all.tree_error, before_.tree_error);
    all.tree_jerk_error = std::max(all.tree_jerk_error, before_.tree_jerk_error);
    include_steps(all, before_.smallest_step, before_.largest_step);
    return all;
  }

  static void include_steps(HermiteStatistics& all, double smallest, double largest) {
    if (smallest > 0 && (all.smallest_step == 0 || smallest < all.smallest_step))
      all.smallest_step = smallest;
    all.largest_step = std::max(all.largest_step, largest);
  }

  struct Collected {
    HermiteState state;
    Particles particles;
    HermiteStatistics statistics;
  };

  Device& device_;
  HermiteOptions options_;
  std::string kernel_;
  std::vector<double> scaled_mass_;  ///< masses times the constant of gravity
  // All particles after the last step.
  Particles particles_;
  HermiteState state_;
  HermiteStatistics statistics_, before_;  ///< before_: at the creation of `hermite_`
  std::optional<Hermite> hermite_;         ///< integrator of this rank's part; after an error empty
  unsigned ranks_ = 0;                     ///< number of ranks at its creation
  Collected collected_;
};

}  // namespace

std::unique_ptr<Integrator> hermite_integrator(Device& device, const Snapshot& snapshot,
                                               const RunState& run, bool restarted) {
  return std::make_unique<HermiteIntegrator>(device, snapshot, run, restarted);
}

}  // namespace gdr
