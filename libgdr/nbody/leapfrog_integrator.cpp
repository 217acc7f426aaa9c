// The leapfrog as the integrator of a run.
#include <utility>

#include "libgdr/nbody/integrator.hpp"

namespace gdr {
namespace {

class LeapfrogIntegrator : public Integrator {
 public:
  LeapfrogIntegrator(const Snapshot& snapshot, double time_step, ForceLaw forces)
      : time_step_(time_step),
        particles_(particles_of(snapshot)),
        leapfrog_(particles_, std::move(forces)) {}

  const Particles& particles() const override { return particles_; }
  void step(const WithinStep& /*within*/) override {
    leapfrog_.step(time_step_);
    ++force_calls_;
  }
  std::uint64_t force_calls() const noexcept override { return force_calls_; }

 private:
  double time_step_;
  Particles particles_;
  Leapfrog leapfrog_;
  std::uint64_t force_calls_ = 1;
};

}  // namespace

std::unique_ptr<Integrator> leapfrog_integrator(const Snapshot& snapshot, double time_step,
                                                ForceLaw forces) {
  return std::make_unique<LeapfrogIntegrator>(snapshot, time_step, std::move(forces));
}

}  // namespace gdr
