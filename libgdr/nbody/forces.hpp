// Force laws for integrators: forces computed by a device or by the host, and their predicted cost.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gdr/device.hpp"
#include "libgdr/nbody/tree_use.hpp"

namespace gdr {

class RankGroup;

/// Computes accelerations (n three-vectors) and potentials (n values) of n particles at `position`
/// with masses `mass`. Softening and gravitational constant are part of the law.
using ForceLaw = std::function<void(std::span<const double> position, std::span<const double> mass,
                                    std::span<double> acceleration, std::span<double> potential)>;

/// Forces computed by a device, which must outlive the law. Equal positions give bit-identical
/// forces. On a device of many ranks every rank passes all particles, computes a part, and gets all
/// forces.
ForceLaw device_forces(Device& device, double eps, double gravity = 1);
/// The same to an accuracy (TreeOptions), with trees where they are faster; one calculation for
/// each step. `use`, which must outlive the law, is told of every one.
ForceLaw tree_forces(Device& device, double eps, double gravity, const TreeRequest& request,
                     TreeUse& use);
/// Forces by direct summation in double precision on the host, for comparison.
ForceLaw host_forces(double eps, double gravity = 1);

/// Direct summation in double precision on the host, the reference for the device: accelerations
/// and potentials as defined by gdr::Gravity: softened, G = 1, without
/// self-interaction, and without interaction of pairs at distance zero if the softening is zero.
void direct_sum(std::span<const double> position, std::span<const double> mass, double eps,
                std::span<double> acceleration, std::span<double> potential);

/// The first of the n particles of this rank, and the end; all without ranks.
std::pair<std::size_t, std::size_t> part_of_rank(RankGroup* ranks, std::size_t n);

/// Throws Error (Input) if a force is not finite, naming the particle that causes it: one whose
/// position exceeds the range of the arithmetic, else the first one with such a force.
void check_forces(std::span<const double> position, std::span<const double> acceleration,
                  std::span<const double> potential);

/// Predicted cost, on the real board, of one force calculation of all particles on each other.
struct ForceCost {
  std::uint64_t clocks = 0;  ///< clocks of a chip, including ports
  double seconds = 0;        ///< including transfers over the host link
  double flops = 0;

  double gflops() const noexcept { return seconds > 0 ? flops / seconds * 1e-9 : 0.0; }
};

/// Cost of one force calculation, from the statistics of runs with one calculation each.
ForceCost force_cost(const Statistics& statistics);

/// True if the name is that of the default device: one board of four chips.
bool is_default_board(const std::string& device_name);

/// Cost on one board with `chips` chips and otherwise the geometry of `device_name`, from one force
/// calculation on an emulated board. Throws the errors of Device::open.
ForceCost predict_force_cost(const std::string& device_name, const DeviceOptions& options,
                             unsigned chips, std::span<const double> position,
                             std::span<const double> mass, double eps);

}  // namespace gdr
