#include "libgdr/nbody/forces.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "gdr/error.hpp"
#include "gdr/gravity.hpp"
#include "libgdr/nbody/direct_sum.hpp"
#include "libgdr/particle/overflow_diagnosis.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// Masses times the gravitational constant; the kernels assume G = 1.
std::vector<double> scaled(std::span<const double> mass, double gravity) {
  std::vector<double> result(mass.begin(), mass.end());
  for (double& m : result) m *= gravity;
  return result;
}

/// Forces on a device of many ranks. Every rank has all particles and computes the forces on a part
/// of them, which grows when ranks fail.
class RankForces {
 public:
  RankForces(Device& device, RankGroup& ranks) : device_(device), gravity_(device), ranks_(ranks) {}

  void compute(std::span<const double> position, std::span<const double> mass, double eps,
               std::span<double> acceleration, std::span<double> potential) {
    device_.retry_on_rank_failure(
        [&] { compute_part(position, mass, eps, acceleration, potential); });
  }

 private:
  void compute_part(std::span<const double> position, std::span<const double> mass, double eps,
                    std::span<double> acceleration, std::span<double> potential) {
    const std::size_t n = mass.size(), first = part_begin(n, ranks_.rank(), ranks_.size());
    const std::size_t count = part_begin(n, ranks_.rank() + 1, ranks_.size()) - first;
    gravity_.compute(count, position.data() + 3 * first, mass.data() + first, eps,
                     acceleration.data() + 3 * first, potential.data() + first);
    gather_parts(ranks_, acceleration.data(), n, 3);
    gather_parts(ranks_, potential.data(), n, 1);
    collectively(&ranks_, [&] { check_forces(position, acceleration, potential); });
  }

  Device& device_;
  Gravity gravity_;
  RankGroup& ranks_;
};

/// Forces of all particles, identical on all ranks.
ForceLaw rank_forces(Device& device, RankGroup& ranks, double eps, double gravity) {
  auto forces = std::make_shared<RankForces>(device, ranks);
  return [forces, eps, gravity](std::span<const double> position, std::span<const double> mass,
                                std::span<double> acceleration, std::span<double> potential) {
    forces->compute(position, scaled(mass, gravity), eps, acceleration, potential);
  };
}

}  // namespace

ForceLaw device_forces(Device& device, double eps, double gravity) {
  if (RankGroup* const ranks = DeviceRanks::group(device))
    return rank_forces(device, *ranks, eps, gravity);
  auto kernel = std::make_shared<Gravity>(device);
  return [kernel, eps, gravity](std::span<const double> position, std::span<const double> mass,
                                std::span<double> acceleration, std::span<double> potential) {
    const std::vector<double> gm = scaled(mass, gravity);
    kernel->compute(gm.size(), position.data(), gm.data(), eps, acceleration.data(),
                    potential.data());
    check_forces(position, acceleration, potential);
  };
}

ForceLaw host_forces(double eps, double gravity) {
  return [eps, gravity](std::span<const double> position, std::span<const double> mass,
                        std::span<double> acceleration, std::span<double> potential) {
    direct_sum(position, scaled(mass, gravity), eps, acceleration, potential);
    check_forces(position, acceleration, potential);
  };
}

void check_forces(std::span<const double> position, std::span<const double> acceleration,
                  std::span<const double> potential) {
  for (std::size_t i = 0; i < potential.size(); ++i) {
    const double* a = acceleration.data() + 3 * i;
    if (std::isfinite(a[0]) && std::isfinite(a[1]) && std::isfinite(a[2]) &&
        std::isfinite(potential[i]))
      continue;
    if (const std::string far = describe_overflow("particle", position); !far.empty())
      throw Error(ErrorCategory::Input, "the forces are not finite: " + far);
    throw Error(
        ErrorCategory::Input,
        fmt::format("the force on particle {} is not finite ({} {} {}, potential {}): values "
                    "out of range, or particles too close for this softening; use units in "
                    "which positions and masses are near 1, or a larger eps",
                    i, a[0], a[1], a[2], potential[i]));
  }
}

}  // namespace gdr
