// The fourth-order Hermite scheme with individual block time steps.
//
//   gdr::HermiteOptions options;
//   options.eps = 1.0 / 64;
//   gdr::Hermite stars(device, n, position, velocity, mass, options);
//   while (stars.time() < 1) stars.advance();
//   stars.predict(position, velocity);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/error.hpp"

namespace gdr {

/// Parameters of the scheme. Lengths, times and masses have the units of the particles, with G = 1.
struct HermiteOptions {
  double eps = 0;  ///< softening length, at least 0
  /// Accuracy parameter of the steps, above 0: the energy error grows with about eta^2.
  double eta = 0.02;
  double eta_start = 0.01;  ///< accuracy parameter of the first steps, above 0
  /// Length of a cycle, above 0: every step is a cycle divided by a power of two, and all particles
  /// have the same time at the end of a cycle.
  double largest_step = 1.0 / 16;
  /// Lower limit of the steps, at most largest_step; shorter ones are set to the last power of two
  /// not below it. 0: no limit. A step below 2^-40 of a cycle is then an error.
  double smallest_step = 0;
  /// Accuracy of the accelerations of large blocks, with trees (TreeOptions), below 1; 0: direct
  /// sums. Small blocks have direct sums. Steps are not shortened by errors of this size; 1e-4 and
  /// below hardly change them. On ranks of MPI every rank gets all particles.
  double accuracy = 0;
  /// Kernel that computes accelerations and jerks: "gravity_jerk" (the chip's usual precision,
  /// about 1e-7) or "gravity_jerk_long" (1e-13). Empty: gravity_jerk_long on the engine "native",
  /// where it is the same as double, else gravity_jerk.
  std::string kernel;
};

/// Everything that determines the further integration: a run that continues from it has the bits of
/// one that was never interrupted. Arrays of n three-vectors or n numbers.
struct HermiteState {
  std::int64_t cycle = 0;        ///< number of complete cycles
  double now = 0;                ///< time since the last complete cycle, in cycles: 0 <= now < 1
  std::vector<double> time;      ///< time of each particle, in cycles: 0 <= time <= now
  std::vector<double> step;      ///< step of each particle, in cycles: a power of two
  std::vector<double> position;  ///< position at the time of each particle, as all that follow
  std::vector<double> velocity;
  std::vector<double> acceleration;
  std::vector<double> jerk;  ///< time derivative of the acceleration
  /// Degree and theta of the trees of blocks (TreeReport); 0: direct sums are faster.
  unsigned tree_degree = 0;
  double tree_theta = 0;

  std::size_t size() const noexcept { return step.size(); }
  friend bool operator==(const HermiteState&, const HermiteState&) = default;
};

/// Counters of the steps of this rank since the integrator was created.
struct HermiteStatistics {
  std::uint64_t block_steps = 0;     ///< number of times at which particles were advanced
  std::uint64_t particle_steps = 0;  ///< steps of all particles
  std::uint64_t limited_steps = 0;   ///< steps that the criterion wanted below smallest_step
  /// Force calculations, including the first one (but not that of its second derivatives).
  std::uint64_t evaluations = 0;
  double smallest_step = 0;      ///< shortest step taken; 0 before the first
  double largest_step = 0;       ///< longest step taken
  std::uint64_t tree_steps = 0;  ///< steps of particles with forces of trees
  /// Largest root mean square of the relative errors of accelerations and of jerks that trees gave,
  /// each measured on a sample of a block.
  double tree_error = 0, tree_jerk_error = 0;

  /// Mean number of particles of a block.
  double mean_block() const noexcept {
    return block_steps > 0 ? static_cast<double>(particle_steps) / static_cast<double>(block_steps)
                           : 0.0;
  }
};

/// Thrown if the criterion requires a step that is too short (category Input).
class StepTooShort : public Error {
 public:
  explicit StepTooShort(const std::string& message) : Error(ErrorCategory::Input, message) {}
};

/// Integrates particles under their softened mutual gravity (Makino & Aarseth 1992, PASJ 44, 141).
///
/// Every particle has a time and a step of its own. A block step goes to the earliest end of a
/// step: all particles are predicted at that time with acceleration and jerk, the device computes
/// both for the particles whose steps end there, and these are corrected to fourth order. The next
/// step of a particle is that of the Aarseth criterion (Aarseth 1985),
///   sqrt(eta (|a| |a''| + |a'|^2) / (|a'| |a'''| + |a''|^2)),
/// rounded down to a cycle divided by a power of two; the first is eta_start |a| / |a'|, or
/// sqrt(eta_start |a| / |a''|) if that is shorter, as for particles at rest. A step at most
/// doubles, and only at times that are multiples of the doubled step, so that particles share their
/// times in blocks. Where forces cancel, derivatives within the rounding of their terms do not
/// shorten a step.
///
/// On a device of many ranks all calls except state(), predict(), time() and statistics() are
/// collective, and every rank passes its own particles; with an exact engine the results have the
/// same bits for any number of ranks. After RankFailure the integrator cannot be used any more. An
/// object must be used by one thread at a time. Arrays are pointers, or vectors, spans and arrays,
/// whose sizes are checked (Numbers).
///
/// Errors: Error (Input) for values that are not finite or out of range, for a force that is not
/// finite, and StepTooShort, with the particle; the errors of Job::run. After an error in a step
/// the state is that before the step.
class Hermite {
 public:
  /// Computes the first forces and steps of n particles: `position` and `velocity` hold n triples,
  /// `mass` n values. All arrays are copied. The device must outlive the integrator.
  Hermite(Device& device, std::size_t n, Numbers<const double> position,
          Numbers<const double> velocity, Numbers<const double> mass,
          const HermiteOptions& options);
  /// Continues from a state, with the masses and options of the run that it is from. Throws Error
  /// (Input) if the state is inconsistent.
  Hermite(Device& device, const HermiteState& state, Numbers<const double> mass,
          const HermiteOptions& options);
  ~Hermite();
  Hermite(Hermite&&) noexcept;
  Hermite& operator=(Hermite&&) noexcept;

  /// One block step. Returns whether it completed a cycle.
  bool step();
  /// Block steps to the end of the cycle. `stop` is called after each one, and true ends the call.
  /// Returns whether the cycle is complete. On many ranks `stop` must return the same on all.
  bool advance(const std::function<bool()>& stop = {});

  std::size_t size() const noexcept;
  /// Time since the beginning: cycles, and the part of the present one, times largest_step.
  double time() const noexcept;
  /// The same within the present cycle, as a share of it: 0 at its beginning.
  double fraction() const noexcept;
  /// Positions and velocities of all particles at time(), n triples each: those of the scheme at
  /// the end of a cycle, predicted ones within it.
  void predict(Numbers<double> position, Numbers<double> velocity) const;
  /// Accelerations (n triples) and potentials (n values) at these positions, from one more force
  /// calculation, which does not change the integration. Either may be null.
  void forces(Numbers<double> acceleration, Numbers<double> potential);
  HermiteState state() const;
  HermiteStatistics statistics() const noexcept;
  /// Name of the kernel that computes the forces.
  const std::string& kernel() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
