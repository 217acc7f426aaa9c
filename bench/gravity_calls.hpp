// A job of gravity, with or without its derivative, that is called repeatedly with new
// targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {

/// Particles as arrays of the caller, of which a call takes the first ones as targets and sources.
struct ParticleColumns {
  const double *x, *y, *z, *vx, *vy, *vz, *mass;
  const std::int64_t *source_ids, *target_ids;
};

/// Sources are set once, and by `set_sources` again.
class GravityCalls {
 public:
  /// `kernel`: "gravity", or one with its derivative.
  GravityCalls(std::shared_ptr<Device> device, const std::string& kernel, std::size_t targets,
               std::size_t sources, const ParticleColumns& particles)
      : device_(std::move(device)),
        job_(device_->job(Kernel::builtin(kernel))),
        n_targets_(targets),
        n_sources_(sources) {
    job_.set("eps2", 1e-4);
    const ParticleColumns& p = particles;
    targets_ = {{"xi", p.x}, {"yi", p.y}, {"zi", p.z}, {"idi", p.target_ids}};
    sources_ = {{"xj", p.x}, {"yj", p.y}, {"zj", p.z}, {"mj", p.mass}, {"idj", p.source_ids}};
    std::vector<const char*> names{"ax", "ay", "az", "pot"};
    if (kernel != "gravity") {
      targets_.insert(targets_.end(), {{"vxi", p.vx}, {"vyi", p.vy}, {"vzi", p.vz}});
      sources_.insert(sources_.end(), {{"vxj", p.vx}, {"vyj", p.vy}, {"vzj", p.vz}});
      names.insert(names.end(), {"jx", "jy", "jz"});
    }
    arrays_.assign(names.size(), std::vector<double>(targets));
    for (std::size_t k = 0; k < names.size(); ++k) results_.push_back({names[k], arrays_[k]});
    set_sources();
  }

  void set_sources() { job_.sources(n_sources_, sources_); }

  /// The forces of the targets, which are set anew.
  void call() {
    job_.targets(n_targets_, targets_);
    job_.run(results_);
  }

 private:
  std::shared_ptr<Device> device_;
  Job job_;
  std::size_t n_targets_, n_sources_;
  std::vector<NamedInput> targets_, sources_;
  std::vector<std::vector<double>> arrays_;
  std::vector<NamedResult> results_;
};

}  // namespace gdr::bench
