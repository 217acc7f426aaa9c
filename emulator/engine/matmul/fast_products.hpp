// Matrix products in fast numerics: slab by slab of the PEs' factors, each with all items.
#pragma once

#include <optional>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/matmul/cpu/factors.hpp"
#include "emulator/engine/matmul/product_pass.hpp"
#include "emulator/engine/sources/source_view.hpp"

namespace gdr {

class FastProducts final : public HostProducts {
 public:
  /// The executable has fast kernels (MatmulSupport). `pattern`, `program` and `executable` outlive
  /// this.
  FastProducts(const MatmulPattern& pattern, const LoadedProgram& program, const Geometry& geometry,
               const StreamingExecutable& executable);
  /// One: products always keep all bits of their factors.
  std::uint64_t least_items() const noexcept override { return 1; }
  void begin(ProductPass& pass) override;
  bool bypasses_state(std::size_t chip) const noexcept override { return cached_[chip].by_records; }
  void gather(const ProductPass& pass, std::uint32_t chip, std::uint32_t block) override;
  void add_phases(const ProductPass& pass, std::vector<Phase>& phases) override;
  void add_preparation(const ProductPass& pass, std::vector<Phase>& phases) override;
  DeviceProduct product(const ProductPass& pass) override;
  void store(const ProductPass& pass, const double* sums, std::uint64_t first, std::uint64_t end,
             const std::vector<std::uint32_t>& panels) override;
  void compute(const ProductPass& pass, std::uint64_t first, std::uint64_t end) override;
  void end(ProductPass& pass) override;

 private:
  /// What is known of a chip's factors.
  struct CachedFactors {
    std::uint64_t version = ~std::uint64_t{0};  ///< LoadedChip::version when gathered
    bool known = false;                         ///< complete except for targets of this pass
    bool by_records = false;  ///< gathered from records: this pass writes whole blocks or none
  };
  /// Number of factors of a slab up to the last one that is not +0 in every item.
  struct ItemDepth {
    std::optional<SourceKey> key;
    std::size_t used = 0;
  };
  struct UsedSlab {
    FastSlab slab;
    std::size_t depth = 0;  ///< factors up to the last nonzero one
  };

  bool writes_whole_blocks(const PassState& state, std::size_t chip) const noexcept;
  const std::uint64_t* records_for(const PassState& state, std::size_t chip,
                                   std::size_t block) const noexcept;
  void scatter(std::size_t chip, ChipState& state);
  void measure_items(const ProductPass& pass, const FastSlab& slab);
  void plan_slabs(const ProductPass& pass);
  void prepare_slab(const ProductPass& pass, std::size_t number, FastTask& task) const;
  void add_slab(const ProductPass& pass, std::size_t number, std::uint64_t begin,
                std::uint64_t end);
  void reserve_sums(const ProductPass& pass);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const StreamingExecutable& executable_;
  PackedSlabs packed_;
  std::vector<CachedFactors> cached_;                ///< by chip
  std::vector<std::vector<ItemDepth>> item_depths_;  ///< [chip][slab]
  std::vector<UsedSlab> slabs_;                      ///< slabs of this pass with nonzero factors
  std::uint64_t slabs_plan_ = 0;                     ///< identifies the slabs of this pass
  std::size_t panels_used_ = 0;  ///< panels up to the last one that is not all +0
  std::vector<double, LineAllocator<double>> sums_;  ///< of the slabs so far: [item][panel][lane]
};

}  // namespace gdr
