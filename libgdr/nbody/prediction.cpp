#include "libgdr/nbody/prediction.hpp"

#include <cstdlib>
#include <vector>

#include "gdr/gravity.hpp"

namespace gdr {
namespace {

/// The name that Device::open uses for an empty one.
std::string full_name(const std::string& device_name) {
  if (!device_name.empty()) return device_name;
  const char* variable = std::getenv("GDR_DEVICE");
  return variable != nullptr && *variable != '\0' ? variable : "emulator";
}

}  // namespace

ForceCost force_cost(const Statistics& statistics) {
  if (statistics.runs == 0) return {};
  const auto runs = static_cast<double>(statistics.runs);
  return {statistics.chip_clocks / statistics.runs, statistics.predicted_seconds / runs,
          statistics.flops / runs};
}

bool is_default_board(const std::string& device_name) {
  const std::string name = full_name(device_name);
  return name.starts_with("emulator") && name.find("chips=") == std::string::npos &&
         name.find("boards=") == std::string::npos;
}

ForceCost predict_force_cost(const std::string& device_name, const DeviceOptions& options,
                             unsigned chips, std::span<const double> position,
                             std::span<const double> mass, double eps) {
  // The geometry of remote boards is fixed; the emulator has the same clocks. The last value of a
  // repeated option counts.
  std::string name = full_name(device_name);
  if (!name.starts_with("emulator")) name = "emulator";
  const char separator = name.find(':') == std::string::npos ? ':' : ',';
  Device device =
      Device::open(name + separator + "boards=1,chips=" + std::to_string(chips), options);
  Gravity gravity(device);
  std::vector<double> acceleration(3 * mass.size()), potential(mass.size());
  gravity.compute(mass.size(), position.data(), mass.data(), eps, acceleration.data(),
                  potential.data());
  return force_cost(device.statistics());
}

}  // namespace gdr
