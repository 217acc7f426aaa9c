// A product on a device: all items in one task, whose results are then stored in parallel.
#pragma once

#include <memory>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/product_pass.hpp"

namespace gdr {

/// Gives products to a device, and those items to the host that the device cannot compute.
class DeviceRun {
 public:
  DeviceRun(MatmulDevice& device, const StreamingExecutable& executable)
      : device_(device), executable_(executable), products_(device.products()) {}
  /// Whether the product is large enough. A run has all items of its rows, and the choice depends
  /// on nothing else, so that results of fast numerics do not depend on boards and threads.
  bool takes(const ProductPass& pass) const;
  void add_phases(const ProductPass& pass, HostProducts& host, std::vector<Phase>& phases);

 private:
  void multiply(const ProductPass& pass, DeviceProduct product);
  void store(const ProductPass& pass, HostProducts& host, std::uint64_t first, std::uint64_t end);

  MatmulDevice& device_;
  const StreamingExecutable& executable_;
  const std::unique_ptr<DeviceProducts> products_;
  std::vector<std::uint32_t> panels_;                ///< the panels of `sums_`
  std::vector<double, LineAllocator<double>> sums_;  ///< [item][panel][lane]
  std::vector<char> unfit_;  ///< whether the host computes an item, indexed by item
};

}  // namespace gdr
