// The result of a prediction: time, rate, and busy times of the resources.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgdr/dense/prediction.hpp"

namespace gdr::predict {

enum class Resource : std::size_t { Chip, Ports, LinkWrite, LinkRead, Host, Network, Count };
inline constexpr std::size_t resource_count = static_cast<std::size_t>(Resource::Count);
inline std::string_view resource_name(Resource resource) noexcept {
  constexpr std::array<std::string_view, resource_count> names{
      "chip", "ports", "link to board", "link to host", "host", "network"};
  return names[static_cast<std::size_t>(resource)];
}

/// Busy times of the resources of one node, seconds (for the ports of a chip: of the busier one):
/// those of the busiest node, for a factorisation the mean of all nodes. Resources work
/// concurrently, so the sum may exceed the time of the job.
struct Usage {
  std::array<double, resource_count> seconds{};

  double& operator[](Resource r) noexcept { return seconds[static_cast<std::size_t>(r)]; }
  double operator[](Resource r) const noexcept { return seconds[static_cast<std::size_t>(r)]; }
};
/// The mean of `nodes` nodes with this total cost.
inline Usage usage_of(const dense::StepCost& cost, double nodes = 1) noexcept {
  return {{cost.chip / nodes, cost.ports / nodes, cost.link_write / nodes, cost.link_read / nodes,
           cost.host / nodes}};
}

/// A job on a machine.
struct Prediction {
  std::string job, machine;
  double seconds = 0;
  double flops = 0;  ///< operations by the field's conventions
  double peak = 0;   ///< flops/s of the machine in the job's precision
  Usage usage;
  /// Further figures, name and value, in the order of printing.
  std::vector<std::pair<std::string, double>> details;

  double gflops() const noexcept { return seconds > 0 ? 1e-9 * flops / seconds : 0; }
};

}  // namespace gdr::predict
