// The slabs of a fast product whose factors are not all +0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/matmul/cpu/packed_slabs.hpp"
#include "emulator/engine/matmul/product_pass.hpp"
#include "emulator/engine/sources/source_view.hpp"

namespace gdr {

/// Trailing factors that are +0 in all PEs or all items are omitted: tiles of few rows or of a
/// short inner dimension do not fill the chips. (They would change only the sign of a sum of -0,
/// which requires underflow.)
class SlabPlan {
 public:
  struct UsedSlab {
    FastSlab slab;
    std::size_t depth = 0;  ///< factors up to the last nonzero one
  };

  explicit SlabPlan(const PackedSlabs& packed) : packed_(packed) {}
  /// Appends what makes the plan of a pass, after its factors are packed.
  void add_phases(const ProductPass& pass, std::vector<Phase>& phases);

  /// Slabs of the pass with nonzero factors, at least one.
  const std::vector<UsedSlab>& slabs() const noexcept { return slabs_; }
  /// Panels to compute: up to the last one that is not all +0, and one of those behind it, whose
  /// sums are equal.
  std::size_t panels() const noexcept;
  /// Number of the plan, unique in the process.
  std::uint64_t number() const noexcept { return number_; }

 private:
  /// Number of factors of a slab up to the last one that is not +0 in every item.
  struct ItemDepth {
    std::optional<SourceKey> key;
    std::size_t used = 0;
  };

  void measure_items(const ProductPass& pass, const FastSlab& slab);
  void make(const ProductPass& pass);

  const PackedSlabs& packed_;
  std::vector<std::vector<ItemDepth>> item_depths_;  ///< [chip][slab]
  std::vector<UsedSlab> slabs_;
  std::uint64_t number_ = 0;
  std::size_t panels_used_ = 0;  ///< panels up to the last one that is not all +0
};

}  // namespace gdr
