// Predicted cost of a force calculation on a board of another size.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gdr/device.hpp"

namespace gdr {

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
