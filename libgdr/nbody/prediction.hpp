// What one force calculation would take on a machine of another size than the one at work.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gdr/device.hpp"

namespace gdr {

/// Cost of one force calculation of all particles on one another, on the real machine.
struct ForceCost {
  std::uint64_t clocks = 0;  ///< of a chip, ports included
  double seconds = 0;        ///< transfers over the host link included
  double flops = 0;

  double gflops() const noexcept { return seconds > 0 ? flops / seconds * 1e-9 : 0.0; }
};

/// Cost of one force calculation by the statistics of equal ones, one run each.
ForceCost force_cost(const Statistics& statistics);

/// True if the name is of the usual machine: one board of four chips.
bool is_usual_board(const std::string& device_name);

/// Cost on one board with `chips` chips, otherwise the machine that `device_name` names: computes
/// the forces once on an emulated one. Throws what Device::open does.
ForceCost predict_force_cost(const std::string& device_name, const DeviceOptions& options,
                             unsigned chips, std::span<const double> position,
                             std::span<const double> mass, double eps);

}  // namespace gdr
