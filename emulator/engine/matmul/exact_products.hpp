// Matrix products in exact numerics: all blocks of all chips, some items per task.
#pragma once

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/cpu/factors.hpp"
#include "emulator/engine/matmul/product_pass.hpp"

namespace gdr {

class ExactProducts final : public HostProducts {
 public:
  /// The executable has exact kernels (MatmulSupport).
  explicit ExactProducts(const StreamingExecutable& executable) : executable_(executable) {}
  std::uint64_t least_items() const noexcept override;
  void begin(ProductPass& pass) override;
  void gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) override;
  void add_phases(const ProductPass& pass, std::vector<Phase>& phases) override;
  void add_preparation(const ProductPass& pass, std::vector<Phase>& phases) override;
  DeviceProduct product(const ProductPass& pass) override;
  void store(const ProductPass& pass, const double* sums, std::uint64_t first, std::uint64_t end,
             const std::vector<std::uint32_t>& panels) override;
  void compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) override;

 private:
  const StreamingExecutable& executable_;
  PackedFactors factors_;
};

}  // namespace gdr
