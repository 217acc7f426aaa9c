// Matrix products in exact numerics: loop jc, over tasks of some items, with all blocks of all
// chips. cpu/exact.hpp has the other loops.
#pragma once

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/cpu/packed_factors.hpp"
#include "emulator/engine/matmul/product_pass.hpp"

namespace gdr {

class ExactProducts final : public HostProducts {
 public:
  /// The executable has functions for exact products (MatmulSupport).
  explicit ExactProducts(const StreamingExecutable& executable) : executable_(executable) {}
  std::uint64_t min_items() const noexcept override;
  void begin(ProductPass& pass) override;
  void gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) override;
  void add_phases(const ProductPass& pass, std::vector<Phase>& phases) override;
  void add_preparation(const ProductPass& pass, std::vector<Phase>& phases) override;
  DeviceProduct product(const ProductPass& pass) override;
  void store(const ProductPass& pass, const double* sums, std::uint64_t first, std::uint64_t end,
             const std::vector<std::uint32_t>& panels) override;
  void compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) override;

 private:
  /// Copies of records where memory is in pieces.
  using PieceCopies = std::vector<std::vector<std::uint64_t>>;

  static const std::uint64_t* const* records_of(const ProductPass& pass, std::uint64_t first,
                                                std::uint64_t count, PieceCopies& copies);

  const StreamingExecutable& executable_;
  PackedFactors factors_;
};

}  // namespace gdr
