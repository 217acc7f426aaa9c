// The leapfrog as the integrator of a run.
#include <utility>

#include "libgdr/nbody/integrator.hpp"

namespace gdr {
namespace {

class LeapfrogIntegrator : public Integrator {
 public:
  LeapfrogIntegrator(const Snapshot& snapshot, double time_step, ForceLaw forces,
                     const TreeUse* trees)
      : time_step_(time_step),
        trees_(trees),
        particles_(particles_of(snapshot)),
        leapfrog_(particles_, std::move(forces)) {}

  const Particles& particles() const override { return particles_; }
  void step(const WithinStep& /*within*/) override {
    leapfrog_.step(time_step_);
    ++force_calls_;
  }
  void save(Snapshot& snapshot) const override {
    Integrator::save(snapshot);
    if (trees_ == nullptr || !snapshot.run) return;
    snapshot.run->tree_method = static_cast<double>(trees_->latest.method);
    snapshot.run->tree_degree = trees_->latest.degree;
    snapshot.run->tree_theta = trees_->latest.theta;
  }
  std::uint64_t force_calls() const noexcept override { return force_calls_; }

 private:
  double time_step_;
  const TreeUse* trees_;
  Particles particles_;
  Leapfrog leapfrog_;
  std::uint64_t force_calls_ = 1;
};

}  // namespace

std::unique_ptr<Integrator> leapfrog_integrator(const Snapshot& snapshot, double time_step,
                                                ForceLaw forces, const TreeUse* trees) {
  return std::make_unique<LeapfrogIntegrator>(snapshot, time_step, std::move(forces), trees);
}

}  // namespace gdr
