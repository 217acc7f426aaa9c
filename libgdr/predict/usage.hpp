// What a prediction says: how long, how fast, and what every resource did meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdr::predict {

enum class Resource : std::size_t { Chip, Ports, LinkWrite, LinkRead, Host, Network, Count };
inline constexpr std::size_t resource_count = static_cast<std::size_t>(Resource::Count);
/// "chip", "ports", "link to board", "link to host", "host", "network".
std::string_view resource_name(Resource resource) noexcept;

/// Seconds that each resource works (of the two ports of a chip the busier one), of one node; the
/// busiest one where nodes differ, their mean for a factorisation. Resources work side by side, so
/// the seconds may add up to more than passes.
struct Usage {
  std::array<double, resource_count> seconds{};

  double& operator[](Resource r) noexcept { return seconds[static_cast<std::size_t>(r)]; }
  double operator[](Resource r) const noexcept { return seconds[static_cast<std::size_t>(r)]; }
};

/// A job on a machine.
struct Prediction {
  std::string job, machine;
  double seconds = 0;
  double flops = 0;  ///< counted by the field's conventions
  double peak = 0;   ///< flops/s of the machine in the job's precision
  Usage usage;
  /// What else is to be said, name and value, in the order of printing.
  std::vector<std::pair<std::string, double>> details;

  double gflops() const noexcept { return seconds > 0 ? 1e-9 * flops / seconds : 0; }
};

}  // namespace gdr::predict
