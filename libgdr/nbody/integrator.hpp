// What a run advances from step to step: the leapfrog, or the Hermite scheme.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gdr/hermite.hpp"
#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/forces.hpp"
#include "libgdr/nbody/leapfrog.hpp"

namespace gdr {

/// Called within a step, with the part of it that is done; true ends the step there.
using WithinStep = std::function<bool(double fraction)>;

/// An integration on the time grid of a run.
class Integrator {
 public:
  virtual ~Integrator() = default;
  /// The particles at the present time, with their accelerations and potentials.
  virtual const Particles& particles() const = 0;
  /// One step of the grid, or the rest of it. Integrators that cannot end within a step do not call
  /// `within`. An error leaves the particles as they were before.
  virtual void step(const WithinStep& within) = 0;
  /// Part of the present step that is done: above 0 only if `within` ended it.
  virtual double fraction() const noexcept { return 0; }
  /// Stores in a snapshot with the positions and velocities of particles() what a restart needs
  /// besides.
  virtual void save(Snapshot& snapshot) const { snapshot.hermite.reset(); }
  /// Name of the kernel that computes the forces.
  virtual std::string kernel() const { return "gravity"; }
  /// Number of force calculations.
  virtual std::uint64_t force_calls() const noexcept = 0;
  /// Counters of block steps over all ranks, if the integrator has such steps.
  virtual std::optional<HermiteStatistics> block_statistics() const { return {}; }
};

/// The leapfrog with steps of this length. `trees`, if any, has the reports of the law's trees.
std::unique_ptr<Integrator> leapfrog_integrator(const Snapshot& snapshot, double time_step,
                                                ForceLaw forces, const TreeUse* trees = nullptr);

/// The Hermite scheme on a device, which must outlive it, with the parameters of a run; a grid step
/// is one cycle. With `restarted` it continues from the state in the snapshot. On many ranks every
/// rank has all particles and integrates a part of them; after a rank failure the cycle is
/// repeated. Forces depend on the engine as described at HermiteOptions::kernel.
std::unique_ptr<Integrator> hermite_integrator(Device& device, const Snapshot& snapshot,
                                               const RunState& run, bool restarted);

}  // namespace gdr
